//! Tells what is new of counts that only grow.

use std::mem;

use timeline_latency::Lack;

/// What of an archive's lacks was told.
#[derive(Default)]
pub struct LackMeter {
    told: AppendedLacks,
}

/// What an archive lacks in what came behind it, as counted since it was opened.
#[derive(Clone, Copy, Default)]
pub struct AppendedLacks {
    /// Places that nobody can count.
    pub unknown: u64,
    /// Bytes.
    pub damaged: u64,
    /// Files.
    pub removed: u64,
    /// Entries.
    pub gone: u64,
}

impl LackMeter {
    /// What is missing since the last call: so many entries that were missed, and what the counts
    /// say.
    pub fn lacks(&mut self, missed: u64, now: AppendedLacks) -> Vec<Lack> {
        let told = mem::replace(&mut self.told, now);
        let [unknown, damaged, removed, gone] = [
            now.unknown.saturating_sub(told.unknown),
            now.damaged.saturating_sub(told.damaged),
            now.removed.saturating_sub(told.removed),
            now.gone.saturating_sub(told.gone),
        ];
        let lacks = [
            (missed, Lack::Unrecorded(missed)),
            (unknown, Lack::Unknown),
            (damaged, Lack::Damaged(damaged)),
            (removed, Lack::Removed(removed)),
            (gone, Lack::Gone(gone)),
        ];
        let lacks = lacks.into_iter().filter(|(count, _)| *count > 0);
        lacks.map(|(_, lack)| lack).collect()
    }
}
