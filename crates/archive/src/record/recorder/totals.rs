//! Holds the results of a recorder, which are added up over several.

use std::ops::Add;

/// The results of a recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Events recorded.
    pub events: u64,
    /// Entries of the ring that were overwritten before the recorder began, of a run that the
    /// archive held nothing of. They do not count as missed, unless the archive holds other runs.
    pub overwritten: u64,
    /// Entries of the ring that were overwritten before they could be recorded. An event with a
    /// payload takes several entries, and the unused end of a chunk counts as well. At the end,
    /// this includes events and entries for which there was no room.
    pub missed: u64,
    /// Places where whole runs, or the end of one, may be missing. The number of their events is
    /// not known.
    pub missed_unknown: u64,
    /// Events that were read and not recorded: see [`Recorder::only`](super::Recorder::only).
    pub left_out: u64,
    /// Entries that stay in the ring, because [`Recorder::wind_up`](super::Recorder::wind_up) had
    /// no time for them. The next recorder finds them, unless they are overwritten first.
    pub left: u64,
    /// Events that were sent and had not arrived at the end. They do not count as recorded. The
    /// next recorder sends them, unless the ring overwrites them first.
    pub unsent: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// Of several recorders, one after the other.
impl Add for Totals {
    type Output = Totals;

    fn add(self, next: Totals) -> Totals {
        Totals {
            events: self.events + next.events,
            overwritten: self.overwritten.saturating_add(next.overwritten),
            missed: self.missed.saturating_add(next.missed),
            missed_unknown: self.missed_unknown + next.missed_unknown,
            left_out: self.left_out + next.left_out,
            left: self.left.saturating_add(next.left),
            unsent: self.unsent + next.unsent,
            bytes: self.bytes + next.bytes,
        }
    }
}
