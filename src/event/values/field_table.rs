//! The table of the types of fields: all that is known of a type, in one row.
//!
//! Who needs to know something of a type asks its row, and matches on no type. So a new one is a
//! variant of [`FieldType`], its row, and what its row says that no other does: field.rs shows and
//! reads values, crates/reading exports them, crates/search compares them.

use crate::event::values::element::Element;
use crate::event::values::labels::Labels;

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType<'a> {
    /// 8 bits, signed.
    I8,
    /// 16 bits, signed.
    I16,
    /// 32 bits, signed.
    I32,
    /// 64 bits, signed. Also the type of a field for which the message gives none.
    I64,
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, unsigned.
    U64,
    /// A number of IEEE 754 in the low 32 bits.
    F32,
    /// A number of IEEE 754.
    F64,
    /// `false` for 0, and `true` for everything else.
    Bool,
    /// A Unicode code point in the low 32 bits, or a byte that is none.
    Char,
    /// An unsigned number in base 16.
    Hex,
    /// An address.
    Ptr,
    /// A duration in nanoseconds, signed.
    Ns,
    /// Nanoseconds since 1970.
    Time,
    /// A size in bytes, unsigned.
    Bytes,
    /// One of several names.
    Enum(Labels<'a>),
    /// A set of named bits.
    Flags(Labels<'a>),
    /// A text in UTF-8.
    Str,
    /// A text that the program has in wide characters. It is stored in UTF-8.
    Wstr,
    /// A text in UTF-8 of a small vocabulary. It is stored once, and events carry its place.
    Istr,
    /// Several numbers.
    Array(Element),
}

/// What is known of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDescriptor {
    /// The type; one with names has some as an example.
    pub kind: FieldType<'static>,
    /// Its name in a message, without the names that stand in parentheses behind it. That of an
    /// array is `[]`, and stands behind the name of its numbers.
    pub name: &'static str,
    /// Its number in the C ABI. Those of words are below those of texts, by which C and Lua tell
    /// them apart. That of an array is added to that of its numbers.
    pub number: u32,
    /// What of it stands in an event.
    pub storage: FieldStorage,
    /// How people read it.
    pub notation: Notation,
    /// What it is in JSON.
    pub json: JsonForm,
    /// How it is compared with others.
    pub collation: Collation,
    /// What its numbers count, if they do: `ns`, `bytes`.
    pub unit: Option<&'static str>,
    /// The types of C whose values have this type, with commas between.
    pub c: &'static str,
    /// The types of C++ that have it besides those of C.
    pub cpp: &'static str,
    /// The type of Lua's values that a logging function takes, by the words of `type`.
    pub lua: &'static str,
    /// The types of Rust that have it.
    pub rust: &'static str,
}

/// What of a value stands in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldStorage {
    /// A signed integer in so many low bits of its word.
    Signed(u32),
    /// An unsigned integer in so many low bits of its word.
    Unsigned(u32),
    /// IEEE 754 in the low 32 bits of its word.
    F32,
    /// IEEE 754 in its word.
    F64,
    /// The length of a text in UTF-8, whose bytes are behind all words.
    Text,
    /// The same, of a text that the program has in wide characters.
    Wide,
    /// The same, or the place of a text that is stored once.
    Interned,
    /// How many numbers there are, whose bytes are behind all words.
    Array,
}

/// How people read a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `-5`, `0.25`: a number in base 10.
    Number,
    /// `true` or `false`.
    Bool,
    /// `a`: a character, or its byte.
    Character,
    /// `0x1f`.
    Base16,
    /// `0x401136 <main>`: in base 16, and the symbol to which it leads.
    Address,
    /// `12.5µs`.
    Duration,
    /// `2025-11-20T17:53:30.000000007Z`.
    Date,
    /// `1.5 KiB`.
    Size,
    /// `red`: the name of a number.
    Name,
    /// `r|w`: the names of bits.
    Names,
    /// A text as it is.
    Text,
    /// `[1, 2, 3]`.
    List,
}

/// What a value is in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonForm {
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// A text: the value as people read it.
    Text,
    /// A text, the name of a number; the number if it has none.
    Name,
    /// A list of the names of bits.
    Names,
    /// A list of numbers.
    List,
}

/// How values of a type are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collation {
    /// By the number.
    Number,
    /// By the number, or with a date.
    Time,
    /// `false` is less than `true`.
    Bool,
    /// By the number, or by equality with a name or a character for which it stands.
    Name,
    /// By the bytes.
    Text,
    /// By the first numbers that differ. Any of them, if it is compared with one number.
    List,
}

/// All types, in the order of [`FieldType`]. The first ones are those of [`Element`].
#[rustfmt::skip] // One line for what is stored and how it is read, and one for languages.
pub static FIELD_TYPES: [FieldDescriptor; 23] = {
    use {Collation as By, Element::U8, FieldStorage::*};
    use {FieldType as T, JsonForm as Json, Notation as As};
    const COLOR: Labels<'static> = Labels::checked("red=1,green=2");
    const ACCESS: Labels<'static> = Labels::checked("r=1,w=2");
    [
        //  type              name   number  storage       notation       JSON          collation
        //      .of(types of C, of C++ besides those, type of Lua, types of Rust)
        row(T::I8,            "i8",     2, Signed(8),    As::Number,    Json::Number, By::Number)
            .of("signed char", "", "number", "i8"),
        row(T::I16,           "i16",    3, Signed(16),   As::Number,    Json::Number, By::Number)
            .of("short", "", "number", "i16"),
        row(T::I32,           "i32",    4, Signed(32),   As::Number,    Json::Number, By::Number)
            .of("int", "", "number", "i32"),
        row(T::I64,           "i64",    1, Signed(64),   As::Number,    Json::Number, By::Number)
            .of("long, long long", "", "number", "i64, isize"),
        row(T::U8,            "u8",     5, Unsigned(8),  As::Number,    Json::Number, By::Number)
            .of("unsigned char", "", "number", "u8"),
        row(T::U16,           "u16",    6, Unsigned(16), As::Number,    Json::Number, By::Number)
            .of("unsigned short", "", "number", "u16"),
        row(T::U32,           "u32",    7, Unsigned(32), As::Number,    Json::Number, By::Number)
            .of("unsigned", "", "number", "u32"),
        row(T::U64,           "u64",    8, Unsigned(64), As::Number,    Json::Number, By::Number)
            .of("unsigned long, unsigned long long", "", "number", "u64, usize"),
        row(T::F32,           "f32",    9, F32,          As::Number,    Json::Number, By::Number)
            .of("float", "", "number", "f32"),
        row(T::F64,           "f64",   10, F64,          As::Number,    Json::Number, By::Number)
            .of("double", "", "number", "f64"),
        row(T::Bool,          "bool",  11, Signed(64),   As::Bool,      Json::Bool,   By::Bool)
            .of("bool", "", "boolean", "bool"),
        row(T::Char,          "char",  12, Unsigned(32), As::Character, Json::Text,   By::Name)
            .of("char", "char8_t, char16_t, char32_t", "string", "char"),
        row(T::Hex,           "hex",   13, Unsigned(64), As::Base16,    Json::Number, By::Number)
            .of("", "", "number", "Hex"),
        row(T::Ptr,           "ptr",   14, Unsigned(64), As::Address,   Json::Number, By::Number)
            .of("const volatile void *", "", "cdata", "*const T, *mut T"),
        row(T::Ns,            "ns",    15, Signed(64),   As::Duration,  Json::Number, By::Number)
            .unit("ns").of("", "std::chrono::duration", "number", "Duration, Nanoseconds"),
        row(T::Time,          "time",  16, Signed(64),   As::Date,      Json::Number, By::Time)
            .unit("ns").of("", "std::chrono::time_point", "number", "SystemTime, UnixTime"),
        row(T::Bytes,         "bytes", 17, Unsigned(64), As::Size,      Json::Number, By::Number)
            .unit("bytes").of("", "", "number", "Bytes"),
        row(T::Enum(COLOR),   "enum",  18, Signed(64),   As::Name,      Json::Name,   By::Name)
            .of("", "", "string", "Named"),
        row(T::Flags(ACCESS), "flags", 19, Signed(64),   As::Names,     Json::Names,  By::Name)
            .of("", "", "number", "Flags"),
        row(T::Str,           "str",   20, Text,         As::Text,      Json::Text,   By::Text)
            .of("const char *, timeline_text_t",
                "std::string, std::string_view, char[n], std::filesystem::path, char8_t",
                "string", "str, String, Path, OsStr"),
        row(T::Wstr,          "wstr",  21, Wide,         As::Text,      Json::Text,   By::Text)
            .of("timeline_wide_t", "std::wstring, std::wstring_view, wchar_t[n]", "string", "Wide"),
        row(T::Istr,          "istr",  22, Interned,     As::Text,      Json::Text,   By::Text)
            .of("", "", "string", "Interned"),
        row(T::Array(U8),     "[]",    64, Array,        As::List,      Json::List,   By::List)
            .of("TIMELINE_ARRAY",
                "std::vector, std::array, std::span, std::byte",
                "table", "[T], [T; N], Vec<T>"),
    ]
};

// Each row is at the place where `FieldType::descriptor` looks for it.
const _: () = {
    let mut place = 0;
    while place < FIELD_TYPES.len() {
        assert!(FIELD_TYPES[place].kind.place() == place);
        place += 1;
    }
};

const fn row(
    kind: FieldType<'static>,
    name: &'static str,
    number: u32,
    storage: FieldStorage,
    notation: Notation,
    json: JsonForm,
    collation: Collation,
) -> FieldDescriptor {
    FieldDescriptor {
        kind,
        name,
        number,
        storage,
        notation,
        json,
        collation,
        unit: None,
        c: "",
        cpp: "",
        lua: "",
        rust: "",
    }
}

impl FieldDescriptor {
    const fn unit(self, unit: &'static str) -> FieldDescriptor {
        FieldDescriptor {
            unit: Some(unit),
            ..self
        }
    }

    const fn of(
        self,
        c: &'static str,
        cpp: &'static str,
        lua: &'static str,
        rust: &'static str,
    ) -> FieldDescriptor {
        FieldDescriptor {
            c,
            cpp,
            lua,
            rust,
            ..self
        }
    }
}

impl FieldType<'_> {
    /// The place of its row.
    #[inline]
    const fn place(self) -> usize {
        match self {
            FieldType::I8 => 0,
            FieldType::I16 => 1,
            FieldType::I32 => 2,
            FieldType::I64 => 3,
            FieldType::U8 => 4,
            FieldType::U16 => 5,
            FieldType::U32 => 6,
            FieldType::U64 => 7,
            FieldType::F32 => 8,
            FieldType::F64 => 9,
            FieldType::Bool => 10,
            FieldType::Char => 11,
            FieldType::Hex => 12,
            FieldType::Ptr => 13,
            FieldType::Ns => 14,
            FieldType::Time => 15,
            FieldType::Bytes => 16,
            FieldType::Enum(_) => 17,
            FieldType::Flags(_) => 18,
            FieldType::Str => 19,
            FieldType::Wstr => 20,
            FieldType::Istr => 21,
            FieldType::Array(_) => 22,
        }
    }

    /// What is known of it.
    #[doc(hidden)]
    #[inline]
    pub const fn descriptor(self) -> &'static FieldDescriptor {
        &FIELD_TYPES[self.place()]
    }
}

impl FieldStorage {
    /// How many bits of a word count; `None` if the value is not one word.
    #[inline]
    pub const fn bits(self) -> Option<u32> {
        match self {
            FieldStorage::Signed(bits) | FieldStorage::Unsigned(bits) => Some(bits),
            FieldStorage::F32 => Some(32),
            FieldStorage::F64 => Some(64),
            FieldStorage::Text
            | FieldStorage::Wide
            | FieldStorage::Interned
            | FieldStorage::Array => None,
        }
    }

    /// Whether it is a whole number in a word.
    #[inline]
    pub const fn is_integer(self) -> bool {
        matches!(self, FieldStorage::Signed(_) | FieldStorage::Unsigned(_))
    }

    /// Whether it is a text.
    #[inline]
    pub const fn is_text(self) -> bool {
        matches!(
            self,
            FieldStorage::Text | FieldStorage::Wide | FieldStorage::Interned
        )
    }
}

impl Element {
    /// Its name in a message.
    pub(crate) const fn name(self) -> &'static str {
        FIELD_TYPES[self as usize].name
    }

    /// That of a name.
    pub(crate) fn named(name: &str) -> Option<Element> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_first_rows_are_those_of_elements() {
        for (place, element) in Element::ALL.into_iter().enumerate() {
            let row = &FIELD_TYPES[place];
            assert_eq!(format!("{element:?}"), format!("{:?}", row.kind));
            assert_eq!(element.field(), row.kind);
            assert_eq!(element.name(), row.name);
        }
        // In C, the type of an array is checked by this order of numbers.
        let numbers = FIELD_TYPES[..Element::ALL.len()].iter();
        let most = numbers.map(|row| row.number).max();
        assert_eq!(most, Some(Element::F64.field().descriptor().number));
    }

    #[test]
    fn names_and_numbers_tell_types_apart() {
        let names = BTreeSet::from_iter(FIELD_TYPES.iter().map(|row| row.name));
        let numbers = BTreeSet::from_iter(FIELD_TYPES.iter().map(|row| row.number));
        assert_eq!(
            (names.len(), numbers.len()),
            (FIELD_TYPES.len(), FIELD_TYPES.len())
        );
        assert!(!numbers.contains(&0), "the end of a list of types in C");
        let of = |is_word: bool| {
            let rows = FIELD_TYPES.iter();
            let rows = rows.filter(move |row| row.storage.bits().is_some() == is_word);
            rows.map(|row| row.number)
        };
        assert!(of(true).max() < of(false).min());
        // ffi/inline/value.h has numbers of its own from 27 on, below that of arrays.
        let texts = FIELD_TYPES.iter().filter(|row| row.storage.is_text());
        assert!(texts.map(|row| row.number).max() < Some(27));
    }

    /// Of those that are words, and of others, there are ways only for one of both.
    #[test]
    fn what_is_said_of_a_type_agrees_with_its_storage() {
        for row in &FIELD_TYPES {
            let is_word = row.storage.bits().is_some();
            let is_text = row.storage.is_text();
            assert_eq!(row.notation == Notation::Text, is_text, "{row:?}");
            assert_eq!(row.collation == Collation::Text, is_text, "{row:?}");
            let is_list = row.storage == FieldStorage::Array;
            assert_eq!(row.notation == Notation::List, is_list, "{row:?}");
            assert_eq!(row.json == JsonForm::List, is_list, "{row:?}");
            assert_eq!(row.collation == Collation::List, is_list, "{row:?}");
            assert!(is_word || row.unit.is_none(), "{row:?}");
            assert!(
                (1..=64).contains(&row.storage.bits().unwrap_or(64)),
                "{row:?}"
            );
            let has_names = matches!(row.notation, Notation::Name | Notation::Names);
            assert_eq!(row.kind.labels().is_some(), has_names, "{row:?}");
        }
    }
}
