//! Writes the wanted events of an archive to another file.
//!
//! Frames without events are copied as they are, and so are units all of whose events are wanted.
//! Of other units, the wanted events are written anew. What is left out is not missing: the numbers
//! of lanes go on behind it, and the records of gaps stay. What cannot be read is missing, and a
//! record says so where it was.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use timeline::internal::files::{Replacement, open_to_read};

use crate::error::{Error, Result};
use crate::format::record::{self, Block, LossRecord, Record, reaches};
use crate::read::choice::select::{Places, Select};
use crate::read::choice::unit_choice::UnitChoice;
use crate::read::copy::copied_event::CopiedEvent;
use crate::read::copy::marks;
use crate::read::copy::repair::ByteCounter;
use crate::read::copy::wanted_share::WantedShare;
use crate::read::open::archive::Archive;
use crate::read::open::decode::Decoder;
use crate::read::order::follow::is_recorded;
use crate::read::units::unit::Unit;
use crate::write::writer::{Form, Writer};

/// How much of an archive was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilteredTotals {
    /// The events that were written.
    pub events: u64,
    /// The events that were not wanted.
    pub left_out: u64,
    /// The events that could not be read, as far as their number is known.
    pub lost: u64,
    /// The bytes that were written.
    pub bytes: u64,
}

impl Archive {
    /// Saves the events that `select` wants as one file, as [`Archive::save`] saves all. The names
    /// of definitions and threads, and the symbols of addresses, stay in the file, also of events
    /// that are left out.
    ///
    /// # Errors
    /// Those of [`Archive::save`].
    pub fn save_where(
        &self,
        file: impl AsRef<Path>,
        select: &mut dyn Select,
    ) -> Result<FilteredTotals> {
        let file = file.as_ref();
        let replacement = Replacement::of(file)?;
        if open_to_read(replacement.path()).is_ok_and(|there| is_recorded(&there)) {
            return Err(Error::RecorderBusy { path: file.into() });
        }
        Ok(replacement.write(|out| self.copy_where(BufWriter::new(out), select))?)
    }

    /// Writes the events that `select` wants, as [`Archive::save_where`] does.
    ///
    /// # Errors
    /// Those of writing.
    pub fn copy_where(
        &self,
        out: impl Write,
        select: &mut dyn Select,
    ) -> io::Result<FilteredTotals> {
        self.copy_by(out, select, None)
    }

    /// Writes the events that `select` wants, and perhaps others, for somebody who chooses once
    /// more: units of which much is wanted as they are, and if that is so of the first ones, the
    /// rest of those that may have any.
    ///
    /// # Errors
    /// Those of writing.
    pub fn copy_around(&self, out: impl Write, select: &mut dyn Select) -> io::Result<()> {
        self.copy_by(out, select, Some(WantedShare::default()))
            .map(drop)
    }

    fn copy_by(
        &self,
        out: impl Write,
        select: &mut dyn Select,
        share: Option<WantedShare>,
    ) -> io::Result<FilteredTotals> {
        let mut copy = FilteredCopy {
            archive: self,
            decoder: self.decoder(),
            select,
            share,
            out: ByteCounter::new(out),
            totals: FilteredTotals::default(),
            untold: (0, BTreeMap::new()),
            wanted: Vec::new(),
        };
        self.put_recovered(&mut copy.out)?;
        copy.all()?;
        copy.out.flush()?;
        Ok(FilteredTotals {
            bytes: copy.out.bytes,
            ..copy.totals
        })
    }
}

struct FilteredCopy<'a, W> {
    archive: &'a Archive,
    decoder: Decoder<'a, CopiedEvent>,
    select: &'a mut dyn Select,
    /// Whether more may be written than is wanted, and how much was wanted so far.
    share: Option<WantedShare>,
    out: ByteCounter<W>,
    totals: FilteredTotals,
    /// The magic of blocks that were left out as a whole, and their entries of each lane, which are
    /// to be told.
    untold: (u64, BTreeMap<u64, (u64, u64)>),
    /// Of the events that were read last, which are wanted.
    wanted: Vec<bool>,
}

impl<W: Write> FilteredCopy<'_, W> {
    fn all(&mut self) -> io::Result<()> {
        let (mut at, mut untold, mut events) = (0, 0, Vec::new());
        for (number, unit) in self.archive.found_units().iter().enumerate() {
            let frames = unit.frames();
            self.frames(at..frames.start)?;
            at = frames.end;
            if number == 0 {
                self.prove()?;
            }
            events.clear();
            let lost = self.choose(number, unit, &mut events);
            let found = self.wanted.iter().filter(|is_wanted| **is_wanted).count() as u64;
            self.totals.lost += lost;
            self.totals.events += found;
            if found > 0 && self.archive.has_hole_in(untold..frames.start) {
                // A reader finds it where it is told.
                self.tell()?;
                untold = frames.start;
            }
            let is_enough = match &mut self.share {
                Some(share) => {
                    share.note(unit.count, found);
                    found > 0 && WantedShare::is_much(unit.count, found)
                }
                None => found == unit.count,
            };
            if lost == 0 && is_enough {
                self.archive.bytes().copy(frames, &mut self.out)?;
                continue;
            }
            self.totals.left_out += unit.count.saturating_sub(found + lost);
            if lost > 0 || self.archive.is_of_other_codec(number) {
                // Not before the event that is behind all of its ticks.
                let until = unit.ticks.1.saturating_add(1);
                marks::put(&marks::hole(None, until), &mut self.out)?;
            }
            self.among(&frames)?;
            match unit.block {
                true => self.write_block(unit, &events)?,
                false => self.write_singles(&events)?,
            }
        }
        self.frames(at..self.archive.bytes().len())?;
        self.tell()
    }

    /// Writes what the copy needs to prove what the archive proves, before all that was left out: a
    /// reader that finds a hole begins another unit behind it.
    fn prove(&mut self) -> io::Result<()> {
        let proofs = self.archive.coverage().proofs();
        let mut each = proofs.iter();
        each.try_for_each(|proof| marks::put(proof, &mut self.out))
    }

    /// Appends the wanted events of a block, or all of single events, of which `wanted` says which
    /// are wanted. Returns how many cannot be read.
    fn choose(&mut self, number: usize, unit: &Unit, events: &mut Vec<CopiedEvent>) -> u64 {
        let info = unit.info(number);
        self.wanted.clear();
        if unit.block {
            if !self.select.wants_unit(&info) {
                return 0;
            }
            if self.share.as_ref().is_some_and(WantedShare::is_large) {
                self.wanted.resize(unit.count as usize, true);
                return 0;
            }
            let mut choice = UnitChoice::new(info, unit.gap).by(Some(&mut *self.select));
            let lost = self.decoder.decode_chosen(unit, &mut choice, events);
            self.wanted.resize(events.len(), true);
            return lost;
        }
        let lost = self.decoder.decode(unit, events);
        let mut places = Places::all(events.len());
        if unit.important {
            places.ask_all();
        } else if self.select.wants_unit(&info) {
            self.select.choose(&info, None, &mut places);
        } else {
            places.clear_range(0..events.len());
        }
        let each = events.iter().enumerate();
        let is_wanted = each.map(|(at, event)| {
            places.has(at) && (!places.asks(at) || self.select.wants(&event.ordered.event))
        });
        self.wanted.extend(is_wanted);
        lost
    }

    /// Copies the whole frames in a range.
    fn frames(&mut self, range: Range<usize>) -> io::Result<()> {
        self.archive.copy_range(range, &mut self.out)
    }

    /// Copies the frames of other records among single events.
    fn among(&mut self, frames: &Range<usize>) -> io::Result<()> {
        let among = self.archive.among();
        let first = among.partition_point(|range| range.start < frames.start);
        for range in &among[first..] {
            if range.end > frames.end {
                break;
            }
            self.archive.bytes().copy(range.clone(), &mut self.out)?;
        }
        Ok(())
    }

    /// Writes the wanted events of a block anew: the block accounts for the others as well.
    fn write_block(&mut self, unit: &Unit, events: &[CopiedEvent]) -> io::Result<()> {
        let mut buffer = Vec::new();
        let bytes = self.archive.bytes().read(unit.place.clone(), &mut buffer);
        let decoded = bytes
            .ok()
            .and_then(|bytes| record::decode(bytes, self.decoder.single()));
        let Some(Record::Block(block)) = decoded else {
            return Ok(());
        };
        let magic = block.magic.unwrap_or(0);
        if events.is_empty() {
            return self.leave_out(magic, &block);
        }
        let mut writer = Writer::new(&mut self.out, magic, Form::Blocks);
        writer.accounts_for(&block);
        for event in events {
            writer.event(&event.raw)?;
        }
        writer.flush()
    }

    /// Writes the wanted ones of single events anew, and between them what was left out.
    fn write_singles(&mut self, events: &[CopiedEvent]) -> io::Result<()> {
        let mut wanted = std::mem::take(&mut self.wanted).into_iter();
        for events in events.chunk_by(|a, b| a.ordered.magic == b.ordered.magic) {
            let mut writer = Writer::new(&mut self.out, events[0].ordered.magic, Form::Plain);
            let mut reached = HashMap::new();
            for CopiedEvent { raw, .. } in events {
                let is_wanted = wanted.next().unwrap_or(false);
                if !raw.is_important()
                    && let (Some(lane), Some(number), Some(behind)) =
                        (raw.lane, raw.number, raw.number_behind())
                {
                    if reached.insert(lane, behind) != Some(number) {
                        // What is missing in between was not left out.
                        writer.tell_moved();
                        writer.note_position(lane, number);
                        writer.goes_on_from(lane, number);
                    }
                    if !is_wanted {
                        writer.note_position(lane, behind);
                    }
                }
                if is_wanted {
                    writer.event(raw)?;
                }
            }
            writer.tell_moved();
            writer.flush()?;
        }
        Ok(())
    }

    /// Leaves out a whole block. What it accounts for is told together with that of the next ones.
    fn leave_out(&mut self, magic: u64, block: &Block) -> io::Result<()> {
        // Also lanes that it only states: a hole before it may be known by them.
        let moved: Vec<_> = reaches(&block.from, &block.positions).collect();
        let goes_on = |(lane, from, _): &(u64, u64, u64)| {
            let before = self.untold.1.get(lane);
            before.is_none_or(|(_, next)| next == from)
        };
        if self.untold.0 != magic || !moved.iter().all(goes_on) {
            self.tell()?;
        }
        self.untold.0 = magic;
        for (lane, from, next) in moved {
            let (_, reached) = self.untold.1.entry(lane).or_insert((from, next));
            *reached = next;
        }
        Ok(())
    }

    /// Writes what was left out, so that nobody takes it for missing, and a recorder goes on behind
    /// it.
    fn tell(&mut self) -> io::Result<()> {
        let (magic, lanes) = std::mem::take(&mut self.untold);
        if lanes.is_empty() {
            return Ok(());
        }
        let missed = LossRecord {
            magic: Some(magic),
            count: Some(0),
            positions: lanes
                .iter()
                .map(|(lane, (_, next))| (*lane, *next))
                .collect(),
            from: lanes
                .iter()
                .map(|(lane, (from, _))| (*lane, *from))
                .collect(),
            ..LossRecord::default()
        };
        marks::put(&missed, &mut self.out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timeline::{Event, Order};

    use super::*;
    use crate::read::choice::columns::BlockColumns;
    use crate::read::open::outline::tests::{file, steps};
    use crate::read::order::recorded_event::RecordedEvent;
    use crate::read::units::unit::UnitInfo;

    /// Wants some events, and none from some ticks on.
    struct Some {
        every: u64,
        until: u64,
    }

    impl Some {
        fn has(&self, ticks: u64) -> bool {
            ticks < self.until && (ticks % 7).is_multiple_of(self.every)
        }
    }

    impl Select for Some {
        fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
            unit.ticks.0 < self.until
        }

        fn choose(&mut self, _: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
            places.ask_all();
        }

        fn wants(&mut self, event: &Event) -> bool {
            self.has(event.ticks)
        }
    }

    fn saved(archive: &Archive, every: u64, until: u64) -> (Archive, FilteredTotals) {
        let mut bytes = Vec::new();
        let totals = archive
            .copy_where(&mut bytes, &mut Some { every, until })
            .unwrap();
        assert_eq!(bytes.len() as u64, totals.bytes);
        (Archive::from_bytes(bytes), totals)
    }

    /// The events, whatever their order is: it is another one if all are of the same program.
    fn events(archive: &Archive) -> Vec<RecordedEvent> {
        let events = archive.by_time(Order::OldestFirst);
        // How many are missing before an event is told by what is left before it.
        let events = events.map(|event| RecordedEvent { missed: 0, ..event });
        let mut events: Vec<RecordedEvent> = events.collect();
        events.sort_by_cached_key(|event| format!("{event:?}"));
        events
    }

    proptest! {
        #[test]
        fn the_wanted_events_are_there_and_no_others(
            parts in prop::collection::vec((steps(), any::<bool>()), 1..3),
            every in 1_u64..4,
            until in prop_oneof![Just(u64::MAX), 0..200_000_u64],
            flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..3),
        ) {
            let (mut number, mut bytes) = (0, Vec::new());
            for (steps, plain) in &parts {
                let form = if *plain { Form::Plain } else { Form::Blocks };
                bytes.extend(file(steps, form, &mut number));
            }
            for (at, bit) in flips.iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            let archive = Archive::from_bytes(bytes);
            let (saved, totals) = saved(&archive, every, until);
            let mut expected = events(&archive);
            let all = expected.len();
            let some = Some { every, until };
            expected.retain(|event| some.has(event.ticks.unwrap_or(0)));
            prop_assert_eq!(events(&saved), expected);
            prop_assert!(saved.damage().is_empty());
            prop_assert_eq!(saved.missed(), archive.missed());
            prop_assert_eq!(saved.missed_unknown(), archive.missed_unknown());
            // What is missing in the archive is missing in the copy, and nothing else is.
            if flips.is_empty() {
                prop_assert_eq!(saved.gone(), archive.gone());
                prop_assert_eq!(saved.repeated(), archive.repeated());
            }
            prop_assert!(totals.events + totals.left_out >= all as u64);
            // A recorder goes on where it would have gone on.
            if every == 1 && until == u64::MAX && flips.is_empty() {
                let damage = archive.damage().iter();
                let marks = damage.filter(|place| place.end < archive.bytes().len()).count();
                let proofs = archive.coverage().proofs().len().min(archive.units().len());
                prop_assert_eq!(saved.frames(), archive.frames() + (marks + proofs) as u64);
            }
        }
    }
}
