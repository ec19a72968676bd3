//! The end of an event's line in JSON, from its category on, if its values are in a payload.

use serde_json::{Number, Value as Json, json};
use timeline::{Definition, Event, Format, Source, Syntax, Value, values};

use super::escaped::to_string;

/// From category to the end of the line.
pub fn line_end(
    source: &dyn Source,
    event: &Event,
    definition: &Definition,
    message: &str,
) -> String {
    let shown: Vec<Json> = values(event.values()).map(value).collect();
    let mut end = String::new();
    let mut field = |name: &str, value: Json| end += &format!(",\"{name}\":{}", to_string(&value));
    field("category", definition.category.as_str().into());
    field("priority", definition.priority.name().into());
    field("message", message.into());
    field("template", definition.message.as_str().into());
    field("event", definition.id.0.into());
    match definition.syntax {
        Syntax::Printf => field("args", shown.into()),
        Syntax::Template => {
            // In their order, which a map of serde_json would not keep.
            let names = super::unique_names(definition.arguments());
            let named = names.iter().zip(&shown);
            let named =
                named.map(|(name, value)| format!("{}:{}", to_string(name), to_string(value)));
            let named: Vec<_> = named.collect();
            end += &format!(",\"args\":{{{}}}", named.join(","));
        }
    }
    let mut field = |name: &str, value: Json| end += &format!(",\"{name}\":{}", to_string(&value));
    if definition.syntax == Syntax::Printf {
        field("file", definition.file.as_deref().into());
        field("line", definition.line.into());
    }
    let frames = event.backtrace().iter().map(|address| {
        let frame = source.frame(event, *address);
        let offset = frame.start.and_then(|start| address.checked_sub(start));
        json!({
            "address": address,
            "function": frame.name,
            "offset": offset,
            "object": frame.file,
            "base": frame.base,
        })
    });
    let frames: Vec<Json> = frames.collect();
    if !frames.is_empty() {
        field("backtrace", frames.into());
    }
    end + "}\n"
}

/// Numbers as numbers, where JSON has them. A text that was cut ends in `…`.
fn value(value: Value) -> Json {
    match value {
        Value::Int(value) => value.into(),
        Value::Uint(value) => value.into(),
        Value::Float(value) => match Number::from_f64(value) {
            Some(number) => number.into(),
            None => printed("%f", Value::Float(value)).into(),
        },
        Value::LongDouble(_) => printed("%.21Lg", value).into(),
        Value::Text { bytes, cut } => {
            let mut text = String::from_utf8_lossy(bytes).into_owned();
            text.push_str(if cut { "…" } else { "" });
            text.into()
        }
        Value::Nil => Json::Null,
        Value::Addresses(addresses) => addresses.into(),
    }
}

fn printed(format: &str, value: Value) -> String {
    let mut text = Vec::new();
    Format::parse(format).render(std::iter::once(value), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
