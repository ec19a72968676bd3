//! Finds which of several overlapping intervals holds an address, by bisection.
//!
//! Symbols lie within each other, and so may objects that a process has loaded one after the other.
//! One sweep over the starts, with a heap of the intervals that reach there, cuts the addresses
//! into at most twice as many pieces as there are intervals. Each piece belongs to one interval. So
//! a lookup costs the same however the intervals overlap.

use std::collections::BinaryHeap;

/// An interval of addresses with its rank. An address in several intervals belongs to the one of
/// the highest rank.
#[derive(Debug, Clone)]
pub struct AddressInterval<R> {
    /// Its first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// Decides between overlapping intervals.
    pub rank: R,
}

/// Pieces of addresses, in order, each with the number of its interval.
#[derive(Debug, Default)]
pub struct IntervalMap {
    pieces: Vec<OwnedRange>,
}

#[derive(Debug)]
struct OwnedRange {
    start: u64,
    end: u64,
    owner: u32,
}

impl IntervalMap {
    /// Takes at most 2^32 intervals. Of equal ranks, the later one wins.
    pub fn new<R: Ord + Copy>(intervals: &[AddressInterval<R>]) -> IntervalMap {
        let mut order: Vec<u32> = (0..).take(intervals.len()).collect();
        let of = |number: u32| &intervals[number as usize];
        order.sort_unstable_by_key(|number| of(*number).start);

        let mut cover = IntervalMap::default();
        let mut open = BinaryHeap::new();
        let mut at = 0;
        let starts = order.iter().map(|number| (of(*number).start, Some(number)));
        for (next, number) in starts.chain([(u64::MAX, None)]) {
            while at < next
                && let Some(&(_, owner)) = open.peek()
            {
                let end = of(owner).end.min(next);
                if end > at {
                    cover.push(at, end, owner);
                    at = end;
                } else {
                    open.pop();
                }
            }
            at = next;
            open.extend(number.map(|number| (of(*number).rank, *number)));
        }
        cover
    }

    fn push(&mut self, start: u64, end: u64, owner: u32) {
        match self.pieces.last_mut() {
            Some(last) if last.owner == owner && last.end == start => last.end = end,
            _ => self.pieces.push(OwnedRange { start, end, owner }),
        }
    }

    /// The number of the interval that holds `address`.
    pub fn find(&self, address: u64) -> Option<usize> {
        let behind = self.pieces.partition_point(|piece| piece.start <= address);
        let piece = self.pieces.get(behind.checked_sub(1)?)?;
        (address < piece.end).then_some(piece.owner as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval() -> impl Strategy<Value = AddressInterval<u8>> {
        (0..24u64, 0..24u64, 0..4u8).prop_map(|(start, end, rank)| AddressInterval {
            start,
            end,
            rank,
        })
    }

    proptest! {
        #[test]
        fn an_address_belongs_to_the_highest_of_those_that_hold_it(
            mut intervals in prop::collection::vec(interval(), 0..12),
            top: bool,
        ) {
            // Tests the end of all addresses as well.
            let shift = if top { u64::MAX - 24 } else { 0 };
            for interval in &mut intervals {
                interval.start += shift;
                interval.end += shift;
            }
            let cover = IntervalMap::new(&intervals);
            prop_assert!(cover.pieces.len() <= 2 * intervals.len());
            for address in shift..=shift + 24 {
                let holding = intervals
                    .iter()
                    .enumerate()
                    .filter(|(_, i)| (i.start..i.end).contains(&address));
                let naive = holding
                    .max_by_key(|(number, i)| (i.rank, *number))
                    .map(|(number, _)| number);
                prop_assert_eq!(cover.find(address), naive, "{}", address);
            }
        }
    }
}
