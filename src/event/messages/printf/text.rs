//! Strings and characters (`%s`, `%ls`, `%lc`), and values of an unexpected kind.

use super::field::{self, Spec};
use super::float;
use super::integer;
use super::parse::{FloatForm, FloatStyle, IntegerSize, IntegerStyle};
use crate::event::values::value::Value;

/// The text for a string that was `NULL`.
const NULL: &[u8] = b"(null)";
/// The mark at the end of a string that was cut.
const CUT: &str = "…";

/// Appends a string, cut to the precision in bytes.
pub fn append(value: &Value, spec: &Spec, out: &mut Vec<u8>) {
    append_up_to(value, |bytes| bytes, spec, out);
}

/// Appends a wide string, cut to whole characters.
pub fn append_whole_characters(value: &Value, spec: &Spec, out: &mut Vec<u8>) {
    append_up_to(value, whole, spec, out);
}

/// `kept` returns the part to show of a string that was cut to the precision.
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
        // Like glibc: nothing, rather than a part of the word.
        (Value::Nil, Some(precision)) if precision < NULL.len() => field::append(b"", spec, out),
        (Value::Nil, _) => field::append(NULL, spec, out),
        _ => show(value, spec, out),
    }
}

/// Cuts the text from `start` on to `most` bytes, and marks the cut.
pub fn shorten(out: &mut Vec<u8>, start: usize, most: usize) {
    if out.len() - start > most {
        let kept = whole(&out[start..start + most]).len();
        out.truncate(start + kept);
        out.extend_from_slice(CUT.as_bytes());
    }
}

/// Removes a character that was cut at the end, if the rest is UTF-8.
fn whole(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Appends a character of type `wchar_t`.
pub fn append_wide(code: u32, spec: &Spec, out: &mut Vec<u8>) {
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    field::append(character.encode_utf8(&mut [0; 4]).as_bytes(), spec, out);
}

/// Appends a value by its own kind, for a conversion that expects another. Only the width and the
/// side count.
pub fn show(value: &Value, spec: &Spec, out: &mut Vec<u8>) {
    let mut plain = Spec {
        width: spec.width,
        ..Spec::default()
    };
    plain.flags.left = spec.flags.left;
    match value {
        Value::Int(value) => {
            integer::append(
                *value as u64,
                IntegerSize::Long,
                IntegerStyle::Signed,
                &plain,
                out,
            );
        }
        Value::Uint(value) => {
            integer::append(
                *value,
                IntegerSize::Long,
                IntegerStyle::Unsigned,
                &plain,
                out,
            );
        }
        Value::Float(_) | Value::LongDouble(_) => {
            let style = FloatStyle {
                form: FloatForm::General,
                upper: false,
            };
            if let Some(number) = float::FloatDigits::of(value) {
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
