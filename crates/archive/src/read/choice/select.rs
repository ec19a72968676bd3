//! Chooses events before they are made: by units, by the places in a unit, and by columns.
//!
//! Making an event takes several times as long as finding out by its columns that nobody wants it.
//! So a reader by time asks a [`Select`] before it reads a unit, and again before it makes the
//! events of one.

use std::ops::Range;

use timeline::{Event, EventId};

use crate::read::choice::block_ranges::BlockRanges;
use crate::read::choice::columns::BlockColumns;
use crate::read::units::unit::UnitInfo;

/// Says which events are wanted; see [`Archive::events_by_time_where`].
///
/// A unit may be read several times. The answers about it must then be the same.
///
/// [`Archive::events_by_time_where`]: crate::Archive::events_by_time_where
pub trait Select {
    /// Whether a unit may have wanted events. If not, it is not read. Nobody asks this about
    /// important events.
    fn wants_unit(&mut self, _unit: &UnitInfo) -> bool {
        true
    }

    /// Whether a block may have wanted events, whose ranges are known. If not, it is not expanded.
    fn wants_block(&mut self, _unit: &UnitInfo, _ranges: &BlockRanges) -> bool {
        true
    }

    /// Clears the places of a unit whose events are not wanted. `columns` are those of a block.
    /// Nobody asks this about important events.
    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    );

    /// Whether an event is wanted. Asked about each important event, and about those for whose
    /// places somebody called [`Places::ask`].
    fn wants(&mut self, _event: &Event) -> bool {
        true
    }
}

const BITS: usize = u64::BITS as usize;

/// The places of a unit: those of its events, in the order in which it has them. At first all are
/// wanted.
#[derive(Debug, Clone, Default)]
pub struct Places {
    count: usize,
    wanted: Vec<u64>,
    /// Those whose events have to be made before anybody can say whether they are wanted. Empty if
    /// there are none.
    asked: Vec<u64>,
}

impl Places {
    /// All places of a unit with so many events.
    pub(crate) fn all(count: usize) -> Places {
        let mut wanted = vec![u64::MAX; count.div_ceil(BITS)];
        if let Some(last) = wanted.last_mut() {
            *last >>= wanted_beyond(count);
        }
        Places {
            count,
            wanted,
            asked: Vec::new(),
        }
    }

    /// As many places, none of which is wanted.
    pub fn none_of(&self) -> Places {
        Places {
            count: self.count,
            wanted: vec![0; self.wanted.len()],
            asked: Vec::new(),
        }
    }

    /// As many places, of which those are wanted whose events have a definition that `wants` wants.
    /// It is asked once about each of the block.
    pub fn of_definitions(
        &self,
        columns: &BlockColumns<'_>,
        mut wants: impl FnMut(EventId) -> bool,
    ) -> Places {
        let mut of_definitions = self.none_of();
        let shapes = columns.definitions().iter().enumerate();
        for (shape, _) in shapes.filter(|(_, id)| wants(**id)) {
            let places = columns.places(shape).iter();
            places.for_each(|place| of_definitions.add((*place).into()));
        }
        of_definitions
    }

    /// How many places there are, wanted or not.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no places.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether any place is still wanted.
    pub fn any(&self) -> bool {
        self.wanted.iter().any(|bits| *bits != 0)
    }

    /// From the first place that is still wanted to the last one.
    pub fn span(&self) -> Range<usize> {
        let first = self.next(0).unwrap_or(0);
        let end = self.wanted.iter().rposition(|bits| *bits != 0);
        let end = end.map(|word| (word + 1) * BITS - self.wanted[word].leading_zeros() as usize);
        first..end.unwrap_or(first)
    }

    /// How many places are still wanted.
    pub fn wanted(&self) -> usize {
        let counts = self.wanted.iter().map(|bits| bits.count_ones() as usize);
        counts.sum()
    }

    /// Whether a place is still wanted.
    #[inline]
    pub fn has(&self, place: usize) -> bool {
        is_set(&self.wanted, place)
    }

    /// The places that are still wanted.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let next = self.next(from)?;
            from = next + 1;
            Some(next)
        })
    }

    /// The first wanted place from this one on.
    #[inline]
    pub fn next(&self, from: usize) -> Option<usize> {
        let mut word = from / BITS;
        let mut bits = self.wanted.get(word)? & u64::MAX << (from % BITS);
        while bits == 0 {
            word += 1;
            bits = *self.wanted.get(word)?;
        }
        Some(word * BITS + bits.trailing_zeros() as usize)
    }

    /// The event at this place is wanted.
    #[inline]
    pub fn add(&mut self, place: usize) {
        debug_assert!(place < self.count);
        if let Some(bits) = self.wanted.get_mut(place / BITS) {
            *bits |= 1 << (place % BITS);
        }
    }

    /// Only events are wanted that the others want as well.
    pub fn intersect(&mut self, others: &Places) {
        let others = others.wanted.iter().chain(std::iter::repeat(&0));
        for (bits, others) in self.wanted.iter_mut().zip(others) {
            *bits &= others;
        }
    }

    /// Those events are wanted as well that the others want.
    pub fn unite(&mut self, others: &Places) {
        for (bits, others) in self.wanted.iter_mut().zip(&others.wanted) {
            *bits |= others;
        }
    }

    /// The event at this place is not wanted.
    #[inline]
    pub fn clear(&mut self, place: usize) {
        if let Some(bits) = self.wanted.get_mut(place / BITS) {
            *bits &= !(1 << (place % BITS));
        }
    }

    /// The events at these places are not wanted. There may be fewer.
    pub fn clear_range(&mut self, range: Range<usize>) {
        let end = range.end.min(self.count);
        let mut at = range.start;
        while at < end {
            let (word, first) = (at / BITS, at % BITS);
            let behind = BITS.min(first + end - at);
            let above = u64::MAX.checked_shl(behind as u32).unwrap_or(0);
            self.wanted[word] &= above | !(u64::MAX << first);
            at += behind - first;
        }
    }

    /// Nobody knows whether the event at this place is wanted before it is made.
    #[inline]
    pub fn ask(&mut self, place: usize) {
        if self.asked.is_empty() {
            self.asked.resize(self.wanted.len(), 0);
        }
        if let Some(bits) = self.asked.get_mut(place / BITS) {
            *bits |= 1 << (place % BITS);
        }
    }

    /// Nobody knows of any event whether it is wanted before it is made.
    pub fn ask_all(&mut self) {
        self.asked.clear();
        self.asked.resize(self.wanted.len(), u64::MAX);
    }

    /// Whether the event at this place has to be made before anybody knows whether it is wanted.
    #[inline]
    pub fn asks(&self, place: usize) -> bool {
        is_set(&self.asked, place)
    }
}

/// How many bits of the last word are behind the last place.
fn wanted_beyond(count: usize) -> usize {
    count.next_multiple_of(BITS) - count
}

#[inline]
fn is_set(words: &[u64], place: usize) -> bool {
    let word = words.get(place / BITS);
    word.is_some_and(|bits| bits >> (place % BITS) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_a_list_of_bools(
            count in 0_usize..300,
            ranges in prop::collection::vec((0_usize..320, 0_usize..320), 0..8),
            single in prop::collection::vec(0_usize..320, 0..8),
        ) {
            let (mut places, mut naive) = (Places::all(count), vec![true; count]);
            for (start, end) in ranges {
                places.clear_range(start..end);
                naive.iter_mut().take(end).skip(start).for_each(|is_wanted| *is_wanted = false);
            }
            for place in single {
                places.clear(place);
                naive.iter_mut().skip(place).take(1).for_each(|is_wanted| *is_wanted = false);
            }
            let expected: Vec<_> = (0..count).filter(|place| naive[*place]).collect();
            prop_assert_eq!(places.iter().collect::<Vec<_>>(), expected.clone());
            for from in 0..400 {
                let next = expected.iter().find(|place| **place >= from);
                prop_assert_eq!(places.next(from), next.copied());
            }
            prop_assert_eq!(places.any(), !expected.is_empty());
            prop_assert_eq!(places.wanted(), expected.len());
            let end = expected.last().map_or(0, |last| last + 1);
            prop_assert_eq!(places.span(), expected.first().copied().unwrap_or(0)..end);
            prop_assert!((0..400).all(|place| places.has(place) == expected.contains(&place)));
            prop_assert_eq!((places.len(), places.is_empty()), (count, count == 0));
            let mut others = places.none_of();
            prop_assert!(!others.any() && others.len() == count);
            (0..count).step_by(3).for_each(|place| others.add(place));
            places.intersect(&others);
            let both = expected.into_iter().filter(|place| place.is_multiple_of(3));
            prop_assert!(places.iter().eq(both));
        }

        #[test]
        fn only_places_that_ask_are_asked_about(
            count in 1_usize..300,
            asked in prop::collection::vec(0_usize..300, 0..8),
        ) {
            let mut places = Places::all(count);
            asked.iter().for_each(|place| places.ask(*place));
            let asks = (0..count).filter(|place| places.asks(*place));
            let mut expected: Vec<_> = asked.into_iter().filter(|place| *place < count).collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(asks.collect::<Vec<_>>(), expected);
            places.ask_all();
            prop_assert!((0..count).all(|place| places.asks(place)));
        }
    }
}
