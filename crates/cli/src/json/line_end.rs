//! Writes the end of an event's line in JSON, from its category on.

use std::io::{self, Write};

use serde_json::{Map, json};
use timeline::dump::{STACK, Template, Text};
use timeline::{
    Definition, Event, FieldType, Format, Frame, Layout, Property, Source, SourcePlace, Syntax,
    Value,
};

use super::escaped::push_quoted;
use super::symbols::Symbols;
use super::{category, escaped, or_null, own_number, priority, quoted, unique_names, unquoted};
use crate::failure::INFALLIBLE;

/// The end of the lines of one definition: what they have in common, and which values they have.
pub struct LineEnd<'a> {
    layout: Layout,
    /// Up to the message.
    head: String,
    /// Whether the message is known.
    has_message: bool,
    /// From the message to the first value.
    middle: String,
    /// Name and type of each value. Those of printf, and those whose message is lost, have none.
    fields: Vec<(String, FieldType<'a>)>,
    /// Whether the values have names, or numbers in the place of names.
    has_names: bool,
    /// What closes the values.
    close: char,
    /// The file and line that the definition says.
    place: String,
    /// The properties by which each event names a place of its own, if there are any.
    properties: &'a [Property],
    /// From the place to the call stack.
    tail: String,
    /// All of it for an event without a payload, if all values are whole numbers in base 10.
    filled: Option<Template>,
}

/// File and line of a statement, if it has them.
fn place(definition: &Definition) -> String {
    if definition.syntax != Syntax::Printf && definition.file.is_none() {
        return String::new();
    }
    let file = or_null(definition.file.as_deref());
    let line = or_null(definition.line);
    format!(",\"file\":{file},\"line\":{line}")
}

/// The place that an event with these values names by its properties.
fn own_place(properties: &[Property], values: &[Value]) -> String {
    let place = SourcePlace::of(properties, values);
    let (file, line) = (or_null(place.file), or_null(place.line));
    let mut text = format!(",\"file\":{file},\"line\":{line}");
    if let Some(column) = place.column {
        text += &format!(",\"column\":{column}");
    }
    if let Some(path) = place.depot_path {
        text += &format!(",\"depotPath\":{}", quoted(&path));
    }
    text
}

/// The channels of a definition, and the types that its properties say, as far as there are any.
fn more(definition: &Definition) -> String {
    let mut text = String::new();
    if !definition.channels.is_empty() {
        let names: Vec<&str> = definition.channels.split('|').collect();
        text += &format!(",\"channels\":{}", escaped::to_string(&names));
    }
    let object = definition.object.iter().filter(|_| !definition.is_lost);
    let properties = object.flat_map(|object| object.properties());
    let kinds: Map<String, serde_json::Value> = properties
        .map(|one| (one.name.clone(), one.kind.clone().into()))
        .collect();
    if !kinds.is_empty() {
        text += &format!(",\"types\":{}", escaped::to_string(&kinds));
    }
    text
}

impl<'a> LineEnd<'a> {
    /// Of the events of this number.
    pub fn new(event: u32, definition: Option<&'a Definition>) -> LineEnd<'a> {
        let is_lost = definition.is_none_or(|definition| definition.is_lost);
        let is_printf =
            definition.is_some_and(|d| d.syntax == Syntax::Printf && d.object.is_none());
        // If a message was lost, it is null, unless its text is still known.
        let known = definition.filter(|definition| !is_lost || !definition.message.is_empty());
        let template = or_null(known.map(|definition| &definition.message));
        let id = definition.map_or(event.to_string(), own_number);
        let defined = definition.filter(|_| !is_printf && !is_lost);
        let names = unique_names(defined.into_iter().flat_map(Definition::arguments));
        let kinds = defined.into_iter().flat_map(Definition::fields);
        let names = names.iter().map(|name| quoted(name));
        let object = defined.and_then(|definition| definition.object.as_deref());
        let properties = object.map_or(&[][..], |object| object.properties());
        let names_place =
            |one: &Property| ["SourceFile", "LineNumber", "ColumnNumber"].contains(&&*one.kind);
        let mut end = LineEnd {
            layout: definition.map_or_else(Layout::unknown, Layout::of),
            head: format!(
                ",\"category\":{},\"priority\":{},\"message\":",
                definition.map_or("null".into(), category),
                definition.map_or("null".into(), priority),
            ),
            has_message: known.is_some(),
            middle: format!(
                ",\"template\":{template},\"event\":{id},\"args\":{}",
                if is_printf { '[' } else { '{' }
            ),
            fields: names.zip(kinds.map(|field| field.kind)).collect(),
            has_names: !is_printf,
            close: if is_printf { ']' } else { '}' },
            place: definition.map_or_else(String::new, place),
            properties: match properties.iter().any(names_place) {
                true => properties,
                false => &[],
            },
            tail: definition.map_or_else(String::new, more),
            filled: None,
        };
        end.filled = definition.and_then(|definition| end.fill_in(definition));
        end
    }

    fn fill_in(&self, definition: &Definition) -> Option<Template> {
        let mut text = Template::new();
        text.push(&self.head);
        text.push("\"");
        if !text.message(definition, |text| unquoted(text).into()) {
            return None;
        }
        text.push("\"");
        text.push(&self.middle);
        text.values(definition, |place| {
            let comma = if place > 0 { "," } else { "" };
            let name = self.fields.get(place);
            name.map_or(comma.into(), |(name, _)| format!("{comma}{name}:"))
        });
        text.push(self.close.encode_utf8(&mut [0; 4]));
        text.push(&self.place);
        text.push(&self.tail);
        text.push("}\n");
        // Such events are of printf, and none is without a payload.
        Some(text).filter(|_| self.properties.is_empty())
    }

    /// The text into which the words of this event are filled, if that is all.
    #[inline]
    pub fn template(&self, event: &Event) -> Option<&Template> {
        self.filled.as_ref().filter(|_| event.payload.is_none())
    }

    /// Appends the end of the line of an event.
    pub fn write(&self, source: &dyn Source, event: &Event, message: &str, out: &mut Text) {
        out.push(&self.head);
        match self.has_message {
            true => push_quoted(message, out),
            false => out.push("null"),
        }
        out.push(&self.middle);
        let cut = self.write_values(event, self.has_names, None, None, out);
        out.push(self.close.encode_utf8(&mut [0; 4]));
        match self.properties {
            [] => out.push(&self.place),
            properties => {
                let values: Vec<Value> = event.values(&self.layout).collect();
                out.push(&own_place(properties, &values));
            }
        }
        out.push(&self.tail);
        if !cut.is_empty() {
            out.push(&format!(",\"cut\":[{cut}]"));
        }
        if !event.backtrace().is_empty() {
            out.push(",\"backtrace\":");
            out.push(&backtrace(source, event));
        }
        out.push("}\n");
    }
}

impl LineEnd<'_> {
    /// Appends the values of an event, with commas between: by name, or by "0", "1" and so on, or
    /// without; only those of some positions, if these are given. Pointers are objects, if there
    /// are symbols. Returns the names of those that were cut.
    pub fn write_values(
        &self,
        event: &Event,
        has_names: bool,
        only: Option<&[usize]>,
        mut symbols: Option<Symbols>,
        out: &mut Text,
    ) -> String {
        let (mut cut, mut is_first) = (String::new(), true);
        for (place, found) in event.values(&self.layout).enumerate() {
            if only.is_some_and(|only| !only.contains(&place)) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(",");
            }
            let field = self.fields.get(place);
            match field {
                Some((name, _)) => out.push(name),
                None if has_names => out.push(&format!("\"{place}\"")),
                None => {}
            }
            if has_names {
                out.push(":");
            }
            if let Value::Text { cut: true, .. } = found {
                let name = field.map_or(place.to_string(), |(name, _)| name.clone());
                cut += &format!("{}{name}", if cut.is_empty() { "" } else { "," });
            }
            match field {
                Some((_, kind)) => {
                    let symbols = symbols.as_mut();
                    if !symbols.is_some_and(|symbols| symbols.write(*kind, &found, out)) {
                        typed(*kind, &found, out);
                    }
                }
                None => value(&found, out),
            }
        }
        cut
    }

    /// Whether a value has this name.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(field, _)| *field == quoted(name))
    }
}

/// The call stack as a list of objects.
fn backtrace(source: &dyn Source, event: &Event) -> String {
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
    escaped::to_string(&frames.collect::<Vec<_>>())
}

/// The value of a field: a number, `true` or `false`, a text for a character or a name, a list of
/// names for flags, and a list of numbers for an array. The bits without a name are a number at the
/// end of the list; so is `"…"` if an array was cut.
fn typed(kind: FieldType, found: &Value, out: &mut Text) {
    match (kind, found) {
        (FieldType::Array(element), Value::Text { bytes, cut }) => {
            let mut list = List::begin(out);
            for word in element.words(bytes) {
                scalar(element.field(), word, list.next());
            }
            if *cut {
                push_quoted("…", list.next());
            }
            list.end();
        }
        (_, Value::Int(_) | Value::Uint(_) | Value::Float(_)) if kind.is_scalar() => {
            scalar(kind, kind.word(found), out);
        }
        _ => value(found, out),
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

fn scalar(kind: FieldType, word: i64, out: &mut Text) {
    let integer = kind.integer(word);
    match kind {
        // With the digits of its own precision: 1.1, and not 1.100000023841858.
        FieldType::F32 => {
            let shortest = f32::from_bits(integer as u32).to_string();
            value(&Value::Float(shortest.parse().unwrap_or_default()), out);
        }
        // The text does not show the sign either.
        FieldType::F64 if f64::from_bits(integer as u64).is_nan() => push_quoted("nan", out),
        FieldType::F64 => value(&Value::Float(f64::from_bits(integer as u64)), out),
        FieldType::Bool => out.push(if integer != 0 { "true" } else { "false" }),
        FieldType::U64 | FieldType::Hex | FieldType::Ptr | FieldType::Bytes => {
            out.number(integer as u64);
        }
        FieldType::Enum(labels) => match labels.name(integer) {
            Some(name) => push_quoted(name, out),
            None => out.signed(integer),
        },
        FieldType::Flags(labels) => {
            let (names, rest) = labels.names(integer as u64);
            let mut list = List::begin(out);
            for name in names {
                push_quoted(name, list.next());
            }
            if rest != 0 {
                list.next().number(rest);
            }
            list.end();
        }
        FieldType::Char => {
            let mut text = String::new();
            kind.write(word, &mut text).expect(INFALLIBLE);
            push_quoted(&text, out);
        }
        _ => out.signed(integer),
    }
}

/// Numbers as numbers, where JSON has them. A text that was cut ends in `…`.
fn value(value: &Value, out: &mut Text) {
    match value {
        Value::Int(value) => out.signed(*value),
        Value::Uint(value) => out.number(*value),
        Value::Float(value) if value.is_finite() => {
            serde_json::to_writer(Writer(out), value).expect(INFALLIBLE);
        }
        Value::Float(_) => push_quoted(&printed("%f", value), out),
        Value::LongDouble(_) => push_quoted(&printed("%.21Lg", value), out),
        Value::Text { bytes, cut: false } => match std::str::from_utf8(bytes) {
            Ok(text) => push_quoted(text, out),
            Err(_) => push_quoted(&String::from_utf8_lossy(bytes), out),
        },
        Value::Text { bytes, cut: true } => {
            push_quoted(&(String::from_utf8_lossy(bytes) + "…"), out);
        }
        Value::Nil => out.push("null"),
        Value::Addresses(addresses) => out.push(&escaped::to_string(addresses)),
    }
}

fn printed(format: &str, value: &Value) -> String {
    let mut text = Vec::new();
    Format::parse(format).render(std::iter::once(value.clone()), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Takes the bytes of JSON that serde writes.
struct Writer<'a>(&'a mut Text);

impl Write for Writer<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.0
            .push(std::str::from_utf8(json).map_err(io::Error::other)?);
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
