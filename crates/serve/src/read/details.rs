//! Shows all that is known of one event.

use serde::Serialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use timeline::dump::{self, Text};
use timeline::symbols::demangled;
use timeline::{Definition, Event, Layout, Source, SourceLine, SourcePlace, Value};
use timeline_reading::json::{self, write_object};
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::events::{EventObject, EventObjects};
use super::lines::event_at;
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
    pub properties: Option<Json>,
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
    let archive = &version.archive;
    let definition = archive.definition(event.id);
    let program = archive.program(event.thread);
    let place = place(&event, definition);
    let text = |text: &str| (!text.is_empty()).then(|| text.to_string());
    Ok(Details {
        ticks: (event.ticks != 0).then(|| event.ticks.to_string()),
        node: (event.node != u16::MAX).then_some(event.node),
        group: archive.thread(&event).and_then(|thread| thread.group),
        fields: fields(&event, definition),
        template: definition.and_then(|definition| text(&definition.message)),
        prose: definition.and_then(|definition| text(definition.prose())),
        file: place.file,
        source_line: place.line,
        column: place.column,
        depot_path: place.depot_path,
        channels: definition.map(channels).unwrap_or_default(),
        backtrace: backtrace(version, &event),
        properties: properties(version, &event, definition),
        host: program.and_then(|program| program.host.clone()),
        timeline: program
            .and_then(|program| program.timeline.as_deref())
            .map(|name| version.shown(name)),
        event: EventObjects::new(archive).whole(&event, Some(first)),
    })
}

/// The place that an event names by its properties, or else that of its statement.
fn place(event: &Event, definition: Option<&Definition>) -> SourcePlace {
    let known = definition.filter(|definition| !definition.is_lost);
    let object = known.and_then(|definition| Some((definition, definition.object.as_deref()?)));
    let own = object.map_or_else(SourcePlace::default, |(definition, object)| {
        let layout = Layout::of(definition);
        let values: Vec<Value> = event.values(&layout).collect();
        SourcePlace::of(object.properties(), &values)
    });
    match own == SourcePlace::default() {
        true => SourcePlace {
            file: definition.and_then(|definition| definition.file.clone()),
            line: definition.and_then(|definition| definition.line),
            ..own
        },
        false => own,
    }
}

/// The channels of a definition.
pub fn channels(definition: &Definition) -> Vec<String> {
    let names = definition
        .channels
        .split('|')
        .filter(|name| !name.is_empty());
    names.map(String::from).collect()
}

fn fields(event: &Event, definition: Option<&Definition>) -> Vec<FieldValue> {
    let known = definition.filter(|definition| !definition.is_lost);
    let layout = definition.map_or_else(Layout::unknown, Layout::of);
    let fields: Vec<_> = known.into_iter().flat_map(Definition::fields).collect();
    let value = |(place, value): (usize, Value)| {
        let field = fields.get(place).filter(|field| !field.name.is_empty());
        let kind = field.map(|field| field.kind);
        let (json, mut shown) = (json::value(kind, &value), String::new());
        match kind {
            // Writing to a String does not fail.
            Some(kind) => {
                let _ = kind.write_value(&value, &mut shown);
            }
            None => shown = plain(&json),
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

/// A value in JSON as people read it.
fn plain(json: &RawValue) -> String {
    serde_json::from_str(json.get()).unwrap_or_else(|_| json.get().to_owned())
}

/// The properties of the objects that an event was imported from.
fn properties(version: &Version, event: &Event, definition: Option<&Definition>) -> Option<Json> {
    let definition = definition.filter(|definition| !definition.is_lost)?;
    let object = definition.object.as_deref()?;
    let layout = Layout::of(definition);
    let values: Vec<Value> = event.values(&layout).collect();
    let mut messages = dump::Messages::new(&version.archive);
    let message = messages.text(event, Some(definition));
    let mut objects = Text::new();
    write_object(object, &message, &values, "", &mut objects);
    let text = String::from_utf8_lossy(objects.as_bytes());
    let of_line = |line: &str| {
        let mut object: Json = serde_json::from_str(line).ok()?;
        object.get_mut("properties").map(Json::take)
    };
    let mut lines = text.lines().filter_map(of_line);
    let mut first = lines.next()?;
    // Several lines of one message have an object each.
    lines.for_each(|other| add(&mut first, other));
    Some(first)
}

/// Adds the properties that differ. A name that is used already becomes `name_2`, `name_3`.
fn add(properties: &mut Json, others: Json) {
    let (Json::Object(all), Json::Object(others)) = (properties, others) else {
        return;
    };
    for (name, value) in others {
        let mut names = (2..).map(|number| format!("{name}_{number}"));
        let mut free = name.clone();
        while all.get(&free).is_some_and(|known| *known != value) {
            free = names.next().unwrap_or_default();
        }
        all.insert(free, value);
    }
}

fn backtrace(version: &Version, event: &Event) -> Vec<StackFrame> {
    let mut all = Vec::new();
    for frame in dump::frames(&version.archive, event) {
        let address = format!("{:#x}", frame.address);
        let offset = frame.start;
        let offset = offset.and_then(|start| frame.address.checked_sub(start));
        let place = |source: Option<SourceLine>| source.map(|at| (at.file, at.line)).unzip();
        for called in frame.inlined {
            let (file, line) = place(called.source);
            all.push(StackFrame {
                address: address.clone(),
                function: called.name.as_deref().map(demangled),
                offset: None,
                object: None,
                file,
                line,
                inlined: true,
            });
        }
        let (file, line) = place(frame.source);
        all.push(StackFrame {
            address,
            function: frame.name.as_deref().map(demangled),
            offset,
            object: frame.file,
            file,
            line,
            inlined: false,
        });
    }
    all
}
