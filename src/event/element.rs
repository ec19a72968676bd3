//! The types of the numbers of an array.

use super::field_table::{FIELD_TYPES, FieldType};

/// The type of the numbers of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 8 bits, signed.
    I8,
    /// 16 bits, signed.
    I16,
    /// 32 bits, signed.
    I32,
    /// 64 bits, signed.
    I64,
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, unsigned.
    U64,
    /// IEEE 754, 32 bits.
    F32,
    /// IEEE 754, 64 bits.
    F64,
}

impl Element {
    /// All of them, as the table of types has them.
    pub const ALL: [Element; 10] = [
        Element::I8,
        Element::I16,
        Element::I32,
        Element::I64,
        Element::U8,
        Element::U16,
        Element::U32,
        Element::U64,
        Element::F32,
        Element::F64,
    ];

    /// Its name in a message.
    pub(super) const fn name(self) -> &'static str {
        FIELD_TYPES[self as usize].name
    }

    /// That of a name.
    pub(super) fn named(name: &str) -> Option<Element> {
        let mut all = Element::ALL.into_iter();
        all.find(|element| element.name() == name)
    }

    /// Bytes of one.
    #[inline]
    pub const fn size(self) -> usize {
        match FIELD_TYPES[self as usize].storage.bits() {
            Some(bits) => bits as usize / 8,
            None => 1,
        }
    }

    /// The type of a field with one such number.
    #[inline]
    pub const fn field(self) -> FieldType<'static> {
        FIELD_TYPES[self as usize].kind
    }

    /// The words of the numbers in little-endian bytes. Bytes of no whole number are left out.
    pub fn words(self, bytes: &[u8]) -> impl ExactSizeIterator<Item = i64> {
        bytes.chunks_exact(self.size()).map(|number| {
            let mut word = [0; 8];
            word[..number.len()].copy_from_slice(number);
            i64::from_le_bytes(word)
        })
    }
}
