//! Lets one firing through, and ignores others for a while.

/// Counts firings.
pub struct Gate {
    /// In nanoseconds.
    cooldown: u64,
    most: Option<u64>,
    last: Option<u64>,
    fired: u64,
    ignored: u64,
    /// Since the last one that went through.
    ignored_since: u64,
}

impl Gate {
    /// A gate that closes for `cooldown` nanoseconds after each firing, and for good after `most`.
    pub fn new(cooldown: u64, most: Option<u64>) -> Gate {
        Gate {
            cooldown,
            most,
            last: None,
            fired: 0,
            ignored: 0,
            ignored_since: 0,
        }
    }

    /// Whether a firing at this time, in nanoseconds, goes through: then how many were ignored
    /// since the one before.
    pub fn pass(&mut self, time: u64) -> Option<u64> {
        if self.is_closed() {
            return None;
        }
        let is_early = |last: u64| time.saturating_sub(last) < self.cooldown;
        if self.last.is_some_and(is_early) {
            self.ignored += 1;
            self.ignored_since += 1;
            return None;
        }
        self.last = Some(time);
        self.fired += 1;
        Some(std::mem::take(&mut self.ignored_since))
    }

    /// Whether no more can go through.
    pub fn is_closed(&self) -> bool {
        self.most.is_some_and(|most| self.fired >= most)
    }

    /// How many went through.
    pub fn fired(&self) -> u64 {
        self.fired
    }

    /// How many were ignored.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_goes_through_and_others_are_counted() {
        let mut gate = Gate::new(10, Some(3));
        let passed = [5, 6, 14, 15, 3, 40, 99].map(|time| gate.pass(time));
        let expected = [Some(0), None, None, Some(2), None, Some(1), None];
        assert_eq!(passed, expected);
        assert_eq!((gate.fired(), gate.ignored()), (3, 3));
        assert!(gate.is_closed());
        let mut open = Gate::new(0, None);
        assert_eq!([1, 1].map(|time| open.pass(time)), [Some(0), Some(0)]);
    }
}
