//! Events as JSON, one object a line. The field names are part of the interface.

pub mod escaped;
mod payload;

use std::fmt::Write as _;

use timeline::dump::{Messages, Template, Text};
use timeline::{Definition, Event, EventId, MAX_ARGUMENTS, Source, Syntax, Thread};

use crate::failure::INFALLIBLE;
use crate::programs::Programs;
use crate::time::{Form, WallClock};
use crate::who::{self, Threads};

/// Writes events of one source, remembering what many of them share. What is not known is null.
///
/// The fields, in this order: ticks, the raw clock reading; time, in RFC 3339 with nanoseconds, in UTC, and
/// unix_ns, the same in nanoseconds since 1970; cycles, the ticks since the next older event, null for the
/// oldest; core; node; tid; pid; thread; process; category; priority; message, the first line with its
/// arguments filled in; template, the whole message as it was defined; event, the number of its definition;
/// args, the arguments by name. An event in the manner of printf has its values in order as args, and file and line of its
/// statement; one with a call stack has backtrace, in which each address has function, offset and object. Behind process
/// stand host and timeline, in an archive that holds several.
pub struct Lines<'a> {
    at: &'a dyn Source,
    clock: WallClock,
    /// Core and node by the number of the core, of those seen, and the node.
    places: Vec<Option<(u16, Template)>>,
    /// From tid to process.
    threads: Threads<'a, String>,
    programs: Option<Programs<'a>>,
    /// From category to the end of the line, by the number of the event, of those seen.
    definitions: Vec<Option<Template>>,
    messages: Messages,
}

impl<'a> Lines<'a> {
    /// A writer for events of this timeline.
    pub fn new(at: &'a dyn Source) -> Lines<'a> {
        Lines {
            at,
            clock: WallClock::new(Form::Rfc3339),
            places: Vec::new(),
            threads: Threads::new(at),
            programs: None,
            definitions: Vec::new(),
            messages: Messages::new(),
        }
    }

    /// With the program of each event, if there are several.
    pub fn among(mut self, programs: Option<Programs<'a>>) -> Lines<'a> {
        self.programs = programs;
        self
    }

    /// Appends one event and ends the line.
    #[inline]
    pub fn write(&mut self, event: &Event, cycles: Option<u64>, out: &mut Text) {
        out.push("{\"ticks\":");
        out.number(event.ticks);
        match self.at.time(event) {
            Some(nanos) => {
                out.push(",\"time\":\"");
                self.clock.write(nanos, out);
                out.push("\",\"unix_ns\":");
                self.clock.write_number(nanos, out);
            }
            None => out.push(",\"time\":null,\"unix_ns\":null"),
        }
        out.push(",\"cycles\":");
        number(cycles, out);
        match self.places.get(usize::from(event.core)) {
            Some(Some((node, place))) if *node == event.node => out.fill(place, &event.args),
            _ => self.new_place(event, out),
        }
        let programs = self.programs;
        let made = |event: &Event, known| thread(event, known) + &program(programs, event);
        out.push(self.threads.of(event, made));
        match self.definitions.get(event.id.0 as usize) {
            Some(Some(definition)) if event.payload.is_none() => out.fill(definition, &event.args),
            _ => self.new_definition(event, out),
        }
    }

    /// The core and node of an event, on a core not seen before or not known.
    #[cold]
    fn new_place(&mut self, event: &Event, out: &mut Text) {
        let [core, node] = [event.core, event.node].map(|number| match who::known(number) {
            Some(number) => number.to_string(),
            None => "null".to_string(),
        });
        let text = format!(",\"core\":{core},\"node\":{node}");
        out.push(&text);
        // No room for all the cores there can be, for the sake of one that is none.
        if let Some(core) = who::known(event.core).map(usize::from) {
            let mut place = Template::new();
            place.push(&text);
            if self.places.len() <= core {
                self.places.resize_with(core + 1, || None);
            }
            self.places[core] = Some((event.node, place));
        }
    }

    /// The end of the line of an event not seen before, not defined, or with a payload.
    #[cold]
    fn new_definition(&mut self, event: &Event, out: &mut Text) {
        let EventId(id) = event.id;
        let Some(definition) = self.at.definition(event.id) else {
            out.push(",\"category\":null,\"priority\":null,\"message\":null,\"template\":null");
            return out.push(&format!(",\"event\":{id},\"args\":{{}}}}\n"));
        };
        if event.payload.is_some() || definition.syntax == Syntax::Printf {
            let mut message = String::new();
            self.messages
                .write(event, definition, &mut message)
                .expect(INFALLIBLE);
            return out.push(&payload::line_end(self.at, event, definition, &message));
        }
        let template = template(definition);
        out.fill(&template, &event.args);
        // Only what is defined makes this longer.
        let place = id as usize;
        if self.definitions.len() <= place {
            self.definitions.resize_with(place + 1, || None);
        }
        self.definitions[place] = Some(template);
    }
}

#[inline]
fn number(number: Option<u64>, out: &mut Text) {
    match number {
        Some(number) => out.number(number),
        None => out.push("null"),
    }
}

fn thread(event: &Event, thread: Option<Thread>) -> String {
    let tid = event.tid;
    match thread {
        Some(Thread {
            pid, name, process, ..
        }) => {
            let (name, process) = (quoted(&name), quoted(&process));
            format!(",\"tid\":{tid},\"pid\":{pid},\"thread\":{name},\"process\":{process}")
        }
        None => format!(",\"tid\":{tid},\"pid\":null,\"thread\":null,\"process\":null"),
    }
}

/// The machine and timeline of an event, if there are several in what is read.
fn program(programs: Option<Programs>, event: &Event) -> String {
    let program = programs.and_then(|programs| programs.program(event));
    let text = |text: Option<String>| text.map_or("null".to_string(), |text| quoted(&text));
    program.map_or(String::new(), |program| {
        let (host, timeline) = (text(program.host), text(program.timeline));
        format!(",\"host\":{host},\"timeline\":{timeline}")
    })
}

fn template(definition: &Definition) -> Template {
    let mut text = Template::new();
    let category = quoted(&definition.category);
    let priority = definition.priority.name();
    text.push(&format!(
        ",\"category\":{category},\"priority\":\"{priority}\",\"message\":\""
    ));
    text.message(&definition.message, |text| unquoted(text).into());
    let (message, id) = (quoted(&definition.message), definition.id.0);
    text.push(&format!(
        "\",\"template\":{message},\"event\":{id},\"args\":{{"
    ));
    let names = unique_names(definition.arguments());
    for (argument, name) in names.iter().take(MAX_ARGUMENTS).enumerate() {
        let comma = if argument == 0 { "" } else { "," };
        text.push(&format!("{comma}{}:", quoted(name)));
        text.value(argument);
    }
    text.push("}}\n");
    text
}

fn quoted(text: &str) -> String {
    escaped::to_string(text)
}

fn unquoted(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_string()
}

/// The names of a message's arguments, made unique: a name that is used again becomes `name_2`,
/// `name_3`, so that no value hides another in the object.
fn unique_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let given: Vec<&str> = names.collect();
    let mut unique: Vec<String> = Vec::new();
    for (i, name) in given.iter().enumerate() {
        let mut candidate = name.to_string();
        let mut next = 2;
        // Never the name of another argument either: `$x $x $x_2` keeps x_2 for the third.
        while unique.contains(&candidate) || (next > 2 && given[i..].contains(&candidate.as_str()))
        {
            candidate.clear();
            write!(candidate, "{name}_{next}").expect(INFALLIBLE);
            next += 1;
        }
        unique.push(candidate);
    }
    unique
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
