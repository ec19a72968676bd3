//! Writes the end of an event's line in JSON, from its category on.
//! It is for events whose values are typed or in a payload, or whose message is lost.

use serde_json::{Number, Value as Json, json};
use timeline::dump::STACK;
use timeline::{Definition, Event, FieldType, Format, Frame, Layout, Source, Syntax, Value};

use super::{category, escaped, or_null, own_number, priority, quoted, unique_names};

/// The text from category to the end of the line.
pub fn line_end(
    source: &dyn Source,
    event: &Event,
    definition: Option<&Definition>,
    message: &str,
) -> String {
    let is_lost = definition.is_none_or(|definition| definition.is_lost);
    let layout = definition.map_or_else(Layout::unknown, Layout::of);
    let values = event.values(&layout);
    let kinds = definition.map(|definition| definition.fields().map(|field| field.kind));
    let mut kinds = kinds.into_iter().flatten();
    let shown: Vec<Json> = values
        .map(|found| match kinds.next() {
            Some(kind) => typed(kind, found),
            None => value(found),
        })
        .collect();
    let is_printf = definition.is_some_and(|d| d.syntax == Syntax::Printf);
    let mut end = String::new();
    let mut field = |name: &str, value: &str| end += &format!(",\"{name}\":{value}");
    // If a message was lost, it is null, unless its text is still known.
    let known = definition.filter(|definition| !is_lost || !definition.message.is_empty());
    field("category", &definition.map_or("null".into(), category));
    field("priority", &definition.map_or("null".into(), priority));
    field("message", &or_null(known.map(|_| message)));
    field(
        "template",
        &or_null(known.map(|definition| &definition.message)),
    );
    field(
        "event",
        &definition.map_or(event.id.0.to_string(), own_number),
    );
    match is_printf {
        true => field("args", &escaped::to_string(&shown)),
        false => {
            let names = match definition.filter(|_| !is_lost) {
                Some(definition) => unique_names(definition.arguments().take(shown.len())),
                None => (0..shown.len()).map(|place| place.to_string()).collect(),
            };
            // In their order: a map of serde_json would sort them.
            let named = names.iter().zip(&shown);
            let named = named
                .map(|(name, value)| format!("{}:{}", quoted(name), escaped::to_string(value)));
            field(
                "args",
                &format!("{{{}}}", named.collect::<Vec<_>>().join(",")),
            );
        }
    }
    if let Some(definition) = definition.filter(|_| is_printf) {
        field("file", &or_null(definition.file.as_deref()));
        field("line", &or_null(definition.line));
    }
    let mut room = Some(STACK);
    let frames = event.backtrace().iter().map(|address| {
        let named = room.map(|room| (room, source.frame(event, *address)));
        let fits = named.and_then(|(room, frame)| {
            let names = [&frame.name, &frame.file].map(|name| name.as_ref().map_or(0, String::len));
            Some((room.checked_sub(names.iter().sum())?, frame))
        });
        room = fits.as_ref().map(|(left, _)| *left);
        let frame = fits.map_or_else(|| Frame::unknown(*address), |(_, frame)| frame);
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
        field("backtrace", &escaped::to_string(&frames));
    }
    end + "}\n"
}

/// The value of a field: a number, `true` or `false`, a text for a character or a name, a list of
/// names for flags, and a list of numbers for an array. The bits without a name are a number at the
/// end of the list; so is `"…"` if an array was cut.
fn typed(kind: FieldType, found: Value) -> Json {
    match (kind, found) {
        (FieldType::Array(element), Value::Text { bytes, cut }) => {
            let numbers = element
                .words(bytes)
                .map(|word| scalar(element.field(), word));
            numbers.chain(cut.then(|| "…".into())).collect()
        }
        (_, found @ (Value::Int(_) | Value::Uint(_) | Value::Float(_))) if kind.is_scalar() => {
            scalar(kind, kind.word(&found))
        }
        (_, found) => value(found),
    }
}

fn scalar(kind: FieldType, word: i64) -> Json {
    let integer = kind.integer(word);
    match kind {
        // With the digits of its own precision: 1.1, and not 1.100000023841858.
        FieldType::F32 => {
            let shortest = f32::from_bits(integer as u32).to_string();
            value(Value::Float(shortest.parse().unwrap_or_default()))
        }
        FieldType::F64 => value(Value::Float(f64::from_bits(integer as u64))),
        FieldType::Bool => (integer != 0).into(),
        FieldType::U64 | FieldType::Hex | FieldType::Ptr | FieldType::Bytes => {
            (integer as u64).into()
        }
        FieldType::Enum(labels) => match labels.name(integer) {
            Some(name) => name.into(),
            None => integer.into(),
        },
        FieldType::Flags(labels) => {
            let (names, rest) = labels.names(integer as u64);
            let names = names.into_iter().map(Json::from);
            names.chain((rest != 0).then(|| rest.into())).collect()
        }
        FieldType::Char => {
            let mut text = String::new();
            // Writing to a String does not fail.
            let _ = kind.write(word, &mut text);
            text.into()
        }
        _ => integer.into(),
    }
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
