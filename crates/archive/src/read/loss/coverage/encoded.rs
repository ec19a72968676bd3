//! Writes what a file covers into its outline, and reads it.

use super::Coverage;
use super::lanes::EntryRun;
use crate::format::varint::{NumberReader, put, put_difference};

impl Coverage {
    /// Appends its bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.is_full.into());
        put(out, self.repeated);
        put(out, self.rings.len() as u64);
        let mut place = 0;
        for ring in &self.rings {
            put(out, ring.magic);
            put(out, ring.stated);
            put(
                out,
                u64::from(ring.is_chained) | u64::from(ring.is_vague) << 1,
            );
            put(out, ring.lanes.len() as u64);
            for lane in &ring.lanes {
                put(out, lane.lane);
                put(out, lane.named);
                let pieces: Vec<EntryRun> = lane.pieces().collect();
                put(out, pieces.len() as u64);
                let mut before = 0;
                for piece in pieces {
                    put(out, piece.from - before);
                    put(out, piece.next - piece.from);
                    put_difference(out, piece.place as u64, place);
                    (before, place) = (piece.next, piece.place as u64);
                }
            }
        }
    }

    /// Of a file with so many bytes, by these bytes. `None` if they are none.
    pub fn decode(input: &mut NumberReader, length: usize) -> Option<Coverage> {
        let mut found = Coverage {
            is_full: input.get()? != 0,
            repeated: input.get()?,
            ..Coverage::default()
        };
        let (rings, mut place) = (input.get()?, 0);
        for _ in 0..rings {
            let ring = found.ring(input.get()?)?;
            found.rings[ring].stated = input.get()?;
            let flags = input.get()?;
            found.rings[ring].is_chained = flags & 1 != 0;
            found.rings[ring].is_vague = flags & 2 != 0;
            for _ in 0..input.get()? {
                let lane = input.get()?;
                found.lane(ring, lane)?.named = input.get()?;
                let mut before = 0_u64;
                for _ in 0..input.get()? {
                    let from = before.checked_add(input.get()?)?;
                    let next = from.checked_add(input.get()?)?;
                    place = input.difference(place)?;
                    let at = usize::try_from(place).ok().filter(|at| *at < length)?;
                    let repeated = found.repeated;
                    found.add(ring, lane, (from, next), at);
                    found.repeated = repeated;
                    before = next;
                }
            }
        }
        Some(found)
    }
}
