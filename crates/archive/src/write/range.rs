//! The least and the most of values, as blocks state them.

/// Of values; nothing where one is missing, because then the others tell nothing about it.
pub struct Span {
    least: u64,
    most: u64,
    missing: bool,
}

impl Span {
    /// Of no values yet.
    pub fn new() -> Span {
        Span {
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

    /// What they were; begins anew.
    pub fn take(&mut self) -> (Option<u64>, Option<u64>) {
        let Span {
            least,
            most,
            missing,
        } = std::mem::replace(self, Span::new());
        let there = |value| (!missing).then_some(value);
        (there(least), there(most))
    }
}
