//! Since when a condition holds, and whether it has held long enough.

/// Of a condition that is judged again and again.
#[derive(Debug, Clone, Copy, Default)]
pub struct Level {
    /// How long it must hold, in nanoseconds.
    pub hold: u64,
    since: Option<u64>,
    /// Whether it has fired since it began to hold.
    told: bool,
}

impl Level {
    /// Takes the outcome at the moments from `first` to `last`, `step` apart. Returns at which of
    /// them it fires.
    pub fn judge(&mut self, holds: bool, first: u64, last: u64, step: u64) -> Option<u64> {
        if !holds {
            (self.since, self.told) = (None, false);
            return None;
        }
        let since = *self.since.get_or_insert(first);
        let held = self.hold.div_ceil(step).saturating_mul(step);
        let due = since.saturating_add(held);
        if self.told || due > last {
            return None;
        }
        self.told = true;
        Some(due)
    }
}
