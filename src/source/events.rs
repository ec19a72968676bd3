//! All events of a ring, merged by time from chunks that are each sorted already.
//!
//! A heap holds one cursor per chunk. A chunk is copied only when its turn comes, so the newest twenty
//! events of a ring of a million cost a look at each chunk and a copy of one or two. Within a run of
//! events of the same chunk the heap is only peeked at.

use std::cmp::Ordering as Cmp;
use std::collections::BinaryHeap;

use super::Event;
use crate::layout::words::Entry;
use crate::ring::Storage;
use crate::ring::reader::{self, Chunk};
use crate::segment::Segment;
use crate::sync::Ordering as Memory;

/// Which end of time comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As it happened.
    OldestFirst,
    /// As one looks back at it.
    NewestFirst,
}

/// An iterator over the events that were in the ring when it was made.
///
/// On a live ring, chunks that are overwritten before their turn are left out and counted.
pub struct Events<'a> {
    segment: &'a Segment,
    order: Order,
    waiting: BinaryHeap<Run>,
    current: Option<Run>,
    overwritten: u64,
}

/// The events of one chunk that are still to come.
struct Run {
    order: Order,
    /// Ticks of the next event.
    ticks: u64,
    /// The next event's place in its lane, for events of the same tick.
    lane: u32,
    sequence: u64,
    chunk: Chunk,
    /// Empty until the chunk's turn comes; then what is left, the next event last.
    entries: Vec<Entry>,
    loaded: bool,
}

impl Run {
    fn key(&self) -> (u64, u32, u64) {
        (self.ticks, self.lane, self.sequence)
    }
}

impl Ord for Run {
    // Greater comes out of the heap first.
    fn cmp(&self, other: &Run) -> Cmp {
        match self.order {
            Order::NewestFirst => self.key().cmp(&other.key()),
            Order::OldestFirst => other.key().cmp(&self.key()),
        }
    }
}
impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Run) -> Option<Cmp> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Run {
    fn eq(&self, other: &Run) -> bool {
        self.cmp(other) == Cmp::Equal
    }
}
impl Eq for Run {}

impl<'a> Events<'a> {
    pub(crate) fn new(segment: &'a Segment, order: Order) -> Events<'a> {
        let ring = &segment.ring;
        let waiting = (0..ring.chunks())
            .filter_map(|chunk| reader::inspect(ring, chunk))
            .filter(|chunk| chunk.count > 0)
            .map(|chunk| {
                let index = match order {
                    Order::OldestFirst => 0,
                    Order::NewestFirst => chunk.count - 1,
                };
                // Only a first guess at its place: if the chunk is overwritten, its copy will fail.
                let ticks = ring.word(chunk.chunk, index, 0).load(Memory::Relaxed);
                Run {
                    order,
                    ticks,
                    lane: chunk.lane,
                    sequence: chunk.before.wrapping_add(index.into()),
                    chunk,
                    entries: Vec::new(),
                    loaded: false,
                }
            })
            .collect();
        Events {
            segment,
            order,
            waiting,
            current: None,
            overwritten: 0,
        }
    }

    /// How many events were there at first and overwritten before their turn came.
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// Copies the run's chunk; whether it was still there.
    fn load(&mut self, run: &mut Run) -> bool {
        let copied = reader::copy(&self.segment.ring, &run.chunk, 0, &mut run.entries);
        if copied.is_err() {
            self.overwritten += u64::from(run.chunk.count);
            return false;
        }
        if self.order == Order::OldestFirst {
            run.entries.reverse();
        }
        run.loaded = true;
        if let Some(next) = run.entries.last() {
            run.ticks = next.ticks();
        }
        true
    }

    /// Makes the run with the next event the current one.
    fn advance(&mut self) -> Option<()> {
        if let Some(run) = self.current.take() {
            if self.waiting.peek().is_none_or(|top| run >= *top) {
                self.current = Some(run);
                return Some(());
            }
            self.waiting.push(run);
        }
        loop {
            let mut run = self.waiting.pop()?;
            if run.loaded {
                self.current = Some(run);
                return Some(());
            }
            if self.load(&mut run) {
                self.waiting.push(run);
            }
        }
    }
}

impl Events<'_> {
    /// The next entry, its lane, and its place in the lane's count.
    pub(super) fn next_entry(&mut self) -> Option<(Entry, u32, u64)> {
        self.advance()?;
        let run = self.current.as_mut()?;
        let entry = run.entries.pop()?;
        let place = (entry, run.lane, run.sequence);
        match run.entries.last() {
            Some(next) => {
                run.ticks = next.ticks();
                run.sequence = match self.order {
                    Order::OldestFirst => run.sequence.wrapping_add(1),
                    Order::NewestFirst => run.sequence.wrapping_sub(1),
                };
            }
            None => self.current = None,
        }
        Some(place)
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let (entry, ..) = self.next_entry()?;
        Some(Event::new(&entry, self.segment.node(entry.core())))
    }
}
