//! The types of fields: how a message names them, and how each shows its value.
//!
//! A field of at most 64 bits is one word. A shorter type counts only the low bits of its word, as
//! a conversion in C does, so that every word is a value of its type. Texts and arrays have their
//! length in a word, and their bytes in the payload behind all of the words.

use std::fmt;

use crate::event::values::element::Element;
use crate::event::values::labels::Labels;
use crate::event::values::units::{Bytes, Nanoseconds, UnixTime};
use crate::event::values::value::Value;

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType<'a> {
    /// Signed integers. `I64` is also the type of a field for which the message gives none.
    I64,
    /// 8 bits, signed.
    I8,
    /// 16 bits, signed.
    I16,
    /// 32 bits, signed.
    I32,
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

/// Numbers of an array that are shown. The rest shows as `…`.
const MOST_SHOWN: usize = 64;

/// The types that a message may name, as they are written.
pub const TYPES: &str = "i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, bool, char, hex, ptr, ns, \
    time, bytes, str, wstr, istr, enum(red=1,green=2), flags(r=1,w=2); i8[] to i64[], \
    u8[] to u64[], f32[], f64[]";

/// As a message names it.
impl fmt::Display for FieldType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts()
            .into_iter()
            .try_for_each(|part| f.write_str(part))
    }
}

impl<'a> FieldType<'a> {
    /// The parts of its name in a message.
    pub(crate) const fn parts(self) -> [&'a str; 3] {
        let name = match self {
            FieldType::Enum(labels) => return ["enum(", labels.0, ")"],
            FieldType::Flags(labels) => return ["flags(", labels.0, ")"],
            FieldType::Array(element) => return [element.name(), "[]", ""],
            FieldType::I8 => "i8",
            FieldType::I16 => "i16",
            FieldType::I32 => "i32",
            FieldType::I64 => "i64",
            FieldType::U8 => "u8",
            FieldType::U16 => "u16",
            FieldType::U32 => "u32",
            FieldType::U64 => "u64",
            FieldType::F32 => "f32",
            FieldType::F64 => "f64",
            FieldType::Bool => "bool",
            FieldType::Char => "char",
            FieldType::Hex => "hex",
            FieldType::Ptr => "ptr",
            FieldType::Ns => "ns",
            FieldType::Time => "time",
            FieldType::Bytes => "bytes",
            FieldType::Str => "str",
            FieldType::Wstr => "wstr",
            FieldType::Istr => "istr",
        };
        [name, "", ""]
    }

    /// The type at the beginning of `text`, which stands behind `$name:`, and its length. The
    /// error is the word that names no type.
    pub fn parse(text: &'a str) -> Result<(FieldType<'a>, usize), &'a str> {
        let word = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let mut length = word;
        if text[word..].starts_with("[]") {
            length += 2;
        } else if let Some(list) = text[word..].strip_prefix('(')
            && matches!(&text[..word], "enum" | "flags")
        {
            length += list.find(')').map_or(text.len() - word, |end| end + 2);
        }
        let found = &text[..length];
        FieldType::named(found)
            .map(|kind| (kind, length))
            .ok_or(found)
    }

    fn named(name: &'a str) -> Option<FieldType<'a>> {
        let labels = |kind: &str| {
            let list = name.strip_prefix(kind)?.strip_prefix('(')?;
            Labels::parse(list.strip_suffix(')')?)
        };
        if let Some(number) = Element::named(name) {
            return Some(number.field());
        }
        Some(match name {
            "bool" => FieldType::Bool,
            "char" => FieldType::Char,
            "hex" => FieldType::Hex,
            "ptr" => FieldType::Ptr,
            "ns" => FieldType::Ns,
            "time" => FieldType::Time,
            "bytes" => FieldType::Bytes,
            "str" => FieldType::Str,
            "wstr" => FieldType::Wstr,
            "istr" => FieldType::Istr,
            _ if name.ends_with("[]") => FieldType::Array(Element::named(&name[..name.len() - 2])?),
            _ => match labels("enum") {
                Some(list) => FieldType::Enum(list),
                None => FieldType::Flags(labels("flags")?),
            },
        })
    }

    /// Whether its value is one word.
    pub fn is_scalar(self) -> bool {
        !matches!(
            self,
            FieldType::Str | FieldType::Wstr | FieldType::Istr | FieldType::Array(_)
        )
    }

    /// The value in an argument word, as a signed integer: sign-extended or zero-extended from the
    /// bits that the type has.
    pub fn integer(self, word: i64) -> i64 {
        match self {
            FieldType::I8 => (word as i8).into(),
            FieldType::I16 => (word as i16).into(),
            FieldType::I32 => (word as i32).into(),
            FieldType::U8 => (word as u8).into(),
            FieldType::U16 => (word as u16).into(),
            FieldType::U32 | FieldType::F32 | FieldType::Char => (word as u32).into(),
            _ => word,
        }
    }

    /// Whether its value is a whole number, of any meaning.
    pub fn is_whole_number(self) -> bool {
        let fraction = matches!(self, FieldType::F32 | FieldType::F64);
        self.is_scalar() && !fraction && self != FieldType::Ptr
    }

    /// The word of a value, as a program logs it; 0 for a text.
    pub fn word(self, value: &Value) -> i64 {
        match (value, self) {
            (Value::Int(value), _) => *value,
            (Value::Uint(value), _) => *value as i64,
            (Value::Float(value), FieldType::F32) => (*value as f32).to_bits().into(),
            (Value::Float(value), _) => value.to_bits() as i64,
            _ => 0,
        }
    }

    /// Writes a value as people read it. A text is written as it is, and an array as `[1, 2, 3]`.
    /// Where one was cut, it ends in `…`.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn write_value(self, value: &Value, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
        match (self, value) {
            (FieldType::Array(element), Value::Text { bytes, cut }) => {
                write_array(element, bytes, *cut, out)
            }
            (_, Value::Text { bytes, cut }) => {
                out.write_str(&String::from_utf8_lossy(bytes))?;
                out.write_str(if *cut { "…" } else { "" })
            }
            (_, Value::Int(_) | Value::Uint(_) | Value::Float(_)) if self.is_scalar() => {
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
        let value = self.integer(word);
        match self {
            FieldType::U64 => write!(out, "{}", value as u64),
            // As a number of its own precision, which has fewer digits.
            FieldType::F32 => write_float(f32::from_bits(value as u32), out),
            FieldType::F64 => write_float(f64::from_bits(value as u64), out),
            FieldType::Bool => write!(out, "{}", value != 0),
            FieldType::Char => write_char(value as u32, out),
            FieldType::Hex | FieldType::Ptr => write!(out, "{value:#x}"),
            FieldType::Ns => write!(out, "{}", Nanoseconds(value)),
            FieldType::Time => write!(out, "{}", UnixTime(value)),
            FieldType::Bytes => write!(out, "{}", Bytes(value as u64)),
            FieldType::Enum(labels) => match labels.name(value) {
                Some(name) => out.write_str(name),
                None => write!(out, "{value}"),
            },
            FieldType::Flags(labels) => write_flags(labels, value as u64, out),
            _ => write!(out, "{value}"),
        }
    }
}

/// What is no number is `nan`, as printf and JSON have it, and has no sign.
impl Element {
    /// The type of a field with one such number.
    pub fn field(self) -> FieldType<'static> {
        match self {
            Element::I8 => FieldType::I8,
            Element::I16 => FieldType::I16,
            Element::I32 => FieldType::I32,
            Element::I64 => FieldType::I64,
            Element::U8 => FieldType::U8,
            Element::U16 => FieldType::U16,
            Element::U32 => FieldType::U32,
            Element::U64 => FieldType::U64,
            Element::F32 => FieldType::F32,
            Element::F64 => FieldType::F64,
        }
    }
}

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
        let listed = TYPES.split([';']).flat_map(|part| part.split(", "));
        let mut seen = Vec::new();
        for name in listed.flat_map(|name| name.split(" to ")) {
            let (kind, length) = FieldType::parse(name.trim()).unwrap();
            assert_eq!(length, name.trim().len());
            assert!(!seen.contains(&kind), "{name}");
            assert_eq!(kind.to_string(), name.trim());
            seen.push(kind);
        }
        assert!(seen.len() > 25, "{seen:?}");
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
