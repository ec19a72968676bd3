//! All events of a ring, merged by time from lanes that are each sorted already.
//!
//! The chunks of a lane are in order, so only the next event of each lane can be the next of all. A
//! chunk is copied only when its turn comes: to get the newest twenty events of a ring of a
//! million, a reader looks at the table of chunks and copies two or three. While events of one lane
//! follow one another, the other lanes are not looked at.
//!
//! The events are a consistent cut of the ring. A chunk says how many entries its lane wrote before
//! it. So the size of a gap in a lane is exact, and is reported with the event after the gap.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::Event;
use super::groups::Groups;
use super::important;
use super::passage::Passages;
use super::ring_contents::RingContents;
use crate::layout::words::Entry;
use crate::ring::Storage;
use crate::ring::memory::ReaderRing;
use crate::ring::reader::{self, Chunk};
use crate::segment::TimelineMapping;
use crate::sync::Ordering;

/// The order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// In the order of time.
    OldestFirst,
    /// In reverse.
    NewestFirst,
}

/// An iterator over the events of a timeline at its creation: first all
/// [important](crate::Attributes::important) ones, and then those in the ring, each in the order
/// that was asked for. The latter are a consistent cut. It has every event that was logged before,
/// and some that were logged during its creation. With each event it has all events that happened
/// before that one, unless they were overwritten. An event happened before another if its log call
/// had returned when the other's began.
///
/// If writers go on, chunks that are overwritten before their turn are left out and counted.
/// [`Event::missed`] says where.
pub struct Events<'a> {
    segment: &'a TimelineMapping,
    order: Order,
    /// The important events that are still to come.
    important: std::vec::IntoIter<Event>,
    /// The chunks in the ring, sorted by lane, and within a lane by age.
    chunks: Vec<Chunk>,
    runs: Vec<LaneEvents>,
    /// The run that events are taken from; none at the end.
    current: Option<usize>,
    /// The other runs that have events left.
    waiting: BinaryHeap<(Key, usize)>,
    /// The greatest key of a waiting run; the least of all keys if none waits.
    bound: Key,
    overwritten: u64,
    passages: Passages,
    /// The entries of the last event, if it has several.
    group: Vec<Entry>,
}

/// The order of an event: ticks, and for events of the same tick the lane and the number in the
/// lane. The greatest comes first.
type Key = (u64, u32, u64);

/// The events of one lane that are still to come.
struct LaneEvents {
    /// The key of the next event. A guess until its chunk is copied: if the chunk is overwritten
    /// before that, the copy fails.
    key: Key,
    /// The chunk of the next event.
    chunk: Chunk,
    /// The entries left in it, the next event's last; empty until its turn comes.
    entries: Vec<Entry>,
    /// The number of the next event's entry in its lane.
    sequence: u64,
    /// The indices of the chunks after it.
    left: Range<usize>,
    /// The index of the first event's entry in the chunk; the number of entries if it has no event.
    first: usize,
    /// For oldest first: the end of the last chunk, and the entries missing before the next event.
    end: u64,
    missing: u64,
}

impl Order {
    fn key(self, ticks: u64, lane: u32, sequence: u64) -> Key {
        match self {
            Order::NewestFirst => (ticks, lane, sequence),
            Order::OldestFirst => (!ticks, !lane, !sequence),
        }
    }
}

impl LaneEvents {
    /// The run of the chunks at `places`, which is not empty.
    fn new(ring: &ReaderRing, order: Order, chunks: &[Chunk], places: Range<usize>) -> LaneEvents {
        let mut run = LaneEvents {
            key: (0, 0, 0),
            chunk: chunks[places.start],
            entries: Vec::new(),
            sequence: 0,
            left: places,
            first: 0,
            end: 0,
            missing: 0,
        };
        run.turn(ring, order, chunks);
        run
    }

    /// Goes to the lane's next chunk; false if there is none.
    fn turn(&mut self, ring: &ReaderRing, order: Order, chunks: &[Chunk]) -> bool {
        let next = match order {
            Order::OldestFirst => self.left.next(),
            Order::NewestFirst => self.left.next_back(),
        };
        let Some(next) = next else { return false };
        let chunk = chunks[next];
        let index = match order {
            Order::OldestFirst => 0,
            Order::NewestFirst => chunk.count - 1,
        };
        // Relaxed: only the order of the merge depends on it. The chunk is copied and checked when
        // its turn comes.
        let ticks = ring.word(chunk.chunk, index, 0).load(Ordering::Relaxed);
        self.sequence = chunk.before.wrapping_add(index.into());
        self.key = order.key(ticks, chunk.lane, self.sequence);
        self.chunk = chunk;
        true
    }

    /// Appends the entries of the next event, in the order of the ring; false if there are none.
    #[inline]
    fn take(&mut self, order: Order, out: &mut Vec<Entry>) -> bool {
        let Some(entry) = self.entries.pop() else {
            return false;
        };
        out.push(entry);
        if entry.slots() != 1 {
            self.take_rest(order, out);
        }
        true
    }

    /// Appends the remaining entries of an event after its first, or last, was taken.
    #[cold]
    fn take_rest(&mut self, order: Order, out: &mut Vec<Entry>) {
        match order {
            Order::OldestFirst => {
                for _ in 1..out[0].slots() {
                    out.extend(self.entries.pop_if(|next| next.is_continuation()));
                }
            }
            Order::NewestFirst => {
                // Back to the first entry, through those in between.
                while out.last().is_some_and(Entry::is_continuation) {
                    let Some(entry) = self.entries.pop() else {
                        break;
                    };
                    out.push(entry);
                }
                out.reverse();
            }
        }
    }

    /// Copies the chunk; false if it was overwritten.
    fn load(&mut self, ring: &ReaderRing, order: Order) -> bool {
        self.entries.clear();
        if reader::copy(ring, &self.chunk, 0, &mut self.entries).is_err() {
            return false;
        }
        let first = Groups::new(&self.entries).next();
        self.first = first.map_or(self.entries.len(), |group| group.at);
        if order == Order::OldestFirst {
            self.entries.reverse();
            let gap = self.chunk.before.saturating_sub(self.end);
            self.missing = self.missing.saturating_add(gap);
            self.end = self.chunk.end();
        }
        if let Some(next) = self.entries.last() {
            self.key = order.key(next.ticks(), self.chunk.lane, self.sequence);
        }
        true
    }
}

/// For newest first: the result of going back from the first event of a chunk.
#[derive(Default)]
struct Older {
    /// How many entries are missing before that event.
    missing: u64,
    /// How many entries of the cut were overwritten since.
    overwritten: u64,
    /// Whether there is an older chunk with events.
    found: bool,
}

impl LaneEvents {
    /// For newest first: goes to the next older chunk with events that is not overwritten.
    #[cold]
    fn go_back(&mut self, ring: &ReaderRing, chunks: &[Chunk]) -> Older {
        let mut older = Older::default();
        let mut begin = self.chunk.before;
        while self.turn(ring, Order::NewestFirst, chunks) {
            if !self.load(ring, Order::NewestFirst) {
                older.overwritten += u64::from(self.chunk.count);
                continue;
            }
            let end = self.chunk.end();
            older.missing = older.missing.saturating_add(begin.saturating_sub(end));
            begin = self.chunk.before;
            if self.first < self.entries.len() {
                older.found = true;
                return older;
            }
        }
        older.missing = older.missing.saturating_add(begin);
        older
    }
}

impl<'a> Events<'a> {
    pub(crate) fn new(segment: &'a TimelineMapping, order: Order) -> Events<'a> {
        let mut events = Events::of_ring(segment, order);
        // After the cut: all important events that happened before an event of the cut are there.
        let mut found = segment.look(|| important::all(segment));
        if order == Order::NewestFirst {
            found.reverse();
        }
        let found: Vec<Event> = found.into_iter().map(|placed| placed.event).collect();
        events.important = found.into_iter();
        events
    }

    /// Only those of the ring.
    pub(super) fn of_ring(segment: &'a TimelineMapping, order: Order) -> Events<'a> {
        let ring = &segment.ring;
        let (_, mut chunks) = super::contents(segment);
        chunks.sort_unstable_by_key(|chunk| (chunk.lane, chunk.before));
        let mut runs = Vec::new();
        let mut start = 0;
        for lane in chunks.chunk_by(|a, b| a.lane == b.lane) {
            let places = start..start + lane.len();
            start = places.end;
            runs.push(LaneEvents::new(ring, order, &chunks, places));
        }
        let waiting = runs.iter().enumerate().map(|(i, run)| (run.key, i));
        let mut events = Events {
            segment,
            order,
            important: Vec::new().into_iter(),
            waiting: waiting.collect(),
            chunks,
            runs,
            current: None,
            bound: (0, 0, 0),
            overwritten: 0,
            passages: Passages::default(),
            group: Vec::new(),
        };
        events.note_losses();
        events.take_first();
        events
    }

    /// How many entries of the cut were overwritten before their turn: an event takes one, or
    /// several with a payload. Entries that fill up a chunk count as well.
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// Notes since when the ring is complete: what is older is in a hole.
    #[cold]
    fn note_losses(&mut self) {
        let held = self.segment.look(|| RingContents::of(&self.segment.ring));
        if let Some(since) = held.complete_since {
            self.passages.miss_before(since);
        }
    }

    /// Makes the first waiting run the current one.
    fn take_first(&mut self) {
        self.current = self.waiting.pop().map(|(_, run)| run);
        self.bound = self.first_waiting();
    }

    /// Exchanges the current run with the first waiting run.
    fn change(&mut self, key: Key, current: usize) {
        if let Some(mut first) = self.waiting.peek_mut() {
            let (_, next) = std::mem::replace(&mut *first, (key, current));
            self.current = Some(next);
        }
        self.bound = self.first_waiting();
    }

    fn first_waiting(&self) -> Key {
        self.waiting.peek().map_or((0, 0, 0), |(key, _)| *key)
    }

    /// The next event of the ring, its lane, and its place in the lane's count.
    pub(super) fn next_placed(&mut self) -> Option<(Event, u32, u64)> {
        let (lane, place, missed) = self.next_group()?;
        let group = Groups::new(&self.group).next()?;
        let event = Event {
            missed,
            passage: self.passages.of(group.first.ticks()),
            ..Event::read(self.segment, &group)
        };
        Some((event, lane, place))
    }

    /// Takes the entries of the next event. Returns its lane, its place in the lane's count, and
    /// how many entries are missing before it.
    fn next_group(&mut self) -> Option<(u32, u64, u64)> {
        let ring = &self.segment.ring;
        loop {
            let current = self.current?;
            let run = &mut self.runs[current];
            if run.key < self.bound {
                let key = run.key;
                self.change(key, current);
                continue;
            }
            self.group.clear();
            if !run.take(self.order, &mut self.group) {
                if !run.load(ring, self.order) {
                    self.overwritten += u64::from(run.chunk.count);
                    if !run.turn(ring, self.order, &self.chunks) {
                        self.take_first();
                    }
                    self.note_losses();
                }
                continue;
            }
            let taken = self.group.len() as u64;
            let (lane, sequence) = (run.chunk.lane, run.sequence);
            let (place, next) = match self.order {
                Order::OldestFirst => (sequence, sequence.wrapping_add(taken)),
                Order::NewestFirst => (
                    sequence.wrapping_sub(taken - 1),
                    sequence.wrapping_sub(taken),
                ),
            };
            if let Some(next_entry) = run.entries.last() {
                run.sequence = next;
                run.key = self.order.key(next_entry.ticks(), lane, next);
            }
            let is_event = Groups::new(&self.group).next().is_some();
            let (mut missed, mut has_lost) = (0, false);
            if is_event && self.order == Order::OldestFirst {
                missed = std::mem::take(&mut run.missing);
            }
            let goes_on = match self.order {
                Order::OldestFirst => {
                    !run.entries.is_empty() || run.turn(ring, self.order, &self.chunks)
                }
                // Goes back now, because only the older chunk tells how many entries are missing in
                // between.
                Order::NewestFirst if is_event && run.entries.len() <= run.first => {
                    let older = run.go_back(ring, &self.chunks);
                    self.overwritten += older.overwritten;
                    has_lost = older.overwritten > 0;
                    missed = older.missing;
                    older.found
                }
                Order::NewestFirst => {
                    !run.entries.is_empty() || run.turn(ring, self.order, &self.chunks)
                }
            };
            if !goes_on {
                self.take_first();
            }
            if has_lost {
                self.note_losses();
            }
            if is_event {
                return Some((lane, place, missed));
            }
        }
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        let important = self.important.next();
        important.or_else(|| self.next_placed().map(|(event, ..)| event))
    }
}
