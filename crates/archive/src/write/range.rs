//! The least and the most of values, as blocks state them.

/// The least and the most of values; none if one is missing, which the others tell nothing about.
pub struct ValueRange {
    least: u64,
    most: u64,
    missing: bool,
}

impl ValueRange {
    /// Without values.
    pub fn new() -> ValueRange {
        ValueRange {
            least: u64::MAX,
            most: 0,
            missing: false,
        }
    }

    /// Adds one, which may be missing.
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

    /// The least and the most; is without values again.
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
