//! Keeps the comparisons of each ring's clock with those of other machines.

use std::collections::BTreeMap;

use crate::format::clock::ClockComparison;

/// Most comparisons of a ring that are kept, evenly among all of them.
const MOST: usize = 1 << 12;

/// Most rings of which there are some: an archive may name more than can be.
const MOST_RINGS: usize = 1 << 12;

/// The comparisons of all rings.
#[derive(Debug, Default)]
pub struct RingClocks {
    by_magic: BTreeMap<u64, RingClock>,
}

/// Those of one ring.
#[derive(Debug, Default)]
struct RingClock {
    /// Every so many are kept, as a power of 2, and the last one in any case.
    every: u32,
    count: u64,
    kept: Vec<(u64, ClockComparison)>,
}

impl RingClocks {
    /// Adds a comparison. A file of a directory repeats the last one of the file before it.
    pub fn take(&mut self, comparison: ClockComparison) {
        let magic = comparison.magic.unwrap_or(0);
        if self.by_magic.len() < MOST_RINGS || self.by_magic.contains_key(&magic) {
            self.by_magic.entry(magic).or_default().take(comparison);
        }
    }

    /// Those of a ring, in the order of their records.
    pub fn of(&self, magic: u64) -> Vec<ClockComparison> {
        let ring = self.by_magic.get(&magic);
        let kept = ring.into_iter().flat_map(|ring| &ring.kept);
        kept.map(|(_, comparison)| comparison.clone()).collect()
    }
}

impl RingClock {
    fn take(&mut self, comparison: ClockComparison) {
        let last = self.kept.last();
        if last.is_some_and(|(_, last)| *last == comparison) {
            return;
        }
        let is_due = |number: u64, every: u32| number.is_multiple_of(1 << every);
        self.kept.pop_if(|(number, _)| !is_due(*number, self.every));
        if self.kept.len() >= MOST {
            self.every += 1;
            let every = self.every;
            self.kept.retain(|(number, _)| is_due(*number, every));
        }
        self.kept.push((self.count, comparison));
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_ring_has_is_bounded_and_spans_all_of_it() {
        let mut clocks = RingClocks::default();
        for ticks in 0..20_000 {
            let comparison = ClockComparison {
                magic: Some(7),
                ticks: Some(ticks),
                ..ClockComparison::default()
            };
            clocks.take(comparison.clone());
            clocks.take(comparison);
        }
        let ticks: Vec<u64> = clocks
            .of(7)
            .into_iter()
            .filter_map(|one| one.ticks)
            .collect();
        assert!((2_000..=MOST).contains(&ticks.len()) && ticks.is_sorted());
        assert_eq!((ticks[0], ticks.last()), (0, Some(&19_999)));
        assert!(ticks.windows(2).all(|pair| pair[1] - pair[0] <= 8));
        assert!(clocks.of(8).is_empty());
    }
}
