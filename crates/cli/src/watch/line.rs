//! The line that is printed when a condition is met, as text or as JSON.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use timeline::Thread;
use timeline::dump::printable;
use timeline_latency::{Condition, Firing, FiringValue};
use timeline_reading::json::{self, write_line};

use crate::format::MetricNumber;
use crate::output::{self, TextLine};
use crate::style::Theme;
use crate::time::{HumanDuration, TimeFormat, WallClock};

/// Prints firings.
pub struct FiringPrinter {
    json: bool,
    theme: Theme,
    clock: WallClock,
}

/// A firing, for programs.
#[derive(Serialize)]
struct Row<'a> {
    time: &'a str,
    unix_ns: String,
    condition: &'a str,
    name: &'a str,
    value: Option<Number>,
    unit: Option<&'static str>,
    begin_ns: Option<String>,
    end_ns: Option<String>,
    open: bool,
    thread: Option<&'a str>,
    tid: Option<u32>,
    pid: Option<u32>,
    key: Option<Box<RawValue>>,
    ignored: u64,
    snapshot: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Nanoseconds(u64),
    PerSecond(f64),
}

impl FiringPrinter {
    /// For people, or for programs.
    pub fn new(json: bool) -> FiringPrinter {
        let form = match json {
            true => TimeFormat::Rfc3339,
            false => TimeFormat::DateTime,
        };
        FiringPrinter {
            json,
            theme: output::theme(),
            clock: WallClock::new(form),
        }
    }

    /// Prints one. `ignored`: how many came in the cooldown before it.
    pub fn print(
        &mut self,
        condition: &Condition,
        fired: &Firing,
        ignored: u64,
        snapshot: Option<&Path>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let time = self.clock.format(fired.time);
        let thread = fired.thread.as_ref();
        let condition = condition.to_string();
        if !self.json {
            let mut line = TextLine::new().styled(self.theme.dim, time).text("  ");
            line = line.styled(self.theme.bold, condition).text("  ");
            line = line.text(what(fired));
            if let Some(thread) = thread {
                let name = thread.name.as_deref().unwrap_or("?");
                let tid = thread.known_tid().map(|tid| tid.to_string());
                let tid = tid.as_deref().unwrap_or("?");
                line = line.styled(self.theme.dim, format_args!("  {name} ({tid})"));
            }
            if ignored > 0 {
                line = line.styled(self.theme.dim, format_args!("  {ignored} ignored before"));
            }
            return line.write(out);
        }
        let (value, unit) = match fired.seen {
            FiringValue::Nanoseconds(nanos) => (Some(Number::Nanoseconds(nanos)), Some("ns")),
            FiringValue::PerSecond(rate) => (Some(Number::PerSecond(rate)), Some("1/s")),
            FiringValue::Event => (None, None),
        };
        let row = Row {
            time,
            unix_ns: fired.time.to_string(),
            condition: &condition,
            name: &fired.name,
            value,
            unit,
            begin_ns: fired.begin.map(|begin| begin.to_string()),
            end_ns: fired.end.map(|end| end.to_string()),
            open: fired.begin.is_some() && fired.end.is_none(),
            thread: thread.and_then(|thread| thread.name.as_deref()),
            tid: thread.and_then(Thread::known_tid),
            pid: thread.and_then(Thread::known_pid),
            key: fired
                .key
                .as_ref()
                .map(|key| json::value(None, &key.value())),
            ignored,
            snapshot: snapshot.map(|path| path.display().to_string()),
        };
        write_line(&row, out)
    }
}

/// What was seen, in words.
fn what(fired: &Firing) -> String {
    let name = printable(&fired.name);
    let key = fired.key.as_ref().map(|key| format!(" of {key}"));
    let key = key.unwrap_or_default();
    let span = |nanos| HumanDuration(Duration::from_nanos(nanos));
    match (fired.seen, fired.begin, fired.end) {
        (FiringValue::Nanoseconds(nanos), Some(_), Some(_)) => {
            format!("{name}{key} took {}", span(nanos))
        }
        (FiringValue::Nanoseconds(nanos), Some(_), None) => {
            format!("{name}{key} has taken {} and is still open", span(nanos))
        }
        (FiringValue::Nanoseconds(nanos), ..) => format!("{name}: {}", span(nanos)),
        (FiringValue::PerSecond(rate), ..) => {
            format!("{name}: {} events a second", MetricNumber(rate))
        }
        (FiringValue::Event, ..) => name.into_owned(),
    }
}
