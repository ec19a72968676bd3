//! Writes the values of events as JSON.

use std::io::{self, Write};

use serde_json::value::RawValue;
use timeline::dump::Text;
use timeline::internal::{FieldStorage, Format, JsonForm};
use timeline::{FieldType, Value};

use super::{INFALLIBLE, push_quoted};

/// The greatest whole number that readers of JSON do not round: many keep all numbers in 64 bits of
/// floating point.
pub const EXACT: u64 = 1 << 53;

/// Appends a whole number: as a number, or as a text if it is beyond [`EXACT`].
pub fn push_number(number: u64, out: &mut Text) {
    match number > EXACT {
        true => {
            out.push("\"");
            out.number(number);
            out.push("\"");
        }
        false => out.number(number),
    }
}

/// A whole number, in the same way.
pub fn whole_number(number: u64) -> serde_json::Value {
    match number > EXACT {
        true => number.to_string().into(),
        false => number.into(),
    }
}

fn push_signed(number: i64, out: &mut Text) {
    match number.unsigned_abs() > EXACT {
        true => {
            out.push("\"");
            out.signed(number);
            out.push("\"");
        }
        false => out.signed(number),
    }
}

/// Appends a value, of a field of this type if it has one.
///
/// - A whole number is a number, or a text if it is beyond [`EXACT`]; a size, a duration and an
///   address are whole numbers. A floating-point number has as few digits as tell it from others of
///   its own width, so an `f32` is `1.1`. What JSON has no number for is `"nan"`, `"inf"` or
///   `"-inf"`, and a `long double` is a text of 21 digits.
/// - An enum is its name, or its number if it has none. Flags are a list of names, in which a
///   number stands for the bits without one.
/// - An array is a list. `"…"` is the last element of one that was cut, as it is the end of a text
///   that was cut.
/// - `NULL` is null, and the addresses of a call stack are a list of numbers.
///
/// What is not UTF-8 in a text becomes `U+FFFD`.
pub fn push_value(kind: Option<FieldType>, value: &Value, out: &mut Text) {
    match (kind, kind.and_then(FieldType::element), value) {
        (_, Some(element), Value::Text { bytes, cut }) => {
            let mut list = List::begin(out);
            for word in element.words(bytes) {
                push_word(element.field(), word, list.next());
            }
            if *cut {
                push_quoted("…", list.next());
            }
            list.end();
        }
        (Some(kind), _, Value::Int(_) | Value::Uint(_) | Value::Float(_)) if kind.is_scalar() => {
            push_word(kind, kind.word(value), out);
        }
        _ => push_untyped(value, out),
    }
}

/// A value as [`push_value`] writes it.
pub fn value(kind: Option<FieldType>, value: &Value) -> Box<RawValue> {
    let mut text = Text::new();
    push_value(kind, value, &mut text);
    let text = String::from_utf8_lossy(text.as_bytes()).into_owned();
    RawValue::from_string(text).expect("it is JSON")
}

/// Appends the value in an argument word.
fn push_word(kind: FieldType, word: i64, out: &mut Text) {
    let integer = kind.integer(word);
    let labels = kind.labels();
    match kind.descriptor().json {
        JsonForm::Bool => out.push(if integer != 0 { "true" } else { "false" }),
        JsonForm::Name => match labels.and_then(|labels| labels.name(integer)) {
            Some(name) => push_quoted(name, out),
            None => push_signed(integer, out),
        },
        JsonForm::Names => {
            let names = labels.map(|labels| labels.names(integer as u64));
            let (names, rest) = names.unwrap_or_default();
            let mut list = List::begin(out);
            for name in names {
                push_quoted(name, list.next());
            }
            if rest != 0 {
                push_number(rest, list.next());
            }
            list.end();
        }
        JsonForm::Text => {
            let mut text = String::new();
            kind.write(word, &mut text).expect(INFALLIBLE);
            push_quoted(&text, out);
        }
        JsonForm::Number | JsonForm::List => match kind.storage() {
            FieldStorage::F32 => {
                let shortest = f32::from_bits(integer as u32).to_string();
                push_float(shortest.parse().unwrap_or(f64::NAN), out);
            }
            FieldStorage::F64 => push_float(f64::from_bits(integer as u64), out),
            FieldStorage::Unsigned(_) => push_number(integer as u64, out),
            _ => push_signed(integer, out),
        },
    }
}

/// Appends a value whose type only its encoding says.
fn push_untyped(value: &Value, out: &mut Text) {
    match value {
        Value::Int(number) => push_signed(*number, out),
        Value::Uint(number) => push_number(*number, out),
        Value::Float(number) => push_float(*number, out),
        Value::LongDouble(_) => {
            let mut text = Vec::new();
            let format = Format::parse("%.21Lg");
            format.render(std::iter::once(value.clone()), &mut text);
            let text = String::from_utf8_lossy(&text);
            // The sign of what is no number says nothing.
            push_quoted(text.strip_suffix("nan").map_or(&text, |_| "nan"), out);
        }
        Value::Text { bytes, cut: false } => match std::str::from_utf8(bytes) {
            Ok(text) => push_quoted(text, out),
            Err(_) => push_quoted(&String::from_utf8_lossy(bytes), out),
        },
        Value::Text { bytes, cut: true } => {
            push_quoted(&(String::from_utf8_lossy(bytes) + "…"), out);
        }
        Value::Nil => out.push("null"),
        Value::Addresses(addresses) => {
            let mut list = List::begin(out);
            for address in addresses {
                push_number(*address, list.next());
            }
            list.end();
        }
    }
}

fn push_float(number: f64, out: &mut Text) {
    match number {
        number if number.is_finite() => {
            serde_json::to_writer(Bytes(out), &number).expect(INFALLIBLE);
        }
        number if number.is_nan() => out.push("\"nan\""),
        number if number > 0.0 => out.push("\"inf\""),
        _ => out.push("\"-inf\""),
    }
}

/// A list that is written to a text.
struct List<'a> {
    out: &'a mut Text,
    is_empty: bool,
}

impl<'a> List<'a> {
    fn begin(out: &'a mut Text) -> List<'a> {
        out.push("[");
        List {
            out,
            is_empty: true,
        }
    }

    /// The text to which the next element is written.
    fn next(&mut self) -> &mut Text {
        if !self.is_empty {
            self.out.push(",");
        }
        self.is_empty = false;
        self.out
    }

    fn end(self) {
        self.out.push("]");
    }
}

/// Takes the bytes of JSON that serde writes.
struct Bytes<'a>(&'a mut Text);

impl Write for Bytes<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.0
            .push(std::str::from_utf8(json).map_err(io::Error::other)?);
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json(kind: &str, value: &Value) -> String {
        let kind = (!kind.is_empty()).then(|| FieldType::parse(kind).expect("a type").0);
        let mut text = Text::new();
        push_value(kind, value, &mut text);
        String::from_utf8(text.as_bytes().to_vec()).expect("UTF-8")
    }

    fn text(bytes: &[u8], cut: bool) -> Value<'_> {
        Value::Text { bytes, cut }
    }

    #[test]
    fn each_type_has_its_json() {
        let f32 = |number: f32| Value::Int(number.to_bits().into());
        let f64 = |number: f64| Value::Int(number.to_bits() as i64);
        for (kind, value, expected) in [
            ("", Value::Int(-5), "-5"),
            ("", Value::Int(1 << 53), "9007199254740992"),
            ("", Value::Int(-(1 << 53) - 1), "\"-9007199254740993\""),
            ("", Value::Uint(u64::MAX), "\"18446744073709551615\""),
            ("u64", Value::Int(-1), "\"18446744073709551615\""),
            ("u8", Value::Int(-1), "255"),
            ("i8", Value::Int(255), "-1"),
            ("bool", Value::Int(1), "true"),
            ("f32", f32(1.1), "1.1"),
            ("f32", f32(f32::NAN), "\"nan\""),
            ("f64", f64(-f64::NAN), "\"nan\""),
            ("f64", f64(f64::INFINITY), "\"inf\""),
            ("f32", f32(f32::NEG_INFINITY), "\"-inf\""),
            ("f64", f64(1e300), "1e+300"),
            ("", Value::Float(-0.0), "-0.0"),
            ("", Value::Float(-f64::NAN), "\"nan\""),
            ("ptr", Value::Uint(0x1f), "31"),
            ("ns", Value::Int(-1_500), "-1500"),
            ("enum(red=1,blue=2)", Value::Int(1), "\"red\""),
            ("enum(red=1,blue=2)", Value::Int(7), "7"),
            ("flags(r=1,w=2)", Value::Int(7), "[\"r\",\"w\",4]"),
            ("char", Value::Int(10), "\"\\n\""),
            ("str", text(b"a\xff", true), "\"a\u{fffd}…\""),
            ("str", Value::Nil, "null"),
            ("u8[]", text(&[1, 255], false), "[1,255]"),
            ("u8[]", text(&[1], true), "[1,\"…\"]"),
            (
                "",
                Value::Addresses(vec![16, u64::MAX]),
                "[16,\"18446744073709551615\"]",
            ),
        ] {
            assert_eq!(json(kind, &value), expected, "{kind} {value:?}");
        }
        let mut infinite = [0; 16];
        infinite[7..10].copy_from_slice(&[0x80, 0xff, 0xff]);
        assert_eq!(json("", &Value::LongDouble(infinite)), "\"-inf\"");
        infinite[7] = 0xc0;
        assert_eq!(json("", &Value::LongDouble(infinite)), "\"nan\"");
    }

    proptest! {
        #[test]
        fn each_number_comes_back(bits in any::<u64>(), narrow in any::<f32>()) {
            let back = |text: String| match serde_json::from_str(&text).expect("JSON") {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            prop_assert_eq!(back(json("u64", &Value::Uint(bits))), bits.to_string());
            prop_assert_eq!(back(json("", &Value::Int(bits as i64))), (bits as i64).to_string());
            let wide = f64::from_bits(bits);
            let text = json("", &Value::Float(wide));
            if wide.is_finite() {
                prop_assert_eq!(text.parse::<f64>().expect("a number").to_bits(), bits);
                let same = json("f64", &Value::Int(bits as i64));
                prop_assert_eq!(same, text);
            }
            if narrow.is_finite() {
                let text = json("f32", &Value::Int(narrow.to_bits().into()));
                prop_assert_eq!(text.parse::<f32>().expect("a number"), narrow);
            }
        }
    }
}
