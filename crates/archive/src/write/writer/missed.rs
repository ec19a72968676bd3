//! Writes what is missing or left out, and how far the lanes are.

use std::io::{self, Write};

use super::{Form, Writer};
use crate::format::event::RawEvent;
use crate::format::record::Missed;

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
        self.write_missed(Missed {
            count: Some(count),
            ticks,
            positions: self.positions.all().to_vec(),
            from,
            ..Missed::default()
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
        let missed = Missed {
            magic: Some(self.magic),
            count: Some(0),
            positions: positions.copied().collect(),
            from,
            ..Missed::default()
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
        let missed = Missed {
            count: Some(count),
            ticks: event.ticks,
            earlier: (earlier > 0).then_some(earlier),
            lane: event.lane,
            number: event.number,
            ..Missed::default()
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
        self.write_missed(Missed {
            positions: Vec::from_iter(next),
            from,
            ..missed
        })
    }

    fn write_missed(&mut self, missed: Missed) -> io::Result<()> {
        let missed = Missed {
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
        let missed = Missed {
            magic: Some(self.magic),
            positions: self.positions.all().to_vec(),
            ..Missed::default()
        };
        missed.encode(&mut self.fields, &mut self.record);
        self.frame();
    }

    /// Writes how far a run is recorded. It may be this run or another one.
    pub(crate) fn reached(&mut self, magic: Option<u64>, positions: Vec<(u64, u64)>) {
        let missed = Missed {
            magic,
            count: Some(0),
            positions,
            ..Missed::default()
        };
        missed.encode(&mut self.fields, &mut self.record);
        self.frame();
    }
}
