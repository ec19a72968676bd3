//! The types of fields: how a message names them, and how each shows its value.
//!
//! A field of at most 64 bits is one word. A shorter type counts only the low bits of its word, as
//! a conversion in C does, so that every word is a value of its type. Texts and arrays have their
//! length in a word, and their bytes in the payload behind all of the words.

use std::fmt;
use std::sync::LazyLock;

use crate::event::values::element::Element;
use crate::event::values::field_table::{
    FIELD_TYPES, FieldDescriptor, FieldStorage, FieldType, Notation,
};
use crate::event::values::labels::Labels;
use crate::event::values::units::{Bytes, Nanoseconds, UnixTime};
use crate::event::values::value::Value;

/// Numbers of an array that are shown. The rest shows as `…`.
const MOST_SHOWN: usize = 64;

/// The types that a message may name, as they are written.
pub fn type_names() -> &'static str {
    static NAMES: LazyLock<String> = LazyLock::new(|| {
        let is_list = |row: &&FieldDescriptor| row.storage == FieldStorage::Array;
        let plain = FIELD_TYPES.iter().filter(|row| !is_list(row));
        let plain: Vec<String> = plain.map(|row| row.kind.to_string()).collect();
        let lists = Element::ALL.map(|element| FieldType::Array(element).to_string());
        format!("{}; {}", plain.join(", "), lists.join(", "))
    });
    &NAMES
}

/// As a message names it.
impl fmt::Display for FieldType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts()
            .into_iter()
            .try_for_each(|part| f.write_str(part))
    }
}

impl<'a> FieldType<'a> {
    /// The type of a field for which the message gives none.
    pub const UNTYPED: FieldType<'a> = FieldType::I64;

    /// The parts of its name in a message.
    pub(crate) const fn parts(self) -> [&'a str; 4] {
        let name = self.descriptor().name;
        match (self.labels(), self.element()) {
            (Some(labels), _) => [name, "(", labels.as_str(), ")"],
            (_, Some(element)) => [element.name(), name, "", ""],
            _ => [name, "", "", ""],
        }
    }

    /// The type at the beginning of `text`, which stands behind `$name:`, and its length. The
    /// error is the word that names no type.
    pub fn parse(text: &'a str) -> Result<(FieldType<'a>, usize), &'a str> {
        let word = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let mut length = word;
        if text[word..].starts_with("[]") {
            length += 2;
        } else if let Some(list) = text[word..].strip_prefix('(')
            && FieldType::of_name(&text[..word]).is_some_and(|kind| kind.labels().is_some())
        {
            length += list.find(')').map_or(text.len() - word, |end| end + 2);
        }
        let found = &text[..length];
        FieldType::named(found)
            .map(|kind| (kind, length))
            .ok_or(found)
    }

    fn named(name: &'a str) -> Option<FieldType<'a>> {
        if let Some(element) = name.strip_suffix("[]") {
            return Element::named(element).map(FieldType::Array);
        }
        match name.split_once('(') {
            None => FieldType::of_name(name).filter(|kind| kind.labels().is_none()),
            Some((word, list)) => {
                let labels = Labels::parse(list.strip_suffix(')')?)?;
                FieldType::of_name(word)?.with_labels(labels)
            }
        }
    }

    /// The type of a row by its name.
    fn of_name(name: &str) -> Option<FieldType<'static>> {
        let mut rows = FIELD_TYPES.iter();
        rows.find_map(|row| (row.name == name).then_some(row.kind))
    }

    fn with_labels(self, labels: Labels<'a>) -> Option<FieldType<'a>> {
        match self {
            FieldType::Enum(_) => Some(FieldType::Enum(labels)),
            FieldType::Flags(_) => Some(FieldType::Flags(labels)),
            _ => None,
        }
    }

    /// Its names of numbers, if it has some.
    #[inline]
    pub const fn labels(self) -> Option<Labels<'a>> {
        match self {
            FieldType::Enum(labels) | FieldType::Flags(labels) => Some(labels),
            _ => None,
        }
    }

    /// The type of the numbers of an array.
    #[inline]
    pub const fn element(self) -> Option<Element> {
        match self {
            FieldType::Array(element) => Some(element),
            _ => None,
        }
    }

    /// What of it stands in an event.
    #[doc(hidden)]
    #[inline]
    pub const fn storage(self) -> FieldStorage {
        self.descriptor().storage
    }

    /// How people read it.
    #[doc(hidden)]
    #[inline]
    pub const fn notation(self) -> Notation {
        self.descriptor().notation
    }

    /// Whether it is an address, behind which its symbol is shown.
    #[inline]
    pub fn is_address(self) -> bool {
        self.notation() == Notation::Address
    }

    /// Whether its value is one word.
    #[inline]
    pub const fn is_scalar(self) -> bool {
        self.storage().bits().is_some()
    }

    /// The value in an argument word, as a signed integer: sign-extended or zero-extended from the
    /// bits that the type has.
    #[inline]
    pub fn integer(self, word: i64) -> i64 {
        self.storage().integer(word)
    }

    /// Whether its value is a whole number, of any meaning.
    pub fn is_whole_number(self) -> bool {
        self.storage().is_integer() && !self.is_address()
    }

    /// The word of a value, as a program logs it; 0 for a text.
    pub fn word(self, value: &Value) -> i64 {
        match value {
            Value::Int(value) => *value,
            Value::Uint(value) => *value as i64,
            Value::Float(value) if self.storage() == FieldStorage::F32 => {
                (*value as f32).to_bits().into()
            }
            Value::Float(value) => value.to_bits() as i64,
            _ => 0,
        }
    }

    /// Writes a value as people read it. A text is written as it is, and an array as `[1, 2, 3]`.
    /// Where one was cut, it ends in `…`.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn write_value(self, value: &Value, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
        match value {
            Value::Text { bytes, cut } => match self.element() {
                Some(element) => write_array(element, bytes, *cut, out),
                None => {
                    out.write_str(&String::from_utf8_lossy(bytes))?;
                    out.write_str(if *cut { "…" } else { "" })
                }
            },
            Value::Int(_) | Value::Uint(_) | Value::Float(_) if self.is_scalar() => {
                self.write(self.word(value), out)
            }
            // Only in a foreign archive: a value of another kind.
            _ => write!(out, "{value}"),
        }
    }

    /// Writes the value in an argument word as people read it: `true`, `0x1f`, `12.5µs`,
    /// `1.5 KiB`, `red`, `r|w`.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn write(self, word: i64, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
        let descriptor = self.descriptor();
        let value = descriptor.storage.integer(word);
        match descriptor.notation {
            Notation::Bool => write!(out, "{}", value != 0),
            Notation::Character => write_char(value as u32, out),
            Notation::Base16 | Notation::Address => write!(out, "{value:#x}"),
            Notation::Duration => write!(out, "{}", Nanoseconds(value)),
            Notation::Date => write!(out, "{}", UnixTime(value)),
            Notation::Size => write!(out, "{}", Bytes(value as u64)),
            Notation::Name => match self.labels().and_then(|labels| labels.name(value)) {
                Some(name) => out.write_str(name),
                None => write!(out, "{value}"),
            },
            Notation::Names => {
                let labels = self.labels().unwrap_or(Labels::checked(""));
                write_flags(labels, value as u64, out)
            }
            // Texts and lists have no word: of these it is their length.
            Notation::Number | Notation::Text | Notation::List => match descriptor.storage {
                FieldStorage::Unsigned(_) => write!(out, "{}", value as u64),
                // As a number of its own precision, which has fewer digits.
                FieldStorage::F32 => write_float(f32::from_bits(value as u32), out),
                FieldStorage::F64 => write_float(f64::from_bits(value as u64), out),
                _ => write!(out, "{value}"),
            },
        }
    }

    /// The names by which the value in a word goes: those of the number of an enum, those of the
    /// bits that are set, or the value as people read it.
    pub fn names(self, word: i64) -> Vec<String> {
        let value = self.integer(word);
        match (self.notation(), self.labels()) {
            (Notation::Names, Some(labels)) => {
                let (names, _) = labels.names(value as u64);
                names.into_iter().map(str::to_owned).collect()
            }
            (_, Some(labels)) => {
                // Several, where a program has two names for one number.
                let own = labels.iter().filter(|(_, number)| *number == value);
                own.map(|(name, _)| name.to_owned()).collect()
            }
            (_, None) => {
                let mut name = String::new();
                // Writing to a String does not fail.
                let _ = self.write(word, &mut name);
                vec![name]
            }
        }
    }
}

impl Element {
    /// The type of a field with several such numbers.
    pub const fn array(self) -> FieldType<'static> {
        FieldType::Array(self)
    }
}

impl FieldStorage {
    /// The value in a word, as a signed integer.
    #[inline]
    pub(super) fn integer(self, word: i64) -> i64 {
        match self {
            FieldStorage::Signed(bits) => signed(word as u64, bits),
            FieldStorage::Unsigned(bits) => unsigned(word as u64, bits) as i64,
            FieldStorage::F32 => unsigned(word as u64, 32) as i64,
            _ => word,
        }
    }
}

/// The lowest bits of a word, as a signed number.
#[inline]
pub(crate) fn signed(word: u64, bits: u32) -> i64 {
    let shift = u64::BITS - bits;
    (word << shift) as i64 >> shift
}

/// The lowest bits of a word.
#[inline]
pub(crate) fn unsigned(word: u64, bits: u32) -> u64 {
    let shift = u64::BITS - bits;
    word << shift >> shift
}

/// What is no number is `nan`, as printf and JSON have it, and has no sign.
fn write_float(
    value: impl Into<f64> + Copy + fmt::Debug,
    out: &mut (impl fmt::Write + ?Sized),
) -> fmt::Result {
    match value.into().is_nan() {
        true => out.write_str("nan"),
        false => write!(out, "{value:?}"),
    }
}

fn write_array(
    element: Element,
    bytes: &[u8],
    cut: bool,
    out: &mut (impl fmt::Write + ?Sized),
) -> fmt::Result {
    let words = element.words(bytes);
    let is_short = cut || words.len() > MOST_SHOWN;
    let comma = |place| if place == 0 { "" } else { ", " };
    let shown = words.len().min(MOST_SHOWN);
    out.write_str("[")?;
    for (place, word) in words.take(shown).enumerate() {
        out.write_str(comma(place))?;
        element.field().write(word, out)?;
    }
    if is_short {
        write!(out, "{}…", comma(shown))?;
    }
    out.write_str("]")
}

/// A code point, or `\xe9` for a byte that C took for a negative `char`.
fn write_char(value: u32, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
    match char::from_u32(value) {
        Some(char) => out.write_char(char),
        None => write!(out, "\\x{:02x}", value as u8),
    }
}

fn write_flags(labels: Labels, bits: u64, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
    let (names, rest) = labels.names(bits);
    out.write_str(&names.join("|"))?;
    match (rest, names.len()) {
        (0, 0) => out.write_str("0"),
        (0, _) => Ok(()),
        (_, 0) => write!(out, "{rest:#x}"),
        _ => write!(out, "|{rest:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(kind: &str, word: i64) -> String {
        let (kind, length) = FieldType::parse(kind).unwrap();
        assert!(length > 0);
        let mut text = String::new();
        kind.write(word, &mut text).unwrap();
        text
    }

    #[test]
    fn each_type_shows_its_value() {
        for (kind, word, text) in [
            ("i8", 255, "-1"),
            ("i16", 0x1_8000, "-32768"),
            ("i32", i64::MAX, "-1"),
            ("i64", i64::MIN, "-9223372036854775808"),
            ("u8", -1, "255"),
            ("u16", -1, "65535"),
            ("u32", -1, "4294967295"),
            ("u64", -1, "18446744073709551615"),
            ("f32", i64::from(1.1f32.to_bits()), "1.1"),
            ("f64", (-2.5f64).to_bits() as i64, "-2.5"),
            ("f64", f64::NAN.to_bits() as i64, "nan"),
            ("f32", i64::from((-f32::NAN).to_bits()), "nan"),
            ("f32", i64::from(f32::NEG_INFINITY.to_bits()), "-inf"),
            ("f64", 1e300f64.to_bits() as i64, "1e300"),
            ("bool", 0, "false"),
            ("bool", 7, "true"),
            ("char", 0x61, "a"),
            ("char", 0x1f600, "😀"),
            ("char", -23, "\\xe9"),
            ("hex", 0x1f, "0x1f"),
            ("hex", -1, "0xffffffffffffffff"),
            ("ptr", 0x7f00_0000_1000, "0x7f0000001000"),
            ("ns", 12_500, "12.5µs"),
            (
                "time",
                1_763_661_210_000_000_007,
                "2025-11-20T17:53:30.000000007Z",
            ),
            ("bytes", 1536, "1.5 KiB"),
            ("enum(red=1,green=2)", 2, "green"),
            ("enum(red=1,green=2)", 3, "3"),
            ("enum(none=-1)", -1, "none"),
            ("flags(r=1,w=2,x=0x4)", 0, "0"),
            ("flags(r=1,w=2,x=0x4)", 3, "r|w"),
            ("flags(r=1,w=2,x=0x4)", 0x1c, "x|0x18"),
            ("flags(r=1)", 0x10, "0x10"),
        ] {
            assert_eq!(shown(kind, word), text, "{kind} {word}");
        }
    }

    #[test]
    fn a_type_ends_where_its_word_ends() {
        let parsed = FieldType::parse;
        let labels = |list| Labels::parse(list).unwrap();
        assert_eq!(parsed("u32, and"), Ok((FieldType::U32, 3)));
        assert_eq!(parsed("u32_x"), Ok((FieldType::U32, 3)));
        assert_eq!(parsed("ns)"), Ok((FieldType::Ns, 2)));
        assert_eq!(
            parsed("enum(a=1) b"),
            Ok((FieldType::Enum(labels("a=1")), 9))
        );
        assert_eq!(parsed("bool(x)"), Ok((FieldType::Bool, 4)));
        for (text, word) in [
            ("int $x", "int"),
            ("bool[] $x", "bool[]"),
            ("str[] $x", "str[]"),
            ("enum $x", "enum"),
            ("enum(a) $x", "enum(a)"),
            ("enum(a=b) x", "enum(a=b)"),
            ("enum(=1) x", "enum(=1)"),
            ("enum() x", "enum()"),
            ("flags(a=1", "flags(a=1"),
        ] {
            assert_eq!(parsed(text), Err(word), "{text}");
        }
    }

    #[test]
    fn each_type_that_is_listed_is_one() {
        // A comma may stand between names of numbers, too.
        let mut rest = type_names();
        let mut listed = Vec::new();
        while !rest.is_empty() {
            let (kind, length) = FieldType::parse(rest).unwrap();
            assert_eq!(kind.to_string(), rest[..length]);
            assert!(!listed.contains(&kind), "{kind}");
            listed.push(kind);
            rest = rest[length..].trim_start_matches([',', ';', ' ']);
        }
        let arrays = Element::ALL.map(FieldType::Array);
        let rows = FIELD_TYPES.iter().map(|row| row.kind);
        let plain = rows.filter(|kind| kind.element().is_none());
        assert_eq!(listed, plain.chain(arrays).collect::<Vec<_>>());
    }

    #[test]
    fn texts_and_arrays_show_their_values() {
        let shown = |kind: &str, bytes: &[u8], cut| {
            let mut text = String::new();
            let (kind, _) = FieldType::parse(kind).unwrap();
            let value = Value::Text { bytes, cut };
            kind.write_value(&value, &mut text).unwrap();
            text
        };
        assert_eq!(shown("str", "größe".as_bytes(), false), "größe");
        assert_eq!(shown("wstr", b"ab\xff", true), "ab\u{fffd}…");
        assert_eq!(shown("u8[]", &[], false), "[]");
        assert_eq!(shown("i8[]", &[1, 255, 3], false), "[1, -1, 3]");
        assert_eq!(shown("u16[]", &[1, 1, 2], true), "[257, …]");
        assert_eq!(shown("u16[]", &[], true), "[…]");
        let floats: Vec<u8> = [0.5f32, -3.0]
            .iter()
            .flat_map(|f| f.to_le_bytes())
            .collect();
        assert_eq!(shown("f32[]", &floats, false), "[0.5, -3.0]");
        let many = shown("u8[]", &[7; 100], false);
        assert_eq!(many, format!("[{}…]", "7, ".repeat(64)));
    }

    proptest! {
        #[test]
        fn any_text_is_a_type_or_none(
            text in "[a-z0-9]{0,5}(\\[\\]|\\([a-zé=,0-9x-]{0,9}\\)?)?.{0,3}",
            word: i64,
        ) {
            if let Ok((kind, length)) = FieldType::parse(&text) {
                prop_assert!(text.is_char_boundary(length));
                let mut out = String::new();
                kind.write(word, &mut out).unwrap();
                prop_assert!(!out.is_empty());
            }
        }
    }
}
