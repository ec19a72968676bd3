//! Shows all that is known of one event.

use serde::Serialize;
use serde_json::value::RawValue;
use timeline::dump::{Messages, Text};
use timeline::{Event, Source, Value};
use timeline_reading::json::{self, Members, write_object};
use timeline_reading::{DefinitionView, StackEntry, stack_entries};
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::events::{EventObject, EventObjects};
use super::lines::event_at;
use super::nanos::{json_option, json_value};
use crate::error::Result;
use crate::logs::Version;

/// An event with all that is known of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Details {
    /// What every list of events shows.
    #[serde(flatten)]
    pub event: EventObject,
    /// The raw clock reading.
    pub ticks: Option<String>,
    /// The NUMA node of the CPU.
    pub node: Option<u16>,
    /// The group of the thread.
    pub group: Option<String>,
    /// Its values, in order.
    pub fields: Vec<FieldValue>,
    /// The whole message, as it was defined.
    pub template: Option<String>,
    /// The lines of the definition behind the first one.
    pub prose: Option<String>,
    /// The file of the statement, or the one that its properties name.
    pub file: Option<String>,
    /// The line in that file.
    pub source_line: Option<u32>,
    /// The column in that line, if properties name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Where version control has the file, if properties name that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depot_path: Option<String>,
    /// The channels of the definition.
    pub channels: Vec<String>,
    /// The call stack, innermost first.
    pub backtrace: Vec<StackFrame>,
    /// The properties of an event that was imported from JSON, as they stood there; of an event of
    /// several lines, those of all. If a name has several values, the second is `name_2`.
    #[schema(value_type = Option<serde_json::Value>)]
    #[serde(serialize_with = "json_option")]
    pub properties: Option<Box<RawValue>>,
    /// The machine it was recorded on, if an archive says so.
    pub host: Option<String>,
    /// The timeline it was recorded from, if an archive says so.
    pub timeline: Option<String>,
}

/// A value of an event.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldValue {
    /// Its name, or its position if it has none.
    pub name: String,
    /// Its type, as a message names it.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Its unit, if the type has one.
    pub unit: Option<&'static str>,
    /// The value. A whole number beyond 2^53 is a text, because browsers would round it.
    #[schema(value_type = serde_json::Value)]
    #[serde(serialize_with = "json_value")]
    pub value: Box<RawValue>,
    /// The value as the message shows it.
    pub shown: String,
}

/// A function of a call stack, as far as it is known: that of an address, or one that the compiler
/// put there into the function behind it.
#[derive(Debug, Serialize, ToSchema)]
pub struct StackFrame {
    /// In base 16: 0x1f.
    pub address: String,
    /// The function.
    pub function: Option<String>,
    /// The bytes from its beginning.
    pub offset: Option<u64>,
    /// The file of the program or library.
    pub object: Option<String>,
    /// The file of the source, if the object has debug information.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// Whether it stands in the function behind it, with which it shares the address.
    pub inlined: bool,
}

/// All that is known of the event with a line.
pub fn details(version: &Version, line: u64, cancel: &Cancel) -> Result<Details> {
    let (event, first) = event_at(version, line, cancel)?;
    let archive = version.archive();
    let definition = DefinitionView::new(archive.definition(event.id));
    let program = archive.program(event.thread);
    let place = definition.place(&event);
    Ok(Details {
        ticks: (event.ticks != 0).then(|| event.ticks.to_string()),
        node: event.known_node(),
        group: archive.thread(&event).and_then(|thread| thread.group),
        fields: fields(&event, definition),
        template: definition.template().map(String::from),
        prose: definition.prose().map(String::from),
        file: place.file,
        source_line: place.line,
        column: place.column,
        depot_path: place.depot_path,
        channels: definition.channels().map(String::from).collect(),
        backtrace: stack_entries(archive, &event)
            .into_iter()
            .map(StackFrame::of)
            .collect(),
        properties: properties(version, &event, definition),
        host: program.and_then(|program| program.host.clone()),
        timeline: program
            .and_then(|program| program.timeline.as_deref())
            .map(|name| version.shown(name)),
        event: EventObjects::new(archive).whole(&event, Some(first)),
    })
}

fn fields(event: &Event, definition: DefinitionView) -> Vec<FieldValue> {
    let layout = definition.layout();
    let fields: Vec<_> = definition.fields().collect();
    let value = |(place, value): (usize, Value)| {
        let field = fields.get(place).filter(|field| !field.name.is_empty());
        let kind = field.map(|field| field.kind);
        let (json, mut shown) = (json::value(kind, &value), String::new());
        match kind {
            // Writing to a String does not fail.
            Some(kind) => {
                let _ = kind.write_value(&value, &mut shown);
            }
            None => shown = value.to_string(),
        }
        FieldValue {
            name: field.map_or(place.to_string(), |field| field.name.to_string()),
            kind: kind.map(|kind| kind.to_string()),
            unit: kind.and_then(|kind| kind.descriptor().unit),
            value: json,
            shown,
        }
    };
    event.values(&layout).enumerate().map(value).collect()
}

/// The properties of the objects that an event was imported from.
fn properties(
    version: &Version,
    event: &Event,
    definition: DefinitionView,
) -> Option<Box<RawValue>> {
    let object = definition.object()?;
    let layout = definition.layout();
    let values: Vec<Value> = event.values(&layout).collect();
    let mut messages = Messages::new(version.archive());
    let message = messages.text(event, definition.whole());
    let mut objects = Text::new();
    write_object(object, &message, &values, "", &mut objects);
    let text = String::from_utf8_lossy(objects.as_bytes());
    let of_line = |line: &str| Members::parse(Members::parse(line)?.get("properties")?);
    let mut lines = text.lines().filter_map(of_line);
    let mut first = lines.next()?;
    // Several lines of one message have an object each.
    lines.for_each(|other| first.merge(other));
    RawValue::from_string(first.to_json()).ok()
}

impl StackFrame {
    fn of(entry: StackEntry) -> StackFrame {
        let (file, line) = entry.source.map(|at| (at.file, at.line)).unzip();
        StackFrame {
            address: format!("{:#x}", entry.address),
            function: entry.function,
            offset: entry.offset,
            object: entry.object,
            file,
            line,
            inlined: entry.is_inlined,
        }
    }
}
