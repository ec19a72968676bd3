//! Says in a copy of an archive what its frames prove no more, because some were left out.

use super::Coverage;
use super::lanes::{LaneCoverage, RingCoverage};
use crate::format::record::LossRecord;

impl Coverage {
    /// Records with which a copy proves what this archive proves, and no more, if the entries of
    /// blocks that were left out are told.
    pub fn proofs(&self) -> Vec<LossRecord> {
        let rings = self.rings.iter().filter(|_| !self.is_full);
        rings.flat_map(RingCoverage::proofs).collect()
    }
}

impl RingCoverage {
    fn proofs(&self) -> Vec<LossRecord> {
        let record = LossRecord {
            magic: Some(self.magic),
            count: Some(0),
            ..LossRecord::default()
        };
        if self.proves() && self.stated == 0 {
            // Perhaps only blocks proved it that were left out. This names all lanes, so that none
            // begins at 0 because of it.
            let first = |lane: &LaneCoverage| Some((lane.lane, lane.pieces().next()?.from));
            let positions = self.lanes.iter().filter_map(first).collect();
            return vec![LossRecord {
                positions,
                ..record
            }];
        }
        let mut all: Vec<LossRecord> = Vec::new();
        if self.is_vague {
            // Perhaps only blocks were vague that were left out. Nothing is missing for sure.
            self.each_uncovered(|missing| {
                let last = all.last().and_then(|last| last.positions.last());
                if last.is_none_or(|(lane, _)| *lane == missing.lane) {
                    all.push(record.clone());
                }
                if let Some(told) = all.last_mut() {
                    told.positions.push((missing.lane, missing.next));
                    told.from.push((missing.lane, missing.from));
                }
            });
        }
        all
    }
}
