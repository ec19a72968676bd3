//! Since when a condition holds, and whether it has held long enough.

use super::firing::FiringValue;

/// Of a condition that is judged again and again.
#[derive(Debug, Clone, Copy, Default)]
pub struct LevelState {
    /// How long it must hold, in nanoseconds.
    pub hold: u64,
    since: Option<u64>,
    /// The value that was judged last, while it holds.
    seen: Option<FiringValue>,
    /// Whether it has fired since it began to hold.
    told: bool,
}

impl LevelState {
    /// Takes the outcome at the moments from `first` to `last`, `step` apart: a value, if it holds.
    /// Returns at which of them it fires.
    pub fn judge(
        &mut self,
        seen: Option<FiringValue>,
        first: u64,
        last: u64,
        step: u64,
    ) -> Option<u64> {
        self.seen = seen;
        if seen.is_none() {
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

    /// The value that was judged last, if it has fired and holds since.
    pub fn lasting(&self) -> Option<FiringValue> {
        self.seen.filter(|_| self.told)
    }
}
