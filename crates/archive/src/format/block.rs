//! Defines blocks: many events in columns of small numbers, which compress well.
//!
//! A number is written as the difference to its expected value. Ticks are expected from the
//! previous event, and the time from the ticks. The number in a lane is expected from the previous
//! event of that lane, and an argument from the same argument of the previous event of that shape.
//! Two tables hold what events share. Writing (../write/packer/) and reading
//! (../read/units/unpack.rs) both use this.

use std::collections::HashMap;

use crate::format::event::{RawDefinition, RawThread};
use crate::format::storage::ColumnEncoding;
use crate::format::varint::{NumberReader, put};
use timeline::internal::ValueKind;

/// The name of the compression.
pub const CODEC: &str = "lz4";
/// The name of the same compression, of a block with shapes that state the kinds of values.
pub const CODEC_KINDS: &str = "lz4+kinds";
/// The names of compressions of a block with shapes that state how their values are stored.
pub const CODEC_COLUMNS: &str = "lz4+columns";
pub const CODEC_ZSTD: &str = "zstd+columns";
/// Most bytes that a block may expand to.
pub const MAX_EXPANDED: usize = 16 << 20;
/// The number of columns before those of the arguments.
pub(crate) const FIXED: usize = 8;
/// The index of each of these columns.
pub(crate) const SHAPE: usize = 0;
pub(crate) const THREAD: usize = 1;
pub(crate) const TICKS: usize = 2;
pub(crate) const TIME: usize = 3;
pub(crate) const CORE: usize = 4;
pub(crate) const LANE: usize = 5;
pub(crate) const NUMBER: usize = 6;
pub(crate) const BACKTRACE: usize = 7;
/// Most events in a block, and rows in each of its tables.
pub const MAX_EVENTS: usize = 1 << 16;
/// Most arguments of an event in a block.
pub const MAX_ARGS: usize = 1 << 10;
/// Most columns of a block.
pub const MAX_COLUMNS: usize = FIXED + MAX_ARGS + 1;
/// Most bytes of an expanded block for each byte of its payload. LZ4 makes at most 255.
pub const MAX_EXPANSION: usize = 256;
/// Most bytes in the payload of an event.
pub const MAX_PAYLOAD: usize = 1 << 20;
/// A longer span of time is not used to compute expected times.
const MAX_SPAN: u64 = 1 << 62;

/// A row of the table of shapes: what the events of a shape share. Fields are named by their
/// numbers in a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The definition of the events.
    pub definition: RawDefinition,
    /// The fields that the events have, as bits: 7 (ticks), 8 (time), 12 (core), 16 (lane), 17
    /// (number).
    pub has: u64,
    /// The number of return addresses.
    pub backtrace: u64,
    /// The number of arguments.
    pub args: u64,
    /// Whether the events have a payload.
    pub payload: bool,
    /// The kinds of their values, if each has a column in place of arguments and payload.
    pub kinds: Vec<ValueKind>,
    /// How each of these values is stored, if the shape says so.
    pub stored: Vec<ColumnEncoding>,
    /// The number of columns of values before those of this shape.
    pub first: usize,
}

pub(crate) const HAS_TICKS: u64 = 1 << 7;
pub(crate) const HAS_TIME: u64 = 1 << 8;
pub(crate) const HAS_CORE: u64 = 1 << 12;
pub(crate) const HAS_LANE: u64 = 1 << 16;
pub(crate) const HAS_NUMBER: u64 = 1 << 17;
const HAS: u64 = HAS_TICKS | HAS_TIME | HAS_CORE | HAS_LANE | HAS_NUMBER;
const HAS_BACKTRACE: u64 = 1 << 4;
const HAS_ARGS: u64 = 1 << 10;
const HAS_PAYLOAD: u64 = 1 << 19;
const HAS_KINDS: u64 = 1 << 21;
const HAS_STORED: u64 = 1 << 25;
/// The kinds of values by their numbers in a block.
const KINDS: [ValueKind; 5] = [
    ValueKind::Int,
    ValueKind::Uint,
    ValueKind::Float,
    ValueKind::LongDouble,
    ValueKind::Text,
];

/// Whether the codec of a block is one of those above.
pub fn is_known(codec: &[u8]) -> bool {
    let known = [CODEC, CODEC_KINDS, CODEC_COLUMNS, CODEC_ZSTD];
    known.iter().any(|known| known.as_bytes() == codec)
}

impl Shape {
    /// The fields that have a value in the table, and their values.
    fn fields(&mut self) -> [(u32, &mut Option<u64>); 8] {
        let definition = &mut self.definition;
        [
            (2, &mut definition.file),
            (3, &mut definition.line),
            (6, &mut definition.level),
            (9, &mut definition.format),
            (11, &mut definition.category),
            (18, &mut definition.event),
            (20, &mut definition.syntax),
            (22, &mut definition.channels),
        ]
    }

    /// The shape of events with the same values, each of which is stored by its kind.
    pub(crate) fn without_storage(&self) -> Shape {
        Shape {
            stored: Vec::new(),
            first: 0,
            ..self.clone()
        }
    }

    pub(crate) fn encode(mut self, out: &mut Vec<u8>) {
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
        if !self.kinds.is_empty() {
            mask |= HAS_KINDS;
        }
        if !self.stored.is_empty() {
            mask |= HAS_STORED;
        }
        let counts = [self.backtrace, self.args];
        encode_row(mask, &mut self.fields(), out);
        for count in counts.into_iter().filter(|count| *count > 0) {
            put(out, count);
        }
        if !self.kinds.is_empty() {
            put(out, self.kinds.len() as u64);
            let number = |kind| KINDS.iter().position(|known| known == kind).unwrap_or(0);
            let kinds = self.kinds.iter().map(|kind| number(kind) as u8);
            match self.stored.is_empty() {
                true => out.extend(kinds),
                false => {
                    let each = kinds.zip(&self.stored);
                    each.for_each(|(kind, stored)| stored.encode(kind, out));
                    put(out, self.first as u64);
                }
            }
        }
    }

    pub(crate) fn decode(input: &mut NumberReader) -> Option<Shape> {
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
        if mask & HAS_KINDS != 0 {
            shape.decode_kinds(mask & HAS_STORED != 0, input)?;
            // Its values stand in one place.
            if mask & (HAS_ARGS | HAS_PAYLOAD) != 0 {
                return None;
            }
        }
        Some(shape)
    }

    fn decode_kinds(&mut self, are_stored: bool, input: &mut NumberReader) -> Option<()> {
        let kind = |number: u8| KINDS.get(usize::from(number)).copied();
        let count = input.count(MAX_ARGS)?;
        if !are_stored {
            let kinds = input.take(count as u64)?.0.iter();
            self.kinds = kinds.map(|number| kind(*number)).collect::<Option<_>>()?;
            return Some(());
        }
        for _ in 0..count {
            let number = input.take(1)?.0[0];
            let kind = kind(number & 0xf)?;
            self.kinds.push(kind);
            self.stored
                .push(ColumnEncoding::decode(number >> 4, kind, input)?);
        }
        self.first = input.count(MAX_COLUMNS)?;
        Some(())
    }
}

pub(crate) fn thread_fields(thread: &mut RawThread) -> [(u32, &mut Option<u64>); 6] {
    [
        (5, &mut thread.name),
        (13, &mut thread.tid),
        (14, &mut thread.pid),
        (15, &mut thread.process),
        (23, &mut thread.group),
        (24, &mut thread.identity),
    ]
}

pub(crate) fn encode_row(mut mask: u64, fields: &mut [(u32, &mut Option<u64>)], out: &mut Vec<u8>) {
    for (field, value) in fields.iter() {
        mask |= u64::from(value.is_some()) << field;
    }
    put(out, mask);
    for value in fields.iter().filter_map(|(_, value)| **value) {
        put(out, value);
    }
}

pub(crate) fn decode_row(
    fields: &mut [(u32, &mut Option<u64>)],
    input: &mut NumberReader,
) -> Option<u64> {
    let mask = input.get()?;
    for (field, value) in fields {
        if mask >> *field & 1 == 1 {
            **value = Some(input.get()?);
        }
    }
    Some(mask)
}

/// Computes the expected times. Between the first and the last event, they grow in proportion to
/// the ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    pub(crate) ticks: u64,
    ticks_span: u64,
    time: u64,
    time_span: u64,
}

impl Pace {
    /// Reads a pace. Returns `None` if it is damaged.
    pub(crate) fn decode(input: &mut NumberReader) -> Option<Pace> {
        let pace = Pace {
            ticks: input.get()?,
            ticks_span: input.get()?,
            time: input.get()?,
            time_span: input.get()?,
        };
        (pace.time_span < MAX_SPAN).then_some(pace)
    }

    /// A pace at which each time is expected at that of the event before, and differences count
    /// units of so many nanoseconds.
    pub(crate) fn stepped(time: u64, unit: u64) -> Pace {
        Pace {
            time,
            time_span: unit,
            ..Pace::default()
        }
    }

    /// The unit of differences to the time of the event before, if times are stored so, and the
    /// time before the first.
    pub(crate) fn steps(&self) -> Option<(u64, u64)> {
        (self.ticks_span == 0 && self.time_span > 0).then_some((self.time_span, self.time))
    }

    /// The pace between the first and the last event that have both ticks and a time. The span of
    /// ticks becomes a power of two, so that computing an expected time needs no division.
    pub(crate) fn between(first: (u64, u64), last: (u64, u64)) -> Pace {
        let pace = Pace {
            ticks: first.0,
            time: first.1,
            ..Pace::default()
        };
        let (Some(ticks), Some(time)) = (last.0.checked_sub(first.0), last.1.checked_sub(first.1))
        else {
            return pace;
        };
        let (1.., Some(power)) = (ticks, ticks.checked_next_power_of_two()) else {
            return pace;
        };
        let time_span = u128::from(time) * u128::from(power) / u128::from(ticks);
        match u64::try_from(time_span) {
            Ok(time_span) if time_span < MAX_SPAN => Pace {
                ticks_span: power,
                time_span,
                ..pace
            },
            _ => pace,
        }
    }

    /// Appends the pace as four numbers.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for number in [self.ticks, self.ticks_span, self.time, self.time_span] {
            put(out, number);
        }
    }

    /// The expected time at these ticks.
    #[inline]
    pub(crate) fn expect(&self, ticks: Option<u64>) -> u64 {
        let Some(ticks) = ticks.filter(|_| self.ticks_span > 0) else {
            return self.time;
        };
        // The common case: the product fits in 64 bits, and the span is a power of two.
        let since = ticks.wrapping_sub(self.ticks) as i64;
        let product = since.checked_mul(self.time_span as i64);
        match product.filter(|_| (ticks >= self.ticks) == (since >= 0)) {
            Some(product) if self.ticks_span.is_power_of_two() => {
                let passed = product >> self.ticks_span.trailing_zeros();
                self.time.wrapping_add(passed as u64)
            }
            _ => self.expect_exactly(ticks),
        }
    }

    fn expect_exactly(&self, ticks: u64) -> u64 {
        let since = i128::from(ticks) - i128::from(self.ticks);
        let product = since * i128::from(self.time_span);
        let passed = match self.ticks_span.is_power_of_two() {
            true => product >> self.ticks_span.trailing_zeros(),
            false => product.div_euclid(self.ticks_span.into()),
        };
        self.time.wrapping_add(passed as u64)
    }
}

/// The values of previous events, from which the next values are expected.
#[derive(Default)]
pub(crate) struct PreviousValues {
    pub(crate) ticks: u64,
    pub(crate) core: u64,
    pub(crate) address: u64,
    /// Indexed by lane, for lanes with small numbers.
    pub(crate) next_numbers: Vec<u64>,
    pub(crate) other_next_numbers: HashMap<Option<u64>, u64>,
    pub(crate) args: Vec<Vec<i64>>,
}

impl PreviousValues {
    /// Forgets everything before another block begins.
    pub(crate) fn clear(&mut self) {
        (self.ticks, self.core, self.address) = (0, 0, 0);
        self.next_numbers.clear();
        self.other_next_numbers.clear();
        self.args.clear();
    }

    /// The expected number of the next event in a lane.
    #[inline]
    pub(crate) fn next_number(&mut self, lane: Option<u64>) -> &mut u64 {
        match lane {
            Some(lane) if lane < 4096 => {
                let lane = lane as usize;
                if self.next_numbers.len() <= lane {
                    self.next_numbers.resize(lane + 1, 0);
                }
                &mut self.next_numbers[lane]
            }
            _ => self.other_next_numbers.entry(lane).or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_expected_between_the_first_and_the_last() {
        let first = (1_000_000, 1_700_000_000_000_000_000);
        for ticks in [1, 2, 3, 1_000, 2_596_000_001, u64::from(u32::MAX) * 5] {
            let nanos = ticks / 3;
            let last = (first.0 + ticks, first.1 + nanos);
            let pace = Pace::between(first, last);
            assert!(pace.ticks_span.is_power_of_two());
            for passed in [0, 1, ticks / 7, ticks / 2, ticks] {
                let at = Some(first.0 + passed);
                let exact = first.1 + (passed as u128 * nanos as u128 / ticks as u128) as u64;
                assert!(pace.expect(at).abs_diff(exact) <= 1, "{passed} of {ticks}");
            }
        }
    }

    #[test]
    fn whatever_is_expected_is_that_of_exact_arithmetic() {
        let words = [0, 1, 3, 1 << 31, 1 << 61, 1 << 62, 1 << 63, u64::MAX];
        for (ticks, ticks_span, time_span, at) in words
            .iter()
            .flat_map(|a| words.iter().map(move |b| (*a, *b)))
            .flat_map(|(a, b)| words.iter().map(move |c| (a, b, *c)))
            .flat_map(|(a, b, c)| words.iter().map(move |d| (a, b, c, *d)))
            .filter(|(_, ticks_span, time_span, _)| *ticks_span > 0 && *time_span < MAX_SPAN)
        {
            let pace = Pace {
                ticks,
                ticks_span,
                time: 5,
                time_span,
            };
            let since = i128::from(at) - i128::from(ticks);
            let passed = (since * i128::from(time_span)).div_euclid(ticks_span.into());
            assert_eq!(pace.expect(Some(at)), 5_u64.wrapping_add(passed as u64));
        }
    }
}
