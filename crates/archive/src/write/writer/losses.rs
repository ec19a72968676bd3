//! Writes what is missing or left out, and how far the lanes are.

use std::io::{self, Write};

use super::{Account, Form, Writer};
use crate::format::event::RawEvent;
use crate::format::record::{Block, LossRecord};

impl<W: Write> Writer<W> {
    /// Goes on with a lane. The record of an event that is written by itself accounts for no other
    /// entries: those that were left out before it are told first.
    #[inline]
    pub(super) fn goes_on(&mut self, lane: u64, number: u64, next: u64) {
        if self.form == Form::Blocks {
            return self.positions.note(lane, next);
        }
        if !self.positions.note_told(lane, number, next) {
            self.positions.note(lane, number);
            self.tell_moved();
            self.positions.note_told(lane, number, next);
        }
    }

    /// The next block accounts for what another one did, whose events are written anew. Further
    /// blocks of its events account for nothing more.
    pub(crate) fn accounts_for(&mut self, block: &Block) {
        self.account = Some((block.from.clone(), block.positions.clone()));
    }

    /// What the block that ends here accounts for.
    pub(super) fn accounted(&mut self) -> Account {
        let Some((from, positions)) = &mut self.account else {
            return (self.positions.tell(), self.positions.all().to_vec());
        };
        let told = (from.clone(), positions.clone());
        if !from.is_empty() {
            *from = positions.clone();
        }
        told
    }

    /// Writes how many events were overwritten before they could be written, and the number of the
    /// next event in lanes that this concerns. With a count of 0, it only writes how far all lanes
    /// are.
    ///
    /// # Errors
    /// Those of the output.
    pub fn missed(
        &mut self,
        count: u64,
        ticks: Option<u64>,
        next: &[(u64, u64)],
    ) -> io::Result<()> {
        self.end_block();
        for (lane, next) in next {
            self.positions.note(*lane, *next);
        }
        let from = self.positions.tell();
        self.write_missed(LossRecord {
            count: Some(count),
            ticks,
            positions: self.positions.all().to_vec(),
            from,
            ..LossRecord::default()
        })
    }

    /// Writes that so many events were read and could not be written, and how far the lanes are.
    pub(crate) fn lost(&mut self, count: u64) -> io::Result<()> {
        if count > 0 {
            return self.missed(count, None, &[]);
        }
        self.tell_moved();
        Ok(())
    }

    /// Whether a lane moved without an event since that was told.
    pub(crate) fn is_untold(&self) -> bool {
        self.positions.is_untold()
    }

    /// Writes how far those lanes are that moved without an event since that was told.
    pub(crate) fn tell_moved(&mut self) {
        self.end_block();
        if !self.positions.is_untold() {
            return;
        }
        let from = self.positions.tell();
        let all = self.positions.all().iter();
        let mut moved = from.iter().map(|(lane, _)| lane).peekable();
        let positions = all.filter(|(lane, _)| moved.next_if_eq(&lane).is_some());
        let missed = LossRecord {
            magic: Some(self.magic),
            count: Some(0),
            positions: positions.copied().collect(),
            from,
            ..LossRecord::default()
        };
        missed.encode(&mut self.fields, &mut self.record);
        self.frame();
    }

    /// Writes that entries of a lane are missing right before the event that is written next.
    /// `count` of them were overwritten before they could be written, and `earlier` before the
    /// recording began.
    ///
    /// # Errors
    /// Those of the output.
    pub fn gap(&mut self, event: &RawEvent, count: u64, earlier: u64) -> io::Result<()> {
        let missed = LossRecord {
            count: Some(count),
            ticks: event.ticks,
            earlier: (earlier > 0).then_some(earlier),
            lane: event.lane,
            number: event.number,
            ..LossRecord::default()
        };
        // The events before the gap are written first, with the positions of their lanes. So
        // nothing is missing if the writer is killed in between.
        self.end_block();
        let next = event.lane.zip(event.number);
        let mut from = Vec::new();
        if let Some((lane, next)) = next {
            self.positions.note(lane, next);
            let told = self.positions.tell_lane(lane);
            if told < next.saturating_sub(count).saturating_sub(earlier) {
                // Entries before these were left out.
                from.push((lane, told));
            }
        }
        self.write_missed(LossRecord {
            positions: Vec::from_iter(next),
            from,
            ..missed
        })
    }

    fn write_missed(&mut self, missed: LossRecord) -> io::Result<()> {
        let missed = LossRecord {
            magic: Some(self.magic),
            ..missed
        };
        missed.encode(&mut self.fields, &mut self.record);
        self.frame();
        self.write_if_much()
    }

    /// Writes that an unknown number of events is missing here, and how far all lanes are.
    pub(crate) fn missed_unknown(&mut self) {
        self.end_block();
        let missed = LossRecord {
            magic: Some(self.magic),
            positions: self.positions.all().to_vec(),
            ..LossRecord::default()
        };
        missed.encode(&mut self.fields, &mut self.record);
        self.frame();
    }

    /// Writes how far a run is recorded. It may be this run or another one.
    pub(crate) fn reached(&mut self, magic: Option<u64>, positions: Vec<(u64, u64)>) {
        let missed = LossRecord {
            magic,
            count: Some(0),
            positions,
            ..LossRecord::default()
        };
        missed.encode(&mut self.fields, &mut self.record);
        self.frame();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::event::SingleEvent;
    use crate::format::frame::{Frames, Part};
    use crate::format::record::{Record, decode};

    #[test]
    fn a_block_that_is_written_anew_as_two_accounts_for_its_entries_once() {
        let positions = vec![(0, 9), (1, 4)];
        for from in [vec![(0, 5)], Vec::new()] {
            let mut file = Vec::new();
            let mut writer = Writer::new(&mut file, 7, Form::Blocks);
            writer.accounts_for(&Block {
                from: from.clone(),
                positions: positions.clone(),
                ..Block::default()
            });
            for number in [5, 7] {
                let event = RawEvent {
                    lane: Some(0),
                    number: Some(number),
                    ..RawEvent::default()
                };
                writer.event(&event).unwrap();
                writer.end_block();
            }
            writer.flush().unwrap();
            let blocks = Frames::new(&file).map(|part| match part {
                Part::Frame { record, .. } => match decode(record, &mut SingleEvent::default()) {
                    Some(Record::Block(block)) => (block.from, block.positions),
                    other => panic!("{other:?}"),
                },
                Part::Damage(place) => panic!("damage at {place:?}"),
            });
            let blocks: Vec<_> = blocks.collect();
            // The second one goes on where the first one ends, or does not say where, as before.
            let behind = match from.is_empty() {
                true => Vec::new(),
                false => positions.clone(),
            };
            let expected = [(from, positions.clone()), (behind, positions.clone())];
            assert_eq!(blocks, expected);
        }
    }
}
