//! Events as JSON, one object a line. The field names are part of the interface.
//!
//! line_end.rs writes the end of each line. log_lines.rs writes lines of a log, in which symbols.rs
//! says what addresses lead to, and whole.rs one object of all lines of an event.

mod line_end;
mod log_lines;
mod symbols;
mod whole;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use timeline::internal::PerEvent;
use timeline::{
    Event, Interpolation, Source, Thread,
    dump::{Messages, Template, Text},
};
use timeline_reading::Programs;
use timeline_reading::json::{push_number, to_string};

use crate::thread_columns::ThreadTexts;
use crate::time::TwoForms;
use line_end::LineEnd;

pub use log_lines::LogLines;

/// Writes events of one source, and keeps texts that many of them share. Unknown values are null.
///
/// The fields, in this order: ticks, the raw clock reading; time, in RFC 3339 with nanoseconds, in
/// UTC, and unix_ns, the same in nanoseconds since 1970, as a text; cycles, the ticks since the
/// next older event, null for the oldest; missed, how many entries of its lane were overwritten
/// right before it, or are gone from the archive there, if any; important, true for an important
/// event; duration, the nanoseconds of the span that it ends, if that is known; core; node; tid;
/// pid; thread; process; executable, the path of its file, if that is known; category; priority;
/// message, the first line with its arguments filled in; template, the whole message as it was
/// defined; event, the name of the event; definition, its number; args, the arguments by name, or
/// by "0", "1" and so on where the message was lost. An event with a printf format has its values
/// in order as args. One of a statement has its file and line, and one of channels has these. One
/// of JSON has the file, line, column and depotPath that its properties name, and types, the $type
/// of each property by its name. cut names the texts and arrays that had no room as a whole, by
/// their places for printf. An event with a call stack has backtrace, in which each address has
/// function, offset, object, base, file and line; before it come the functions that were inlined
/// there, with inlined: true. Behind process stand host and timeline, in an archive that holds
/// several.
pub struct JsonLines<'a> {
    at: &'a dyn Source,
    clock: TwoForms,
    /// The times around the last event whose time was asked for.
    interpolation: Option<Interpolation>,
    /// By the number of a core: its node, and both as text.
    places: Vec<Option<(u16, Template)>>,
    /// By thread: the text from tid to process.
    threads: ThreadTexts<'a>,
    programs: Option<Programs<'a>>,
    /// By the number of an event: the text from category to the end of the line.
    line_ends: PerEvent<LineEnd<'a>>,
    messages: Messages<'a>,
}

impl<'a> JsonLines<'a> {
    /// A writer for events of this timeline.
    pub fn new(at: &'a dyn Source) -> JsonLines<'a> {
        JsonLines {
            at,
            clock: TwoForms::new(),
            interpolation: None,
            places: Vec::new(),
            threads: ThreadTexts::new(at),
            programs: None,
            line_ends: PerEvent::new(),
            messages: Messages::new(at),
        }
    }

    /// Adds the program of each event, if there are several.
    pub fn among(mut self, programs: Option<Programs<'a>>) -> JsonLines<'a> {
        self.programs = programs;
        self
    }

    /// Appends one event and ends the line.
    #[inline]
    pub fn write(&mut self, event: &Event, cycles: Option<u64>, out: &mut Text) {
        out.push("{\"ticks\":");
        number((event.ticks != 0).then_some(event.ticks), out);
        match self.time(event) {
            Some(nanos) => self.clock.write(nanos, out),
            None => out.push(",\"time\":null,\"unix_ns\":null"),
        }
        out.push(",\"cycles\":");
        number(cycles, out);
        if event.missed > 0 {
            out.push(",\"missed\":");
            out.number(event.missed);
        }
        if event.important {
            out.push(",\"important\":true");
        }
        if let Some(duration) = event.duration {
            out.push(",\"duration\":");
            out.number(duration);
        }
        match self.places.get(usize::from(event.core)) {
            Some(Some((node, place))) if *node == event.node => out.fill(place, &event.args),
            _ => self.new_place(event, out),
        }
        let programs = self.programs;
        let made = |event: &Event, known| thread(event, known) + &program(programs, event);
        out.push(self.threads.of(event, made));
        let end = self.line_ends.get(event.id);
        match end.and_then(|end| end.template(event)) {
            Some(text) => out.fill(text, &event.args),
            None => self.long_end(event, out),
        }
    }

    /// Nanoseconds since the epoch at an event.
    #[inline]
    fn time(&mut self, event: &Event) -> Option<u64> {
        let even = self
            .interpolation
            .and_then(|even| even.unix_nanos(event.ticks));
        even.or_else(|| self.other_time(event))
    }

    #[inline(never)]
    fn other_time(&mut self, event: &Event) -> Option<u64> {
        self.interpolation = self.at.interpolation(event);
        self.at.time(event)
    }

    /// See [`ThreadTexts::notice_renames`].
    pub fn notice_renames(&mut self) {
        self.threads.notice_renames();
    }

    /// Writes the core and node of an event, if the core is new or not known.
    #[cold]
    fn new_place(&mut self, event: &Event, out: &mut Text) {
        let [core, node] = [event.known_core(), event.known_node()]
            .map(|number| number.map_or("null".to_string(), |number| number.to_string()));
        let text = format!(",\"core\":{core},\"node\":{node}");
        out.push(&text);
        // An unknown core has the highest number: a table up to it would be large.
        if let Some(core) = event.known_core().map(usize::from) {
            let mut place = Template::new();
            place.push(&text);
            if self.places.len() <= core {
                self.places.resize_with(core + 1, || None);
            }
            self.places[core] = Some((event.node, place));
        }
    }

    /// Writes the end of the line of an event that is new, not defined, or not filled in.
    fn long_end(&mut self, event: &Event, out: &mut Text) {
        let definition = self.at.definition(event.id);
        let message = self.messages.text(event, definition);
        if let Some(end) = self.line_ends.get(event.id) {
            return end.write(self.at, event, &message, out);
        }
        let end = LineEnd::new(event.id.0, definition);
        end.write(self.at, event, &message, out);
        if let Some(known) = definition.filter(|definition| !definition.is_lost) {
            self.line_ends.insert(event.id, known, end);
        }
    }
}

#[inline]
fn number(number: Option<u64>, out: &mut Text) {
    match number {
        Some(number) => push_number(number, out),
        None => out.push("null"),
    }
}

fn thread(event: &Event, thread: Option<Thread>) -> String {
    let pid = or_null(thread.as_ref().and_then(Thread::known_pid));
    let group = thread.as_ref().and_then(|thread| thread.group.as_ref());
    let group = group.map_or(String::new(), |group| {
        format!(",\"group\":{}", quoted(group))
    });
    let executable = thread
        .as_ref()
        .and_then(|thread| thread.executable.as_ref());
    let executable = executable.map_or(String::new(), |executable| {
        format!(",\"executable\":{}", quoted(&executable.path))
    });
    let (name, process) = thread.map_or((None, None), |thread| (thread.name, thread.process));
    let (name, process) = (or_null(name), or_null(process));
    let tid = or_null(event.known_tid());
    let process = format!(",\"process\":{process}{executable}");
    format!(",\"tid\":{tid},\"pid\":{pid},\"thread\":{name}{group}{process}")
}

/// The machine and timeline of an event, if the archive holds several.
fn program(programs: Option<Programs>, event: &Event) -> String {
    let program = programs.and_then(|programs| programs.program(event));
    program.map_or(String::new(), |program| {
        let host = or_null(program.and_then(|program| program.host.as_ref()));
        let timeline = or_null(program.and_then(|program| program.timeline.as_ref()));
        format!(",\"host\":{host},\"timeline\":{timeline}")
    })
}

fn or_null<T: Serialize>(value: Option<T>) -> String {
    to_string(&value)
}

fn quoted(text: &str) -> String {
    to_string(text)
}

fn unquoted(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_string()
}

/// The names of a message's arguments, made unique: a name that is used again becomes `name_2`,
/// `name_3`, so that no value hides another in the object.
fn unique_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let given: Vec<&str> = names.collect();
    // A new name must not be that of another argument: in `$x $x $x_2`, the third keeps x_2.
    let mut taken: HashSet<String> = given.iter().map(|name| name.to_string()).collect();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let unique = given.iter().map(|name| {
        let number = numbers.entry(name).and_modify(|n| *n += 1).or_insert(1);
        if *number == 1 {
            return name.to_string();
        }
        let mut candidate = format!("{name}_{number}");
        while !taken.insert(candidate.clone()) {
            *number += 1;
            candidate = format!("{name}_{number}");
        }
        candidate
    });
    unique.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_argument_names_stay_apart() {
        let unique = |names: &[&str]| unique_names(names.iter().copied());
        assert_eq!(unique(&["tcp", "udp"]), ["tcp", "udp"]);
        assert_eq!(unique(&["x", "x", "x"]), ["x", "x_2", "x_3"]);
        assert_eq!(unique(&["x", "x", "x_2"]), ["x", "x_3", "x_2"]);
        assert_eq!(unique(&["x_2", "x", "x"]), ["x_2", "x", "x_3"]);
    }
}
