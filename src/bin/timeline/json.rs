//! Events as JSON, one object a line. The field names are part of the interface.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use timeline::{Attached, Event, EventId};

use crate::failure::INFALLIBLE;
use crate::time::{Form, WallClock};
use crate::who::{self, Threads};

/// One event. What is not known is null.
#[derive(serde::Serialize)]
struct Line<'a> {
    /// The raw clock reading.
    ticks: u64,
    /// Wall-clock time: RFC 3339 with nanoseconds, in UTC.
    time: Option<&'a str>,
    /// The same in nanoseconds since 1970.
    unix_ns: Option<u64>,
    /// Ticks since the next older event; null for the oldest.
    cycles: Option<u64>,
    core: Option<u16>,
    node: Option<u16>,
    tid: u32,
    pid: Option<u32>,
    thread: Option<&'a str>,
    process: Option<&'a str>,
    category: Option<&'a str>,
    priority: Option<&'static str>,
    /// The first line of the message with its arguments filled in.
    message: Option<&'a str>,
    /// The whole message as it was defined.
    template: Option<&'a str>,
    /// The number of the event's definition.
    event: u32,
    /// The arguments by name.
    args: Args<'a>,
}

/// Arguments under the names that [`unique_names`] gave them.
struct Args<'a> {
    names: &'a [String],
    values: &'a [i64],
}

impl Serialize for Args<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.names.len()))?;
        for (name, value) in self.names.iter().zip(self.values) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Writes events of one timeline, remembering what many of them share.
pub struct Lines<'a> {
    at: &'a Attached,
    clock: WallClock,
    names: HashMap<EventId, Vec<String>>,
    threads: Threads<'a>,
    message: String,
}

impl<'a> Lines<'a> {
    /// A writer for events of this timeline.
    pub fn new(at: &'a Attached) -> Lines<'a> {
        Lines {
            at,
            clock: WallClock::new(Form::Rfc3339),
            names: HashMap::new(),
            threads: Threads::new(at),
            message: String::new(),
        }
    }

    /// Writes one event and ends the line.
    pub fn write(
        &mut self,
        event: &Event,
        cycles: Option<u64>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let at = self.at;
        let definition = at.definition(event.id);
        let thread = self.threads.of(event);
        let names: &[String] = match &definition {
            Some(definition) => self
                .names
                .entry(event.id)
                .or_insert_with(|| unique_names(definition.arguments())),
            None => &[],
        };
        self.message.clear();
        if let Some(definition) = &definition {
            definition
                .render(&event.args, &mut self.message)
                .expect(INFALLIBLE);
        }
        let unix_ns = at.unix_nanos(event.ticks);
        let line = Line {
            ticks: event.ticks,
            time: unix_ns.map(|nanos| self.clock.format(nanos)),
            unix_ns,
            cycles,
            core: who::known(event.core),
            node: who::known(event.node),
            tid: event.tid,
            pid: thread.map(|thread| thread.pid),
            thread: thread.map(|thread| thread.name.as_str()),
            process: thread.map(|thread| thread.process.as_str()),
            category: definition.as_ref().map(|d| d.category.as_str()),
            priority: definition.as_ref().map(|d| d.priority.name()),
            message: definition.as_ref().map(|_| self.message.as_str()),
            template: definition.as_ref().map(|d| d.message.as_str()),
            event: event.id.0,
            args: Args {
                names,
                values: &event.args,
            },
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")
    }
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
