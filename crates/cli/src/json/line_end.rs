//! Writes the end of an event's line in JSON, from its category on.

use serde_json::{Map, json};
use timeline::dump::{Template, Text};
use timeline::internal::{Property, SourcePlace};
use timeline::{Definition, Event, FieldType, Layout, Priority, Source, Syntax, Value};

use timeline_reading::json::{EXACT, push_quoted, push_value, to_string};
use timeline_reading::{DefinitionView, StackEntry, stack_entries};

use super::symbols::JsonSymbols;
use super::{or_null, quoted, unique_names, unquoted};

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
    let place = DefinitionView::new(Some(definition)).statement();
    let (file, line) = (or_null(place.file), or_null(place.line));
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
    let view = DefinitionView::new(Some(definition));
    let channels: Vec<&str> = view.channels().collect();
    if !channels.is_empty() {
        text += &format!(",\"channels\":{}", to_string(&channels));
    }
    let properties = view.object().map_or(&[][..], |object| object.properties());
    let names = unique_names(definition.arguments());
    // As among the values, where another one may have its name.
    let name = |one: &Property| {
        let own = one.position("$text").and_then(|place| names.get(place));
        own.unwrap_or(&one.name).clone()
    };
    let kinds: Map<String, serde_json::Value> = properties
        .iter()
        .map(|one| (name(one), one.kind.clone().into()))
        .collect();
    if !kinds.is_empty() {
        text += &format!(",\"types\":{}", to_string(&kinds));
    }
    text
}

impl<'a> LineEnd<'a> {
    /// Of the events of this number.
    pub fn new(event: u32, definition: Option<&'a Definition>) -> LineEnd<'a> {
        let view = DefinitionView::new(definition);
        let is_printf =
            definition.is_some_and(|d| d.syntax == Syntax::Printf && d.object.is_none());
        let template = or_null(view.template());
        let id = definition.map_or(event.to_string(), |_| or_null(view.number()));
        let defined = view.whole().filter(|_| !is_printf);
        let names = unique_names(defined.into_iter().flat_map(Definition::arguments));
        let kinds = defined.into_iter().flat_map(Definition::fields);
        let names = names.iter().map(|name| quoted(name));
        let mut end = LineEnd {
            layout: view.layout(),
            head: format!(
                ",\"category\":{},\"priority\":{},\"message\":",
                or_null(view.category()),
                or_null(view.priority().map(Priority::name)),
            ),
            // A lost message is null, unless its text is still known.
            has_message: view.template().is_some(),
            middle: format!(
                ",\"template\":{template},\"event\":{},\"definition\":{id},\"args\":{}",
                or_null(view.name()),
                if is_printf { '[' } else { '{' }
            ),
            fields: names.zip(kinds.map(|field| field.kind)).collect(),
            has_names: !is_printf,
            close: if is_printf { ']' } else { '}' },
            place: definition.map_or_else(String::new, place),
            properties: view.place_properties(),
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
        let is_exact = |word: &i64| word.unsigned_abs() <= EXACT;
        let is_all = event.payload.is_none() && event.args.iter().all(is_exact);
        self.filled.as_ref().filter(|_| is_all)
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
        mut symbols: Option<JsonSymbols>,
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
                        push_value(Some(*kind), &found, out);
                    }
                }
                None => push_value(None, &found, out),
            }
        }
        cut
    }

    /// This name in quotes if no value has it, and else the first that is free of `name_2`,
    /// `name_3`.
    pub fn free(&self, name: &str) -> String {
        let is_free = |name: &String| !self.fields.iter().any(|(field, _)| field == name);
        let numbered = (2..).map(|number| quoted(&format!("{name}_{number}")));
        let mut names = std::iter::once(quoted(name)).chain(numbered);
        names.find(is_free).expect("there are endless names")
    }
}

/// The call stack as a list of objects: one for each function, also for one that was inlined.
fn backtrace(source: &dyn Source, event: &Event) -> String {
    let object = |entry: StackEntry| {
        let (file, line) = entry.source.map(|at| (at.file, at.line)).unzip();
        match entry.is_inlined {
            true => json!({
                "address": entry.address,
                "function": entry.function,
                "inlined": true,
                "file": file,
                "line": line,
            }),
            false => json!({
                "address": entry.address,
                "function": entry.function,
                "offset": entry.offset,
                "object": entry.object,
                "base": entry.base,
                "file": file,
                "line": line,
            }),
        }
    };
    let all: Vec<_> = stack_entries(source, event)
        .into_iter()
        .map(object)
        .collect();
    to_string(&all)
}
