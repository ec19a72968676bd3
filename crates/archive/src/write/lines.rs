//! Packs imported lines into blocks whose columns take the fewest bytes.
//!
//! A recorder packs events as they come, and only doubles wait for the end of their block. An
//! importer has all lines of a block before it packs them. So each value may have a column of its
//! own, and be stored in the way that suits it.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Range, RangeInclusive};

use foldhash::fast::RandomState;

use super::range::ValueRange;
use crate::format::block::{
    FIXED, HAS_LANE, HAS_NUMBER, HAS_TICKS, HAS_TIME, LANE, MAX_COLUMNS, NUMBER, Pace,
    PreviousValues, SHAPE, Shape, THREAD, TICKS, TIME, encode_row, thread_fields,
};
use crate::format::decimal;
use crate::format::event::{RawDefinition, RawThread};
use crate::format::ranges::{self, ShapeRanges, place};
use crate::format::storage::{ColumnEncoding, MOST_FIXED, MOST_TIME};
use crate::format::time_text::TimeForm;
use crate::format::varint::{put, put_difference};
use timeline::internal::ValueKind;

/// Shapes with fewer events than this share columns with others.
const OWN: usize = 64;
/// A dictionary is tried if each of its entries stands for so many values on average.
const USES: usize = 2;
/// So many values are looked at to choose an encoding.
const SAMPLE: usize = 4096;
/// Units of times, in nanoseconds.
const UNITS: [u64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];

/// Lines of one import that follow one another, in the order in which they are given.
#[derive(Debug, Default)]
pub struct LineBlock {
    /// What lines have in common.
    pub shapes: Vec<LineShape>,
    /// The files they come from.
    pub threads: Vec<RawThread>,
    /// Each of the lines; at most 65,536.
    pub lines: Vec<BlockLine>,
    /// Their times in nanoseconds since 1970; empty if they have none.
    pub times: Vec<u64>,
    /// The ticks of the first. Each further line has one more.
    pub first_ticks: u64,
}

/// A line of a block.
#[derive(Debug, Clone, Copy)]
pub struct BlockLine {
    /// The place of its shape.
    pub shape: u32,
    /// The place of its thread.
    pub thread: u32,
    /// Its lane, and its number in there.
    pub lane: u64,
    /// See `lane`.
    pub number: u64,
}

/// What lines of one definition have.
#[derive(Debug)]
pub struct LineShape {
    /// The definition.
    pub definition: RawDefinition,
    /// The values of all lines of this shape, place by place.
    pub values: Vec<LineValues>,
}

/// The values that lines have in one place.
#[derive(Debug)]
pub enum LineValues {
    /// The time of the line as text.
    Time(TimeForm),
    /// Integers, signed or not, or the bits of numbers of type `double`.
    Numbers(ValueKind, Vec<u64>),
    /// Texts.
    Texts(LineTexts),
}

/// Texts, one behind the other.
#[derive(Debug, Default)]
pub struct LineTexts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl LineTexts {
    /// Appends a text, which has at most 65,535 bytes.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(from, to)| &self.bytes[from..*to])
    }
}

/// The values of one place in their shortest encoding.
struct Packed<'a> {
    kind: ValueKind,
    stored: ColumnEncoding,
    /// What stands before the first value.
    dictionary: Vec<u8>,
    values: &'a LineValues,
    /// The numbers of the entries of the dictionary.
    entries: Vec<u32>,
}

impl LineValues {
    /// The range of the values, as blocks state it.
    fn range(&self) -> Option<RangeInclusive<u64>> {
        let mut range = ValueRange::new();
        match self {
            LineValues::Time(_) => return Some(0..=MOST_TIME as u64),
            LineValues::Numbers(kind, values) => {
                values
                    .iter()
                    .for_each(|value| range.add(place(*kind, *value)));
            }
            LineValues::Texts(texts) => {
                texts
                    .iter()
                    .for_each(|text| range.add(Some(text.len() as u64)));
            }
        }
        range.range()
    }
}

impl LineBlock {
    /// Replaces the contents of `out` by the block, which is not compressed yet, and those of
    /// `ranges` by its ranges.
    pub(crate) fn encode(&self, out: &mut Vec<u8>, ranges: &mut Vec<u8>) {
        out.clear();
        let unit = self.unit();
        let mut pace = Pace::stepped(self.times.first().copied().unwrap_or(0), unit);
        pace.ticks = self.first_ticks;
        pace.encode(out);
        let mut counts = vec![0; self.shapes.len()];
        (self.lines.iter()).for_each(|line| counts[line.shape as usize] += 1);
        // Those with the most events have the smallest numbers, and columns of their own.
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|shape| std::cmp::Reverse(counts[*shape]));
        let mut rows = vec![0; counts.len()];
        (order.iter().zip(0..)).for_each(|(shape, row)| rows[*shape] = row);
        let packed: Vec<_> = order.iter().map(|shape| self.pack(*shape)).collect();
        let (firsts, most) = own_columns(&packed, order.iter().map(|shape| counts[*shape]));
        put(out, order.len() as u64);
        let mut shapes = Vec::new();
        for ((number, packed), first) in order.iter().zip(&packed).zip(&firsts) {
            let shape = self.shape(*number, packed, *first);
            let values = self.shapes[*number].values.iter().map(LineValues::range);
            shapes.push(ShapeRanges {
                values: values.collect(),
                shape: shape.without_storage(),
            });
            shape.encode(out);
        }
        ranges::encode(&shapes, ranges);
        put(out, self.threads.len() as u64);
        for thread in &self.threads {
            encode_row(0, &mut thread_fields(&mut thread.clone()), out);
        }
        let mut columns = self.fixed_columns(&rows, unit);
        columns.resize_with(FIXED + most, Vec::new);
        self.put_values(&rows, &packed, &firsts, &mut columns[FIXED..]);
        put(out, columns.len() as u64);
        for column in &columns {
            put(out, column.len() as u64);
            out.extend_from_slice(column);
        }
    }

    /// The largest unit of which all differences between times are multiples.
    fn unit(&self) -> u64 {
        let mut left = &UNITS[..];
        for pair in self.times.windows(2) {
            let difference = pair[1].abs_diff(pair[0]);
            // A greater one is no signed number, of which a unit could be a divisor.
            let is_signed = i64::try_from(difference).is_ok();
            while left.len() > 1 && !(is_signed && difference.is_multiple_of(left[0])) {
                left = &left[1..];
            }
        }
        left[0]
    }

    fn shape(&self, shape: usize, packed: &[Packed], first: usize) -> Shape {
        let timed = if self.times.is_empty() { 0 } else { HAS_TIME };
        Shape {
            definition: self.shapes[shape].definition.clone(),
            has: HAS_TICKS | HAS_LANE | HAS_NUMBER | timed,
            kinds: packed.iter().map(|packed| packed.kind).collect(),
            stored: packed.iter().map(|packed| packed.stored.clone()).collect(),
            first,
            ..Shape::default()
        }
    }

    fn fixed_columns(&self, rows: &[u64], unit: u64) -> Vec<Vec<u8>> {
        let mut columns = vec![Vec::new(); FIXED];
        let mut previous = PreviousValues::default();
        let mut before = self.first_ticks;
        for (line, ticks) in self.lines.iter().zip(self.first_ticks..) {
            put(&mut columns[SHAPE], rows[line.shape as usize]);
            put(&mut columns[THREAD], line.thread.into());
            put_difference(&mut columns[TICKS], ticks, before);
            before = ticks;
            put(&mut columns[LANE], line.lane);
            let next = previous.next_number(Some(line.lane));
            put_difference(&mut columns[NUMBER], line.number, *next);
            *next = line.number + 1;
        }
        let mut before = self.times.first().copied().unwrap_or(0);
        for time in &self.times {
            let steps = (time.wrapping_sub(before) as i64) / unit as i64;
            put_difference(&mut columns[TIME], steps as u64, 0);
            before = *time;
        }
        columns
    }

    fn pack(&self, shape: usize) -> Vec<Packed<'_>> {
        self.shapes[shape].values.iter().map(pack).collect()
    }

    /// Writes the values of all lines: of each row that has columns for itself one column after the
    /// other, and of all others in the order of the lines.
    fn put_values(
        &self,
        rows: &[u64],
        packed: &[Vec<Packed>],
        firsts: &[usize],
        columns: &mut [Vec<u8>],
    ) {
        let mut next: Vec<usize> = vec![0; packed.len()];
        let mut before: Vec<Vec<u64>> = packed.iter().map(|p| vec![0; p.len()]).collect();
        for line in &self.lines {
            let row = rows[line.shape as usize] as usize;
            if firsts[row] > 0 {
                next[row] += 1;
                continue;
            }
            let places = packed[row].iter().zip(&mut before[row]);
            for ((packed, before), column) in places.zip(&mut *columns) {
                packed.put(next[row]..next[row] + 1, before, column);
            }
            next[row] += 1;
        }
        for ((packed, first), count) in packed.iter().zip(firsts).zip(next) {
            let own = if *first > 0 { packed.as_slice() } else { &[] };
            for (packed, column) in own.iter().zip(&mut columns[*first..]) {
                packed.put(0..count, &mut 0, column);
            }
        }
    }
}

/// The first column of each row, and how many columns there are. Rows of few events share columns.
fn own_columns(packed: &[Vec<Packed>], counts: impl Iterator<Item = usize>) -> (Vec<usize>, usize) {
    let most = MAX_COLUMNS - FIXED - 1;
    let mut firsts = Vec::new();
    let shared = packed.iter().map(Vec::len).max().unwrap_or(0);
    let mut next = shared;
    for (places, count) in packed.iter().map(Vec::len).zip(counts) {
        let has_own = count >= OWN && next + places <= most;
        firsts.push(if has_own { next } else { 0 });
        next += if has_own { places } else { 0 };
    }
    (firsts, next)
}

impl Packed<'_> {
    /// Appends the values with these numbers, and a dictionary before the first. `before` is the
    /// integer before them.
    fn put(&self, numbers: Range<usize>, before: &mut u64, column: &mut Vec<u8>) {
        if numbers.start == 0 {
            column.extend_from_slice(&self.dictionary);
        }
        match (self.values, &self.stored) {
            (LineValues::Time(_), _) => {}
            (_, ColumnEncoding::Dictionary) => {
                let entries = self.entries[numbers].iter();
                entries.for_each(|entry| put(column, (*entry).into()));
            }
            (LineValues::Numbers(ValueKind::Float, values), ColumnEncoding::Decimal(power)) => {
                let doubles = values[numbers].iter().map(|bits| f64::from_bits(*bits));
                // They were chosen for this power.
                let decimal = |double| decimal::number(double, *power).unwrap_or(0) as u64;
                put_differences(doubles.map(decimal), before, column);
            }
            (LineValues::Numbers(ValueKind::Float, values), _) => {
                let values = values[numbers].iter();
                values.for_each(|value| column.extend_from_slice(&value.to_le_bytes()));
            }
            (LineValues::Numbers(_, values), ColumnEncoding::Fixed(size)) => {
                let values = values[numbers].iter();
                values.for_each(|value| column.extend_from_slice(&value.to_le_bytes()[..*size]));
            }
            (LineValues::Numbers(_, values), ColumnEncoding::Number) => {
                values[numbers].iter().for_each(|value| put(column, *value));
            }
            (LineValues::Numbers(_, values), _) => {
                put_differences(values[numbers].iter().copied(), before, column);
            }
            (LineValues::Texts(texts), stored) => {
                let mut from = (numbers.start.checked_sub(1)).map_or(0, |last| texts.ends[last]);
                let has_length = *stored == ColumnEncoding::ByKind;
                for end in &texts.ends[numbers] {
                    let text = &texts.bytes[from..*end];
                    if has_length {
                        put(column, 1 + 2 * text.len() as u64);
                    }
                    column.extend_from_slice(text);
                    from = *end;
                }
            }
        }
    }
}

/// Appends integers as differences. `before` is the one before them.
fn put_differences(integers: impl Iterator<Item = u64>, before: &mut u64, column: &mut Vec<u8>) {
    for integer in integers {
        put_difference(column, integer, *before);
        *before = integer;
    }
}

fn pack(values: &LineValues) -> Packed<'_> {
    let (kind, stored) = match values {
        LineValues::Time(form) => (ValueKind::Text, ColumnEncoding::Time(form.clone())),
        LineValues::Numbers(kind, _) => (*kind, ColumnEncoding::ByKind),
        LineValues::Texts(texts) => (ValueKind::Text, size_of(texts)),
    };
    let mut packed = Packed {
        kind,
        stored,
        dictionary: Vec::new(),
        values,
        entries: Vec::new(),
    };
    match values {
        LineValues::Time(_) => {}
        LineValues::Numbers(ValueKind::Float, values) => {
            let plain = packed.cost(values.len());
            packed.stored = power(values).map_or(ColumnEncoding::ByKind, ColumnEncoding::Decimal);
            if packed.cost(values.len()) >= plain {
                packed.stored = ColumnEncoding::ByKind;
            }
        }
        LineValues::Numbers(_, values) => {
            packed.choose_integers(values);
            let plain = packed.cost(values.len());
            let put_entry = |value, out: &mut Vec<u8>| put(out, value);
            if let Some((dictionary, entries)) = dictionary(values.iter().copied(), put_entry)
                && cost_of_entries(&dictionary, &entries) < plain
            {
                (packed.dictionary, packed.entries) = (dictionary, entries);
                packed.stored = ColumnEncoding::Dictionary;
            }
        }
        LineValues::Texts(texts) => {
            let put_entry = |text: &[u8], out: &mut Vec<u8>| {
                put(out, text.len() as u64);
                out.extend_from_slice(text);
            };
            if let Some((dictionary, entries)) = dictionary(texts.iter(), put_entry) {
                (packed.dictionary, packed.entries) = (dictionary, entries);
                packed.stored = ColumnEncoding::Dictionary;
            }
        }
    }
    packed
}

impl Packed<'_> {
    /// Chooses how integers are stored without a dictionary.
    fn choose_integers(&mut self, values: &[u64]) {
        let most = values.iter().copied().max().unwrap_or(0);
        let size = (64 - most.leading_zeros()).div_ceil(8).max(1) as usize;
        let ways = [
            ColumnEncoding::ByKind,
            ColumnEncoding::Number,
            ColumnEncoding::Fixed(size),
        ];
        let mut least = f64::INFINITY;
        let mut best = ColumnEncoding::ByKind;
        for way in ways {
            self.stored = way.clone();
            let cost = self.cost(values.len());
            if cost < least {
                (least, best) = (cost, way);
            }
        }
        self.stored = best;
    }

    /// About how many bits the first values take after compression.
    fn cost(&self, count: usize) -> f64 {
        let mut bytes = Vec::new();
        let sample = count.min(SAMPLE);
        self.put(0..sample, &mut 0, &mut bytes);
        entropy(&bytes) * count as f64 / sample.max(1) as f64
    }
}

/// The power of ten with which whole numbers stand for all of these doubles.
fn power(doubles: &[u64]) -> Option<usize> {
    let mut doubles = doubles.iter().map(|bits| f64::from_bits(*bits));
    let mut powers = doubles.clone().map(decimal::power);
    let power = powers.try_fold(0, |most, power| Some(most.max(power?)))?;
    doubles
        .all(|double| decimal::number(double, power).is_some())
        .then_some(power)
}

/// Texts of one size need no length.
fn size_of(texts: &LineTexts) -> ColumnEncoding {
    let size = texts.ends.first().copied().unwrap_or(0);
    let mut ends = texts.ends.iter().zip(1..);
    match (1..=MOST_FIXED).contains(&size) && ends.all(|(end, count)| *end == count * size) {
        true => ColumnEncoding::Fixed(size),
        false => ColumnEncoding::ByKind,
    }
}

/// The values that are there several times, as they stand before the others, and the number of
/// each value among them. `None` if there are too many of them.
fn dictionary<T: Hash + Eq + Copy>(
    values: impl Iterator<Item = T>,
    put_entry: impl Fn(T, &mut Vec<u8>),
) -> Option<(Vec<u8>, Vec<u32>)> {
    let mut numbers = HashMap::with_hasher(RandomState::default());
    let (mut entries, mut bytes) = (Vec::with_capacity(values.size_hint().0), Vec::new());
    for value in values {
        let next = numbers.len() as u32;
        let number = *numbers.entry(value).or_insert_with(|| {
            put_entry(value, &mut bytes);
            next
        });
        entries.push(number);
        let is_rare = entries.len() == SAMPLE && numbers.len() > SAMPLE - SAMPLE / 8;
        if is_rare {
            return None;
        }
    }
    if numbers.len() * USES > entries.len() {
        return None;
    }
    let mut dictionary = Vec::new();
    put(&mut dictionary, numbers.len() as u64);
    dictionary.extend(bytes);
    Some((dictionary, entries))
}

/// About how many bits a dictionary and the numbers of its entries take after compression.
fn cost_of_entries(dictionary: &[u8], entries: &[u32]) -> f64 {
    let mut bytes = Vec::new();
    let sample = &entries[..entries.len().min(SAMPLE)];
    (sample.iter()).for_each(|entry| put(&mut bytes, (*entry).into()));
    let each = entropy(&bytes) / sample.len().max(1) as f64;
    entropy(dictionary) + each * entries.len() as f64
}

/// The bits that bytes take if each is coded by itself.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    (bytes.iter()).for_each(|byte| counts[usize::from(*byte)] += 1);
    let all = bytes.len() as f64;
    let counts = counts.iter().filter(|count| **count > 0);
    // A byte takes a fraction of a bit at least.
    let bits = |count: &u32| f64::from(*count) * (all / f64::from(*count)).log2().max(0.02);
    counts.map(bits).sum()
}
