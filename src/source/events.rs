//! All events of a ring, merged by time from lanes that are each sorted already.
//!
//! A lane's chunks follow one another, so only the next event of each lane competes to be the next
//! of all. A chunk is copied only when its turn comes: the newest twenty events of a ring of a
//! million cost a look at the table of chunks and a copy of two or three. While events of one lane
//! follow one another, the others are not looked at.
//!
//! The events are a consistent cut of the ring. Chunks say how many entries their lane wrote before
//! them. So a gap in a lane is known to the last entry, and comes with the event behind it.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::Event;
use super::groups::Groups;
use crate::layout::words::Entry;
use crate::ring::Storage;
use crate::ring::memory::Observed;
use crate::ring::reader::{self, Chunk};
use crate::segment::Segment;
use crate::sync::Ordering;

/// Which end of time comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As it happened.
    OldestFirst,
    /// As one looks back at it.
    NewestFirst,
}

/// An iterator over the events that were in the ring when it was made: a consistent cut. It holds
/// every event that was logged before, and some that were logged while it was being made. With each
/// event it holds all events that happened before that one, unless they were overwritten: those
/// whose log calls had returned when the call that logged it began.
///
/// On a live ring, chunks that are overwritten before their turn are left out and counted.
/// [`Event::missed`] says where.
pub struct Events<'a> {
    segment: &'a Segment,
    order: Order,
    /// What the ring held: by lane, and in one lane by age.
    chunks: Vec<Chunk>,
    runs: Vec<Run>,
    /// The run that events are taken from; none at the end.
    current: Option<usize>,
    /// The others that are not at their end.
    waiting: BinaryHeap<(Key, usize)>,
    /// The key of the first that waits; the least of all when none does.
    bound: Key,
    overwritten: u64,
    /// The entries of the event that was taken last, if it has several.
    group: Vec<Entry>,
}

/// When an event comes: ticks, and for events of the same tick its place in the ring: lane, and
/// number in the lane. The greatest comes first.
type Key = (u64, u32, u64);

/// The events of one lane that are still to come.
struct Run {
    /// Of the next event. Only a guess until its chunk is copied: if that is overwritten before,
    /// its copy will fail.
    key: Key,
    /// The chunk of the next event.
    chunk: Chunk,
    /// What is left of it, the next event last; empty until its turn comes.
    entries: Vec<Entry>,
    /// The number of the next event in its lane.
    sequence: u64,
    /// The places of the chunks after it.
    left: Range<usize>,
    /// Where the first event of the chunk stands among its entries; behind them if it has none.
    first: usize,
    /// Oldest first: where the last chunk ended, and what is missing before the next event.
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

impl Run {
    /// The run of the chunks at `places`, of which there is at least one.
    fn new(ring: &Observed, order: Order, chunks: &[Chunk], places: Range<usize>) -> Run {
        let mut run = Run {
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

    /// Goes to the lane's next chunk; whether there is one.
    fn turn(&mut self, ring: &Observed, order: Order, chunks: &[Chunk]) -> bool {
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
        let ticks = ring.word(chunk.chunk, index, 0).load(Ordering::Relaxed);
        self.sequence = chunk.before.wrapping_add(index.into());
        self.key = order.key(ticks, chunk.lane, self.sequence);
        self.chunk = chunk;
        true
    }

    /// Appends the entries of the next event, in the order of the ring; whether there are any.
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

    /// Appends the others of an event of which one was taken.
    #[cold]
    fn take_rest(&mut self, order: Order, out: &mut Vec<Entry>) {
        match order {
            Order::OldestFirst => {
                for _ in 1..out[0].slots() {
                    out.extend(self.entries.pop_if(|next| next.is_continuation()));
                }
            }
            Order::NewestFirst => {
                // Back to the first, over the others in between.
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

    /// Copies the chunk; whether it was still there.
    fn load(&mut self, ring: &Observed, order: Order) -> bool {
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

/// Newest first: what was found before the last event of a chunk that was given.
#[derive(Default)]
struct Older {
    /// How many entries are missing between the two.
    missing: u64,
    /// How many were there at first and overwritten since.
    overwritten: u64,
    /// Whether there is a chunk with events.
    found: bool,
}

impl Run {
    /// Newest first: goes to the next older chunk that is still there and has events.
    #[cold]
    fn go_back(&mut self, ring: &Observed, chunks: &[Chunk]) -> Older {
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
    pub(crate) fn new(segment: &'a Segment, order: Order) -> Events<'a> {
        let ring = &segment.ring;
        let (_, mut chunks) = super::contents(segment);
        chunks.sort_unstable_by_key(|chunk| (chunk.lane, chunk.before));
        let mut runs = Vec::new();
        let mut start = 0;
        for lane in chunks.chunk_by(|a, b| a.lane == b.lane) {
            let places = start..start + lane.len();
            start = places.end;
            runs.push(Run::new(ring, order, &chunks, places));
        }
        let waiting = runs.iter().enumerate().map(|(i, run)| (run.key, i));
        let mut events = Events {
            segment,
            order,
            waiting: waiting.collect(),
            chunks,
            runs,
            current: None,
            bound: (0, 0, 0),
            overwritten: 0,
            group: Vec::new(),
        };
        events.take_first();
        events
    }

    /// How many entries were there at first and overwritten before their turn came: an event takes
    /// one, one with a payload several, and what fills up a chunk between them counts as well.
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// Makes the first of those that wait the current one.
    fn take_first(&mut self) {
        self.current = self.waiting.pop().map(|(_, run)| run);
        self.bound = self.first_waiting();
    }

    /// Lets the current run wait and the first of those that wait go on.
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

    /// The next event, its lane, and its place in the lane's count.
    pub(super) fn next_placed(&mut self) -> Option<(Event, u32, u64)> {
        let (lane, place, missed) = self.next_group()?;
        let group = Groups::new(&self.group).next()?;
        let node = self.segment.node(group.first.core());
        let event = Event {
            missed,
            ..Event::new(&group, node)
        };
        Some((event, lane, place))
    }

    /// Takes the entries of the next event; its lane, its place in the lane's count, and how many
    /// entries are missing before it.
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
            let mut missed = 0;
            if is_event && self.order == Order::OldestFirst {
                missed = std::mem::take(&mut run.missing);
            }
            let goes_on = match self.order {
                Order::OldestFirst => {
                    !run.entries.is_empty() || run.turn(ring, self.order, &self.chunks)
                }
                // Now, because only what is found there tells how much is missing in between.
                Order::NewestFirst if is_event && run.entries.len() <= run.first => {
                    let older = run.go_back(ring, &self.chunks);
                    self.overwritten += older.overwritten;
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
            if is_event {
                return Some((lane, place, missed));
            }
        }
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.next_placed().map(|(event, ..)| event)
    }
}
