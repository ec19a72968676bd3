//! Gives the events of an archive in the order of time.
//! Only the frames around the present time are in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use timeline::Order;
use timeline::internal::layout::words::IMPORTANT_LANE;

use crate::read::open::archive::Archive;
use crate::read::open::decode::Decoder;
use crate::read::order::ahead::ReadBlocks;
use crate::read::order::chooser::EventChooser;
use crate::read::units::form::{DecodedEvent, EventRank};
use crate::read::units::unit::{Unit, UnitInfo};

#[cfg(test)]
mod tests;

/// The key by which events are ordered. The first event has the least key.
type Key = EventRank;

/// A candidate for the next event: its key, whether it is in a batch already, its unit, and its
/// batch.
type Candidate = (Key, bool, usize, usize);

/// A candidate after all others.
const LAST: Candidate = (MOST, true, usize::MAX, usize::MAX);
const MOST: Key = (u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX);

/// About how many bytes of events are in memory at once, not counting the frames that are being
/// read. Lists that are used again may take a quarter of it more.
const ROOM: usize = 96 << 20;

/// Events of an archive, merged by time.
///
/// Important events come first, each once, although several files may have it. Events of one ring
/// follow by ticks; those of several by wall-clock time, because their ticks may be of different
/// machines or boots. Equal events are ordered by lane and number, then by their order in the file.
/// If units overlap that there is no room for, only a part of each is in memory, and it is read
/// again when that was taken.
pub struct ByTime<'a, T: DecodedEvent> {
    units: &'a [Unit],
    decoder: Decoder<'a, T>,
    order: Order,
    one_ring: bool,
    /// Units that are not read yet, by the first key that each can have, and batches, by the key of
    /// the next event.
    waiting: BinaryHeap<Reverse<Candidate>>,
    /// The batch that events are taken from.
    current: Option<Candidate>,
    /// The first of the other candidates.
    bound: Candidate,
    batches: Vec<Batch<T>>,
    /// Indices of `batches` that are at their end.
    free: Vec<usize>,
    /// The most bytes that `batches` may have, and the bytes that they have.
    room: usize,
    held: usize,
    /// Empty lists that are used again, and their bytes.
    spare: Vec<Vec<T>>,
    spared: usize,
    lost: u64,
    /// A unit of which events were lost, and which nobody was told.
    lossy: Option<usize>,
    /// The last important event.
    important: Option<Key>,
    /// The events that are wanted.
    chosen: EventChooser<'a>,
    /// The blocks that other threads read.
    ahead: Option<ReadBlocks<'a, T>>,
}

/// Some events of a unit.
struct Batch<T> {
    /// Events that come next, the oldest first.
    events: Vec<T>,
    /// The range of those that were not taken yet.
    left: Range<usize>,
    /// The key of the first event after these.
    after: Option<Key>,
    /// How many events of the unit were taken.
    taken: usize,
    /// How many events of the unit cannot be read.
    lost: u64,
    /// The bytes that `events` takes.
    bytes: usize,
}

impl<'a, T: DecodedEvent> ByTime<'a, T> {
    pub(crate) fn new(archive: &'a Archive, order: Order) -> ByTime<'a, T> {
        ByTime::with_room(archive, order, ROOM)
    }

    pub(crate) fn with_room(archive: &'a Archive, order: Order, room: usize) -> ByTime<'a, T> {
        let units = archive.found_units();
        let mut merged = ByTime {
            units,
            decoder: archive.decoder(),
            order,
            one_ring: archive.has_one_ring(),
            waiting: BinaryHeap::new(),
            current: None,
            bound: LAST,
            batches: Vec::new(),
            free: Vec::new(),
            room,
            held: 0,
            spare: Vec::new(),
            spared: 0,
            lost: 0,
            lossy: None,
            important: None,
            chosen: EventChooser::default(),
            ahead: None,
        };
        let waiting = units.iter().enumerate().map(|(i, unit)| {
            // The key of a unit must not be after any of its events, so the rest of the key is the
            // least or the greatest number. The greatest time of a block need not belong to its
            // greatest ticks.
            let (unix, ticks, rest) = match order {
                Order::OldestFirst => (unit.unix.0, unit.ticks.0, 0),
                Order::NewestFirst => (unit.unix.1, unit.ticks.1, u64::MAX),
            };
            let ticks = if merged.one_ring { ticks } else { rest };
            let key = merged.key((unix, ticks, rest, rest, rest));
            // Before all others.
            let key = if unit.important { Key::default() } else { key };
            Reverse((key, false, merged.rank(i), usize::MAX))
        });
        merged.waiting = waiting.collect();
        merged
    }

    /// Gives only the events that are chosen.
    pub(crate) fn chosen_by(self, chosen: EventChooser<'a>) -> ByTime<'a, T> {
        ByTime { chosen, ..self }
    }

    /// What chooses them.
    pub(crate) fn chooser(&mut self) -> &mut EventChooser<'a> {
        &mut self.chosen
    }

    /// Takes blocks that other threads read.
    pub(crate) fn ahead_by(self, ahead: ReadBlocks<'a, T>) -> ByTime<'a, T> {
        let ahead = Some(ahead);
        ByTime { ahead, ..self }
    }

    /// How many events, up to now, could not be read.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// The unit of which events were lost since this was asked last, if there is one.
    #[inline]
    pub(crate) fn take_lossy(&mut self) -> Option<UnitInfo> {
        let number = self.lossy.take()?;
        Some(self.units[number].info(number))
    }

    /// How many entries are missing, up to now, right before events that are not wanted.
    pub(crate) fn missed(&self) -> u64 {
        self.chosen.missed()
    }

    #[inline]
    fn key(&self, moment: EventRank) -> Key {
        let (unix, ticks, magic, lane, number) = self.rising(moment);
        match self.order {
            Order::OldestFirst => (unix, ticks, magic, lane, number),
            Order::NewestFirst => {
                let unix = if unix == 0 { 0 } else { (!unix).max(1) };
                (unix, !ticks, !magic, !lane, !number)
            }
        }
    }

    /// The key for oldest first. That of an important event begins with 0. It has no time, because
    /// the times that several files give it may differ by some nanoseconds.
    #[inline]
    fn rising(&self, (unix, ticks, magic, lane, number): EventRank) -> Key {
        if lane == u64::from(IMPORTANT_LANE) {
            return (0, self.decoder.names.created(magic), magic, ticks, number);
        }
        let unix = if self.one_ring { 1 } else { unix.max(1) };
        (unix, ticks, magic, lane, number)
    }

    /// The rank of a unit among units with the same key.
    fn rank(&self, unit: usize) -> usize {
        match self.order {
            Order::OldestFirst => unit,
            Order::NewestFirst => !unit,
        }
    }

    /// Reads a unit for the first time. Then its events wait.
    fn begin(&mut self, rank: usize) {
        let number = self.rank(rank);
        if !self.chosen.wants_unit(&self.units[number], number) {
            return;
        }
        let place = self.free.pop().unwrap_or(self.batches.len());
        let batch = Batch {
            events: Vec::new(),
            left: 0..0,
            after: None,
            taken: 0,
            lost: 0,
            bytes: 0,
        };
        match self.batches.get_mut(place) {
            Some(old) => *old = batch,
            None => self.batches.push(batch),
        }
        self.fill(rank, place, true);
        match self.next_of(place) {
            Some(key) => self.waiting.push(Reverse((key, true, rank, place))),
            None => self.release(place),
        }
    }

    /// Reads wanted events of a unit that were not taken yet. It keeps all if there is room.
    fn fill(&mut self, rank: usize, place: usize, is_first: bool) {
        self.empty(place);
        let (mut events, lost) = self.read(self.rank(rank), is_first);
        let key = |event: &T| self.rising(event.moment());
        if !events.is_sorted_by_key(key) {
            events.sort_by_key(key);
        }
        let (count, weight) = self.fitting(&events, rank, place);
        if self.held + weight > self.room {
            for other in (0..self.batches.len()).filter(|other| *other != place) {
                self.empty(other);
            }
        }
        let total = events.len();
        let batch = &mut self.batches[place];
        let first = batch.taken.min(total);
        // If a unit has fewer events when it is read again, the file was changed meanwhile.
        let more = lost.saturating_sub(batch.lost);
        let more = more.saturating_sub((batch.taken - first) as u64);
        self.lost = self.lost.saturating_add(more);
        batch.lost = batch.lost.saturating_add(more);
        if more > 0 {
            self.lossy = Some(self.rank(rank));
        }
        let in_order = |range: Range<usize>| match self.order {
            Order::OldestFirst => range,
            Order::NewestFirst => total - range.end..total - range.start,
        };
        let wanted = in_order(first..first + count);
        let beyond = events.get(in_order(first + count..total)).unwrap_or(&[]);
        let after = match self.order {
            Order::OldestFirst => beyond.first(),
            Order::NewestFirst => beyond.last(),
        };
        let after = after.map(|event| self.key(event.moment()));
        let batch = &mut self.batches[place];
        batch.after = after;
        if count == total {
            (batch.events, batch.left) = (events, wanted);
        } else {
            (batch.events, batch.left) = (events.drain(wanted).collect(), 0..count);
            self.keep(events);
        }
        let batch = &mut self.batches[place];
        batch.bytes = weight + (batch.events.capacity() - count) * size_of::<T>();
        self.held += batch.bytes;
    }

    /// Reads a unit. Returns its wanted events, and how many cannot be read.
    fn read(&mut self, number: usize, is_first: bool) -> (Vec<T>, u64) {
        let ahead = self.ahead.as_mut();
        if let Some(block) = ahead.and_then(|ahead| ahead.take(number)) {
            self.chosen.miss(block.missed);
            return (block.events, block.lost);
        }
        let mut events = self.spare.pop().unwrap_or_default();
        self.spared -= events.capacity() * size_of::<T>();
        let unit = (&self.units[number], number);
        let (chosen, decoder) = (&mut self.chosen, &mut self.decoder);
        let lost = chosen.read(decoder, unit, is_first, &mut events);
        (events, lost)
    }

    /// The number of events of a unit that a batch takes, and their bytes. A batch takes an equal
    /// share of the room, and all events that come before those of other units.
    fn fitting(&self, events: &[T], rank: usize, place: usize) -> (usize, usize) {
        // Only half of the room is used, so that batches seldom have to drop their events.
        let most = self.room / 2;
        let share = most / (self.batches.len() - self.free.len());
        let bound = match self.waiting.peek() {
            Some(Reverse(first)) => *first,
            None => LAST,
        };
        let (mut count, mut bytes) = (0, 0);
        let taken = self.batches[place].taken.min(events.len());
        for at in taken..events.len() {
            let event = match self.order {
                Order::OldestFirst => &events[at],
                Order::NewestFirst => &events[events.len() - 1 - at],
            };
            let is_first = || (self.key(event.moment()), true, rank, place) <= bound;
            if count > 0 && bytes >= share && (bytes >= most || !is_first()) {
                break;
            }
            count += 1;
            bytes += size_of::<T>() + event.heap();
        }
        (count, bytes)
    }

    /// Drops the events of a batch, but keeps the key of the next one.
    fn empty(&mut self, place: usize) {
        let next = self.next_of(place);
        let batch = &mut self.batches[place];
        batch.taken += batch.events.len() - batch.left.len();
        (batch.after, batch.left) = (next, 0..0);
        self.held -= std::mem::take(&mut batch.bytes);
        let events = std::mem::take(&mut batch.events);
        self.keep(events);
    }

    /// Keeps the memory of a list for later, if there is room for it.
    fn keep(&mut self, mut events: Vec<T>) {
        events.clear();
        let bytes = events.capacity() * size_of::<T>();
        // The list of the unit that is being read is always kept.
        if bytes > 0 && (self.spare.is_empty() || self.spared + bytes <= self.room / 4) {
            self.spared += bytes;
            self.spare.push(events);
        }
    }

    /// Frees the index of a batch that is at its end, for another unit.
    fn release(&mut self, place: usize) {
        self.empty(place);
        self.free.push(place);
    }

    /// The key of the next event of a batch.
    #[inline]
    fn next_of(&self, place: usize) -> Option<Key> {
        let batch = &self.batches[place];
        match self.next_in_memory(batch) {
            Some(event) => Some(self.key(event.moment())),
            None => batch.after,
        }
    }

    #[inline]
    fn next_in_memory<'r>(&self, batch: &'r Batch<T>) -> Option<&'r T> {
        match self.order {
            Order::OldestFirst => batch.events[batch.left.clone()].first(),
            Order::NewestFirst => batch.events[batch.left.clone()].last(),
        }
    }

    /// Continues with the next candidate. Returns whether there is one.
    fn advance(&mut self) -> bool {
        while let Some(Reverse(next)) = self.waiting.pop() {
            if self.starts(next) {
                return true;
            }
        }
        false
    }

    /// Continues with a batch, or reads a unit that was not read yet. Returns whether it was a
    /// batch.
    #[inline]
    fn starts(&mut self, next: Candidate) -> bool {
        let (_, is_batch, unit, _) = next;
        if !is_batch {
            self.current = None;
            self.begin(unit);
            return false;
        }
        self.current = Some(next);
        self.bound = self.waiting.peek().map_or(LAST, |Reverse(first)| *first);
        true
    }

    /// Lets a batch wait, and continues with the first of the other candidates.
    #[inline]
    fn change(&mut self, batch: Candidate) {
        let next = match self.waiting.peek_mut() {
            Some(mut first) => std::mem::replace(&mut *first, Reverse(batch)).0,
            None => batch,
        };
        self.starts(next);
    }

    /// Continues after the last event that a batch has in memory.
    #[cold]
    fn go_on(&mut self, unit: usize, place: usize) {
        match self.batches[place]
            .after
            .map(|key| (key, true, unit, place))
        {
            Some(next) if next <= self.bound => self.fill(unit, place, false),
            Some(next) => self.change(next),
            None => {
                self.release(place);
                self.current = None;
            }
        }
    }
}

impl<T: DecodedEvent> Iterator for ByTime<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        loop {
            let Some((.., unit, place)) = self.current else {
                if self.advance() {
                    continue;
                }
                return None;
            };
            let Some(event) = self.next_in_memory(&self.batches[place]) else {
                self.go_on(unit, place);
                continue;
            };
            let next = (self.key(event.moment()), true, unit, place);
            if next > self.bound {
                self.change(next);
                continue;
            }
            let batch = &mut self.batches[place];
            let taken = match self.order {
                Order::OldestFirst => batch.left.next(),
                Order::NewestFirst => batch.left.next_back(),
            };
            // Several files may have the same important event.
            if next.0.0 == 0 && self.important.replace(next.0) == Some(next.0) {
                continue;
            }
            let taken = taken.map(|taken| batch.events[taken].take());
            // Only now, because the file whose copy comes first says its time.
            if next.0.0 == 0
                && taken
                    .as_ref()
                    .is_some_and(|event| !self.chosen.wants(event))
            {
                continue;
            }
            return taken;
        }
    }
}
