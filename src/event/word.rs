//! The types of the words of a payload, and a sink for their values.

use super::{Element, FieldStorage, FieldType};

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

/// Takes the values of an event one by one, without any [`Value`](super::Value) in between: one is
/// put together from parts, and a copy of it would wait for them.
pub trait ValueSink {
    /// A signed integer.
    fn int(&mut self, value: i64);
    /// An unsigned integer or an address.
    fn uint(&mut self, value: u64);
    /// A `double`.
    fn float(&mut self, value: f64);
    /// A `long double`, as in memory.
    fn long_double(&mut self, bytes: &[u8; 16]);
    /// The bytes of a text or an array, and whether some were cut off.
    fn text(&mut self, bytes: &[u8], cut: bool);
    /// A text that was `NULL`.
    fn nil(&mut self);
}

/// What stands in a word of a payload, or in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordType {
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
    pub(super) fn of_field(kind: FieldType) -> WordType {
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
    pub(super) fn of_conversion(kind: u32) -> WordType {
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
    pub(super) fn kind(self) -> Option<ValueKind> {
        Some(match self {
            WordType::Int(_) => ValueKind::Int,
            WordType::Uint(_) => ValueKind::Uint,
            WordType::F32 | WordType::F64 => ValueKind::Float,
            WordType::LongDouble => ValueKind::LongDouble,
            WordType::Length(_) => ValueKind::Text,
            WordType::Unused => return None,
        })
    }

    pub(super) fn words(self) -> usize {
        match self {
            WordType::LongDouble => 2,
            _ => 1,
        }
    }
}
