//! The types of the words of a payload, and the kinds of the values that they make.

use crate::event::values::element::Element;
use crate::event::values::field_table::{FieldStorage, FieldType};

/// The kind of a value, which its definition states for all events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// A signed integer.
    Int,
    /// An unsigned integer or an address.
    Uint,
    /// A `double`.
    Float,
    /// A `long double`.
    LongDouble,
    /// A text or an array, or none.
    Text,
}

/// What stands in a word of a payload, or in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordType {
    /// A signed integer of so many bits.
    Int(u32),
    /// An unsigned integer of so many bits.
    Uint(u32),
    F32,
    F64,
    /// Two words: x86's 80 bits, little-endian, and 48 without a meaning.
    LongDouble,
    /// The length of an array whose elements have so many bytes, a power of two. Those of a text
    /// have one.
    Length(usize),
    /// Nothing that is shown.
    Unused,
}

impl WordType {
    pub(crate) fn of_field(kind: FieldType) -> WordType {
        match kind.storage() {
            FieldStorage::Signed(bits) => WordType::Int(bits),
            FieldStorage::Unsigned(bits) => WordType::Uint(bits),
            FieldStorage::F32 => WordType::F32,
            FieldStorage::F64 => WordType::F64,
            FieldStorage::Text
            | FieldStorage::Wide
            | FieldStorage::Interned
            | FieldStorage::Array => WordType::Length(kind.element().map_or(1, Element::size)),
        }
    }

    /// By the letter of a type of [`Format::types`].
    pub(crate) fn of_conversion(kind: u32) -> WordType {
        match kind as u8 {
            b'i' => WordType::Int(32),
            b'u' => WordType::Uint(32),
            b'l' => WordType::Int(64),
            b'd' => WordType::F64,
            b'D' => WordType::LongDouble,
            b's' | b'S' | b'w' | b'W' => WordType::Length(1),
            b'n' => WordType::Unused,
            _ => WordType::Uint(64),
        }
    }

    /// The kind of value that it is; none if it is not shown.
    pub(crate) fn kind(self) -> Option<ValueKind> {
        Some(match self {
            WordType::Int(_) => ValueKind::Int,
            WordType::Uint(_) => ValueKind::Uint,
            WordType::F32 | WordType::F64 => ValueKind::Float,
            WordType::LongDouble => ValueKind::LongDouble,
            WordType::Length(_) => ValueKind::Text,
            WordType::Unused => return None,
        })
    }

    pub(crate) fn words(self) -> usize {
        match self {
            WordType::LongDouble => 2,
            _ => 1,
        }
    }
}
