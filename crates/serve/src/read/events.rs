//! Events as objects of answers.

use super::nanos::UnixNanos;
use jiff::Timestamp;
use rustc_hash::FxHashMap;
use serde::Serialize;
use timeline::dump::Messages;
use timeline::internal::Notation;
use timeline::{Definition, Event, EventId, Priority, Source, Syntax, TemplateField};
use timeline_archive::Archive;
use timeline_reading::DefinitionView;
use timeline_search::{line_count, message_lines};
use utoipa::ToSchema;

/// Bytes of a message in a list.
const LONGEST: usize = 8 << 10;

/// A time. Browsers round numbers of this size, so nanoseconds are a text; in CBOR, a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Moment {
    /// In RFC 3339 with nanoseconds, in UTC.
    pub time: String,
    /// In nanoseconds since 1970.
    #[schema(value_type = String)]
    pub unix_ns: UnixNanos,
}

impl Moment {
    pub fn of(unix_nanos: u64) -> Moment {
        let time = Timestamp::from_nanosecond(unix_nanos.into()).unwrap_or(Timestamp::MAX);
        Moment {
            time: time.strftime("%Y-%m-%dT%H:%M:%S.%9fZ").to_string(),
            unix_ns: UnixNanos(unix_nanos),
        }
    }
}

/// An event.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventObject {
    /// The number of its first line, from 0. Absent where lines are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// How many lines its message has.
    pub lines: u64,
    /// In RFC 3339 with nanoseconds, in UTC.
    pub time: Option<String>,
    /// In nanoseconds since 1970.
    #[schema(value_type = Option<String>)]
    pub unix_ns: Option<UnixNanos>,
    /// The category of its definition.
    pub category: Option<String>,
    /// The priority of its definition.
    pub priority: Option<&'static str>,
    /// Its name, such as `engine.got_packet`.
    pub event: Option<String>,
    /// The number of its definition in its ring; others may have it in an archive of several.
    pub definition: Option<u32>,
    /// The name of the thread.
    pub thread: Option<String>,
    /// The kernel's id of the thread.
    pub tid: Option<u32>,
    /// That of the process.
    pub pid: Option<u32>,
    /// The name of the process.
    pub process: Option<String>,
    /// The CPU.
    pub core: Option<u16>,
    /// The message. In lists, one of more than 8 KiB is cut, and ends in `…`.
    pub message: String,
    /// How many entries were overwritten right before it, or are gone there. Absent if there are
    /// none.
    #[serde(skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// Whether it is an important event. Absent if not.
    #[serde(skip_serializing_if = "is_false")]
    pub important: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(is_set: &bool) -> bool {
    !is_set
}

/// Makes objects of the events of an archive.
pub struct EventObjects<'a> {
    archive: &'a Archive,
    messages: Messages<'a>,
    /// Whether the messages of a definition have one line if all values are numbers.
    single: FxHashMap<EventId, bool>,
}

impl<'a> EventObjects<'a> {
    pub fn new(archive: &'a Archive) -> EventObjects<'a> {
        EventObjects {
            archive,
            messages: Messages::new(archive),
            single: FxHashMap::default(),
        }
    }

    /// How many lines the message of an event has.
    pub fn lines(&mut self, event: &Event) -> u64 {
        let archive = self.archive;
        let single = self.single.entry(event.id);
        let single =
            *single.or_insert_with(|| archive.definition(event.id).is_some_and(has_one_line));
        if single && event.payload.is_none() {
            return 1;
        }
        line_count(&self.messages.text(event, self.archive.definition(event.id)))
    }

    /// Whether a line of the message is as `is_it` says.
    pub fn has_line(&mut self, event: &Event, is_it: impl Fn(&str) -> bool) -> (u64, bool) {
        let message = self.messages.text(event, self.archive.definition(event.id));
        let has = message_lines(&message).any(is_it);
        (line_count(&message), has)
    }

    /// The object of an event in a list, whose first line has this number.
    pub fn object(&mut self, event: &Event, line: Option<u64>) -> EventObject {
        let mut object = self.whole(event, line);
        if object.message.len() > LONGEST {
            let is_end = |end: &usize| object.message.is_char_boundary(*end);
            let end = (0..=LONGEST).rev().find(is_end);
            object.message.truncate(end.unwrap_or(0));
            object.message.push('…');
        }
        object
    }

    /// The object of an event with its whole message.
    pub fn whole(&mut self, event: &Event, line: Option<u64>) -> EventObject {
        let definition = self.archive.definition(event.id);
        let message = self.messages.text(event, definition).into_owned();
        let moment = self.archive.time(event).map(Moment::of);
        let (time, unix_ns) = moment.map(|moment| (moment.time, moment.unix_ns)).unzip();
        let thread = self.archive.thread(event).unwrap_or_default();
        let view = DefinitionView::new(definition);
        EventObject {
            line,
            lines: line_count(&message),
            time,
            unix_ns,
            category: view.category().map(String::from),
            priority: view.priority().map(Priority::name),
            event: view.name(),
            definition: view.number(),
            tid: event.known_tid(),
            pid: thread.known_pid(),
            thread: thread.name,
            process: thread.process,
            core: event.known_core(),
            message,
            missed: event.missed,
            important: event.important,
        }
    }
}

/// Whether all messages of a definition have one line if the values are numbers.
fn has_one_line(definition: &Definition) -> bool {
    let is_number = |field: TemplateField| match field.kind.notation() {
        Notation::Number | Notation::Bool | Notation::Base16 => true,
        Notation::Duration | Notation::Date | Notation::Size => true,
        // Behind a pointer stands its symbol.
        _ => false,
    };
    let is_known = definition.syntax == Syntax::Template && !definition.is_lost;
    is_known && !definition.summary().is_empty() && definition.fields().all(is_number)
}
