//! Tells how much a ring holds, of which time, and since when it is complete.
//!
//! A lane keeps its current chunk while no thread logs through it. So the oldest events of a ring
//! may be those of a CPU that has been idle since, while others overwrote the events that came
//! after them. A chunk says how many entries its lane wrote before it, so the size of each gap is
//! exact. All entries that are missing in a lane were logged before the first entry after its last
//! gap.
//!
//! The chunks are read once for all lanes: a damaged ring may have a million chunks, and thousands
//! of lanes without one.
//!
//! **Why does an event say how much is missing before it, and the ring since when it is complete?**
//! A lane keeps its current chunk. When a program moves to another CPU for good, its last events on
//! the first CPU stay, while those that came next are overwritten. A dump once went from event
//! 19,106,627 to 331,842 without notice. The numbers of entries in lanes tell exactly how many are
//! missing, and where. They do not tell when the missing entries were logged, only that it was
//! before the event after the gap. So the ring is complete from the last such event on, over all
//! lanes.

use std::cell::OnceCell;

use crate::layout::words::{ChunkState, Cursor};
use crate::ring::memory::ReaderRing;
use crate::ring::reader::{self, Chunk};
use crate::ring::{Storage, Word};
use crate::sync::Ordering;

/// How much a ring holds. Ticks are those of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RingContents {
    /// Entries ever logged.
    pub written: u64,
    /// Entries in the ring.
    pub entries: u64,
    /// Ticks of the oldest entry.
    pub oldest: Option<u64>,
    /// Ticks of the newest entry.
    pub newest: Option<u64>,
    /// No entry since these ticks is missing; `None` if nothing was ever overwritten.
    pub complete_since: Option<u64>,
    /// Entries in the ring that are older than that.
    pub older: u64,
}

impl RingContents {
    /// The state of a ring now.
    pub fn of(ring: &ReaderRing) -> RingContents {
        RingContents::by(ring, &saved(ring))
    }

    /// The same for any ring. `saved`: entries of each lane that a snapshot counted; 0 in other
    /// rings.
    fn by(ring: &impl Storage, saved: &[u64]) -> RingContents {
        let lanes = lanes(ring, saved);
        let sum = |of: &dyn Fn(&Lane) -> u64| lanes.iter().map(of).fold(0, u64::saturating_add);
        let complete_since = lanes.iter().filter_map(|lane| lane.complete_since).max();
        RingContents {
            written: sum(&|lane| lane.written),
            entries: sum(&Lane::entries),
            oldest: lanes.iter().filter_map(|lane| lane.oldest).min(),
            newest: lanes.iter().filter_map(|lane| lane.newest(ring)).max(),
            complete_since,
            older: complete_since.map_or(0, |since| sum(&|lane| lane.older(ring, since))),
        }
    }
}

/// The entries of a lane.
#[derive(Default)]
struct Lane {
    written: u64,
    /// Whether it is a snapshot's lane.
    is_saved: bool,
    /// Its chunks, in order.
    chunks: Vec<Chunk>,
    oldest: Option<u64>,
    /// Ticks of the first entry after the last gap.
    complete_since: Option<u64>,
}

/// Reads only a few entries of each lane, because others would map pages for nothing.
fn lanes(ring: &impl Storage, saved: &[u64]) -> Vec<Lane> {
    // Read before the chunks: all that was logged by then is in a chunk, or overwritten.
    let lane = |(written, saved): (u64, &u64)| Lane {
        written,
        is_saved: *saved != 0,
        ..Lane::default()
    };
    let lanes = written_by(ring, saved).into_iter().zip(saved);
    let mut lanes: Vec<Lane> = lanes.map(lane).collect();
    let mut chunks: Vec<Chunk> = (0..ring.chunks())
        .filter_map(|chunk| reader::inspect(ring, chunk))
        .filter_map(|chunk| chunk.up_to(Some(lanes[chunk.lane as usize].written)))
        .collect();
    chunks.sort_unstable_by_key(|chunk| (chunk.lane, chunk.before));
    for of_lane in chunks.chunk_by(|a, b| a.lane == b.lane) {
        lanes[of_lane[0].lane as usize].chunks = of_lane.to_vec();
    }
    let ends = OnceCell::new();
    for (number, lane) in (0..).zip(&mut lanes) {
        lane.settle(ring, || ends.get_or_init(|| Ends::of(ring)).after(number));
    }
    lanes
}

/// How many entries of each lane were committed when this snapshot was taken; 0 in other rings.
fn saved(ring: &ReaderRing) -> Vec<u64> {
    // Relaxed: a snapshot does not change.
    let saved = |lane| {
        ring.lane(lane)
            .field(|lane| &lane.saved)
            .load(Ordering::Relaxed)
    };
    (0..ring.lanes()).map(saved).collect()
}

/// How many entries each lane of a snapshot had committed. The snapshot may lack the last of them.
pub fn written(ring: &ReaderRing) -> Vec<u64> {
    written_by(ring, &saved(ring))
}

fn written_by(ring: &impl Storage, saved: &[u64]) -> Vec<u64> {
    let committed = super::committed(ring).into_iter().zip(saved);
    committed
        .map(|(committed, saved)| committed.unwrap_or(0).max(*saved))
        .collect()
}

fn ticks(ring: &impl Storage, chunk: &Chunk, index: u32) -> u64 {
    // Relaxed: the chunk may be overwritten meanwhile; `Lane::settle` checks that where it matters.
    ring.word(chunk.chunk, index, 0).load(Ordering::Relaxed)
}

impl Lane {
    /// Finds the oldest entry and the last gap, leaving out chunks that are overwritten meanwhile.
    /// `after`: ticks after the lane's last entry, if that was overwritten.
    fn settle(&mut self, ring: &impl Storage, after: impl Fn() -> u64) {
        let first = |of: &mut Vec<Chunk>, place: usize| {
            let ticks = ticks(ring, &of[place], 0);
            let still = reader::is_still(ring, &of[place]);
            if !still {
                of.remove(place);
            }
            still.then_some(ticks)
        };
        while !self.chunks.is_empty() && self.oldest.is_none() {
            self.oldest = first(&mut self.chunks, 0);
        }
        loop {
            let (gap, end) = self.last_gap();
            if end < self.written {
                // A snapshot does not know which chunk the lane took last.
                self.complete_since = Some(if self.is_saved { u64::MAX } else { after() });
                break;
            }
            let Some(place) = gap else { break };
            self.complete_since = first(&mut self.chunks, place);
            if self.complete_since.is_some() {
                break;
            }
        }
    }

    /// The chunk after the last gap, and the number after the last entry.
    fn last_gap(&self) -> (Option<usize>, u64) {
        let (mut gap, mut end) = (None, 0);
        for (place, chunk) in self.chunks.iter().enumerate() {
            if chunk.before > end {
                gap = Some(place);
            }
            end = chunk.end();
        }
        (gap, end)
    }

    fn entries(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.count)).sum()
    }

    fn newest(&self, ring: &impl Storage) -> Option<u64> {
        let last = self.chunks.last()?;
        Some(ticks(ring, last, last.count - 1))
    }

    /// How many entries were logged before these ticks.
    fn older(&self, ring: &impl Storage, since: u64) -> u64 {
        let begin = |chunk: &Chunk| ticks(ring, chunk, 0) < since;
        let place = self.chunks.partition_point(begin);
        let Some((last, before)) = self.chunks[..place].split_last() else {
            return 0;
        };
        let (mut low, mut high) = (0, last.count);
        while low < high {
            let middle = low.midpoint(high);
            match ticks(ring, last, middle) < since {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let before = before.iter().map(|chunk| u64::from(chunk.count));
        before.sum::<u64>() + u64::from(low)
    }
}

/// Bounds the times of overwritten entries at the ends of lanes.
struct Ends {
    /// The greatest ticket of each lane.
    taken: Vec<u64>,
    /// Tickets of chunks with entries, in order. With each, the least ticks of the first entries of
    /// this chunk and of all that follow.
    later: Vec<(u64, u64)>,
}

impl Ends {
    /// The bounds in a ring now.
    #[cold]
    fn of(ring: &impl Storage) -> Ends {
        // Relaxed, here and below: bounds that only grow, of which each is true by itself.
        let cursor = |lane| Cursor(ring.cursor(lane).load(Ordering::Relaxed)).ticket();
        let mut taken: Vec<u64> = (0..ring.lanes()).map(cursor).collect();
        for chunk in 0..ring.chunks() {
            let state = ChunkState(ring.state(chunk).load(Ordering::Relaxed));
            let of_lane = state.lane().and_then(|lane| taken.get_mut(lane as usize));
            if let Some(ticket) = of_lane {
                *ticket = state.ticket().max(*ticket);
            }
        }
        let chunks = (0..ring.chunks()).filter_map(|chunk| reader::inspect(ring, chunk));
        let first = |chunk: Chunk| {
            let ticks = ticks(ring, &chunk, 0);
            reader::is_still(ring, &chunk).then_some((chunk.ticket, ticks))
        };
        let mut later: Vec<(u64, u64)> = chunks.filter(|c| c.count > 0).filter_map(first).collect();
        later.sort_unstable();
        let mut least = u64::MAX;
        for (_, ticks) in later.iter_mut().rev() {
            least = least.min(*ticks);
            *ticks = least;
        }
        Ends { taken, later }
    }

    /// Ticks after the last entry of a lane: entries in a chunk that was taken after the lane's
    /// last one were logged later. The largest number if there is no such chunk.
    fn after(&self, lane: usize) -> u64 {
        let place = self
            .later
            .partition_point(|(ticket, _)| *ticket <= self.taken[lane]);
        self.later.get(place).map_or(u64::MAX, |(_, ticks)| *ticks)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ring::plain::{Plain, damaged};

    /// The ticks after the end of one lane, found without the others.
    fn after_its_end(ring: &Plain, lane: u32) -> u64 {
        let cursor = Cursor(ring.cursor(lane).load(Ordering::Relaxed)).ticket();
        let state = |chunk| ChunkState(ring.state(chunk).load(Ordering::Relaxed));
        let opened = (0..ring.chunks()).map(state);
        let opened = opened.filter(|state| state.lane() == Some(lane));
        let last = opened
            .map(ChunkState::ticket)
            .max()
            .unwrap_or(0)
            .max(cursor);
        let chunks = (0..ring.chunks()).filter_map(|chunk| reader::inspect(ring, chunk));
        let later = chunks.filter(|chunk| chunk.ticket > last && chunk.count > 0);
        later
            .map(|chunk| ticks(ring, &chunk, 0))
            .min()
            .unwrap_or(u64::MAX)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_ends_of_all_lanes_are_those_of_each(ring in damaged()) {
            let ends = Ends::of(&ring);
            for lane in 0..ring.lanes() {
                let expected = after_its_end(&ring, lane);
                prop_assert_eq!(ends.after(lane as usize), expected, "lane {}", lane);
            }
            // Damage does not break the rest either.
            let _ = RingContents::by(&ring, &vec![0; ring.lanes() as usize]);
        }
    }

    #[test]
    fn chunks_are_gone_through_once_for_all_lanes_that_have_none() {
        let (lanes, chunks) = (1 << 10, 1 << 12);
        let ring = Plain::new(lanes, chunks, 2);
        let put = |word: &crate::sync::AtomicU64, value| word.store(value, Ordering::Relaxed);
        for lane in 0..lanes {
            // Each lane was interrupted in a refill, and had lost its last chunk by then.
            let (chunk, ticket) = (lane, u64::from(chunks + lane));
            put(ring.cursor(lane), Cursor::new(1, 2).0);
            put(ring.state(chunk), ChunkState::open(ticket, lane).0);
            put(ring.before(chunk), 1_000);
            put(ring.chunk_lane(chunk), lane.into());
            put(ring.opened(chunk), ticket);
        }
        let last = chunks - 1;
        put(
            ring.state(last),
            ChunkState::closed(u64::from(chunks + last), 2).0,
        );
        put(ring.word(last, 0, 0), 77);
        ring.looks.set(0);
        let held = RingContents::by(&ring, &vec![0; lanes as usize]);
        let expected = RingContents {
            written: u64::from(lanes) * 1_000,
            entries: 2,
            oldest: Some(77),
            newest: Some(0),
            complete_since: Some(77),
            older: 0,
        };
        assert_eq!(held, expected);
        let words = ring.looks.get();
        assert!(words <= 32 * u64::from(lanes + chunks), "{words} words");
    }
}
