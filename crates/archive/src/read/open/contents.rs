//! What opening an archive finds: the positions of all parts, and how many there are.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::error::Result;
use crate::format::block;
use crate::format::event::SingleEvent;
use crate::format::frame::Part;
use crate::format::record::{self, Block, Record};
use crate::read::file::bytes::{ScanItem, Section};
use crate::read::loss::breaks::{Break, BreakKind, begins_run, missing};
use crate::read::loss::coverage::{Coverage, Hole};
use crate::read::loss::gaps::Gaps;
use crate::read::texts::names::Names;
use crate::read::units::important_numbers::ImportantNumbers;
use crate::read::units::unit::Unit;

/// Most single events that are read at once, and most bytes of their frames.
const TOGETHER: u64 = 4096;
const TOGETHER_BYTES: usize = 1 << 20;

/// The positions of all parts of an archive, and how many there are.
#[derive(Default)]
pub struct Contents {
    pub units: Vec<Unit>,
    /// Whether another single event can be read with the last unit.
    together: bool,
    pub gaps: Gaps,
    /// Where events are missing of which no lane is known, in the order of the units.
    pub breaks: Vec<Break>,
    /// The magic of the last preamble.
    pub run: Option<u64>,
    /// The important events, and how many of them come again.
    pub seen: ImportantNumbers,
    pub repeated: u64,
    pub damage: Vec<Range<usize>>,
    /// The frames of other records among single events.
    pub among: Vec<Range<usize>>,
    pub frames: u64,
    pub unknown: u64,
    pub other_codecs: u64,
    pub missed: u64,
    pub missed_unknown: u64,
    /// What all files before the present one account for, and what this one does.
    pub coverage: Coverage,
    pub of_file: Coverage,
    pub holes: Vec<Hole>,
    /// The magics of the events, each behind the place where its file begins.
    magics: BTreeSet<(usize, u64)>,
    /// The magic of the last single event of the present file.
    last_magic: Option<u64>,
    /// Where the last whole frame ends.
    pub whole: usize,
    /// Where the present file begins, and the digest of its frames.
    file: usize,
    digest: u64,
    /// Memory for an event, which is used again.
    pub single: SingleEvent,
}

impl Contents {
    /// Begins another file, at this place in all bytes.
    pub fn begin_file(&mut self, start: usize) {
        (self.file, self.digest, self.last_magic) = (start, 0, None);
    }

    /// Ends the present file.
    pub fn end_file(&mut self) -> Coverage {
        let of_file = std::mem::take(&mut self.of_file);
        self.coverage.add_file(&of_file, self.file);
        of_file
    }

    /// Finds the holes, after all files: in the first unit behind each, it is told. Events of any
    /// lane may be missing there.
    pub fn end(&mut self) {
        self.holes = self.coverage.holes();
        // Important events have no place among the others, and may come again.
        let units = self.units.iter_mut().enumerate();
        let mut units = units.filter(|(_, unit)| !unit.important).peekable();
        for hole in &self.holes {
            while units
                .next_if(|(_, unit)| unit.place.end <= hole.place)
                .is_some()
            {}
            if let Some((number, unit)) = units.peek_mut() {
                let gap = unit.gap.unwrap_or_default();
                unit.gap = Some(gap.and_hole(hole.entries));
                self.breaks.push(Break {
                    unit: *number,
                    what: BreakKind::Some,
                });
            }
        }
        self.breaks.sort_by_key(|one| one.unit);
    }

    /// Whether a unit has a codec that this version does not know.
    pub fn is_of_other_codec(&self, unit: usize) -> bool {
        let first = self.breaks.partition_point(|one| one.unit < unit);
        let mut here = self.breaks[first..]
            .iter()
            .take_while(|one| one.unit == unit);
        here.any(|one| one.what == BreakKind::Unit)
    }

    /// The magics of the events, each once.
    pub fn magics(&self) -> BTreeSet<u64> {
        self.magics.iter().map(|(_, magic)| *magic).collect()
    }

    /// Those of the events of the file with this range of all bytes, in order.
    pub fn magics_of(&self, file: &Range<usize>) -> impl Iterator<Item = u64> {
        let of_file = self.magics.range((file.start, 0)..(file.end, 0));
        of_file.map(|(_, magic)| *magic)
    }

    /// Notes the magic of an event of the present file.
    pub fn add_magic(&mut self, magic: u64) {
        self.magics.insert((self.file, magic));
    }

    /// Takes what is in a range of all bytes, which is within the section.
    pub fn scan(&mut self, section: &Section, range: Range<usize>, names: &Names) -> Result<()> {
        section.scan(range, |found| match found {
            ScanItem::Part(part) => self.take(part, names),
            ScanItem::Bytes(start, bytes) => self.sum(start, bytes),
        })
    }

    /// Takes the next part of the file.
    fn take(&mut self, part: Part, names: &Names) {
        match part {
            Part::Damage(place) => self.damaged(place),
            Part::Frame { place, record, sum } => {
                let start = place.end - record.len();
                self.whole = place.end;
                self.frames += 1;
                self.digest(place.start, sum);
                match record::decode_for_index(record, &mut self.single) {
                    Some(Record::Event) => self.event(place),
                    Some(Record::Block(block)) => {
                        let head = (start - place.start) as u8;
                        self.of_file.block(&block, place.start - self.file);
                        self.block(&block, (start..place.end, head, sum));
                    }
                    Some(other) => self.other(other, place, names),
                    None => {
                        self.frames -= 1;
                        self.damaged(place);
                    }
                }
            }
        }
    }

    /// Adds a frame to the digest of its file: where it begins, and its checksum.
    fn digest(&mut self, start: usize, sum: u32) {
        /// An odd number of random bits (2^64 divided by the golden ratio).
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let place = (start - self.file) as u64;
        for word in [place, sum.into()] {
            self.digest = (self.digest ^ word).wrapping_mul(FACTOR).rotate_left(29);
        }
    }

    /// Notes a damaged range, and joins it with the previous one if that ends where this one
    /// begins.
    fn damaged(&mut self, place: Range<usize>) {
        self.together = false;
        match self.damage.last_mut() {
            Some(last) if last.end == place.start => last.end = place.end,
            _ => self.damage.push(place),
        }
    }

    fn other(&mut self, decoded: Record, place: Range<usize>, names: &Names) {
        // Among events may be what looks like one, and was not found by a hint.
        if let Some(unit) = self.units.last_mut() {
            unit.hint = None;
        }
        if self.together {
            self.among.push(place.clone());
        }
        match decoded {
            Record::Missed(missed) => {
                self.gaps.take(&missed);
                let gone = self.of_file.missed(&missed, place.start - self.file);
                // An event behind a gap or a hole is the first of its unit.
                self.together &= !self.gaps.is_next() && gone == 0;
                if let Some(what) = missing(&missed) {
                    self.add_break(what);
                }
                match missed.count {
                    Some(count) => self.missed = self.missed.saturating_add(count),
                    None => self.missed_unknown += 1,
                }
            }
            Record::Unknown => self.unknown += 1,
            naming => {
                if begins_run(&naming, &mut self.run) {
                    self.add_break(BreakKind::Run);
                }
                names.take(naming);
            }
        }
    }

    /// Notes that something is missing here.
    fn add_break(&mut self, what: BreakKind) {
        self.together = false;
        let unit = self.units.len();
        self.breaks.push(Break { unit, what });
    }

    fn event(&mut self, frame: Range<usize>) {
        let event = &self.single.event;
        let (ticks, unix) = (event.ticks.unwrap_or(0), event.unix_nanos.unwrap_or(0));
        let (magic, important) = (self.single.magic(), self.single.important());
        if self.last_magic != Some(magic) {
            self.last_magic = Some(magic);
            self.add_magic(magic);
        }
        if let Some(number) = important {
            self.repeated += u64::from(!self.seen.insert(magic, number));
        } else if let Some((lane, range)) = self.single.entries() {
            let start = frame.start - self.file;
            // An event behind a hole is the first of its unit.
            self.together &= self.of_file.event(magic, lane, range, start) == 0;
        }
        if self.together
            && let Some(unit) = self.units.last_mut()
            && unit.important == important.is_some()
            && unit.count < TOGETHER
            && frame.end - unit.place.start <= TOGETHER_BYTES
        {
            unit.place.end = frame.end;
            unit.digest = self.digest;
            unit.count += 1;
            unit.ticks = (unit.ticks.0.min(ticks), unit.ticks.1.max(ticks));
            unit.unix = (unit.unix.0.min(unix), unit.unix.1.max(unix));
            unit.hint = unit.hint.filter(|hint| self.single.hint() == Some(*hint));
            return;
        }
        self.together = true;
        self.units.push(Unit {
            place: frame,
            head: 0,
            block: false,
            important: important.is_some(),
            count: 1,
            ticks: (ticks, ticks),
            unix: (unix, unix),
            // An important event has no place among the others.
            gap: important.map_or_else(|| self.gaps.next(), |_| None),
            sum: None,
            passed: false,
            hint: self.single.hint(),
            digest: self.digest,
        });
    }

    /// Ends the units of the parts that begin here and have these bytes.
    fn sum(&mut self, start: usize, bytes: &[u8]) {
        self.together = false;
        let new = self.units.iter_mut().rev();
        let new = new.take_while(|unit| unit.place.start >= start);
        for unit in new.filter(|unit| !unit.block) {
            let place = unit.place.start - start..unit.place.end - start;
            unit.sum = bytes.get(place).map(crc32fast::hash);
        }
    }

    /// Takes the next unit of the file, whose frames are whole and are not read.
    pub fn pass(&mut self, unit: Unit) {
        self.together = false;
        self.frames += if unit.block { 1 } else { unit.count };
        let gap = self.gaps.next();
        self.units.push(Unit { gap, ..unit });
    }

    /// Ends a unit that was passed, after the frames of other records in it were taken.
    pub fn end_passed(&mut self) {
        if let Some(unit) = self.units.last() {
            (self.whole, self.digest) = (unit.place.end, unit.digest);
        }
    }

    fn block(&mut self, block: &Block, (record, head, sum): (Range<usize>, u8, u32)) {
        self.together = false;
        self.add_magic(block.magic.unwrap_or(0));
        if block.codec.is_some_and(|codec| !block::is_known(codec)) {
            let count = block.count.unwrap_or(0).max(1);
            self.other_codecs = self.other_codecs.saturating_add(count);
            self.add_break(BreakKind::Unit);
        }
        let or_widest =
            |least: Option<u64>, most: Option<u64>| (least.unwrap_or(0), most.unwrap_or(u64::MAX));
        self.units.push(Unit {
            place: record,
            head,
            block: true,
            important: false,
            count: block.count.unwrap_or(0),
            ticks: or_widest(block.first_ticks, block.last_ticks),
            unix: or_widest(block.first_unix, block.last_unix),
            gap: self.gaps.next(),
            sum: Some(sum),
            passed: false,
            hint: None,
            digest: self.digest,
        });
    }
}
