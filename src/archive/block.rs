//! Blocks: many events in columns of small numbers, which compress well.
//!
//! A number is written as the difference to what was to be expected: ticks from the event before, the time from
//! the ticks, the number in its lane from the event of that lane before, an argument from the same argument
//! of the event of its kind before. What events share stands in two tables.

use std::collections::HashMap;

use super::codec::whole_values;
use super::numbers::{Cursor, put, put_difference};
use super::record::{Data, Kind, Source};

/// The name of the compression.
pub const CODEC: &str = "lz4";
/// Most bytes that a block may expand to.
pub const MAX_EXPANDED: usize = 16 << 20;
/// Columns before those of the arguments.
pub(super) const FIXED: usize = 8;
/// The place of each of them.
pub(super) const KIND: usize = 0;
pub(super) const SOURCE: usize = 1;
pub(super) const TICKS: usize = 2;
pub(super) const TIME: usize = 3;
pub(super) const CORE: usize = 4;
pub(super) const LANE: usize = 5;
pub(super) const NUMBER: usize = 6;
pub(super) const BACKTRACE: usize = 7;
/// Most events in a block, and rows in each of its tables.
pub const MAX_EVENTS: usize = 1 << 16;
/// Most arguments of an event in a block.
pub const MAX_ARGS: usize = 1 << 10;
/// Most bytes in the payload of an event.
pub const MAX_PAYLOAD: usize = 1 << 20;
/// A longer span of time is not used for expecting.
const MAX_SPAN: u64 = 1 << 62;

/// What events of one row of the table of kinds share; fields are named by their numbers in a data record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What they say.
    pub kind: Kind,
    /// Which of 7 (ticks), 8 (time), 12 (core), 16 (lane) and 17 (number) they have, as bits.
    pub has: u64,
    /// How many return addresses.
    pub backtrace: u64,
    /// How many arguments.
    pub args: u64,
    /// Whether they have a payload.
    pub payload: bool,
}

pub(super) const HAS_TICKS: u64 = 1 << 7;
pub(super) const HAS_TIME: u64 = 1 << 8;
pub(super) const HAS_CORE: u64 = 1 << 12;
pub(super) const HAS_LANE: u64 = 1 << 16;
pub(super) const HAS_NUMBER: u64 = 1 << 17;
const HAS: u64 = HAS_TICKS | HAS_TIME | HAS_CORE | HAS_LANE | HAS_NUMBER;
const HAS_BACKTRACE: u64 = 1 << 4;
const HAS_ARGS: u64 = 1 << 10;
const HAS_PAYLOAD: u64 = 1 << 19;

impl Shape {
    fn of(data: &Data) -> Shape {
        let bit = |present: bool, bit| if present { bit } else { 0 };
        Shape {
            kind: data.kind.clone(),
            has: bit(data.ticks.is_some(), HAS_TICKS)
                | bit(data.unix_nanos.is_some(), HAS_TIME)
                | bit(data.core.is_some(), HAS_CORE)
                | bit(data.lane.is_some(), HAS_LANE)
                | bit(data.number.is_some(), HAS_NUMBER),
            backtrace: data.backtrace.len() as u64,
            args: data.args.len() as u64,
            payload: !data.payload.is_empty(),
        }
    }

    /// The fields that have a value of their own in the table, and that value.
    fn fields(&mut self) -> [(u32, &mut Option<u64>); 7] {
        let kind = &mut self.kind;
        [
            (2, &mut kind.file),
            (3, &mut kind.line),
            (6, &mut kind.level),
            (9, &mut kind.format),
            (11, &mut kind.category),
            (18, &mut kind.event),
            (20, &mut kind.syntax),
        ]
    }

    fn encode(mut self, out: &mut Vec<u8>) {
        let mut mask = self.has;
        if self.backtrace > 0 {
            mask |= HAS_BACKTRACE;
        }
        if self.args > 0 {
            mask |= HAS_ARGS;
        }
        if self.payload {
            mask |= HAS_PAYLOAD;
        }
        let counts = [self.backtrace, self.args];
        encode_row(mask, &mut self.fields(), out);
        for count in counts.into_iter().filter(|count| *count > 0) {
            put(out, count);
        }
    }

    pub(super) fn decode(input: &mut Cursor) -> Option<Shape> {
        let mut shape = Shape::default();
        let mask = decode_row(&mut shape.fields(), input)?;
        shape.has = mask & HAS;
        if mask & HAS_BACKTRACE != 0 {
            shape.backtrace = input.get()?;
        }
        if mask & HAS_ARGS != 0 {
            shape.args = input.get()?;
        }
        shape.payload = mask & HAS_PAYLOAD != 0;
        Some(shape)
    }
}

pub(super) fn source_fields(source: &mut Source) -> [(u32, &mut Option<u64>); 4] {
    [
        (5, &mut source.thread),
        (13, &mut source.tid),
        (14, &mut source.pid),
        (15, &mut source.process),
    ]
}

fn encode_row(mut mask: u64, fields: &mut [(u32, &mut Option<u64>)], out: &mut Vec<u8>) {
    for (field, value) in fields.iter() {
        mask |= u64::from(value.is_some()) << field;
    }
    put(out, mask);
    for value in fields.iter().filter_map(|(_, value)| **value) {
        put(out, value);
    }
}

pub(super) fn decode_row(
    fields: &mut [(u32, &mut Option<u64>)],
    input: &mut Cursor,
) -> Option<u64> {
    let mask = input.get()?;
    for (field, value) in fields {
        if mask >> *field & 1 == 1 {
            **value = Some(input.get()?);
        }
    }
    Some(mask)
}

/// What times are expected: those between the first and the last event in time with the ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    pub(super) ticks: u64,
    ticks_span: u64,
    time: u64,
    time_span: u64,
}

impl Pace {
    /// Reads it; `None` if it is not what it should be.
    pub(super) fn decode(input: &mut Cursor) -> Option<Pace> {
        let pace = Pace {
            ticks: input.get()?,
            ticks_span: input.get()?,
            time: input.get()?,
            time_span: input.get()?,
        };
        (pace.time_span < MAX_SPAN).then_some(pace)
    }

    fn of(events: &[Data]) -> Pace {
        let timed = |e: &Data| Some((e.ticks?, e.unix_nanos?));
        let first = events.iter().find_map(timed);
        let last = events.iter().rev().find_map(timed);
        let (Some(first), Some(last)) = (first, last) else {
            let ticks = events.iter().find_map(|e| e.ticks).unwrap_or(0);
            let time = events.iter().find_map(|e| e.unix_nanos).unwrap_or(0);
            return Pace {
                ticks,
                time,
                ..Pace::default()
            };
        };
        let spans = (
            last.0.checked_sub(first.0),
            last.1.checked_sub(first.1).filter(|span| *span < MAX_SPAN),
        );
        let (ticks_span, time_span) = match spans {
            (Some(ticks), Some(time)) => (ticks, time),
            _ => (0, 0),
        };
        Pace {
            ticks: first.0,
            ticks_span,
            time: first.1,
            time_span,
        }
    }

    #[inline]
    pub(super) fn expect(&self, ticks: Option<u64>) -> u64 {
        let Some(ticks) = ticks.filter(|_| self.ticks_span > 0) else {
            return self.time;
        };
        let since = i128::from(ticks) - i128::from(self.ticks);
        let span = i128::from(self.time_span);
        // The common case in 64 bits, which divide several times as fast.
        let passed = match (i64::try_from(since * span), i64::try_from(self.ticks_span)) {
            (Ok(product), Ok(ticks)) => product.div_euclid(ticks) as u64,
            _ => (since * span).div_euclid(i128::from(self.ticks_span)) as u64,
        };
        self.time.wrapping_add(passed)
    }
}

/// Rows of a table, each with its place.
struct Table<T> {
    rows: Vec<T>,
    places: HashMap<T, u64>,
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    fn new() -> Table<T> {
        Table {
            rows: Vec::new(),
            places: HashMap::new(),
        }
    }

    fn place(&mut self, row: T, recent: &mut [u64; RECENT], slot: u64) -> u64 {
        let recent = &mut recent[slot as usize % RECENT];
        if self.rows.get(*recent as usize) == Some(&row) {
            return *recent;
        }
        let next = self.rows.len() as u64;
        let rows = &mut self.rows;
        *recent = *self.places.entry(row).or_insert_with_key(|row| {
            rows.push(row.clone());
            next
        });
        *recent
    }
}

/// Rows that are found without a hash.
const RECENT: usize = 64;

/// What was last, for expecting what comes.
#[derive(Default)]
pub(super) struct Last {
    pub(super) ticks: u64,
    pub(super) core: u64,
    pub(super) address: u64,
    /// By the lane, of those with small numbers.
    pub(super) numbers: Vec<u64>,
    pub(super) other_numbers: HashMap<Option<u64>, u64>,
    pub(super) args: Vec<Vec<i64>>,
}

impl Last {
    /// The number that is expected next in a lane.
    #[inline]
    pub(super) fn next_number(&mut self, lane: Option<u64>) -> &mut u64 {
        match lane {
            Some(lane) if lane < 4096 => {
                let lane = lane as usize;
                if self.numbers.len() <= lane {
                    self.numbers.resize(lane + 1, 0);
                }
                &mut self.numbers[lane]
            }
            _ => self.other_numbers.entry(lane).or_default(),
        }
    }
}

/// How many bytes an event takes at most in a block, about; `None` if it has more of something than a record holds.
pub fn weight(event: &Data) -> Option<usize> {
    let lists = event.args.len().max(event.backtrace.len());
    let fits = lists <= MAX_ARGS && event.payload.len() <= MAX_PAYLOAD;
    fits.then(|| 10 * (16 + event.args.len() + event.backtrace.len()) + event.payload.len())
}

/// The bytes of these events, not compressed yet. Their magic is the block's.
pub fn pack(events: &[Data]) -> Vec<u8> {
    let pace = Pace::of(events);
    let (mut shapes, mut sources) = (Table::new(), Table::new());
    let mut recent = [[u64::MAX; RECENT]; 2];
    let [recent_shapes, recent_sources] = &mut recent;
    let most = events.iter().map(|e| e.args.len()).max().unwrap_or(0);
    let mut columns = vec![Vec::with_capacity(events.len()); FIXED + most];
    let mut payloads = Vec::new();
    let mut last = Last {
        ticks: pace.ticks,
        ..Last::default()
    };
    for event in events {
        let slot = event.kind.event.or(event.kind.format).unwrap_or(0);
        let shape = shapes.place(Shape::of(event), recent_shapes, slot);
        put(&mut columns[KIND], shape);
        let slot = event.source.tid.unwrap_or(0);
        let source = sources.place(event.source.clone(), recent_sources, slot);
        put(&mut columns[SOURCE], source);
        if let Some(ticks) = event.ticks {
            put_difference(&mut columns[TICKS], ticks, last.ticks);
            last.ticks = ticks;
        }
        if let Some(time) = event.unix_nanos {
            put_difference(&mut columns[TIME], time, pace.expect(event.ticks));
        }
        if let Some(core) = event.core {
            put_difference(&mut columns[CORE], core, last.core);
            last.core = core;
        }
        if let Some(lane) = event.lane {
            put(&mut columns[LANE], lane);
        }
        if let Some(number) = event.number {
            let next = last.next_number(event.lane);
            put_difference(&mut columns[NUMBER], number, *next);
            *next = number.wrapping_add(1);
        }
        for address in &event.backtrace {
            put_difference(&mut columns[BACKTRACE], *address, last.address);
            last.address = *address;
        }
        let shape = shape as usize;
        if last.args.len() <= shape {
            last.args.resize_with(shape + 1, Vec::new);
        }
        let before = &mut last.args[shape];
        before.resize(event.args.len(), 0);
        for ((arg, before), column) in event.args.iter().zip(before).zip(&mut columns[FIXED..]) {
            put_difference(column, *arg as u64, *before as u64);
            *before = *arg;
        }
        if !event.payload.is_empty() {
            let (_, values) = whole_values(&event.payload);
            put(&mut payloads, values.len() as u64);
            payloads.extend_from_slice(values);
        }
    }
    if !payloads.is_empty() {
        columns.push(payloads);
    }
    let mut out = Vec::new();
    for number in [pace.ticks, pace.ticks_span, pace.time, pace.time_span] {
        put(&mut out, number);
    }
    put(&mut out, shapes.rows.len() as u64);
    for shape in shapes.rows {
        shape.encode(&mut out);
    }
    put(&mut out, sources.rows.len() as u64);
    for mut source in sources.rows {
        encode_row(0, &mut source_fields(&mut source), &mut out);
    }
    put(&mut out, columns.len() as u64);
    for column in columns {
        put(&mut out, column.len() as u64);
        out.extend(column);
    }
    out
}

/// Compresses what was packed.
pub fn compress(packed: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress(packed)
}
