//! The longest of many durations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use timeline_latency::Measurement;

/// Keeps the longest; of equal ones, those that ended first.
pub struct Slowest {
    most: usize,
    kept: BinaryHeap<Reverse<ByDuration>>,
    seen: u64,
}

struct ByDuration {
    number: u64,
    found: Measurement,
}

impl ByDuration {
    fn key(&self) -> (u64, Reverse<u64>) {
        (self.found.value, Reverse(self.number))
    }
}

impl PartialEq for ByDuration {
    fn eq(&self, other: &ByDuration) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ByDuration {}

impl PartialOrd for ByDuration {
    fn partial_cmp(&self, other: &ByDuration) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByDuration {
    fn cmp(&self, other: &ByDuration) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Slowest {
    /// Keeps so many at most.
    pub fn new(most: usize) -> Slowest {
        Slowest {
            most,
            kept: BinaryHeap::new(),
            seen: 0,
        }
    }

    pub fn add(&mut self, found: Measurement) {
        self.seen += 1;
        let least = self.kept.peek();
        let is_full = self.kept.len() >= self.most;
        if is_full && least.is_none_or(|Reverse(least)| least.found.value >= found.value) {
            return;
        }
        let number = self.seen;
        self.kept.push(Reverse(ByDuration { number, found }));
        if self.kept.len() > self.most {
            self.kept.pop();
        }
    }

    /// The longest first.
    pub fn into_sorted(self) -> Vec<Measurement> {
        let sorted = self.kept.into_sorted_vec().into_iter();
        sorted.map(|Reverse(kept)| kept.found).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use timeline::ThreadRef;

    proptest! {
        #[test]
        fn the_longest_are_those_that_sorting_finds(
            values in prop::collection::vec(0_u64..20, 0..60), most in 0_usize..12,
        ) {
            let mut slowest = Slowest::new(most);
            let found = |(number, value): (usize, u64)| Measurement {
                series: 0,
                begin: 0,
                end: number as u64,
                value,
                thread: ThreadRef(0),
                tid: 0,
                key: None,
                depth: 0,
                told: false,
            };
            let mut all: Vec<_> = values.into_iter().enumerate().map(found).collect();
            all.iter().cloned().for_each(|found| slowest.add(found));
            all.sort_by_key(|found| Reverse(found.value));
            all.truncate(most);
            prop_assert_eq!(slowest.into_sorted(), all);
        }
    }
}
