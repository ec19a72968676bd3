//! The values that events of a shape have in a column of a block.

use timeline::Value;
use timeline::internal::ValueKind;

use crate::format::block::{MAX_EVENTS, Shape};
use crate::format::decimal;
use crate::format::storage::{ColumnEncoding, difference, first_double};
use crate::format::varint::{NumberReader, signed};

/// The values that the events of a shape have at a position, in the order of the events.
pub struct ValueColumn<'a> {
    raw: Vec<u64>,
    bytes: &'a [u8],
    /// The most bytes of a text.
    pub(super) longest: usize,
}

/// How a text is kept in 64 bits: whether there is one, whether it was cut, where it begins, and
/// how many bytes it has. A block has at most 2^24.
const IS_TEXT: u64 = 1 << 63;
const IS_CUT: u64 = 1 << 62;
const LENGTH_BITS: u32 = 25;

impl<'a> ValueColumn<'a> {
    /// The values as they are: integers; the bits of a `double`; of others, where they are.
    pub fn raw(&self) -> &[u64] {
        &self.raw
    }

    /// What a value of this kind is that has these bits in this column.
    pub fn value(&self, kind: ValueKind, raw: u64) -> Option<Value<'a>> {
        Some(match kind {
            ValueKind::Int => Value::Int(raw as i64),
            ValueKind::Uint => Value::Uint(raw),
            ValueKind::Float => Value::Float(f64::from_bits(raw)),
            ValueKind::LongDouble => {
                let bytes = self.bytes.get(usize::try_from(raw).ok()?..)?;
                Value::LongDouble(*bytes.first_chunk()?)
            }
            ValueKind::Text if raw & IS_TEXT == 0 => Value::Nil,
            ValueKind::Text => {
                let at = (raw & !(IS_TEXT | IS_CUT)) >> LENGTH_BITS;
                let length = (raw & ((1 << LENGTH_BITS) - 1)) as usize;
                let bytes = self.bytes.get(at as usize..)?.get(..length)?;
                let cut = raw & IS_CUT != 0;
                Value::Text { bytes, cut }
            }
        })
    }
}

/// The values that events of one shape have in a column.
pub(super) struct StoredColumn<'s> {
    kind: ValueKind,
    stored: &'s ColumnEncoding,
    /// The integer of the event before, or the bits of its double.
    before: u64,
    /// The values of a dictionary, once the first value was read. Of differences none: it only says
    /// that the double before them was read.
    entries: Option<Vec<u64>>,
    /// The values that were read.
    raw: Vec<u64>,
}

impl<'s> StoredColumn<'s> {
    /// Those of a shape, if it has values in the column with this number. Times stand in none.
    pub(super) fn of(shape: &'s Shape, number: usize) -> Option<StoredColumn<'s>> {
        let position = number.checked_sub(shape.first)?;
        let stored = shape
            .stored
            .get(position)
            .unwrap_or(&ColumnEncoding::ByKind);
        let is_time = matches!(stored, ColumnEncoding::Time(_));
        Some(StoredColumn {
            kind: kind(shape, position).filter(|_| !is_time)?,
            stored,
            before: 0,
            entries: None,
            raw: Vec::new(),
        })
    }

    /// What was read, of a column that has these bytes.
    pub(super) fn values<'a>(self, bytes: &'a [u8]) -> ValueColumn<'a> {
        let longest = match self.kind {
            ValueKind::Text => {
                let lengths = self.raw.iter().map(|raw| raw & ((1 << LENGTH_BITS) - 1));
                lengths.max().unwrap_or(0) as usize
            }
            _ => 0,
        };
        ValueColumn {
            raw: self.raw,
            bytes,
            longest,
        }
    }

    /// Whether each value is stored as the difference of an integer to the one before.
    fn are_differences(&self) -> bool {
        match self.stored {
            ColumnEncoding::ByKind => matches!(self.kind, ValueKind::Int | ValueKind::Uint),
            ColumnEncoding::Decimal(_) => true,
            _ => false,
        }
    }

    /// Passes over so many values of the shape, which has the column for itself.
    pub(super) fn skip(
        &mut self,
        count: usize,
        column: &mut NumberReader,
        bytes: &[u8],
        most: &mut usize,
    ) -> Option<()> {
        if self.are_differences() {
            self.before = column.last_difference(count, self.before)?;
            return Some(());
        }
        (0..count).try_for_each(|_| self.one(column, bytes, most).map(|_| ()))
    }

    /// Reads so many values of the shape, which has the column for itself.
    pub(super) fn all(
        &mut self,
        count: usize,
        column: &mut NumberReader,
        bytes: &[u8],
        most: &mut usize,
    ) -> Option<()> {
        self.raw.reserve(count);
        if self.are_differences() {
            let (mut before, raw) = (self.before, &mut self.raw);
            column.each(count, |number| {
                before = before.wrapping_add(signed(number));
                raw.push(before);
            })?;
            if let ColumnEncoding::Decimal(power) = self.stored {
                let added = raw.len() - count;
                (raw[added..].iter_mut()).for_each(|raw| *raw = double(*raw, *power));
            }
            self.before = before;
            return Some(());
        }
        (0..count).try_for_each(|_| self.next(column, bytes, most))
    }

    /// Reads the next value of the shape, from a column that has these bytes. Its dictionaries have
    /// at most so many entries.
    pub(super) fn next(
        &mut self,
        column: &mut NumberReader,
        bytes: &[u8],
        most: &mut usize,
    ) -> Option<()> {
        let raw = self.one(column, bytes, most)?;
        self.raw.push(raw);
        Some(())
    }

    /// The next value of the shape, which is not kept.
    #[inline]
    pub(super) fn one(
        &mut self,
        column: &mut NumberReader,
        bytes: &[u8],
        most: &mut usize,
    ) -> Option<u64> {
        let is_text = self.kind == ValueKind::Text;
        let text = |column: &mut NumberReader, length: u64, cut| {
            let at = bytes.len() - column.0.len();
            column.take(length)?;
            Some(IS_TEXT | cut | (at as u64) << LENGTH_BITS | length)
        };
        Some(match (self.stored, self.kind) {
            // It stands in no column.
            (ColumnEncoding::Time(_), _) => 0,
            (ColumnEncoding::Number, _) => column.get()?,
            (ColumnEncoding::Fixed(size), _) if is_text => text(column, *size as u64, 0)?,
            (ColumnEncoding::Fixed(size), _) => {
                let (taken, mut bytes) = (column.take(*size as u64)?.0, [0; 8]);
                bytes.get_mut(..*size)?.copy_from_slice(taken);
                u64::from_le_bytes(bytes)
            }
            (ColumnEncoding::Dictionary, _) => {
                if self.entries.is_none() {
                    let mut entries = Vec::new();
                    let count = column.count(MAX_EVENTS)?;
                    *most = most.checked_sub(count)?;
                    for _ in 0..count {
                        let number = column.get()?;
                        entries.push(match is_text {
                            true => text(column, number, 0)?,
                            false => number,
                        });
                    }
                    self.entries = Some(entries);
                }
                let place = column.count(MAX_EVENTS)?;
                *self.entries.as_ref()?.get(place)?
            }
            (ColumnEncoding::ByKind, ValueKind::Int | ValueKind::Uint) => {
                self.before = column.difference(self.before)?;
                self.before
            }
            (ColumnEncoding::Difference(size), _) => {
                if self.entries.is_none() {
                    (self.before, self.entries) = (first_double(column)?, Some(Vec::new()));
                }
                self.before = self.before.wrapping_add(difference(*size, column)?);
                self.before
            }
            (ColumnEncoding::Decimal(power), _) => {
                self.before = column.difference(self.before)?;
                double(self.before, *power)
            }
            (ColumnEncoding::ByKind, ValueKind::Float) => {
                let (bytes, _) = column.take(8)?.0.as_chunks();
                u64::from_le_bytes(bytes[0])
            }
            (ColumnEncoding::ByKind, ValueKind::LongDouble) => {
                let at = bytes.len() - column.0.len();
                column.take(16)?;
                at as u64
            }
            (ColumnEncoding::ByKind, ValueKind::Text) => match column.get()?.checked_sub(1) {
                None => 0,
                Some(number) => {
                    let cut = if number & 1 == 1 { IS_CUT } else { 0 };
                    text(column, number >> 1, cut)?
                }
            },
        })
    }
}

/// The bits of the double that a number stands for.
fn double(number: u64, power: usize) -> u64 {
    decimal::double(number as i64, power).to_bits()
}

/// The kind of the values of a shape in the column of a position.
fn kind(shape: &Shape, position: usize) -> Option<ValueKind> {
    match shape.kinds.is_empty() {
        true => (position as u64 <= shape.args.checked_sub(1)?).then_some(ValueKind::Int),
        false => shape.kinds.get(position).copied(),
    }
}
