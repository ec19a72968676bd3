//! The lanes of a ring, and which of their entries are covered.

use std::collections::{BTreeMap, HashMap};

use super::LaneGap;

/// Lanes below this are found without a hash, and those below `FEW_OF_EACH` for each lane of the
/// ring, if they are below `MOST_FEW`: so a ring takes no more memory than its lanes.
const FEW: usize = 64;
const FEW_OF_EACH: usize = 8;
const MOST_FEW: usize = 1 << 12;

#[derive(Clone, Default)]
pub struct RingCoverage {
    pub magic: u64,
    /// How many records say where all lanes are. A lane that one of these does not name begins
    /// behind it, at 0.
    pub stated: u64,
    /// Whether a block says from where it goes on, and whether one does not.
    pub is_chained: bool,
    pub is_vague: bool,
    pub lanes: Vec<LaneCoverage>,
    /// For each lane with a small number: its index in `lanes` plus 1, or 0 if it is none of these.
    pub few: Vec<u32>,
    pub others: HashMap<u64, usize>,
}

#[derive(Clone, Default)]
pub struct LaneCoverage {
    pub lane: u64,
    /// How many of the records that state all lanes name this one.
    pub named: u64,
    /// The piece that was extended last.
    pub present: EntryRun,
    /// Where the piece behind it begins.
    pub limit: Option<u64>,
    /// The other pieces, by their beginnings. Between two there is a hole.
    pub pieces: BTreeMap<u64, EntryRun>,
}

/// Entries without a hole in between.
#[derive(Clone, Copy, Default)]
pub struct EntryRun {
    pub from: u64,
    pub next: u64,
    /// Where the frame begins that has the first of them.
    pub place: usize,
}

impl RingCoverage {
    /// Whether its frames prove what is missing. Single events prove nothing by themselves: whoever
    /// wrote them may have left out others.
    pub fn proves(&self) -> bool {
        (self.is_chained || self.stated > 0) && !self.is_vague
    }

    /// Gives what no frame accounts for to `each`, whether or not frames prove that it is missing.
    pub fn each_uncovered(&self, mut each: impl FnMut(LaneGap)) {
        for lane in &self.lanes {
            let mut before = (lane.named < self.stated).then_some(0);
            for piece in lane.pieces() {
                if let Some(from) = before.filter(|from| *from < piece.from) {
                    each(LaneGap {
                        magic: self.magic,
                        lane: lane.lane,
                        from,
                        next: piece.from,
                        place: piece.place,
                    });
                }
                before = Some(piece.next);
            }
        }
    }

    /// The index of a lane, if it came before.
    #[inline]
    pub fn known(&self, lane: u64) -> Option<usize> {
        let few = usize::try_from(lane)
            .ok()
            .and_then(|lane| self.few.get(lane));
        match few.and_then(|known| (*known as usize).checked_sub(1)) {
            None if !self.others.is_empty() => self.others.get(&lane).copied(),
            index => index,
        }
    }

    #[cold]
    pub fn new_lane(&mut self, lane: u64) -> usize {
        let index = self.lanes.len();
        let nowhere = EntryRun {
            place: usize::MAX,
            ..EntryRun::default()
        };
        self.lanes.push(LaneCoverage {
            lane,
            present: nowhere,
            ..LaneCoverage::default()
        });
        let most = (FEW + FEW_OF_EACH * index).min(MOST_FEW);
        match usize::try_from(lane) {
            Ok(lane) if lane < most => {
                if self.few.len() <= lane {
                    self.few.resize(lane + 1, 0);
                }
                self.few[lane] = index as u32 + 1;
            }
            _ => drop(self.others.insert(lane, index)),
        }
        index
    }
}

impl LaneCoverage {
    /// All pieces, in their order.
    pub fn pieces(&self) -> impl Iterator<Item = EntryRun> {
        let present = Some(self.present).filter(|piece| piece.place != usize::MAX);
        let from = self.present.from;
        let before = self.pieces.range(..from).map(|(_, piece)| *piece);
        let behind = self.pieces.range(from..).map(|(_, piece)| *piece);
        before.chain(present).chain(behind)
    }
}
