//! The events of an archive in the order of time, of which only the frames around the present are in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::load::{Loader, Made, Moment, Placed, Unit};
use super::reader::Archive;
use super::recorded::Recorded;
use crate::source::{Event, Order};

/// What comes first is the least.
type Key = Moment;

/// What competes to be next: when it comes, whether its events are in memory already, its unit, and where they are.
type Candidate = (Key, bool, usize, usize);

/// Behind all.
const LAST: Candidate = (
    (u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX),
    true,
    usize::MAX,
    usize::MAX,
);

/// Events of an archive, merged by time.
///
/// Those of one ring are ordered by ticks, as in the ring. Where there are several rings, their ticks
/// may be those of different machines or boots, and the time of the wall clock counts. Where both are the same, the
/// order is that of lanes and of the numbers in them, and then that of the file.
pub struct ByTime<'a, T: Made> {
    units: &'a [Unit],
    loader: Loader<'a, T>,
    order: Order,
    one_ring: bool,
    /// Units that are not read yet, by the first key that each can have, and runs, by the key of the next event.
    waiting: BinaryHeap<Reverse<Candidate>>,
    /// The run that events are taken from.
    current: Option<Candidate>,
    /// The first of the others.
    bound: Candidate,
    runs: Vec<Run<T>>,
    /// Places in `runs` that are at their end.
    free: Vec<usize>,
    lost: u64,
}

/// Events in memory, the oldest first.
struct Run<T> {
    events: Vec<T>,
    /// Those that are still to come.
    left: Range<usize>,
}

impl Archive {
    /// The events, merged by time, as readers of rings know them.
    pub fn events_by_time(&self, order: Order) -> ArchiveEvents<'_> {
        ArchiveEvents {
            merged: ByTime::new(self, order),
        }
    }

    /// The events, merged by time, with everything that the archive says of them.
    pub fn by_time(&self, order: Order) -> impl Iterator<Item = Recorded> {
        ByTime::new(self, order)
    }
}

/// The events of an archive, merged by time; see [`Archive::events_by_time`].
///
/// Where an archive holds several rings, the time of the wall clock orders them, else the ticks.
pub struct ArchiveEvents<'a> {
    merged: ByTime<'a, Placed>,
}

impl ArchiveEvents<'_> {
    /// How many events there were to be by now that could not be read: their blocks are damaged inside, or packed in a
    /// way that this version does not know.
    pub fn lost(&self) -> u64 {
        self.merged.lost
    }
}

impl Iterator for ArchiveEvents<'_> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        self.merged.next().map(|placed| placed.event)
    }
}

impl<'a, T: Made> ByTime<'a, T> {
    fn new(archive: &'a Archive, order: Order) -> ByTime<'a, T> {
        let units = archive.units();
        let mut merged = ByTime {
            units,
            loader: archive.loader(),
            order,
            one_ring: archive.magics().count() < 2,
            waiting: BinaryHeap::new(),
            current: None,
            bound: LAST,
            runs: Vec::new(),
            free: Vec::new(),
            lost: 0,
        };
        let waiting = units.iter().enumerate().map(|(i, unit)| {
            // Not after any event of it, whatever the rest of the key. A block's greatest time need not be that
            // of its greatest ticks.
            let (unix, ticks, rest) = match order {
                Order::OldestFirst => (unit.unix.0, unit.ticks.0, 0),
                Order::NewestFirst => (unit.unix.1, unit.ticks.1, u64::MAX),
            };
            let ticks = if merged.one_ring { ticks } else { rest };
            let key = merged.key((unix, ticks, rest, rest, rest));
            Reverse((key, false, merged.turned(i), usize::MAX))
        });
        merged.waiting = waiting.collect();
        merged
    }

    #[inline]
    fn key(&self, (unix, ticks, magic, lane, number): Moment) -> Key {
        let unix = if self.one_ring { 0 } else { unix };
        match self.order {
            Order::OldestFirst => (unix, ticks, magic, lane, number),
            Order::NewestFirst => (!unix, !ticks, !magic, !lane, !number),
        }
    }

    /// The place of a unit among those with the same key.
    fn turned(&self, unit: usize) -> usize {
        match self.order {
            Order::OldestFirst => unit,
            Order::NewestFirst => !unit,
        }
    }

    /// Reads a unit, whose events then wait.
    fn load(&mut self, turned: usize) {
        let unit = &self.units[self.turned(turned)];
        let place = self.free.pop().unwrap_or(self.runs.len());
        if place == self.runs.len() {
            self.runs.push(Run {
                events: Vec::new(),
                left: 0..0,
            });
        }
        let one_ring = self.one_ring;
        let moment = |event: &T| {
            let (unix, ticks, magic, lane, number) = event.moment();
            (if one_ring { 0 } else { unix }, ticks, magic, lane, number)
        };
        let events = &mut self.runs[place].events;
        events.clear();
        self.lost = self.lost.saturating_add(self.loader.load(unit, events));
        if !events.is_sorted_by_key(moment) {
            events.sort_by_key(moment);
        }
        self.runs[place].left = 0..self.runs[place].events.len();
        match self.next_of(place) {
            Some(key) => self.waiting.push(Reverse((key, true, turned, place))),
            None => self.free.push(place),
        }
    }

    /// The key of the next event of a run.
    #[inline]
    fn next_of(&self, place: usize) -> Option<Key> {
        let run = &self.runs[place];
        let next = match self.order {
            Order::OldestFirst => run.events[run.left.clone()].first(),
            Order::NewestFirst => run.events[run.left.clone()].last(),
        };
        next.map(|event| self.key(event.moment()))
    }

    /// Goes on with whatever is next; whether there is something.
    fn turn(&mut self) -> bool {
        while let Some(Reverse(next)) = self.waiting.pop() {
            let (_, in_memory, unit, _) = next;
            if in_memory {
                self.current = Some(next);
                self.bound = self.waiting.peek().map_or(LAST, |Reverse(first)| *first);
                return true;
            }
            self.load(unit);
        }
        false
    }
}

impl<T: Made> Iterator for ByTime<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        loop {
            if let Some((.., unit, place)) = self.current {
                match self.next_of(place) {
                    Some(key) if (key, true, unit, place) <= self.bound => {
                        let run = &mut self.runs[place];
                        let next = match self.order {
                            Order::OldestFirst => run.left.next(),
                            Order::NewestFirst => run.left.next_back(),
                        };
                        return next.map(|next| run.events[next].take());
                    }
                    Some(key) => self.waiting.push(Reverse((key, true, unit, place))),
                    None => self.free.push(place),
                }
                self.current = None;
            }
            if !self.turn() {
                return None;
            }
        }
    }
}
