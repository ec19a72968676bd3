//! Says in a copy of an archive what its frames prove no more, because some were left out.

use super::Coverage;
use super::lanes::{Lane, Ring};
use crate::format::record::Missed;

impl Coverage {
    /// Records with which a copy proves what this archive proves, and no more, if the entries of
    /// blocks that were left out are told.
    pub fn proofs(&self) -> Vec<Missed> {
        let rings = self.rings.iter().filter(|_| !self.is_full);
        rings.flat_map(Ring::proofs).collect()
    }
}

impl Ring {
    fn proofs(&self) -> Vec<Missed> {
        let record = Missed {
            magic: Some(self.magic),
            count: Some(0),
            ..Missed::default()
        };
        if self.proves() && self.stated == 0 {
            // Perhaps only blocks proved it that were left out. This names all lanes, so that none
            // begins at 0 because of it.
            let first = |lane: &Lane| Some((lane.lane, lane.pieces().next()?.from));
            let positions = self.lanes.iter().filter_map(first).collect();
            return vec![Missed {
                positions,
                ..record
            }];
        }
        let mut all: Vec<Missed> = Vec::new();
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
