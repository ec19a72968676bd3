//! Writes events as the JSON objects that they were made of.

use timeline::dump::is_printable;
use timeline::{Object, ObjectPart, ObjectValue, Value};

use super::scan::{float, is_json};

/// Appends the objects of an event with this message and these values, each with a line feed behind
/// it. `first` is put before the first field of each.
///
/// Characters that are not printable are escaped, so the text is safe to show. A value that is
/// missing is null, and one that was cut ends in `…`.
pub fn write_object(
    object: &Object,
    message: &str,
    values: &[Value],
    first: &str,
    out: &mut String,
) {
    let mut is_begin = true;
    for part in object.parts() {
        match part {
            ObjectPart::Text(text) => {
                let rest = match std::mem::take(&mut is_begin) {
                    true => text.strip_prefix('{').unwrap_or(text),
                    false => text,
                };
                if rest.len() < text.len() {
                    out.push('{');
                    *out += first;
                }
                push_printable(rest, out);
            }
            ObjectPart::Message(None) => push_quoted(message, out),
            ObjectPart::Message(Some(line)) => {
                push_quoted(message.split('\n').nth(*line).unwrap_or_default(), out);
            }
            ObjectPart::Value(position, kind) => value(*kind, values.get(*position), out),
            ObjectPart::End => {
                out.push('\n');
                is_begin = true;
            }
        }
    }
}

fn value(kind: ObjectValue, value: Option<&Value>, out: &mut String) {
    match (kind, value) {
        (ObjectValue::Bool, Some(Value::Int(number))) => push_bool(*number != 0, out),
        (ObjectValue::Bool, Some(Value::Uint(number))) => push_bool(*number != 0, out),
        (_, Some(Value::Int(number))) => *out += &number.to_string(),
        (_, Some(Value::Uint(number))) => *out += &number.to_string(),
        (_, Some(Value::Float(number))) => *out += &float(*number),
        (_, Some(Value::Text { bytes, cut })) => {
            let text = String::from_utf8_lossy(bytes);
            match cut {
                true => push_quoted(&(text + "…"), out),
                false if kind == ObjectValue::Json && is_json(&text) => push_printable(&text, out),
                false => push_quoted(&text, out),
            }
        }
        _ => *out += "null",
    }
}

fn push_bool(value: bool, out: &mut String) {
    *out += if value { "true" } else { "false" };
}

/// Appends a text in quotes.
pub fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        push_printable(&rest[..at], out);
        match rest.as_bytes()[at] {
            b'\n' => *out += "\\n",
            b'\r' => *out += "\\r",
            b'\t' => *out += "\\t",
            8 => *out += "\\b",
            12 => *out += "\\f",
            byte @ (b'"' | b'\\') => out.extend(['\\', char::from(byte)]),
            byte => *out += &format!("\\u{byte:04x}"),
        }
        rest = &rest[at + 1..];
    }
    push_printable(rest, out);
    out.push('"');
}

/// Appends JSON. What is not printable stands in strings only, and is escaped there.
fn push_printable(mut text: &str, out: &mut String) {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        *out += text;
        return;
    }
    while let Some(at) = text.find(|c| !is_printable(c)) {
        *out += &text[..at];
        let mut rest = text[at..].chars();
        // Between the parts of a value of JSON.
        match rest.next() {
            Some('\t' | '\r' | '\n') => out.push(' '),
            Some(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    *out += &format!("\\u{unit:04x}");
                }
            }
            None => {}
        }
        text = rest.as_str();
    }
    *out += text;
}
