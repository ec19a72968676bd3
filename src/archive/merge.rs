//! The events of an archive in the order of time, of which only the frames around the present are in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::reader::{Archive, Loader, Recorded, Unit};
use crate::source::Order;

/// When an event comes: the time, the ticks, and for events of the same moment whose, the lane and the number
/// in it.
type Key = (u64, u64, u64, u64, u64);

/// The events of an archive, merged by time.
///
/// Those of one ring are ordered by ticks, as in the ring. Where there are several rings, their ticks
/// may be those of different machines or boots, and the time of the wall clock counts.
pub struct ByTime<'a> {
    units: &'a [Unit],
    loader: Loader<'a>,
    order: Order,
    one_ring: bool,
    /// Frames not read yet, with the first key that each can have.
    waiting: BinaryHeap<Reverse<(Key, usize)>>,
    /// Runs of sorted events, by the key of the next.
    runs: BinaryHeap<Reverse<(Key, usize)>>,
    /// The events of each run, the next one last.
    events: Vec<Vec<Recorded>>,
    /// Places in `events` that are at their end.
    free: Vec<usize>,
}

impl Archive {
    /// The events, merged by time.
    pub fn by_time(&self, order: Order) -> ByTime<'_> {
        let units = self.units();
        let one_ring = units.iter().all(|unit| unit.magic == units[0].magic);
        let mut merged = ByTime {
            units,
            loader: Loader::new(self),
            order,
            one_ring,
            waiting: BinaryHeap::new(),
            runs: BinaryHeap::new(),
            events: Vec::new(),
            free: Vec::new(),
        };
        let waiting = units.iter().enumerate().map(|(i, unit)| {
            let (unix, ticks) = match order {
                Order::OldestFirst => (unit.unix.0, unit.ticks.0),
                Order::NewestFirst => (unit.unix.1, unit.ticks.1),
            };
            // Not after any event of it, whatever the rest of the key.
            let rest = match order {
                Order::OldestFirst => 0,
                Order::NewestFirst => u64::MAX,
            };
            // A block's greatest time need not be that of its greatest ticks.
            let ticks = if merged.one_ring { ticks } else { rest };
            Reverse((merged.turned(unix, ticks, rest, rest, rest), i))
        });
        merged.waiting = waiting.collect();
        merged
    }
}

impl ByTime<'_> {
    fn turned(&self, unix: u64, ticks: u64, magic: u64, lane: u64, number: u64) -> Key {
        let unix = if self.one_ring { 0 } else { unix };
        match self.order {
            Order::OldestFirst => (unix, ticks, magic, lane, number),
            Order::NewestFirst => (!unix, !ticks, !magic, !lane, !number),
        }
    }

    fn key(&self, event: &Recorded) -> Key {
        self.turned(
            event.unix_nanos.unwrap_or(0),
            event.ticks.unwrap_or(0),
            event.statement.magic,
            event.lane.unwrap_or(0),
            event.number.unwrap_or(0),
        )
    }

    /// Reads the frames that can hold the next event.
    fn load(&mut self) {
        while let Some(Reverse((first, unit))) = self.waiting.peek() {
            if self
                .runs
                .peek()
                .is_some_and(|Reverse((next, _))| next < first)
            {
                return;
            }
            let mut events = Vec::new();
            self.loader.load(&self.units[*unit], &mut events);
            self.waiting.pop();
            events.sort_by_cached_key(|event| Reverse(self.key(event)));
            let Some(next) = events.last() else { continue };
            let key = self.key(next);
            let place = self.free.pop().unwrap_or(self.events.len());
            if place == self.events.len() {
                self.events.push(events);
            } else {
                self.events[place] = events;
            }
            self.runs.push(Reverse((key, place)));
        }
    }
}

impl Iterator for ByTime<'_> {
    type Item = Recorded;

    fn next(&mut self) -> Option<Recorded> {
        self.load();
        let Reverse((_, place)) = self.runs.pop()?;
        let event = self.events[place].pop();
        match self.events[place].last() {
            Some(next) => self.runs.push(Reverse((self.key(next), place))),
            None => self.free.push(place),
        }
        event
    }
}
