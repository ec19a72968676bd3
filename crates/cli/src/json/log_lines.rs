//! Writes events as lines of a log in JSON, in the form of Horde's log service.

use timeline::dump::Text;
use timeline::{Definition, Event, Layout, Object, Piece, Priority, Source, Syntax, Value, pieces};
use timeline_search::import::write_object;

use super::escaped::push_quoted;
use super::line_end::LineEnd;
use super::symbols::Symbols;
use super::{or_null, quoted};
use crate::time::{Form, WallClock};

/// Writes events of one source as lines of a log.
///
/// The fields, in this order: path, if several are searched; time, in RFC 3339 with nanoseconds, in
/// UTC; level; id, the number of the definition; message; format, the message with `{name}` in the
/// places of values, if it has names; properties, the values by name (or "0", "1" and so on),
/// backtrace, and category, file and line as objects with a $type, as are addresses whose symbols
/// are known; lineIndex and lineCount, the number of the
/// event's first line, counted from 0, and how many it has. An event that was imported from JSON is
/// the object that it was.
pub struct LogLines<'a> {
    at: &'a dyn Source,
    clock: WallClock,
    /// The field with the path and a comma, if there is one.
    path: String,
    /// By the number of the event, of those that are defined.
    known: Vec<Option<Known<'a>>>,
    /// Memory for objects that were imported.
    objects: String,
}

struct Known<'a> {
    object: Option<(&'a Object, Layout)>,
    values: LineEnd<'a>,
    /// Level and number.
    head: String,
    /// From the format to the first value.
    format: String,
    /// From the last value to the end of the properties.
    place: String,
}

impl<'a> LogLines<'a> {
    /// For events of `at`; `path` is shown with each, if it is given.
    pub fn new(at: &'a dyn Source, path: Option<&str>) -> LogLines<'a> {
        LogLines {
            at,
            clock: WallClock::new(Form::Rfc3339),
            path: path.map_or(String::new(), |path| format!("\"path\":{},", quoted(path))),
            known: Vec::new(),
            objects: String::new(),
        }
    }

    /// Appends an event with this message, whose first line has the number `first`.
    pub fn write(&mut self, event: &Event, message: &str, first: u64, count: u64, out: &mut Text) {
        if self.write_imported(event, message, out) {
            return;
        }
        out.push("{");
        out.push(&self.path);
        out.push("\"time\":");
        match self.at.time(event) {
            Some(nanos) => {
                out.push("\"");
                self.clock.write(nanos, out);
                out.push("\"");
            }
            None => out.push("null"),
        }
        let at = self.at;
        let mut unknown = None;
        let known = match self.known(event) {
            Some(known) => known,
            None => unknown.get_or_insert_with(|| Known::new(event.id.0, None)),
        };
        out.push(&known.head);
        push_quoted(message, out);
        out.push(&known.format);
        let before = out.len();
        let symbols = Symbols::new(at, event);
        known.values.write_values(event, true, Some(symbols), out);
        if !event.backtrace().is_empty() && !known.values.has("backtrace") {
            let is_first = out.len() == before;
            out.push(if is_first { "" } else { "," });
            out.push("\"backtrace\":");
            Symbols::new(at, event).write_stack(out);
        }
        let is_empty = out.len() == before;
        out.push(match is_empty {
            true => known.place.trim_start_matches(','),
            false => &known.place,
        });
        out.push(",\"lineIndex\":");
        out.number(first);
        out.push(",\"lineCount\":");
        out.number(count);
        out.push("}\n");
    }

    /// Appends the objects of an event that was imported. Returns whether it was.
    fn write_imported(&mut self, event: &Event, message: &str, out: &mut Text) -> bool {
        let mut objects = std::mem::take(&mut self.objects);
        let path = std::mem::take(&mut self.path);
        let object = self.known(event).and_then(|known| known.object.as_ref());
        let is_imported = object.is_some();
        if let Some((object, layout)) = object {
            let values: Vec<Value> = event.values(layout).collect();
            objects.clear();
            write_object(object, message, &values, &path, &mut objects);
            out.push(&objects);
        }
        (self.objects, self.path) = (objects, path);
        is_imported
    }

    fn known(&mut self, event: &Event) -> Option<&Known<'a>> {
        let place = event.id.0 as usize;
        if !matches!(self.known.get(place), Some(Some(_))) {
            // Only defined events make this longer.
            let definition = self.at.definition(event.id)?;
            if self.known.len() <= place {
                self.known.resize_with(place + 1, || None);
            }
            self.known[place] = Some(Known::new(event.id.0, Some(definition)));
        }
        self.known[place].as_ref()
    }
}

impl<'a> Known<'a> {
    fn new(event: u32, definition: Option<&'a Definition>) -> Known<'a> {
        let values = LineEnd::new(event, definition);
        let level = definition
            .and_then(|definition| definition.priority)
            .map(level);
        let format = definition.and_then(format);
        let mut place = String::new();
        let mut add = |name: &str, kind: &str, text: Option<String>| {
            let text = text.filter(|text| !text.is_empty() && !values.has(name));
            if let Some(text) = text {
                let text = quoted(&text);
                place += &format!(",\"{name}\":{{\"$type\":\"{kind}\",\"$text\":{text}}}");
            }
        };
        if let Some(definition) = definition {
            let line = definition.line.map(|line| line.to_string());
            add("category", "Channel", Some(definition.category.clone()));
            add("file", "SourceFile", definition.file.clone());
            add("line", "LineNumber", line);
        }
        place += "}";
        let object = definition.and_then(|definition| {
            let object = definition.object.as_deref();
            let object = object.filter(|_| !definition.is_lost);
            Some((object?, Layout::of(definition)))
        });
        Known {
            object,
            head: format!(",\"level\":{},\"id\":{event},\"message\":", or_null(level)),
            format: match format {
                Some(format) => format!(",\"format\":{},\"properties\":{{", quoted(&format)),
                None => ",\"properties\":{".into(),
            },
            values,
            place,
        }
    }
}

/// The name that readers of such logs know.
fn level(priority: Priority) -> &'static str {
    match priority {
        Priority::Error => "Error",
        Priority::Warning => "Warning",
        Priority::Info => "Information",
        Priority::Trace | Priority::App => "Debug",
        Priority::Packet | Priority::Library => "Trace",
    }
}

/// The message with `{name}` in the places of values; a brace of the text is doubled.
fn format(definition: &Definition) -> Option<String> {
    let has_names = definition.syntax == Syntax::Template && !definition.is_lost;
    has_names.then(|| {
        let part = |piece| match piece {
            Piece::Text(text) => text.replace('{', "{{").replace('}', "}}"),
            Piece::Argument(field) => format!("{{{}}}", field.name),
        };
        pieces(definition.summary()).map(part).collect()
    })
}
