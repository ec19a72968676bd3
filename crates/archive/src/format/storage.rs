//! Defines how values stand in their columns.
//!
//! The kind of a value states one encoding. A shape may state another one for a value, which takes
//! fewer bytes: for values of imported lines, and for doubles.

use timeline::internal::ValueKind;

use crate::format::decimal::MOST_POWER;
use crate::format::time_text::{MOST_FORM, TimeForm};
use crate::format::varint::{NumberReader, put};

/// Most bytes of a text of fixed size.
pub const MOST_FIXED: usize = u16::MAX as usize;
/// Most bytes of a difference between doubles.
pub const MOST_DIFFERENCE: usize = 7;
/// More bytes than a time has as text.
pub const MOST_TIME: usize = 1024;
/// Most bytes that the texts of dictionaries and times of a block may have in all its events. Each
/// entry of a dictionary counts as `ENTRY` bytes more.
pub const MOST_REPEATED: usize = 64 << 20;
pub const ENTRY: usize = 16;

/// How the values of one place stand in their column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ColumnEncoding {
    /// As its kind states.
    ByKind,
    /// Integers as numbers, and not as differences.
    Number,
    /// Integers or texts of so many bytes, without a length.
    Fixed(usize),
    /// The number of an entry of a dictionary, which stands before the first value.
    Dictionary,
    /// Nothing: the text is the time of the event in this form.
    Time(TimeForm),
    /// Doubles by their bits, as the difference to those of the event before, in so many bytes. The
    /// first double stands before the first difference.
    Difference(usize),
    /// Doubles by numbers that are divided by this power of ten, as the difference to the number of
    /// the event before.
    Decimal(usize),
}

/// The next difference between doubles, of 1 to 7 bytes.
#[inline]
pub fn difference(size: usize, column: &mut NumberReader) -> Option<u64> {
    let taken = column.take(size as u64)?.0;
    let bytes = taken
        .iter()
        .rev()
        .fold(0, |bytes, byte| bytes << 8 | u64::from(*byte));
    let above = u64::BITS - 8 * size as u32;
    Some(((bytes << above) as i64 >> above) as u64)
}

/// The first double of a column of differences, which stands before them.
pub fn first_double(column: &mut NumberReader) -> Option<u64> {
    let (bytes, _) = column.take(8)?.0.as_chunks();
    Some(u64::from_le_bytes(bytes[0]))
}

/// The number of the storage in the upper half of a byte whose lower half is the kind.
const NUMBER: u8 = 1;
const FIXED: u8 = 2;
const DICTIONARY: u8 = 3;
const TIME: u8 = 4;
const DIFFERENCE: u8 = 5;
const DECIMAL: u8 = 6;

impl ColumnEncoding {
    /// Appends the kind and the storage of a value.
    pub(super) fn encode(&self, kind: u8, out: &mut Vec<u8>) {
        match self {
            ColumnEncoding::ByKind => out.push(kind),
            ColumnEncoding::Number => out.push(kind | NUMBER << 4),
            ColumnEncoding::Dictionary => out.push(kind | DICTIONARY << 4),
            ColumnEncoding::Difference(size) => {
                out.push(kind | DIFFERENCE << 4);
                put(out, *size as u64);
            }
            ColumnEncoding::Decimal(power) => {
                out.push(kind | DECIMAL << 4);
                put(out, *power as u64);
            }
            ColumnEncoding::Fixed(size) => {
                out.push(kind | FIXED << 4);
                put(out, *size as u64);
            }
            ColumnEncoding::Time(form) => {
                out.push(kind | TIME << 4);
                let offset = form.offset();
                put(out, u64::from((offset << 1 ^ offset >> 31) as u32));
                put(out, form.text().len() as u64);
                out.extend_from_slice(form.text().as_bytes());
            }
        }
    }

    /// The storage in a byte with a kind, and what follows it. `None` if it does not suit the kind.
    pub(super) fn decode(
        storage: u8,
        kind: ValueKind,
        input: &mut NumberReader,
    ) -> Option<ColumnEncoding> {
        let is_text = kind == ValueKind::Text;
        let is_integer = matches!(kind, ValueKind::Int | ValueKind::Uint);
        match storage {
            0 => Some(ColumnEncoding::ByKind),
            NUMBER if is_integer => Some(ColumnEncoding::Number),
            FIXED if is_integer || is_text => {
                let size = input.count(if is_text { MOST_FIXED } else { 8 })?;
                (size > 0).then_some(ColumnEncoding::Fixed(size))
            }
            DICTIONARY if is_integer || is_text => Some(ColumnEncoding::Dictionary),
            TIME if is_text => {
                let offset = u32::try_from(input.get()?).ok()?;
                let offset = (offset >> 1) as i32 ^ -((offset & 1) as i32);
                let length = input.count(MOST_FORM)? as u64;
                let text = std::str::from_utf8(input.take(length)?.0).ok()?;
                TimeForm::new(text, offset).map(ColumnEncoding::Time)
            }
            DIFFERENCE if kind == ValueKind::Float => {
                let size = input.count(MOST_DIFFERENCE)?;
                (size > 0).then_some(ColumnEncoding::Difference(size))
            }
            DECIMAL if kind == ValueKind::Float => {
                Some(ColumnEncoding::Decimal(input.count(MOST_POWER)?))
            }
            _ => None,
        }
    }
}
