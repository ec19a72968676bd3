//! How much a ring holds, from when to when, and since when it is complete.
//!
//! A lane keeps its current chunk for as long as nobody logs through it. So the oldest events of a ring may be those of
//! a CPU that has been idle since, while others overwrote the events that came after them. Chunks say how many entries
//! their lane wrote before them, so gaps are known to the last entry. All entries that are missing in a lane were
//! logged before the first entry behind its last gap.

use crate::layout::words::{Cursor, State};
use crate::ring::Storage;
use crate::ring::memory::Observed;
use crate::ring::reader::{self, Chunk};
use crate::sync::Ordering;

/// How much a ring holds. Ticks are those of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Entries that were ever logged.
    pub written: u64,
    /// Entries that are there.
    pub entries: u64,
    /// Ticks of the oldest one.
    pub oldest: Option<u64>,
    /// Ticks of the newest one.
    pub newest: Option<u64>,
    /// Ticks from which on nothing is missing; `None` if nothing was ever overwritten.
    pub complete_since: Option<u64>,
    /// Entries that are there and were logged before that.
    pub older: u64,
}

impl Held {
    /// By a ring now.
    pub fn of(ring: &Observed) -> Held {
        let lanes = lanes(ring);
        let sum = |of: &dyn Fn(&Lane) -> u64| lanes.iter().map(of).fold(0, u64::saturating_add);
        let complete_since = lanes.iter().filter_map(|lane| lane.complete_since).max();
        Held {
            written: sum(&|lane| lane.written),
            entries: sum(&Lane::entries),
            oldest: lanes.iter().filter_map(|lane| lane.oldest).min(),
            newest: lanes.iter().filter_map(|lane| lane.newest(ring)).max(),
            complete_since,
            older: complete_since.map_or(0, |since| sum(&|lane| lane.older(ring, since))),
        }
    }
}

/// A lane's entries.
#[derive(Default)]
struct Lane {
    written: u64,
    /// Where they are, in their order.
    chunks: Vec<Chunk>,
    oldest: Option<u64>,
    /// Of the first entry behind the last gap.
    complete_since: Option<u64>,
}

/// Only a few entries of each lane are looked at: the others are pages to map for nothing.
fn lanes(ring: &Observed) -> Vec<Lane> {
    let lane = |lane| Lane {
        // Before the chunks are looked at: what was logged by then is in one of them, or overwritten.
        written: written(ring, lane),
        ..Lane::default()
    };
    let mut lanes: Vec<Lane> = (0..ring.lanes()).map(lane).collect();
    let mut chunks: Vec<Chunk> = (0..ring.chunks())
        .filter_map(|chunk| reader::inspect(ring, chunk))
        .filter_map(|chunk| chunk.up_to(Some(lanes[chunk.lane as usize].written)))
        .collect();
    chunks.sort_unstable_by_key(|chunk| (chunk.lane, chunk.before));
    for of_lane in chunks.chunk_by(|a, b| a.lane == b.lane) {
        lanes[of_lane[0].lane as usize].chunks = of_lane.to_vec();
    }
    for (number, lane) in (0..).zip(&mut lanes) {
        lane.settle(ring, number);
    }
    lanes
}

/// How many entries a lane has committed in all its life.
pub fn written(ring: &Observed, lane: u32) -> u64 {
    // Of a snapshot, which may have lost the end of a lane.
    let saved = ring.saved(lane).load(Ordering::Relaxed);
    reader::committed(ring, lane).unwrap_or(0).max(saved)
}

fn ticks(ring: &Observed, chunk: &Chunk, index: u32) -> u64 {
    // Relaxed: of a chunk that may be overwritten meanwhile, which `Lane::settle` asks where it matters.
    ring.word(chunk.chunk, index, 0).load(Ordering::Relaxed)
}

impl Lane {
    /// Finds the ends, without the chunks that are overwritten meanwhile.
    fn settle(&mut self, ring: &Observed, number: u32) {
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
                self.complete_since = Some(after_its_end(ring, number));
                break;
            }
            let Some(place) = gap else { break };
            self.complete_since = first(&mut self.chunks, place);
            if self.complete_since.is_some() {
                break;
            }
        }
    }

    /// The chunk behind the last gap, and up to which number there are entries.
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

    fn newest(&self, ring: &Observed) -> Option<u64> {
        let last = self.chunks.last()?;
        Some(ticks(ring, last, last.count - 1))
    }

    /// How many entries were logged before these ticks.
    fn older(&self, ring: &Observed, since: u64) -> u64 {
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

/// Ticks behind the last entry of a lane, which was overwritten: a chunk that was taken after the lane's last one was logged to
/// later. Beyond all ticks if there is none, and in a snapshot, which does not know what the lane took last.
#[cold]
fn after_its_end(ring: &Observed, lane: u32) -> u64 {
    if ring.saved(lane).load(Ordering::Relaxed) != 0 {
        return u64::MAX;
    }
    let cursor = Cursor(ring.cursor(lane).load(Ordering::Relaxed)).ticket();
    let state = |chunk| State(ring.state(chunk).load(Ordering::Relaxed));
    let opened = (0..ring.chunks()).map(state);
    let opened = opened.filter(|state| state.lane() == Some(lane));
    let last = opened.map(State::ticket).max().unwrap_or(0).max(cursor);
    let chunks = (0..ring.chunks()).filter_map(|chunk| reader::inspect(ring, chunk));
    let later = chunks.filter(|chunk| chunk.ticket > last && chunk.count > 0);
    let first = later.filter_map(|chunk| {
        let ticks = ticks(ring, &chunk, 0);
        reader::is_still(ring, &chunk).then_some(ticks)
    });
    first.min().unwrap_or(u64::MAX)
}
