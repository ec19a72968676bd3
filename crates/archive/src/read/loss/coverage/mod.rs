//! Which entries of the lanes of each ring the frames of an archive account for.
//!
//! A frame says from which number to which it goes on with each lane: its events are there, or it
//! counts them as missing or left out. All of them together cover each lane without a hole, in
//! whatever order they stand: a hole is what a frame or a file had that is gone. Entries before the
//! first position of a lane and behind the last are no hole: the oldest files may have been
//! removed, and a recorder may have been killed.
//!
//! lanes.rs has the lanes, proofs.rs what a copy says that frames prove no more, and encoded.rs all
//! that for outlines.

mod encoded;
mod lanes;
mod proofs;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use crate::format::record::{Block, LossRecord, reaches};
use lanes::{EntryRun, LaneCoverage, RingCoverage};

/// Most pieces that are told apart, beyond one for each lane. No archive that is read in its order
/// has as many. Beyond it, holes are not known: memory does not grow with the file.
const MOST: usize = 1 << 16;
/// Most lanes of all rings together, likewise, and most rings.
const MOST_LANES: usize = 1 << 18;
const MOST_RINGS: usize = 1 << 16;

/// Lanes, and a number of each.
type Numbers = [(u64, u64)];

/// What the frames of an archive, or of a file, account for.
#[derive(Clone, Default)]
pub struct Coverage {
    rings: Vec<RingCoverage>,
    by_magic: HashMap<u64, usize>,
    /// The ring of the last frame.
    last: usize,
    pieces: usize,
    lanes: usize,
    is_full: bool,
    /// Entries that a frame accounts for although another one does.
    repeated: u64,
}

/// Entries that are missing in an archive: other records of it say that there were some, and none
/// has them or counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// The byte of the archive where the frame begins that goes on behind them.
    pub place: usize,
    /// How many.
    pub entries: u64,
}

/// Those of one lane in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneGap {
    pub magic: u64,
    pub lane: u64,
    /// The number of the first, and the one behind the last.
    pub from: u64,
    pub next: u64,
    /// See [`Hole::place`].
    pub place: usize,
}

impl Coverage {
    /// Takes a block that begins at `place`. Returns how many entries are missing before it, as
    /// far as the frames up to now tell.
    pub fn block(&mut self, block: &Block, place: usize) -> u64 {
        let Some(ring) = self.ring(block.magic.unwrap_or(0)) else {
            return 0;
        };
        let has_events = !block.positions.is_empty() && block.count != Some(0);
        self.rings[ring].is_chained |= !block.from.is_empty();
        self.rings[ring].is_vague |= block.from.is_empty() && has_events;
        let missing = self.take(ring, (&block.from, &block.positions), place);
        self.proven(ring, missing)
    }

    /// Takes a record of missed entries, likewise.
    pub fn missed(&mut self, missed: &LossRecord, place: usize) -> u64 {
        let Some(ring) = self.ring(missed.magic.unwrap_or(0)) else {
            return 0;
        };
        if let Some((lane, from, next)) = missed.accounted() {
            let repeated = self.repeated;
            let missing = self.add(ring, lane, (from, next), place);
            if missed.earlier.is_some() {
                // Those from before the recording began may have been recorded by another one.
                self.repeated = repeated;
            }
            return self.proven(ring, missing);
        }
        // With ticks it tells of a hole, whose entries are counted elsewhere.
        let states_all = missed.count == Some(0) && missed.ticks.is_none();
        if states_all && missed.from.is_empty() && missed.lane.is_none() {
            self.rings[ring].stated += 1;
            for (lane, _) in &missed.positions {
                if let Some(lane) = self.lane(ring, *lane) {
                    lane.named += 1;
                }
            }
        }
        let missing = self.take(ring, (&missed.from, &missed.positions), place);
        self.proven(ring, missing)
    }

    /// Takes the entries of a single event, likewise.
    #[inline]
    pub fn event(&mut self, magic: u64, lane: u64, range: (u64, u64), place: usize) -> u64 {
        let Some(ring) = self.ring(magic) else {
            return 0;
        };
        let missing = self.add(ring, lane, range, place);
        self.proven(ring, missing)
    }

    /// How many entries are missing of those that seem so: none where frames do not prove it.
    fn proven(&self, ring: usize, missing: u64) -> u64 {
        match self.rings[ring].proves() && !self.is_full {
            true => missing,
            false => 0,
        }
    }

    fn take(&mut self, ring: usize, (from, positions): (&Numbers, &Numbers), place: usize) -> u64 {
        let each = reaches(from, positions);
        each.fold(0, |missing: u64, (lane, from, next)| {
            missing.saturating_add(self.add(ring, lane, (from, next), place))
        })
    }

    /// A ring. `None` if there are too many.
    #[inline]
    fn ring(&mut self, magic: u64) -> Option<usize> {
        let last = self.rings.get(self.last);
        if last.is_some_and(|ring| ring.magic == magic) {
            return Some(self.last);
        }
        match self.by_magic.get(&magic) {
            Some(ring) => self.last = *ring,
            None if self.rings.len() >= MOST_RINGS => {
                self.is_full = true;
                return None;
            }
            None => {
                self.last = self.rings.len();
                self.by_magic.insert(magic, self.last);
                self.rings.push(RingCoverage {
                    magic,
                    ..RingCoverage::default()
                });
            }
        }
        Some(self.last)
    }

    /// Covers some entries of a lane. Returns how many are missing before them.
    #[inline]
    fn add(&mut self, ring: usize, lane: u64, (from, next): (u64, u64), place: usize) -> u64 {
        let Some(lane) = self.lane(ring, lane) else {
            return 0;
        };
        let present = &mut lane.present;
        if present.next == from
            && next >= from
            && lane.limit.is_none_or(|limit| next < limit)
            && present.place != usize::MAX
        {
            present.next = next;
            return 0;
        }
        let (lane, next) = (lane.lane, next.max(from));
        self.join(ring, lane, (from, next), place)
    }

    /// A lane of a ring. `None` if there are too many.
    #[inline]
    fn lane(&mut self, ring: usize, lane: u64) -> Option<&mut LaneCoverage> {
        let ring = &mut self.rings[ring];
        let index = match ring.known(lane) {
            Some(index) => index,
            None if self.lanes >= MOST_LANES => {
                self.is_full = true;
                return None;
            }
            None => {
                self.lanes += 1;
                ring.new_lane(lane)
            }
        };
        ring.lanes.get_mut(index)
    }

    /// The same, where it is not the present piece that goes on.
    #[cold]
    fn join(&mut self, ring: usize, lane: u64, (from, next): (u64, u64), place: usize) -> u64 {
        let ring = &mut self.rings[ring];
        let stated = ring.stated;
        let Some(index) = ring.known(lane) else {
            return 0;
        };
        let lane = &mut ring.lanes[index];
        let is_first = lane.present.place == usize::MAX;
        if !is_first {
            lane.pieces.insert(lane.present.from, lane.present);
        }
        let mut joined = EntryRun { from, next, place };
        let before = lane.pieces.range(..=from).next_back();
        let first = before.filter(|(_, piece)| piece.next >= from);
        let start = first.map_or(from, |(start, _)| *start);
        let touched: Vec<EntryRun> = lane.pieces.range(start..=next).map(|(_, p)| *p).collect();
        for piece in &touched {
            let both = piece.next.min(next).saturating_sub(piece.from.max(from));
            self.repeated = self.repeated.saturating_add(both);
            if piece.from <= joined.from {
                (joined.from, joined.place) = (piece.from, piece.place);
            }
            joined.next = piece.next.max(joined.next);
            lane.pieces.remove(&piece.from);
        }
        let count = lane.pieces.len() + 1;
        self.pieces += usize::from(touched.is_empty() && !is_first);
        self.pieces -= touched.len().saturating_sub(1);
        debug_assert!(count <= self.pieces + 1);
        if self.pieces > MOST {
            self.is_full = true;
            lane.pieces.clear();
            self.pieces -= count - 1;
        }
        let behind = lane.pieces.range(joined.from..).next();
        lane.limit = behind.map(|(start, _)| *start);
        let before = lane.pieces.range(..joined.from).next_back();
        let before = before.map(|(_, piece)| piece.next);
        lane.present = joined;
        if !touched.is_empty() {
            return 0;
        }
        let begins_at_0 = is_first && lane.named < stated;
        let before = before.or(begins_at_0.then_some(0));
        before.map_or(0, |before| joined.from - before)
    }

    /// Adds what another file covers, whose bytes begin at `start` of all.
    pub fn add_file(&mut self, file: &Coverage, start: usize) {
        self.repeated = self.repeated.saturating_add(file.repeated);
        self.is_full |= file.is_full;
        for ring in &file.rings {
            let Some(to) = self.ring(ring.magic) else {
                return;
            };
            self.rings[to].stated += ring.stated;
            self.rings[to].is_chained |= ring.is_chained;
            self.rings[to].is_vague |= ring.is_vague;
            for lane in &ring.lanes {
                if let Some(to) = self.lane(to, lane.lane) {
                    to.named += lane.named;
                }
                for piece in lane.pieces() {
                    let range = (piece.from, piece.next);
                    self.add(to, lane.lane, range, piece.place + start);
                }
            }
        }
    }

    /// The holes, in the order of the file.
    pub fn holes(&self) -> Vec<Hole> {
        let mut holes = BTreeMap::<usize, u64>::new();
        self.each_missing(|missing| {
            let entries = holes.entry(missing.place).or_default();
            *entries = entries.saturating_add(missing.next - missing.from);
        });
        let holes = holes.into_iter();
        holes
            .map(|(place, entries)| Hole { place, entries })
            .collect()
    }

    /// Gives the entries of all holes to `each`, by rings and lanes.
    pub fn each_missing(&self, mut each: impl FnMut(LaneGap)) {
        let known = |ring: &&RingCoverage| ring.proves() && !self.is_full;
        for ring in self.rings.iter().filter(known) {
            ring.each_uncovered(&mut each);
        }
    }

    /// Whether there are more holes than can be told apart, so that none is known.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// How many entries a frame accounts for although another one does.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }
}
