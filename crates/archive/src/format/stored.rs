//! Defines how values of imported lines stand in their columns.
//!
//! A value of another block has one encoding, which its kind states. A block of imported lines has
//! the one that takes the fewest bytes.

use timeline::ValueKind;

use crate::format::time_text::{MOST_FORM, TimeForm};
use crate::format::varint::{Cursor, put};

/// Most bytes of a text of fixed size.
pub const MOST_FIXED: usize = u16::MAX as usize;
/// More bytes than a time has as text.
pub const MOST_TIME: usize = 1024;
/// Most bytes that the texts of dictionaries and times of a block may have in all its events. Each
/// entry of a dictionary counts as `ENTRY` bytes more.
pub const MOST_REPEATED: usize = 64 << 20;
pub const ENTRY: usize = 16;

/// How the values of one place stand in their column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stored {
    /// As the values of other blocks.
    ByKind,
    /// Integers as numbers, and not as differences.
    Number,
    /// Integers or texts of so many bytes, without a length.
    Fixed(usize),
    /// The number of an entry of a dictionary, which stands before the first value.
    Dictionary,
    /// Nothing: the text is the time of the event in this form.
    Time(TimeForm),
}

/// The number of the storage in the upper half of a byte whose lower half is the kind.
const NUMBER: u8 = 1;
const FIXED: u8 = 2;
const DICTIONARY: u8 = 3;
const TIME: u8 = 4;

impl Stored {
    /// Appends the kind and the storage of a value.
    pub(super) fn encode(&self, kind: u8, out: &mut Vec<u8>) {
        match self {
            Stored::ByKind => out.push(kind),
            Stored::Number => out.push(kind | NUMBER << 4),
            Stored::Dictionary => out.push(kind | DICTIONARY << 4),
            Stored::Fixed(size) => {
                out.push(kind | FIXED << 4);
                put(out, *size as u64);
            }
            Stored::Time(form) => {
                out.push(kind | TIME << 4);
                let offset = form.offset();
                put(out, u64::from((offset << 1 ^ offset >> 31) as u32));
                put(out, form.text().len() as u64);
                out.extend_from_slice(form.text().as_bytes());
            }
        }
    }

    /// The storage in a byte with a kind, and what follows it. `None` if it does not suit the kind.
    pub(super) fn decode(storage: u8, kind: ValueKind, input: &mut Cursor) -> Option<Stored> {
        let is_text = kind == ValueKind::Text;
        let is_integer = matches!(kind, ValueKind::Int | ValueKind::Uint);
        match storage {
            0 => Some(Stored::ByKind),
            NUMBER if is_integer => Some(Stored::Number),
            FIXED if is_integer || is_text => {
                let size = input.count(if is_text { MOST_FIXED } else { 8 })?;
                (size > 0).then_some(Stored::Fixed(size))
            }
            DICTIONARY if is_integer || is_text => Some(Stored::Dictionary),
            TIME if is_text => {
                let offset = u32::try_from(input.get()?).ok()?;
                let offset = (offset >> 1) as i32 ^ -((offset & 1) as i32);
                let length = input.count(MOST_FORM)? as u64;
                let text = std::str::from_utf8(input.take(length)?.0).ok()?;
                TimeForm::new(text, offset).map(Stored::Time)
            }
            _ => None,
        }
    }
}
