//! Strings and characters: `%s`, `%ls`, `%lc`, and values of another kind than was expected.

use super::field::{self, Spec};
use super::float;
use super::integer;
use super::parse::{FloatForm, FloatStyle, IntegerStyle, Size};
use crate::event::values::Value;

/// What stands for a string that was `NULL`.
const NULL: &[u8] = b"(null)";
/// What ends a string of which the rest was not kept.
const CUT: &str = "…";

/// Appends a string, at most as many bytes of it as the precision says.
pub fn append(value: &Value, spec: &Spec, out: &mut Vec<u8>) {
    append_up_to(value, |bytes| bytes, spec, out);
}

/// The same for one that was wide, of which no character is divided.
pub fn append_whole_characters(value: &Value, spec: &Spec, out: &mut Vec<u8>) {
    append_up_to(value, whole, spec, out);
}

/// `kept` says how much is shown of what the precision leaves.
fn append_up_to(value: &Value, kept: impl Fn(&[u8]) -> &[u8], spec: &Spec, out: &mut Vec<u8>) {
    match (value, spec.precision) {
        (Value::Text { bytes, .. }, Some(precision)) if precision <= bytes.len() => {
            field::append(kept(&bytes[..precision]), spec, out);
        }
        (Value::Text { bytes, cut: false }, _) => field::append(bytes, spec, out),
        (Value::Text { bytes, cut: true }, _) => {
            let marked = [whole(bytes), CUT.as_bytes()].concat();
            field::append(&marked, spec, out);
        }
        // As glibc has it: nothing, rather than a part of the word.
        (Value::Nil, Some(precision)) if precision < NULL.len() => field::append(b"", spec, out),
        (Value::Nil, _) => field::append(NULL, spec, out),
        _ => show(value, spec, out),
    }
}

/// Cuts what stands from `start` on, if it is longer than `most`, and marks that.
pub fn shorten(out: &mut Vec<u8>, start: usize, most: usize) {
    if out.len() - start > most {
        let kept = whole(&out[start..start + most]).len();
        out.truncate(start + kept);
        out.extend_from_slice(CUT.as_bytes());
    }
}

/// Without the character that was divided at the end, if it is UTF-8 but for that.
fn whole(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Appends a character of `wchar_t`.
pub fn append_wide(code: u32, spec: &Spec, out: &mut Vec<u8>) {
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    field::append(character.encode_utf8(&mut [0; 4]).as_bytes(), spec, out);
}

/// Appends a value as what it is, for a conversion that does not expect it: of that, only width and
/// side count.
pub fn show(value: &Value, spec: &Spec, out: &mut Vec<u8>) {
    let mut plain = Spec {
        width: spec.width,
        ..Spec::default()
    };
    plain.flags.left = spec.flags.left;
    match value {
        Value::Int(value) => {
            integer::append(*value as u64, Size::Long, IntegerStyle::Signed, &plain, out);
        }
        Value::Uint(value) => {
            integer::append(*value, Size::Long, IntegerStyle::Unsigned, &plain, out);
        }
        Value::Float(_) | Value::LongDouble(_) => {
            let style = FloatStyle {
                form: FloatForm::General,
                upper: false,
            };
            if let Some(number) = float::Number::of(value) {
                float::append(number, style, &plain, out);
            }
        }
        Value::Text { .. } | Value::Nil => append(value, &plain, out),
        Value::Addresses(addresses) => {
            for address in addresses {
                integer::append_pointer(*address, &plain, out);
            }
        }
    }
}
