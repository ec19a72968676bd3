//! Writes events as the JSON objects that they were made of.

use serde::de::IgnoredAny;
use timeline::Value;
use timeline::dump::{Text, is_printable};
use timeline::internal::{Object, ObjectPart, ObjectValue};

use super::quoted::escape;
use super::{push_quoted, push_value};

/// Appends the objects of an event with this message and these values, each with a line feed behind
/// it. `first` is put before the first field of each.
///
/// Characters that are not printable are escaped, so the text is safe to show. A value that is
/// missing is null, and one that was cut ends in `…`.
pub fn write_object(object: &Object, message: &str, values: &[Value], first: &str, out: &mut Text) {
    let mut is_begin = true;
    for part in object.parts() {
        match part {
            ObjectPart::Text(text) => {
                let rest = match std::mem::take(&mut is_begin) {
                    true => text.strip_prefix('{').unwrap_or(text),
                    false => text,
                };
                if rest.len() < text.len() {
                    out.push("{");
                    out.push(first);
                }
                push_printable(rest, out);
            }
            ObjectPart::Message(None) => push_quoted(message, out),
            ObjectPart::Message(Some(line)) => {
                push_quoted(message.split('\n').nth(*line).unwrap_or_default(), out);
            }
            ObjectPart::Value(position, kind) => value(*kind, values.get(*position), out),
            ObjectPart::End => {
                out.push("\n");
                is_begin = true;
            }
        }
    }
}

fn value(kind: ObjectValue, value: Option<&Value>, out: &mut Text) {
    match (kind, value) {
        (ObjectValue::Bool, Some(Value::Int(number))) => push_bool(*number != 0, out),
        (ObjectValue::Bool, Some(Value::Uint(number))) => push_bool(*number != 0, out),
        // As they stood there, however large they are.
        (_, Some(Value::Int(number))) => out.signed(*number),
        (_, Some(Value::Uint(number))) => out.number(*number),
        (ObjectValue::Json, Some(Value::Text { bytes, cut: false })) => {
            let text = String::from_utf8_lossy(bytes);
            match serde_json::from_str::<IgnoredAny>(&text) {
                Ok(_) => push_printable(&text, out),
                Err(_) => push_quoted(&text, out),
            }
        }
        (_, Some(value @ (Value::Float(_) | Value::Text { .. }))) => push_value(None, value, out),
        _ => out.push("null"),
    }
}

fn push_bool(value: bool, out: &mut Text) {
    out.push(if value { "true" } else { "false" });
}

/// Appends JSON. What is not printable stands in strings only, and is escaped there.
fn push_printable(mut text: &str, out: &mut Text) {
    while let Some(at) = text.find(|c| !is_printable(c)) {
        out.push(&text[..at]);
        let mut rest = text[at..].chars();
        // Between the parts of a value of JSON.
        match rest.next() {
            Some('\t' | '\r' | '\n') => out.push(" "),
            Some(c) => out.push(&escape(c)),
            None => {}
        }
        text = rest.as_str();
    }
    out.push(text);
}
