//! The records by which a copy of an archive says what the archive lacks.
//!
//! A reader finds what is missing in an archive by its damage, by blocks that it cannot read, and
//! by what its frames account for. A copy has neither the damage nor all of the frames.

use std::io::{self, Write};

use crate::format::frame::{self, Checksum};
use crate::format::record::LossRecord;
use crate::read::loss::coverage::LaneGap;
use timeline::internal::msgpack::FieldWriter;

/// Writes one record.
pub fn put(missed: &LossRecord, out: &mut impl Write) -> io::Result<()> {
    let (mut record, mut frame) = (Vec::new(), Vec::new());
    missed.encode(&mut FieldWriter::default(), &mut record);
    frame::put(&record, &mut Checksum::default(), &mut frame);
    out.write_all(&frame)
}

/// That entries are missing here, nobody knows of which lanes, and none of these ticks or later
/// ones.
pub fn hole(magic: Option<u64>, until: u64) -> LossRecord {
    LossRecord {
        magic,
        count: Some(0),
        ticks: Some(until),
        ..LossRecord::default()
    }
}

/// That entries are missing right here, with a record for each ring.
pub fn gone(mut missing: &[LaneGap]) -> Vec<LossRecord> {
    let mut all: Vec<LossRecord> = Vec::new();
    while let Some((first, behind)) = missing.split_first() {
        missing = behind;
        let last = all.last_mut().filter(|last| {
            let has_lane = last.positions.last().is_some_and(|p| p.0 == first.lane);
            last.magic == Some(first.magic) && !has_lane
        });
        let entries = first.next - first.from;
        match last {
            Some(last) => {
                last.count = last.count.map(|count| count.saturating_add(entries));
                last.positions.push((first.lane, first.next));
                last.from.push((first.lane, first.from));
            }
            None => all.push(LossRecord {
                magic: Some(first.magic),
                count: Some(entries),
                positions: vec![(first.lane, first.next)],
                from: vec![(first.lane, first.from)],
                ..LossRecord::default()
            }),
        }
    }
    all
}

#[cfg(test)]
mod tests;
