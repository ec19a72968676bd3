//! The types of the numbers of an array.

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
    /// All of them, in the order of their numbers.
    pub(super) const ALL: [(&'static str, Element); 10] = [
        ("i8", Element::I8),
        ("i16", Element::I16),
        ("i32", Element::I32),
        ("i64", Element::I64),
        ("u8", Element::U8),
        ("u16", Element::U16),
        ("u32", Element::U32),
        ("u64", Element::U64),
        ("f32", Element::F32),
        ("f64", Element::F64),
    ];

    /// Its name in a message.
    pub(super) const fn name(self) -> &'static str {
        Element::ALL[self as usize].0
    }

    /// That of a name.
    pub(super) fn named(name: &str) -> Option<Element> {
        let found = Element::ALL.iter().find(|(own, _)| *own == name);
        found.map(|(_, element)| *element)
    }

    /// Bytes of one.
    pub fn size(self) -> usize {
        match self {
            Element::I8 | Element::U8 => 1,
            Element::I16 | Element::U16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 => 8,
        }
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
