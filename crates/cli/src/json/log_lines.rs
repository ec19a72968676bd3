//! Writes events as lines of a log in JSON, in the form of Horde's log service.

use timeline::dump::Text;
use timeline::internal::{Format, FormatPart, Object, ObjectPart, PerEvent, TemplatePiece, pieces};
use timeline::{Definition, Event, Layout, Priority, Source, Syntax, Value};
use timeline_reading::DefinitionView;

use timeline_reading::json::{push_quoted, write_object};
use timeline_search::{line_count, message_lines};

use super::line_end::LineEnd;
use super::symbols::JsonSymbols;
use super::whole::{write_whole, write_with_path};
use super::{or_null, quoted};
use crate::time::{TimeFormat, WallClock};

/// Writes events of one source as lines of a log.
///
/// Each line of a message is an object. The fields, in this order: path, if several are searched;
/// time, in RFC 3339 with nanoseconds, in UTC; level; priority, where no level says it; id, the
/// number of the definition; message, the line; format, the line with `{name}` in the places of
/// values, if the message has as many lines as its definition; properties, the values by name (or
/// "0", "1" and so on), backtrace, and category, file and line as objects with a $type, as are
/// addresses whose symbols are known; lineIndex and lineCount, the number of the line in the
/// message, counted from 0, and how many that has; lineFeed in the last line, if a line feed ends
/// the message. Behind the first line, the properties are the
/// values that the format of the line names: a long text does not come again with each of its
/// lines. An event that was imported from JSON is the object that it was, or the objects.
///
/// As a whole, an event is one object with its whole message, format and properties, also one that
/// was imported as several, and in place of the last two fields there are line and lines: the
/// number of its first line among those of all events, counted from 0, and how many it has.
pub struct LogLines<'a> {
    at: &'a dyn Source,
    clock: WallClock,
    /// Whether an event is one object.
    are_whole: bool,
    /// The field with the path and a comma, if there is one.
    path: String,
    /// By the number of the event, of those that are defined.
    known: PerEvent<EventPlan<'a>>,
}

struct EventPlan<'a> {
    object: Option<(&'a Object, Layout)>,
    values: LineEnd<'a>,
    /// Level and number.
    head: String,
    /// By line, if there is one.
    formats: Vec<LineFormat>,
    /// That of the whole message, in quotes.
    format: Option<String>,
    /// From the last value to the end of the properties.
    place: String,
}

/// The format of a line of a message.
struct LineFormat {
    /// In quotes.
    text: String,
    /// The positions of the values that it names.
    named: Vec<usize>,
}

impl<'a> LogLines<'a> {
    /// For events of `at`; `path` is shown with each, if it is given.
    pub fn new(at: &'a dyn Source, path: Option<&str>) -> LogLines<'a> {
        LogLines {
            at,
            clock: WallClock::new(TimeFormat::Rfc3339),
            are_whole: false,
            path: path.map_or(String::new(), |path| format!("\"path\":{},", quoted(path))),
            known: PerEvent::new(),
        }
    }

    /// Makes one object of each event, if so.
    pub fn whole(mut self, are_whole: bool) -> LogLines<'a> {
        self.are_whole = are_whole;
        self
    }

    /// Appends an event with this message, whose first line has the number `first`.
    pub fn write(&mut self, event: &Event, message: &str, first: u64, out: &mut Text) {
        if self.write_imported(event, message, first, out) {
            return;
        }
        let mut begin = String::from("{");
        begin += &self.path;
        begin += &self.time(event);
        let (at, are_whole) = (self.at, self.are_whole);
        let mut unknown = None;
        let known = match self.known(event) {
            Some(known) => known,
            None => unknown.get_or_insert_with(|| EventPlan::new(event.id.0, None)),
        };
        begin += &known.head;
        let count = line_count(message);
        if are_whole {
            out.push(&begin);
            push_quoted(message, out);
            known.write_format(known.format.as_deref(), out);
            known.write_properties(at, event, out);
            return end(("line", first), ("lines", count), "", out);
        }
        let has_formats = known.formats.len() as u64 == count;
        for (number, line) in message_lines(message).enumerate() {
            let format = known.formats.get(number).filter(|_| has_formats);
            out.push(&begin);
            push_quoted(line, out);
            known.write_format(format.map(|format| &*format.text), out);
            match (number, format) {
                (0, _) => known.write_properties(at, event, out),
                (_, Some(format)) => known.write_named(at, event, &format.named, out),
                (_, None) => out.push("}"),
            }
            let is_last = number as u64 + 1 == count;
            // The lines have no line feeds, and that one stands between no two.
            let more = match is_last && message.ends_with('\n') {
                true => ",\"lineFeed\":true",
                false => "",
            };
            end(
                ("lineIndex", number as u64),
                ("lineCount", count),
                more,
                out,
            );
        }
    }

    /// The field with the time of an event.
    fn time(&mut self, event: &Event) -> String {
        let Some(nanos) = self.at.time(event) else {
            return "\"time\":null".into();
        };
        let mut time = Text::new();
        self.clock.write(nanos, &mut time);
        format!("\"time\":\"{}\"", String::from_utf8_lossy(time.as_bytes()))
    }

    /// Appends the objects of an event that was imported. Returns whether it was.
    fn write_imported(&mut self, event: &Event, message: &str, first: u64, out: &mut Text) -> bool {
        let path = std::mem::take(&mut self.path);
        let are_whole = self.are_whole;
        let object = self.known(event).and_then(|known| known.object.as_ref());
        let is_written = object.is_some_and(|(object, layout)| {
            let values: Vec<Value> = event.values(layout).collect();
            let has_path = |part: &ObjectPart| match part {
                ObjectPart::Text(text) => text.contains("\"path\":"),
                _ => false,
            };
            let is_with_other = !path.is_empty() && object.parts().iter().any(has_path);
            if !are_whole && !is_with_other {
                write_object(object, message, &values, &path, out);
                return true;
            }
            let mut objects = Text::new();
            write_object(object, message, &values, "", &mut objects);
            let objects = String::from_utf8_lossy(objects.as_bytes());
            if !are_whole {
                return write_with_path(&objects, &path, out);
            }
            write_whole(&objects, &path, (message, first, object.ends_line()), out)
        });
        self.path = path;
        is_written
    }

    fn known(&mut self, event: &Event) -> Option<&EventPlan<'a>> {
        if self.known.get(event.id).is_none() {
            let definition = self.at.definition(event.id)?;
            let known = EventPlan::new(event.id.0, Some(definition));
            self.known.insert(event.id, definition, known);
        }
        self.known.get(event.id)
    }
}

/// Appends the end of an object: two numbers with their names, and what stands behind them.
fn end((name, number): (&str, u64), (other, count): (&str, u64), more: &str, out: &mut Text) {
    out.push(&format!(",\"{name}\":"));
    out.number(number);
    out.push(&format!(",\"{other}\":"));
    out.number(count);
    out.push(more);
    out.push("}\n");
}

impl EventPlan<'_> {
    /// Appends what stands between the message and the first property.
    fn write_format(&self, format: Option<&str>, out: &mut Text) {
        if let Some(format) = format {
            out.push(",\"format\":");
            out.push(format);
        }
        out.push(",\"properties\":{");
    }

    /// Appends all properties of an event.
    fn write_properties(&self, at: &dyn Source, event: &Event, out: &mut Text) {
        let before = out.len();
        let symbols = Some(JsonSymbols::new(at, event));
        self.values.write_values(event, true, None, symbols, out);
        if !event.backtrace().is_empty() {
            let is_first = out.len() == before;
            out.push(if is_first { "" } else { "," });
            out.push(&self.values.free("backtrace"));
            out.push(":");
            JsonSymbols::new(at, event).write_stack(out);
        }
        let is_empty = out.len() == before;
        out.push(match is_empty {
            true => self.place.trim_start_matches(','),
            false => &self.place,
        });
    }

    /// Appends the values of these positions.
    fn write_named(&self, at: &dyn Source, event: &Event, named: &[usize], out: &mut Text) {
        let symbols = Some(JsonSymbols::new(at, event));
        self.values
            .write_values(event, true, Some(named), symbols, out);
        out.push("}");
    }
}

impl<'a> EventPlan<'a> {
    fn new(event: u32, definition: Option<&'a Definition>) -> EventPlan<'a> {
        let values = LineEnd::new(event, definition);
        let priority = definition.and_then(|definition| definition.priority);
        let formats = definition.and_then(format).unwrap_or_default();
        let mut place = String::new();
        let mut add = |name: &str, kind: &str, text: Option<String>| {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                let (name, text) = (values.free(name), quoted(&text));
                place += &format!(",{name}:{{\"$type\":\"{kind}\",\"$text\":{text}}}");
            }
        };
        if let Some(definition) = definition {
            let line = definition.line.map(|line| line.to_string());
            add("category", "Channel", Some(definition.category.clone()));
            add("file", "SourceFile", definition.file.clone());
            add("line", "LineNumber", line);
        }
        place += "}";
        let view = DefinitionView::new(definition);
        let object = view.object().map(|object| (object, view.layout()));
        EventPlan {
            object,
            head: format!(
                ",\"level\":{}{},\"id\":{event},\"message\":",
                or_null(priority.map(level)),
                priority.map_or("", own_priority),
            ),
            format: (!formats.is_empty()).then(|| whole(&formats)),
            formats: without_end(&formats)
                .map(|parts| LineFormat::of(parts))
                .collect(),
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

/// The field that tells a priority which has its level from another one.
fn own_priority(priority: Priority) -> &'static str {
    match priority {
        Priority::App => ",\"priority\":\"app\"",
        Priority::Packet => ",\"priority\":\"packet\"",
        Priority::Library => ",\"priority\":\"library\"",
        _ => "",
    }
}

/// A part of a line of a format: a text, or the place of a value with its name.
enum Part {
    Text(String),
    Place(String, usize),
}

/// The lines of a message with `{name}` in the places of values; `None` if its text was lost.
fn format(definition: &Definition) -> Option<Vec<Vec<Part>>> {
    if definition.is_lost {
        return None;
    }
    let mut parts = Vec::new();
    match (definition.syntax, &definition.object) {
        (Syntax::Template, _) => {
            let mut position = 0;
            for piece in pieces(definition.summary()) {
                parts.push(match piece {
                    TemplatePiece::Text(text) => Part::Text(text.into()),
                    TemplatePiece::Argument(field) => {
                        position += 1;
                        Part::Place(field.name.into(), position - 1)
                    }
                });
            }
        }
        (Syntax::Printf, object) => {
            let text = object.as_ref().map_or(&*definition.message, |o| o.format());
            let fields: Vec<_> = definition.fields().collect();
            let name = |position: usize| match fields.get(position) {
                Some(field) => field.name.to_string(),
                None => position.to_string(),
            };
            let format = Format::parse(text);
            match format.parts() {
                Some(all) => parts.extend(all.iter().map(|part| match part {
                    FormatPart::Text(text) => Part::Text((*text).into()),
                    FormatPart::Value(value) => {
                        let position = value.position();
                        Part::Place(name(position), position)
                    }
                })),
                // Then the message is a value.
                None => parts.push(Part::Place(name(0), 0)),
            }
        }
    }
    Some(lines(parts))
}

/// Parts in lines, which line feeds end.
fn lines(parts: Vec<Part>) -> Vec<Vec<Part>> {
    let mut lines = vec![Vec::new()];
    for part in parts {
        let text = match part {
            Part::Text(text) => text,
            place => {
                lines.last_mut().expect("there is one").push(place);
                continue;
            }
        };
        for (number, text) in text.split('\n').enumerate() {
            if number > 0 {
                lines.push(Vec::new());
            }
            if !text.is_empty() {
                let last = lines.last_mut().expect("there is one");
                last.push(Part::Text(text.into()));
            }
        }
    }
    lines
}

/// The lines that begin. A line feed at the end begins none.
fn without_end(lines: &[Vec<Part>]) -> impl Iterator<Item = &Vec<Part>> {
    let begun = match lines {
        [begun @ .., last] if last.is_empty() && !begun.is_empty() => begun,
        all => all,
    };
    begun.iter()
}

/// The text of a line of a format; a brace of its own is doubled.
fn text(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.replace('{', "{{").replace('}', "}}"),
        Part::Place(name, _) => format!("{{{name}}}"),
    };
    parts.iter().map(part).collect()
}

/// All lines of a format in quotes.
fn whole(lines: &[Vec<Part>]) -> String {
    let lines: Vec<_> = lines.iter().map(|parts| text(parts)).collect();
    quoted(&lines.join("\n"))
}

impl LineFormat {
    fn of(parts: &[Part]) -> LineFormat {
        let position = |part: &Part| match part {
            Part::Place(_, position) => Some(*position),
            Part::Text(_) => None,
        };
        LineFormat {
            text: quoted(&text(parts)),
            named: parts.iter().filter_map(position).collect(),
        }
    }
}
