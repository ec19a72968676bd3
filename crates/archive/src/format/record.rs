//! Defines the records in frames. docs/archive.md numbers the tags and fields.
//!
//! Every field may be missing, and unknown fields are skipped. So a reader gets as much as it can
//! from older and newer files.

use std::collections::BTreeMap;

use crate::format::clock::ClockComparison;
use crate::format::event::SingleEvent;
use crate::format::frame::{Frames, Part};
use crate::format::module::ModuleRecord;
use crate::format::preamble::Preamble;
use crate::format::process::ProcessRecord;
use crate::format::session::SessionFile;
use crate::format::string::StringDefinition;
use crate::format::symbol::Symbol;
use crate::format::tag;
use timeline::internal::msgpack::{FieldWriter, Unpacker};

/// Many events, compressed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block<'a> {
    /// The magic of its program and ring.
    pub magic: Option<u64>,
    /// The name of the compression.
    pub codec: Option<&'a [u8]>,
    /// The number of bytes of the expanded block.
    pub expanded: Option<u64>,
    /// The number of events.
    pub count: Option<u64>,
    /// The least ticks.
    pub first_ticks: Option<u64>,
    /// The most ticks.
    pub last_ticks: Option<u64>,
    /// The earliest time, in nanoseconds since the epoch.
    pub first_unix: Option<u64>,
    /// The latest time.
    pub last_unix: Option<u64>,
    /// The ranges of the values, as ranges.rs defines them.
    pub ranges: Option<&'a [u8]>,
    /// The compressed events.
    pub payload: Option<&'a [u8]>,
    /// Lanes, and the number of the next event of each.
    pub positions: Vec<(u64, u64)>,
    /// The lanes that this block goes on with, in the order of `positions`, and the number from
    /// which each does: the position that the writer told before.
    pub from: Vec<(u64, u64)>,
}

/// Events that were overwritten before they were recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LossRecord {
    /// The magic of its program and ring.
    pub magic: Option<u64>,
    /// The number of overwritten entries. It is 0 if a recorder only states where it begins, and
    /// missing if the number is unknown.
    pub count: Option<u64>,
    /// The ticks of the event before which entries are missing.
    pub ticks: Option<u64>,
    /// The number of entries that were overwritten there before the recording began.
    pub earlier: Option<u64>,
    /// The lane of that event.
    pub lane: Option<u64>,
    /// The number of that event in its lane.
    pub number: Option<u64>,
    /// Lanes, and the number of the next event of each.
    pub positions: Vec<(u64, u64)>,
    /// The lanes with entries that this record accounts for, as missing or left out, in the order
    /// of `positions`, and the number of the first of these. A record with the lane of an event
    /// accounts for those that it counts in any case.
    pub from: Vec<(u64, u64)>,
}

impl LossRecord {
    /// The gap, if the record has its place: the lane and the number of the event after it, and the
    /// number of missing entries.
    pub fn gap(&self) -> Option<(u64, u64, u64)> {
        let count = self.count?.saturating_add(self.earlier.unwrap_or(0));
        Some((self.lane?, self.number?, count))
    }

    /// The lane of the event after the gap, the first entry that the record accounts for, and the
    /// number of the event.
    pub fn accounted(&self) -> Option<(u64, u64, u64)> {
        let (lane, number, count) = self.gap()?;
        let from = self.from.iter().find(|(other, _)| *other == lane);
        let from = from.map_or(u64::MAX, |(_, from)| *from);
        Some((lane, from.min(number.saturating_sub(count)), number))
    }
}

/// The lanes of a record, with the first number that it accounts for and the one behind the last:
/// of a lane that it only states, both are its position.
pub fn reaches<'a>(
    from: &'a [(u64, u64)],
    positions: &'a [(u64, u64)],
) -> impl Iterator<Item = (u64, u64, u64)> + 'a {
    let mut from = from.iter().peekable();
    positions.iter().map(move |(lane, next)| {
        let first = from.next_if(|(other, _)| other == lane);
        (*lane, first.map_or(*next, |(_, first)| *first), *next)
    })
}

/// The content of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Record<'a> {
    /// See [`Preamble`].
    Preamble(Preamble),
    /// See [`StringDefinition`].
    String(StringDefinition),
    /// See [`Symbol`].
    Symbol(Symbol),
    /// See [`ProcessRecord`].
    Process(ProcessRecord),
    /// See [`ModuleRecord`].
    Module(ModuleRecord),
    /// See [`ClockComparison`].
    Clock(ClockComparison),
    /// See [`SingleEvent`].
    Event,
    /// See [`Block`].
    Block(Block<'a>),
    /// See [`LossRecord`].
    Missed(LossRecord),
    /// See [`SessionFile`].
    SessionFile(SessionFile),
    /// The session is complete.
    SessionEnd,
    /// A record with a tag that this version does not know.
    Unknown,
}

/// The lanes and numbers as one list.
fn flat(positions: &[(u64, u64)]) -> Vec<u64> {
    positions
        .iter()
        .flat_map(|(lane, next)| [*lane, *next])
        .collect()
}

fn paired(input: &mut Unpacker) -> Option<Vec<(u64, u64)>> {
    let mut flat = Vec::new();
    input.numbers(&mut flat)?;
    let pairs = flat.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    Some(pairs.collect())
}

impl<'a> Block<'a> {
    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        fields.number(1, self.magic);
        // Written as text, as in every record that has a name.
        fields.text(
            2,
            self.codec.and_then(|codec| std::str::from_utf8(codec).ok()),
        );
        fields.number(3, self.expanded);
        fields.number(4, self.count);
        fields.number(5, self.first_ticks);
        fields.number(6, self.last_ticks);
        fields.number(7, self.first_unix);
        fields.number(8, self.last_unix);
        // Before the payload, so that a reader need not have it to read them.
        fields.bytes(11, self.ranges);
        fields.bytes(9, self.payload);
        fields.numbers(10, &flat(&self.positions));
        fields.numbers(12, &flat(&self.from));
        fields.finish(tag::BLOCK, out);
    }

    fn field(&mut self, field: u8, input: &mut Unpacker<'a>) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.codec = input.bytes()?,
            3 => self.expanded = input.number()?,
            4 => self.count = input.number()?,
            5 => self.first_ticks = input.number()?,
            6 => self.last_ticks = input.number()?,
            7 => self.first_unix = input.number()?,
            8 => self.last_unix = input.number()?,
            9 => self.payload = input.bytes()?,
            10 => self.positions = paired(input)?,
            11 => self.ranges = input.bytes()?,
            12 => self.from = paired(input)?,
            _ => input.skip()?,
        }
        Some(())
    }
}

impl LossRecord {
    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        fields.number(1, self.magic);
        fields.number(2, self.count);
        fields.number(3, self.ticks);
        fields.number(4, self.earlier);
        fields.numbers(10, &flat(&self.positions));
        fields.numbers(12, &flat(&self.from));
        fields.number(16, self.lane);
        fields.number(17, self.number);
        fields.finish(tag::MISSED, out);
    }

    fn field(&mut self, field: u8, input: &mut Unpacker) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.count = input.number()?,
            3 => self.ticks = input.number()?,
            4 => self.earlier = input.number()?,
            10 => self.positions = paired(input)?,
            12 => self.from = paired(input)?,
            16 => self.lane = input.number()?,
            17 => self.number = input.number()?,
            _ => input.skip()?,
        }
        Some(())
    }
}

/// Reads the fields of a record into a default `T`.
fn read<'a, T: Default>(
    input: &mut Unpacker<'a>,
    fields: u32,
    field: impl Fn(&mut T, u8, &mut Unpacker<'a>) -> Option<()>,
) -> Option<T> {
    let mut record = T::default();
    for _ in 0..fields {
        let key = input.key()?;
        field(&mut record, key, input)?;
    }
    Some(record)
}

/// Reads a record. The fields of an event go to `event`. Returns `None` if the record is not
/// msgpack, or is not a map with a tag.
#[inline]
pub(crate) fn decode<'a>(record: &'a [u8], event: &mut SingleEvent) -> Option<Record<'a>> {
    match event.decode_alike::<true>(record) {
        true => Some(Record::Event),
        false => decode_fields(record, event),
    }
}

/// Reads a record like `decode`. Of an event it only reads what tells its place among others.
#[inline]
pub(crate) fn decode_for_index<'a>(
    record: &'a [u8],
    event: &mut SingleEvent,
) -> Option<Record<'a>> {
    match event.decode_alike::<false>(record) {
        true => Some(Record::Event),
        false => decode_fields(record, event),
    }
}

/// The magic and the ranges of a block, of whose record these are the first bytes. `None` if there
/// are too few.
#[allow(clippy::option_option, reason = "too few bytes, or no ranges")]
pub(crate) fn ranges(bytes: &[u8]) -> Option<(u64, Option<&[u8]>)> {
    let (mut input, mut block) = (Unpacker(bytes), Block::default());
    let (tag, fields) = input.tag()?;
    if tag != Some(tag::BLOCK) {
        return Some((0, None));
    }
    for _ in 0..fields {
        let key = input.key()?;
        // The others stand behind the payload.
        if key == 9 {
            break;
        }
        block.field(key, &mut input)?;
    }
    Some((block.magic.unwrap_or(0), block.ranges))
}

/// Reads a record if it is an event. Returns whether it is.
#[inline]
pub(crate) fn decode_event(record: &[u8], event: &mut SingleEvent) -> bool {
    event.decode_alike::<true>(record) || decode_fields(record, event) == Some(Record::Event)
}

#[inline(never)]
fn decode_fields<'a>(record: &'a [u8], event: &mut SingleEvent) -> Option<Record<'a>> {
    let mut input = Unpacker(record);
    let (tag, fields) = input.tag()?;
    if tag == Some(tag::EVENT) {
        event.decode(record, &mut input, fields)?;
        return Some(Record::Event);
    }
    other(tag, fields, &mut input)
}

fn other<'a>(tag: Option<u8>, n: u32, input: &mut Unpacker<'a>) -> Option<Record<'a>> {
    Some(match tag {
        Some(tag::PREAMBLE) => Record::Preamble(read(input, n, Preamble::field)?),
        Some(tag::STRING) => Record::String(read(input, n, StringDefinition::field)?),
        Some(tag::SYMBOL) => Record::Symbol(read(input, n, Symbol::field)?),
        Some(tag::PROCESS) => Record::Process(read(input, n, ProcessRecord::field)?),
        Some(tag::MODULE) => Record::Module(read(input, n, ModuleRecord::field)?),
        Some(tag::CLOCK) => Record::Clock(read(input, n, ClockComparison::field)?),
        Some(tag::BLOCK) => Record::Block(read(input, n, Block::field)?),
        Some(tag::MISSED) => Record::Missed(read(input, n, LossRecord::field)?),
        Some(tag::SESSION_FILE) => Record::SessionFile(SessionFile::read(n, input)?),
        Some(tag::SESSION_END) => Record::SessionEnd,
        _ => Record::Unknown,
    })
}

/// The preamble that a record is, if it is one.
pub fn preamble(record: &[u8]) -> Option<Preamble> {
    match decode(record, &mut SingleEvent::default()) {
        Some(Record::Preamble(preamble)) => Some(preamble),
        _ => None,
    }
}

/// The number of events in frames, without important ones, which stay in the ring.
pub fn events_in(frames: &[u8]) -> u64 {
    let mut event = SingleEvent::default();
    let count = |part| match part {
        Part::Frame { record, .. } => match decode(record, &mut event) {
            Some(Record::Event) => u64::from(event.important().is_none()),
            Some(Record::Block(block)) => block.count.unwrap_or(0),
            _ => 0,
        },
        Part::Damage(_) => 0,
    };
    Frames::new(frames).map(count).sum()
}

/// The lanes that frames of one ring go on with, and the number from which each does.
pub fn first_reached(frames: &[u8]) -> BTreeMap<u64, u64> {
    let (mut event, mut first) = (SingleEvent::default(), BTreeMap::new());
    for part in Frames::new(frames) {
        let Part::Frame { record, .. } = part else {
            continue;
        };
        let from = match decode(record, &mut event) {
            Some(Record::Event) if event.important().is_none() => {
                Vec::from_iter(event.event.lane.zip(event.event.number))
            }
            Some(Record::Block(block)) => block.from,
            Some(Record::Missed(missed)) => match missed.accounted() {
                Some((lane, from, _)) => vec![(lane, from)],
                None => missed.from,
            },
            _ => Vec::new(),
        };
        for (lane, from) in from {
            first.entry(lane).or_insert(from);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeline::{ClockStep, InlinedFunction, SourceLine};

    fn written(encode: impl FnOnce(&mut FieldWriter, &mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&mut FieldWriter::default(), &mut out);
        out
    }

    fn decode(record: &[u8]) -> Option<Record<'_>> {
        super::decode(record, &mut SingleEvent::default())
    }

    #[test]
    fn every_record_comes_back() {
        let preamble = Preamble {
            magic: Some(1),
            path: Some("/bin/true".into()),
            size: Some(2),
            sha1: Some(vec![3; 20]),
            host: Some("host".into()),
            boot_id: Some("boot".into()),
            pid: Some(4),
            timeline: Some("/timeline".into()),
            anchors: vec![(5, 6), (7, u64::MAX)],
            clock: Some("tsc".into()),
            writer: Some("timeline".into()),
            created: Some(8),
            nodes: vec![0, 1, 255],
            steps: vec![ClockStep {
                ticks: 9,
                after_ticks: 7,
                after: 1 << 40,
                before: u64::MAX,
                unix: 11,
            }],
            rate: Some(12),
            user: Some("alice".into()),
        };
        let bytes = written(|f, out| preamble.encode(f, out));
        assert_eq!(decode(&bytes), Some(Record::Preamble(preamble)));
        let symbol = Symbol {
            magic: Some(1),
            address: Some(u64::MAX),
            file: Some("libc".into()),
            base: Some(2),
            name: Some("main".into()),
            start: Some(3),
            pid: Some(4),
            source: Some("main.c".into()),
            line: Some(5),
            recovered: true,
            inlined: vec![
                InlinedFunction {
                    name: Some("copy".into()),
                    source: Some(SourceLine {
                        file: "copy.h".into(),
                        line: 70_000,
                    }),
                },
                InlinedFunction::default(),
            ],
        };
        let bytes = written(|f, out| symbol.encode(f, out));
        assert_eq!(decode(&bytes), Some(Record::Symbol(symbol)));
        let missed = LossRecord {
            magic: Some(1),
            count: Some(2),
            ticks: Some(3),
            earlier: Some(7),
            lane: Some(5),
            number: Some(u64::MAX),
            positions: vec![(0, 9), (5, u64::MAX)],
            from: vec![(5, 3)],
        };
        let bytes = written(|f, out| missed.encode(f, out));
        assert_eq!(decode(&bytes), Some(Record::Missed(missed)));
        assert_eq!(decode(&[127, 0x80]), Some(Record::Event));
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        // Field 99 (a map with an array), field "x", and a field whose type is not the expected
        // one.
        let bytes = [
            1, 0x85, 99, 0x81, 0xa1, b'k', 0x92, 1, 0xc0, 0xa1, b'x', 0x90, 1, 0xa1, b'y', 2, 7, 3,
            0xa2, b'o', b'k', 4,
        ];
        let string = StringDefinition {
            magic: None,
            id: Some(7),
            string: Some("ok".into()),
            recovered: false,
        };
        assert_eq!(decode(&bytes), Some(Record::String(string)));
        assert_eq!(decode(&[100, 0x81, 1, 2]), Some(Record::Unknown));
        assert_eq!(decode(&[1, 0x81, 1]), None);
        assert_eq!(decode(&[1, 1]), None);
        assert_eq!(decode(&[]), None);
    }
}
