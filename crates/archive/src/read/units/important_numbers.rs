//! Remembers which important events were given already.
//!
//! Each file of a rotated archive has all important events so far, so that it can be read alone. A
//! reader of several files meets them again, and knows them by their numbers.

use std::collections::HashMap;

/// Most ranges of numbers that are remembered. No ring has as many events that lack one another's
/// neighbours. Beyond it, an event may come again: memory does not grow with the file.
const MOST: usize = 1 << 16;

/// The numbers of important events, by magic.
#[derive(Clone, Default)]
pub struct ImportantNumbers {
    /// Sorted ranges without common numbers, each from the first number to the one behind the last.
    ranges: HashMap<u64, Vec<(u64, u64)>>,
    count: usize,
}

impl ImportantNumbers {
    /// Notes an event. Returns whether it is a new one.
    pub fn insert(&mut self, magic: u64, number: u64) -> bool {
        let end = number.saturating_add(1);
        let ranges = self.ranges.entry(magic).or_default();
        let place = ranges.partition_point(|range| range.1 < number);
        let Some((first, last)) = ranges.get_mut(place).filter(|range| range.0 <= end) else {
            if self.count < MOST {
                self.count += 1;
                ranges.insert(place, (number, end));
            }
            return true;
        };
        if (*first..*last).contains(&number) {
            return false;
        }
        *first = number.min(*first);
        *last = end.max(*last);
        let last = *last;
        if let Some(next) = ranges.get(place + 1).filter(|next| next.0 == last) {
            ranges[place].1 = next.1;
            ranges.remove(place + 1);
            self.count -= 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_event_is_new_once(
            events in proptest::collection::vec((0..3u64, 0..40u64), 0..200),
        ) {
            let (mut seen, mut twin) = (ImportantNumbers::default(), HashSet::new());
            for (magic, number) in events {
                prop_assert_eq!(seen.insert(magic, number), twin.insert((magic, number)));
                let ranges: usize = seen.ranges.values().map(Vec::len).sum();
                prop_assert_eq!(ranges, seen.count);
            }
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut seen = ImportantNumbers::default();
        assert!((0..2 * MOST as u64).all(|number| seen.insert(7, 2 * number)));
        assert_eq!(seen.count, MOST);
        assert!(!seen.insert(7, 0) && seen.insert(7, u64::MAX));
    }
}
