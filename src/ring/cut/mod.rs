//! A consistent cut: how far to read each lane so that no event is without its causes.
//!
//! One event *happened before* another if its log call had returned when the other's began, as far
//! as their threads know from each other. A reader looks at the lanes one after the other. So it
//! may find an effect in one lane whose cause came into another lane right after it looked at that
//! one.
//!
//! The reader looks at all lanes twice. If nothing changed in between, both looks show the same
//! moment, and that is a cut.
//!
//! Otherwise the stamps decide. An effect is stamped after its cause was committed, with one
//! exception: a processor may read its clock before it has finished earlier loads, including the
//! load that told it of the cause. [`EARLY`] bounds this. So the reader looks for a moment with no
//! events of two lanes close around it: an early stamp cannot cross it.
//!
//! - The moment is [`EARLY`] before the last look. So that look has found all causes of the events
//!   before the moment.
//! - The moment is after all events of the first look. So a reader gets everything that was logged
//!   before it asked.
//!
//! quiet.rs finds the moment among stamps.
//!
//! If events are so dense that there is no such moment, the widest gap is taken. If stamps cannot
//! be compared, because the ring is overwritten faster than it is read, the cut is what the lanes
//! have committed, and may have an effect without its cause.
//!
//! **Why does a reader look at all lanes twice, and wait in between?** It looks at one lane after
//! the other. While it looks at the second lane, the first one gets an event. A thread of the
//! second lane learns of that event and logs the next one. The reader then finds the effect without
//! its cause. If two looks find the same, they show one moment. Under load they never do, so stamps
//! have to decide: the reader gives the events stamped before some moment, and the rest comes with
//! the next poll. A writer that is slow between clock and commit holds nothing up, because the
//! reader does not wait for it: its event comes later, and no event given earlier happened after
//! it.
//!
//! **Why are stamps not enough?** Because `rdtsc` does not wait for earlier loads. Say that a
//! thread waits for a token. The processor guesses that the wait is over, and reads the clock while
//! the load that will confirm it is still under way. A loop of nothing but `rdtsc` and the
//! hand-over of a token shows this, by some dozens of ticks. Log calls do more, and have not shown
//! it so far, but nothing rules it out. (`cargo test --release --test archive stamps --
//! --nocapture` counts the events stamped before their cause.) A fence before `rdtsc` would rule it
//! out, but adds more than half to the cost of every event. So the reader cuts where events of two
//! lanes are far apart (src/ring/cut/). If many CPUs log without a pause, the three microseconds of
//! its window may have no such place. Then it takes the widest gap. That is seldom too narrow: it
//! would have to fall between an early stamp and its cause. Events of two CPUs are listed in the
//! order of their stamps, so two events that close may be listed in either order.

mod quiet;

pub use quiet::widest_gap;

use std::cell::OnceCell;
use std::cmp::Reverse;

use super::reader::{self, Chunk, LaneView};
use super::{Storage, Word};
use crate::layout::words::{Cursor, Entry};
use crate::sync::Ordering;

/// Ticks by which a stamp may be too early, with room to spare: a load from another processor's
/// cache takes some hundred ticks. tests/archive/consistency.rs counts and measures such stamps.
pub const EARLY: u64 = 2048;
/// Ticks between the first look and the last.
const WINDOW: u64 = 4 * EARLY;
/// How many ticks before the last look a moment may be: the reader may have been stopped since the
/// first look.
const DEPTH: u64 = 4 * WINDOW;
/// How often to read a clock that stands still.
const PATIENCE: usize = 4096;
/// Attempts to read the stamps before they are overwritten.
const ATTEMPTS: u32 = 8;
/// Most stamps of one lane that are read.
const STAMPS: usize = 1 << 14;

/// How many entries of each lane are in the cut. `None`: the lane was changing chunks each time we
/// looked.
///
/// `now` reads the clock of the ring.
pub fn take<S: Storage>(ring: &S, now: impl Fn() -> u64) -> Vec<Option<u64>> {
    let lanes: Vec<u32> = (0..ring.lanes()).collect();
    let first = reader::look(ring, &lanes);
    if again(ring, &first) == first {
        return first.iter().map(|look| look.count).collect();
    }
    for _ in 0..ATTEMPTS {
        let read = wait(&now);
        let last = again(ring, &first);
        let tails = tails(ring, &first, &last, read);
        if let Some(moment) = quiet_moment(&tails, read.saturating_sub(EARLY)) {
            return tails.iter().map(|tail| tail.up_to(moment)).collect();
        }
    }
    // The clock is not the one that events are stamped with, or the ring is overwritten faster than
    // it is read.
    again(ring, &first).iter().map(|look| look.count).collect()
}

/// Waits for the window to pass, and returns the time at its end.
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

/// Looks at the same lanes again. An unchanged cursor counts the same entries.
fn again<S: Storage>(ring: &S, looks: &[LaneView]) -> Vec<LaneView> {
    let has_moved = |(lane, look): &(u32, &LaneView)| {
        // Acquire (pairs with the commit): what happened before a counted entry is visible to later
        // looks.
        let cursor = Cursor(ring.cursor(*lane).load(Ordering::Acquire));
        look.count.is_none() || cursor != look.cursor
    };
    let moved = (0..).zip(looks).filter(has_moved);
    let moved: Vec<u32> = moved.map(|(lane, _)| lane).collect();
    let mut now = looks.to_vec();
    for (lane, look) in moved.iter().zip(reader::look(ring, &moved)) {
        now[*lane as usize] = look;
    }
    now
}

/// The newest events of a lane.
#[derive(Debug, Clone, Default)]
struct Tail {
    /// How many entries the last look found.
    last: Option<u64>,
    /// The stamp of the last entry that the first look found, if known. Stamps from the future are
    /// left out: no present clock has given them.
    old: Option<u64>,
    /// The stamps of the last entries since then, the newest last.
    new: Vec<u64>,
    /// Whether `new` has all entries since then, and the one before them was read.
    whole: bool,
}

impl Tail {
    /// How many entries there were at a moment after the first look.
    fn up_to(&self, moment: u64) -> Option<u64> {
        let later = self.new.iter().position(|stamp| *stamp > moment);
        let later = later.map_or(0, |at| self.new.len() - at);
        Some(self.last?.saturating_sub(later as u64))
    }

    /// The first possible moment: after all that the first look found, and after all that is not
    /// compared.
    fn bound(&self) -> u64 {
        match (self.whole, self.new.first()) {
            (true, _) => self.old.unwrap_or(0),
            // Entries before these may be as close to a moment as these are.
            (false, new) => new.map_or(u64::MAX, |new| new.saturating_add(EARLY)),
        }
    }

    fn stamps(&self) -> impl Iterator<Item = u64> {
        self.old.into_iter().chain(self.new.iter().copied())
    }
}

/// The new entries of each lane from the first look to the last, which was at `read` or later.
fn tails<S: Storage>(ring: &S, first: &[LaneView], last: &[LaneView], read: u64) -> Vec<Tail> {
    let all = OnceCell::new();
    let tail = |(lane, (first, last)): (u32, (&LaneView, &LaneView))| {
        let (from, Some(until)) = (first.count.unwrap_or(0), last.count) else {
            return Tail::default();
        };
        if first == last {
            return Tail {
                last: Some(until),
                old: newest(ring, last.cursor).filter(|old| *old <= read),
                whole: true,
                ..Tail::default()
            };
        }
        // Most lanes are still in the chunk of the first look, or in the next one.
        let mut near = vec![reader::inspect(ring, ring.chunk_of(last.cursor.ticket()))];
        if first.cursor.ticket() != last.cursor.ticket() {
            near.push(reader::inspect(ring, ring.chunk_of(first.cursor.ticket())));
        }
        let back = Back { from, until, read };
        let mut tail = back.over(ring, lane, near.iter().flatten());
        if !tail.whole && tail.bound() > read.saturating_sub(WINDOW) {
            let all = all.get_or_init(|| newest_first(ring));
            let from = all.partition_point(|chunk| chunk.lane < lane);
            let of_lane = all[from..].iter().take_while(|chunk| chunk.lane == lane);
            tail = back.over(ring, lane, of_lane);
        }
        tail
    };
    let pairs = (0..).zip(first.iter().zip(last));
    pairs.map(tail).collect()
}

/// The stamp of a lane's newest entry, in its current chunk, which cannot be taken from it.
fn newest<S: Storage>(ring: &S, cursor: Cursor) -> Option<u64> {
    let index = cursor.count().min(ring.chunk_entries()).checked_sub(1)?;
    let chunk = ring.chunk_of(cursor.ticket());
    // Relaxed: it was counted by a cursor that was loaded with Acquire.
    (cursor.ticket() != 0).then(|| ring.word(chunk, index, 0).load(Ordering::Relaxed))
}

/// All chunks, grouped by lane, and the newest first in each group.
fn newest_first<S: Storage>(ring: &S) -> Vec<Chunk> {
    let chunks = (0..ring.chunks()).filter_map(|chunk| reader::inspect(ring, chunk));
    let mut chunks: Vec<Chunk> = chunks.collect();
    chunks.sort_unstable_by_key(|chunk| (chunk.lane, Reverse(chunk.before)));
    chunks
}

/// A walk back through a lane: from its number `until` to the one before its number `from`, or
/// until a moment can be found.
struct Back {
    from: u64,
    until: u64,
    read: u64,
}

impl Back {
    /// Walks over these chunks, newest first, and skips those of other lanes.
    fn over<'c, S: Storage>(
        &self,
        ring: &S,
        lane: u32,
        chunks: impl Iterator<Item = &'c Chunk>,
    ) -> Tail {
        let (mut stamps, mut entries) = (Vec::new(), Vec::new());
        let mut next = self.until;
        let early = |stamps: &Vec<u64>| {
            let oldest = stamps.last();
            oldest.is_some_and(|oldest| *oldest <= self.read.saturating_sub(DEPTH))
        };
        for chunk in chunks.filter(|chunk| chunk.lane == lane) {
            if next < self.from || stamps.len() >= STAMPS || early(&stamps) {
                break;
            }
            let Some(behind) = next.checked_sub(chunk.before).filter(|behind| *behind > 0) else {
                continue;
            };
            if behind > chunk.count.into() {
                // The entries in between were overwritten.
                break;
            }
            let seen = Chunk {
                count: behind as u32,
                ..*chunk
            };
            let begin = self.from.saturating_sub(1).saturating_sub(chunk.before);
            let begin = u32::try_from(begin).unwrap_or(u32::MAX).min(seen.count);
            entries.clear();
            if reader::copy(ring, &seen, begin, &mut entries).is_err() {
                break;
            }
            stamps.extend(entries.iter().rev().map(Entry::ticks));
            next = chunk.before.saturating_add(begin.into());
        }
        stamps.reverse();
        let new = usize::try_from(self.until.saturating_sub(self.from)).unwrap_or(usize::MAX);
        let new = stamps.split_off(stamps.len().saturating_sub(new));
        Tail {
            last: Some(self.until),
            old: stamps.last().copied().filter(|old| *old <= self.read),
            whole: next < self.from.max(1),
            new,
        }
    }
}

/// The latest moment up to `most` with no events of two lanes close around it, or else the one
/// where they are the least close. `None` if the tails leave no moment up to `most`.
fn quiet_moment(tails: &[Tail], most: u64) -> Option<u64> {
    let least = tails.iter().map(Tail::bound).max()?;
    if least > most {
        return None;
    }
    let lanes = (0..).zip(tails);
    let stamped = lanes.flat_map(|(lane, tail)| tail.stamps().map(move |stamp| (stamp, lane)));
    let mut events: Vec<(u64, u32)> = stamped
        .filter(|(stamp, _)| *stamp >= least.saturating_sub(EARLY))
        .collect();
    events.sort_unstable();
    widest_gap(&events, least, most)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use proptest::prelude::*;

    use super::*;
    use crate::ring::plain::Plain;
    use crate::ring::writer;
    use crate::sync::AtomicU64;

    /// A ring whose writers go on while a reader looks at it. They pass a token to each other, so
    /// each event is the cause of the next one.
    struct World {
        ring: Plain,
        clock: Cell<u64>,
        random: RefCell<u64>,
        /// The lane of each event, in the order in which they happened.
        story: RefCell<Vec<u32>>,
        /// In ticks: the least distance of two events, the most that a stamp is too early, and the
        /// most that a look takes.
        pace: u64,
        early: u64,
        look: u64,
        next: Cell<u64>,
        /// The last stamp of each lane. Stamps of a lane never fall.
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

        /// Lets time pass, and logs the events of that time.
        fn pass(&self, ticks: u64) {
            self.clock.set(self.clock.get() + ticks);
            while self.next.get() <= self.clock.get() {
                self.log(self.next.get());
                self.next
                    .set(self.next.get() + self.pace + self.below(self.pace));
            }
        }

        fn log(&self, at: u64) {
            // The last lane is idle.
            let lane = self.below(u64::from(self.ring.lanes()) - 1) as u32;
            let last = self.stamped.borrow()[lane as usize];
            let stamp = at.saturating_sub(self.below(self.early + 1)).max(last);
            self.stamped.borrow_mut()[lane as usize] = stamp;
            self.append(lane, stamp);
        }

        fn append(&self, lane: u32, stamp: u64) {
            let append = writer::append(&self.ring, lane, 1, |ring, chunk, index| {
                ring.word(chunk, index, 0).store(stamp, Ordering::Relaxed);
                true
            });
            append.expect("there are more chunks than lanes");
            self.story.borrow_mut().push(lane);
        }

        /// How many events are in a cut, and whether each has all its causes in it.
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
            self.ring.chunk_entries()
        }
        fn chunks(&self) -> u32 {
            self.ring.chunks()
        }
        fn lanes(&self) -> u32 {
            self.ring.lanes()
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
            ring: Plain::new(lanes + 1, 1024, 16),
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

        /// If events are dense, the order of stamps differs from that of events, and only quiet
        /// moments tell.
        #[test]
        fn a_cut_holds_all_causes_and_what_was_there_before(
            lanes in 1..9u32,
            seed: u64,
            pace in prop_oneof![100..375u64, 100..20_000u64],
            look in prop_oneof![1..100u64, 1..1000u64],
            before in 0..200u64, is_one_from_the_future: bool,
        ) {
            let early = if pace < 375 { 2 * pace } else { (pace - 1).min(EARLY) };
            let world = world(lanes, seed, pace, early, look);
            if is_one_from_the_future {
                world.append(lanes, 1 << 60);
            }
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
