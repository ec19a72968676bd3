//! Finds the least and the greatest of values, as blocks state them.

use std::ops::RangeInclusive;

/// The least and the greatest of values. If a value is missing, neither is known, because the
/// missing value could be any.
#[derive(Clone)]
pub struct ValueRange {
    least: u64,
    most: u64,
    missing: bool,
}

impl ValueRange {
    /// A range without values.
    pub fn new() -> ValueRange {
        ValueRange {
            least: u64::MAX,
            most: 0,
            missing: false,
        }
    }

    /// Adds a value, which may be missing.
    #[inline]
    pub fn add(&mut self, value: Option<u64>) {
        match value {
            Some(value) => {
                self.least = self.least.min(value);
                self.most = self.most.max(value);
            }
            None => self.missing = true,
        }
    }

    /// Adds the values of events; if there are none, they are missing.
    #[inline]
    pub fn add_all(&mut self, values: &[u64]) {
        self.missing |= values.is_empty();
        for value in values {
            self.add(Some(*value));
        }
    }

    /// From the least to the greatest value. `None` if there are none, or one is missing.
    pub fn range(&self) -> Option<RangeInclusive<u64>> {
        let is_known = !self.missing && self.least <= self.most;
        is_known.then_some(self.least..=self.most)
    }

    /// Returns the least and the greatest value, and removes all values.
    pub fn take(&mut self) -> (Option<u64>, Option<u64>) {
        let ValueRange {
            least,
            most,
            missing,
        } = std::mem::replace(self, ValueRange::new());
        let there = |value| (!missing).then_some(value);
        (there(least), there(most))
    }
}
