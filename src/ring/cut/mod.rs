//! A consistent cut: how far each lane counts, such that no event is in it without its causes.
//!
//! One event *happened before* another if its log call had returned when the other's began, as their threads know from
//! each other. A reader looks at the lanes one after the other. So it may find an effect in one lane whose cause came into
//! another lane right after that one was looked at.
//!
//! All lanes are looked at twice. If nothing changed in between, both looks show one moment, which is a cut.
//!
//! Otherwise the stamps decide. An effect is stamped after its cause was committed, with one exception: a processor may
//! read its clock before it has finished earlier loads, among them the load that told it of the cause. [`EARLY`] bounds
//! this. So a moment is sought that no events of two lanes surround closely: an early stamp cannot lead across it.
//!
//! - The moment lies [`EARLY`] before the last look. So that look has found all causes of the events before the moment.
//! - The moment lies behind all events of the first look. So a reader gets everything that was logged before it asked.
//!
//! Where events come so densely that there is no such moment, the widest gap is taken.

mod quiet;

pub use quiet::widest_gap;

use std::cell::OnceCell;

use super::reader::{self, Chunk};
use super::{Storage, Word};
use crate::layout::words::{Cursor, Entry};
use crate::sync::Ordering;

/// Ticks by which a stamp may be too early, with room to spare: a load from another processor's cache takes some hundred ticks.
/// tests/consistency.rs counts and measures such stamps.
pub const EARLY: u64 = 2048;
/// Ticks between the first look and the last.
const WINDOW: u64 = 4 * EARLY;
/// Looks at a clock that stands still.
const PATIENCE: usize = 4096;
/// Attempts at reading the stamps before they are overwritten.
const ATTEMPTS: u32 = 8;
/// Stamps that are compared, of all lanes that changed; of one lane, this many at least.
const STAMPS: usize = 4096;
const STAMPS_OF_LANE: usize = 16;

/// How many entries of each lane are in the cut. `None`: the lane was changing chunks each time it was looked at.
///
/// `now` reads the clock of the ring.
pub fn take<S: Storage>(ring: &S, now: impl Fn() -> u64) -> Vec<Option<u64>> {
    let first: Vec<Look> = (0..ring.lanes()).map(|lane| Look::at(ring, lane)).collect();
    if again(ring, &first) == first {
        return first.iter().map(|look| look.count).collect();
    }
    for _ in 0..ATTEMPTS {
        let read = wait(&now);
        let last = again(ring, &first);
        let tails = tails(ring, &first, &last);
        if let Some(moment) = quiet_moment(&tails, read.saturating_sub(EARLY)) {
            return tails.iter().map(|tail| tail.up_to(moment)).collect();
        }
    }
    // The clock is not the one that events are stamped with, or the ring is overwritten faster than it is looked at.
    again(ring, &first).iter().map(|look| look.count).collect()
}

/// Waits for the window to pass; the time at its end.
fn wait(now: &impl Fn() -> u64) -> u64 {
    let start = now();
    let mut read = start;
    for _ in 0..PATIENCE {
        std::hint::spin_loop();
        read = now();
        if read.wrapping_sub(start) >= WINDOW {
            break;
        }
    }
    read
}

/// A lane as it was found.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    cursor: Cursor,
    count: Option<u64>,
}

impl Look {
    fn at<S: Storage>(ring: &S, lane: u32) -> Look {
        // Acquire (pairs with the commit): what happened before a counted entry is visible to later looks.
        let cursor = Cursor(ring.cursor(lane).load(Ordering::Acquire));
        let count = match cursor.ticket() {
            0 => Some(0),
            _ => reader::committed(ring, lane),
        };
        Look { cursor, count }
    }
}

/// The same lanes now. A cursor that stayed the same counts the same entries.
fn again<S: Storage>(ring: &S, looks: &[Look]) -> Vec<Look> {
    let look = |(lane, look): (u32, &Look)| {
        // Acquire, as in `Look::at`.
        let cursor = Cursor(ring.cursor(lane).load(Ordering::Acquire));
        match look.count {
            Some(_) if cursor == look.cursor => *look,
            _ => Look::at(ring, lane),
        }
    };
    (0..).zip(looks).map(look).collect()
}

/// The newest events of a lane.
#[derive(Debug, Clone, Default)]
struct Tail {
    /// How many entries the first and the last look found.
    first: u64,
    last: Option<u64>,
    /// The stamps of the last ones of these, the newest last: of those that came since the first look, as many as are
    /// compared, and one more.
    stamps: Vec<u64>,
}

impl Tail {
    /// The stamps of what came since the first look, and before it.
    fn parts(&self) -> (&[u64], &[u64]) {
        let new = self.last.unwrap_or(0).saturating_sub(self.first);
        let new = usize::try_from(new).unwrap_or(usize::MAX);
        self.stamps.split_at(self.stamps.len().saturating_sub(new))
    }

    /// How many entries there were at a moment behind the first look.
    fn up_to(&self, moment: u64) -> Option<u64> {
        let (_, new) = self.parts();
        let later = new.iter().position(|stamp| *stamp > moment);
        let later = later.map_or(0, |at| new.len() - at);
        Some(self.last?.saturating_sub(later as u64))
    }

    /// The first moment that can be told: what the first look found was before it, and what is not compared.
    fn bound(&self) -> u64 {
        let (old, new) = self.parts();
        let whole = self
            .last
            .is_none_or(|last| last - self.first.min(last) == new.len() as u64);
        match (whole, old.last(), new.first()) {
            (true, old, _) => old.copied().unwrap_or(0),
            (false, _, new) => new.copied().unwrap_or(u64::MAX),
        }
    }
}

fn tails<S: Storage>(ring: &S, first: &[Look], last: &[Look]) -> Vec<Tail> {
    let pairs = || (0..).zip(first.iter().zip(last));
    let changed = pairs().filter(|(_, (first, last))| first != last).count();
    let most = (STAMPS / changed.max(1)).max(STAMPS_OF_LANE);
    let all = OnceCell::new();
    let tail = |(lane, (first, last)): (u32, (&Look, &Look))| {
        let (from, until) = (first.count.unwrap_or(0), last.count);
        let mut tail = Tail {
            first: from,
            last: until,
            stamps: Vec::new(),
        };
        let Some(until) = until.filter(|until| *until > 0) else {
            return tail;
        };
        let new = usize::try_from(until.saturating_sub(from)).unwrap_or(usize::MAX);
        let wanted = most.min(new.saturating_add(1));
        // Most lanes are still in the chunk in which they were found first, or in the next one.
        let cursors = [last.cursor, first.cursor];
        let near = cursors.map(|cursor| reader::inspect(ring, ring.chunk_of(cursor.ticket())));
        tail.stamps = stamps(ring, lane, near.iter().flatten(), until, wanted);
        if tail.stamps.len() < wanted {
            let all = all.get_or_init(|| newest_first(ring));
            tail.stamps = stamps(ring, lane, all.iter(), until, wanted);
        }
        tail
    };
    pairs().map(tail).collect()
}

fn newest_first<S: Storage>(ring: &S) -> Vec<Chunk> {
    let chunks = (0..ring.chunks()).filter_map(|chunk| reader::inspect(ring, chunk));
    let mut chunks: Vec<Chunk> = chunks.collect();
    chunks.sort_unstable_by_key(|chunk| std::cmp::Reverse(chunk.before));
    chunks
}

/// The stamps of at most so many entries of a lane that end with number `until`. Of the chunks, given newest first, those
/// of the lane are asked.
fn stamps<'c, S: Storage>(
    ring: &S,
    lane: u32,
    chunks: impl Iterator<Item = &'c Chunk>,
    until: u64,
    most: usize,
) -> Vec<u64> {
    let (mut stamps, mut entries) = (Vec::new(), Vec::new());
    let mut next = until;
    for chunk in chunks.filter(|chunk| chunk.lane == lane) {
        let Some(behind) = next.checked_sub(chunk.before).filter(|behind| *behind > 0) else {
            continue;
        };
        if behind > chunk.count.into() {
            // What stood between was overwritten.
            break;
        }
        let room = u32::try_from(most - stamps.len()).unwrap_or(u32::MAX);
        let seen = Chunk {
            count: behind as u32,
            ..*chunk
        };
        entries.clear();
        if reader::copy(ring, &seen, seen.count.saturating_sub(room), &mut entries).is_err() {
            break;
        }
        stamps.extend(entries.iter().rev().map(Entry::ticks));
        next = chunk.before;
    }
    stamps.reverse();
    stamps
}

/// The latest moment up to `most` around which no events of two lanes are close to each other, or else the one around
/// which they are the least close; `None` if the tails leave no moment up to `most`.
fn quiet_moment(tails: &[Tail], most: u64) -> Option<u64> {
    let lanes = (0..).zip(tails);
    let stamped = lanes.flat_map(|(lane, tail)| tail.stamps.iter().map(move |s| (*s, lane)));
    let mut events: Vec<(u64, u32)> = stamped.collect();
    events.sort_unstable();
    let least = tails.iter().map(Tail::bound).max()?;
    widest_gap(&events, least, most)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use proptest::prelude::*;

    use super::*;
    use crate::ring::writer;
    use crate::sync::AtomicU64;

    /// A ring in plain memory.
    struct Plain {
        words: Vec<AtomicU64>,
        lanes: u32,
        chunks: u32,
        chunk_entries: u32,
    }

    impl Plain {
        fn new(lanes: u32, chunks: u32, chunk_entries: u32) -> Plain {
            let count = 1 + lanes + 4 * chunks + 8 * chunks * chunk_entries;
            let words: Vec<_> = (0..count).map(|_| AtomicU64::new(0)).collect();
            let ring = Plain {
                words,
                lanes,
                chunks,
                chunk_entries,
            };
            let (ticket, cursor) = writer::initial(&ring);
            ring.next_ticket().store(ticket, Ordering::Relaxed);
            (0..lanes).for_each(|lane| ring.cursor(lane).store(cursor, Ordering::Relaxed));
            ring
        }

        fn chunk_word(&self, chunk: u32, word: u32) -> &AtomicU64 {
            &self.words[(1 + self.lanes + 4 * chunk + word) as usize]
        }
    }

    impl Storage for Plain {
        type Word<'a> = &'a AtomicU64;

        fn chunk_entries(&self) -> u32 {
            self.chunk_entries
        }
        fn chunks(&self) -> u32 {
            self.chunks
        }
        fn lanes(&self) -> u32 {
            self.lanes
        }
        fn next_ticket(&self) -> &AtomicU64 {
            &self.words[0]
        }
        fn cursor(&self, lane: u32) -> &AtomicU64 {
            &self.words[1 + lane as usize]
        }
        fn state(&self, chunk: u32) -> &AtomicU64 {
            self.chunk_word(chunk, 0)
        }
        fn before(&self, chunk: u32) -> &AtomicU64 {
            self.chunk_word(chunk, 1)
        }
        fn chunk_lane(&self, chunk: u32) -> &AtomicU64 {
            self.chunk_word(chunk, 2)
        }
        fn opened(&self, chunk: u32) -> &AtomicU64 {
            self.chunk_word(chunk, 3)
        }
        fn word(&self, chunk: u32, index: u32, word: usize) -> &AtomicU64 {
            let entry = chunk * self.chunk_entries + index;
            &self.words[(1 + self.lanes + 4 * self.chunks + 8 * entry) as usize + word]
        }
    }

    /// A ring whose writers go on while a reader looks at it. They hand a token to each other: each event is the
    /// cause of the next one.
    struct World {
        ring: Plain,
        clock: Cell<u64>,
        random: RefCell<u64>,
        /// The lane of each event, in the order in which they happened.
        story: RefCell<Vec<u32>>,
        /// Ticks between two events at least, by which a stamp is too early at most, and that a look takes.
        pace: u64,
        early: u64,
        look: u64,
        next: Cell<u64>,
        /// No stamp of a lane is before its last one.
        stamped: RefCell<Vec<u64>>,
    }

    impl World {
        fn below(&self, bound: u64) -> u64 {
            let mut state = self.random.borrow_mut();
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) % bound.max(1)
        }

        /// Lets some time pass, and happen what happens in it.
        fn pass(&self, ticks: u64) {
            self.clock.set(self.clock.get() + ticks);
            while self.next.get() <= self.clock.get() {
                self.log(self.next.get());
                self.next
                    .set(self.next.get() + self.pace + self.below(self.pace));
            }
        }

        fn log(&self, at: u64) {
            let lane = self.below(self.ring.lanes.into()) as u32;
            let stamped = &mut self.stamped.borrow_mut()[lane as usize];
            *stamped = at.saturating_sub(self.below(self.early + 1)).max(*stamped);
            let append = writer::append(&self.ring, lane, 1, |ring, chunk, index| {
                ring.word(chunk, index, 0)
                    .store(*stamped, Ordering::Relaxed);
                true
            });
            append.expect("there are more chunks than lanes");
            self.story.borrow_mut().push(lane);
        }

        /// How many events are in a cut; the second, if an effect is in it without its cause.
        fn count(&self, cut: &[Option<u64>]) -> (usize, bool) {
            let cut: Vec<u64> = cut
                .iter()
                .map(|count| count.expect("nobody is in a refill"))
                .collect();
            let mut counts = vec![0; cut.len()];
            let story = self.story.borrow();
            let is_in = story.iter().map(|lane| {
                counts[*lane as usize] += 1;
                counts[*lane as usize] <= cut[*lane as usize]
            });
            let is_in: Vec<bool> = is_in.collect();
            let count = is_in.iter().filter(|is_in| **is_in).count();
            (count, is_in[..count].iter().all(|is_in| *is_in))
        }
    }

    impl Storage for World {
        type Word<'a> = &'a AtomicU64;

        fn chunk_entries(&self) -> u32 {
            self.ring.chunk_entries
        }
        fn chunks(&self) -> u32 {
            self.ring.chunks
        }
        fn lanes(&self) -> u32 {
            self.ring.lanes
        }
        fn next_ticket(&self) -> &AtomicU64 {
            self.ring.next_ticket()
        }
        fn cursor(&self, lane: u32) -> &AtomicU64 {
            self.pass(self.below(self.look));
            self.ring.cursor(lane)
        }
        fn state(&self, chunk: u32) -> &AtomicU64 {
            self.pass(self.below(self.look));
            self.ring.state(chunk)
        }
        fn before(&self, chunk: u32) -> &AtomicU64 {
            self.ring.before(chunk)
        }
        fn chunk_lane(&self, chunk: u32) -> &AtomicU64 {
            self.ring.chunk_lane(chunk)
        }
        fn opened(&self, chunk: u32) -> &AtomicU64 {
            self.ring.opened(chunk)
        }
        fn word(&self, chunk: u32, index: u32, word: usize) -> &AtomicU64 {
            self.ring.word(chunk, index, word)
        }
    }

    fn world(lanes: u32, seed: u64, pace: u64, early: u64, look: u64) -> World {
        World {
            ring: Plain::new(lanes, 1024, 16),
            clock: Cell::new(1_000_000),
            random: RefCell::new(seed),
            story: RefCell::default(),
            pace,
            early,
            look,
            next: Cell::new(1_000_000),
            stamped: RefCell::new(vec![0; lanes as usize]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// Where events come often, stamps are in another order than the events, which only the quiet moments tell.
        #[test]
        fn a_cut_holds_all_causes_and_what_was_there_before(
            lanes in 1..9u32, seed: u64, pace in prop_oneof![100..375u64, 100..20_000u64], look in prop_oneof![1..100u64, 1..1000u64],
            before in 0..200u64,
        ) {
            let early = if pace < 375 { 2 * pace } else { (pace - 1).min(EARLY) };
            let world = world(lanes, seed, pace, early, look);
            world.pass(before * pace);
            for _ in 0..20 {
                let there = world.story.borrow().len();
                let cut = take(&world, || {
                    world.pass(20);
                    world.clock.get()
                });
                let (count, is_consistent) = world.count(&cut);
                prop_assert!(is_consistent, "{cut:?}");
                prop_assert!(count >= there, "{count} of {there} that were there");
            }
        }
    }
}
