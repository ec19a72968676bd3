//! Merges the events of several lanes in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::groups::{Groups, is_whole};
use crate::layout::words::Entry;

/// Merges lanes whose entries were copied chunk by chunk. Nothing is sorted, because most events
/// are followed by one of the same lane.
#[derive(Default)]
pub struct EntryMerge {
    /// Where the entries of each chunk begin and end.
    chunks: Vec<(usize, usize)>,
    lanes: Vec<LaneMerge>,
    /// When the next event of each lane was logged, and which lane that is. The lane
    /// that comes next and those without further events are not among them.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    current: Option<usize>,
}

/// How far the events of a lane are given.
struct LaneMerge {
    /// Of the next event, or of an earlier one if that has a later time: the order of the lane is
    /// kept.
    ticks: u64,
    /// The chunk, and the last one of the lane.
    chunk: usize,
    last: usize,
    /// The next event, and the end of its chunk.
    at: usize,
    end: usize,
}

impl LaneMerge {
    /// Goes to the event at or behind the present place. Returns whether there is one.
    #[inline]
    fn find(&mut self, chunks: &[(usize, usize)], entries: &[Entry]) -> bool {
        loop {
            while let Some(entry) = entries[..self.end].get(self.at) {
                if entry.event() != 0 && !entry.is_continuation() {
                    self.ticks = self.ticks.max(entry.ticks());
                    return true;
                }
                self.at += 1;
            }
            if self.chunk == self.last {
                return false;
            }
            self.chunk += 1;
            (self.at, self.end) = chunks[self.chunk];
        }
    }
}

/// An event: its chunk, its first entry, and how many follow.
pub struct EventEntries {
    pub chunk: usize,
    pub at: usize,
    pub more: usize,
}

impl EntryMerge {
    /// Forgets all events.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.lanes.clear();
        self.waiting.clear();
        self.current = None;
    }

    /// Begins with these chunks: of each the lane, and where its entries begin and end. Those of a
    /// lane stand together, in their order.
    pub fn begin(&mut self, of: impl Iterator<Item = (u32, (usize, usize))>, entries: &[Entry]) {
        self.clear();
        let mut before = None;
        for (chunk, (lane, place)) in of.enumerate() {
            self.chunks.push(place);
            match self.lanes.last_mut() {
                Some(merge) if before == Some(lane) => merge.last = chunk,
                _ => self.lanes.push(LaneMerge {
                    ticks: 0,
                    chunk,
                    last: chunk,
                    at: place.0,
                    end: place.1,
                }),
            }
            before = Some(lane);
        }
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            if lane.find(&self.chunks, entries) {
                self.waiting.push(Reverse((lane.ticks, number)));
            }
        }
        self.choose_lane();
    }

    fn choose_lane(&mut self) {
        self.current = self.waiting.pop().map(|Reverse((_, lane))| lane);
    }

    /// Whether there are more events.
    pub fn are_left(&self) -> bool {
        self.current.is_some()
    }

    /// The chunk of the next event, and its first entry.
    #[inline]
    pub fn peek<'e>(&self, entries: &'e [Entry]) -> Option<(usize, &'e Entry)> {
        let lane = &self.lanes[self.current?];
        Some((lane.chunk, entries.get(lane.at)?))
    }

    /// The next event.
    #[inline]
    pub fn next(&mut self, entries: &[Entry]) -> Option<EventEntries> {
        let current = self.current?;
        let lane = &mut self.lanes[current];
        let (chunk, at) = (lane.chunk, lane.at);
        let more = match entries.get(at)?.slots() {
            1 => 0,
            _ => Groups::new(&entries[at..lane.end]).next()?.rest.len(),
        };
        lane.at += 1 + more;
        self.settle(current, entries);
        Some(EventEntries { chunk, at, more })
    }

    /// Takes events that come next, of any lane, if they take this many entries and have ticks of
    /// this range. Passes each run to `each`: successive events of one chunk, definition, thread
    /// and CPU. Stops at the first run that `may_begin` refuses, by its chunk and first entry, and
    /// at the first event whose entries `fits` refuses. Returns how many events these are; at most
    /// `most`.
    #[inline(never)]
    pub fn take_alike(
        &mut self,
        size: usize,
        entries: &[Entry],
        (most, of): (usize, &Range<u64>),
        may_begin: impl Fn(usize, &Entry) -> bool,
        fits: impl Fn(&[Entry]) -> bool,
        mut each: impl FnMut(EventEntries, usize),
    ) -> usize {
        let mut left = most;
        while let Some(current) = self.current
            && left > 0
        {
            let lane = &mut self.lanes[current];
            let (chunk, at) = (lane.chunk, lane.at);
            let head = &entries[at].0[1..3];
            if !may_begin(chunk, &entries[at]) {
                break;
            }
            let other = self.waiting.peek();
            let mut count = 0;
            for group in entries[at..lane.end].chunks_exact(size).take(left) {
                let ticks = group[0].ticks().max(lane.ticks);
                let is_next = other.is_none_or(|first| *first <= Reverse((ticks, current)));
                let is_of_run = group[0].0[1..3] == *head && of.contains(&group[0].ticks());
                if !(is_next && is_of_run && is_whole(group) && fits(group)) {
                    break;
                }
                lane.ticks = ticks;
                count += 1;
            }
            if count == 0 {
                break;
            }
            lane.at += count * size;
            left -= count;
            self.settle(current, entries);
            let more = size - 1;
            each(EventEntries { chunk, at, more }, count);
        }
        most - left
    }

    /// Chooses the lane of the next event, after one of the current lane was taken.
    #[inline]
    fn settle(&mut self, current: usize, entries: &[Entry]) {
        let lane = &mut self.lanes[current];
        let is_left = lane.find(&self.chunks, entries);
        let own = Reverse((lane.ticks, current));
        if !is_left {
            self.choose_lane();
        } else if self.waiting.peek().is_some_and(|first| *first > own) {
            self.change(own);
        }
    }

    #[inline(never)]
    fn change(&mut self, own: Reverse<(u64, usize)>) {
        if let Some(mut first) = self.waiting.peek_mut() {
            let Reverse((_, next)) = std::mem::replace(&mut *first, own);
            self.current = Some(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::layout::words::{entry_thread, long_entry_head};

    fn entry(event: u32, ticks: u64, slots: u8, flags: u8) -> Entry {
        let head = long_entry_head(event, 0, slots, flags);
        Entry([ticks, head, entry_thread(1, 1), 0, 0, 0, 0, 0])
    }

    proptest! {
        #[test]
        fn events_come_as_if_they_were_sorted(
            chunks in prop::collection::vec(
                (0..4_u32, prop::collection::vec((0..30_u64, 0..4_u8), 0..8)),
                0..12,
            ),
            most in 0..4_usize,
            no_chunk in 0..12_usize,
            unfit in 0..30_u64,
            of in (0..20_u64, 20..40_u64),
        ) {
            let (mut chunks, of) = (chunks, of.0..of.1);
            chunks.sort_by_key(|(lane, _)| *lane);
            let (mut entries, mut places, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            let mut last = (u32::MAX, 0);
            for (chunk, (lane, events)) in chunks.iter().enumerate() {
                let start = entries.len();
                for (ticks, slots) in events {
                    let at = entries.len();
                    // None stands for an entry that fills up a chunk.
                    entries.push(entry(u32::from(*slots > 0), *ticks, (*slots).max(1), 0));
                    let more = slots.saturating_sub(1);
                    entries.extend((1..=more).map(|position| entry(0, 0, 0, position)));
                    if *slots > 0 {
                        let before = if last.0 == *lane { last.1 } else { 0 };
                        last = (*lane, before.max(*ticks));
                        expected.push((last.1, chunk, at, usize::from(more)));
                    }
                }
                places.push((*lane, (start, entries.len())));
            }
            expected.sort_by_key(|(ticks, ..)| *ticks);
            let mut turns = EntryMerge::default();
            turns.begin(places.into_iter(), &entries);
            let mut found = Vec::new();
            while let Some(turn) = turns.next(&entries) {
                found.push((turn.chunk, turn.at, turn.more));
                // Those behind it come at once or one by one.
                let size = turn.more + 1;
                let may_begin = |chunk, entry: &Entry| {
                    chunk != no_chunk && usize::from(entry.slots()) == size
                };
                let before = found.len();
                let fits = |group: &[Entry]| group.len() == size && group[0].ticks() != unfit;
                let take = |run: EventEntries, count| {
                    found.extend((0..count).map(|i| (run.chunk, run.at + i * size, run.more)));
                };
                let more = turns.take_alike(size, &entries, (most, &of), may_begin, fits, take);
                prop_assert!(more <= most && found.len() - before == more);
                let may_be = |(chunk, at, _): &(usize, usize, usize)| {
                    let ticks = entries[*at].ticks();
                    *chunk != no_chunk && of.contains(&ticks) && ticks != unfit
                };
                prop_assert!(found[before..].iter().all(may_be));
                prop_assert_eq!(turns.are_left(), found.len() < expected.len());
            }
            let expected: Vec<_> = expected.iter().map(|e| (e.1, e.2, e.3)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
