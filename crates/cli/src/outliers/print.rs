//! Prints spans with their events, as text or as JSON.

use std::collections::HashMap;
use std::io::Write;

use serde_json::json;
use serde_json::value::RawValue;
use timeline::dump::{FRAME, Messages, Text, printable, printable_line, stack, took};
use timeline::internal::Edge;
use timeline::{Definition, Event, EventId, Nanoseconds, Pairing, Source};
use timeline_latency::{Measurement, Series};
use timeline_reading::json::{to_string, value};
use timeline_reading::{EventTime, Log, Programs};

use crate::failure::Result;
use crate::format::things;
use crate::json::JsonLines;
use crate::output;
use crate::style::Theme;
use crate::thread_columns::thread_name;
use crate::time::{TimeFormat, WallClock};

/// Columns of the time since the begin.
const TIME: usize = 14;

pub struct OutlierPrinter<'a> {
    source: &'a dyn Source,
    programs: Option<Programs<'a>>,
    theme: Theme,
    messages: Messages<'a>,
    lines: JsonLines<'a>,
    local: WallClock,
    utc: WallClock,
    /// Of definitions, which of them begin or end a span of a thread.
    edges: HashMap<EventId, Option<Edge>>,
    line: Text,
}

impl<'a> OutlierPrinter<'a> {
    pub fn new(log: &'a Log) -> OutlierPrinter<'a> {
        let (source, programs) = (log.source(), log.programs());
        OutlierPrinter {
            source,
            programs,
            theme: output::theme(),
            messages: Messages::new(source),
            lines: JsonLines::new(source).among(programs),
            local: WallClock::new(TimeFormat::DateTime),
            utc: WallClock::new(TimeFormat::Rfc3339),
            edges: HashMap::new(),
            line: Text::new(),
        }
    }

    /// Prints a span under its number, and its events.
    pub fn text(
        &mut self,
        (number, series, span): (usize, &Series, &Measurement),
        (events, more): (&[Event], u64),
        out: &mut impl Write,
    ) -> Result {
        let Theme { bold, dim, .. } = self.theme;
        let took = nanoseconds(span.value);
        let name = printable(&series.name);
        let begin = self.local.format(span.begin).to_owned();
        let whose = match &span.key {
            Some(key) => {
                let field = series.key.as_deref().unwrap_or_default();
                printable(&format!("{field}({})", key)).into_owned()
            }
            None => events.last().map_or(String::new(), |event| {
                let host = self.programs.and_then(|programs| programs.host(event));
                thread_name(event, self.source.thread(event), host)
            }),
        };
        writeln!(
            out,
            "{bold}{number:>3}  {took}  {name}{bold:#}  from {begin}  {whose}"
        )?;
        let mut depth = 0_usize;
        for event in events {
            let edge = self.edge(event.id);
            if edge == Some(Edge::End) {
                depth = depth.saturating_sub(1);
            }
            let time = self.source.time(event).unwrap_or(span.begin);
            let since = format!("+{}", nanoseconds(time.saturating_sub(span.begin)));
            write!(out, "{dim}{since:>TIME$}{dim:#}  {:1$}", "", 2 * depth)?;
            self.message(event, out)?;
            depth += usize::from(edge == Some(Edge::Begin));
        }
        if more > 0 {
            let more = things(more, "more event");
            writeln!(out, "{dim}{:>TIME$}  {more}{dim:#}", "…")?;
        }
        Ok(writeln!(out)?)
    }

    /// Writes the category, the message and the call stack of an event.
    fn message(&mut self, event: &Event, out: &mut impl Write) -> Result {
        let definition = self.source.definition(event.id);
        let category = definition.map_or("?", Definition::shown_category);
        let priority = definition.and_then(|definition| definition.priority);
        let style = self.theme.priority(priority);
        let message = self.messages.text(event, definition);
        self.line.clear();
        took(event, &mut self.line);
        let took = String::from_utf8_lossy(self.line.as_bytes());
        let (category, message) = (printable(category), printable_line(&message));
        writeln!(out, "{style}{category}  {message}{took}{style:#}")?;
        for frame in stack(self.source, event) {
            writeln!(out, "{:TIME$}{FRAME}{}", "", printable(&frame))?;
        }
        Ok(())
    }

    /// Whether an event begins or ends a span of its thread.
    fn edge(&mut self, id: EventId) -> Option<Edge> {
        let source = self.source;
        *self.edges.entry(id).or_insert_with(|| {
            let part = source.definition(id)?.span_part()?;
            (part.pairing == Pairing::Thread).then_some(part.edge)
        })
    }

    /// Prints a span with its events as one object.
    pub fn json(
        &mut self,
        (series, span): (&Series, &Measurement),
        (events, more): (&[Event], u64),
        out: &mut impl Write,
    ) -> Result {
        let mut lines: Vec<Box<RawValue>> = Vec::new();
        let mut before: Option<EventTime> = None;
        for event in events {
            self.line.clear();
            let time = EventTime::of_ticks(event);
            let cycles = before.and_then(|before| time.cycles_since(before));
            before = Some(time);
            self.lines.write(event, cycles, &mut self.line);
            let line = String::from_utf8_lossy(self.line.as_bytes())
                .trim_end()
                .to_owned();
            lines.extend(RawValue::from_string(line));
        }
        let thread = events.last().and_then(|event| self.source.thread(event));
        let object = json!({
            "span": series.name,
            "duration": span.value,
            "begin": self.utc.format(span.begin),
            "end": self.utc.format(span.end),
            "begin_ns": span.begin.to_string(),
            "end_ns": span.end.to_string(),
            "tid": (span.tid != 0).then_some(span.tid),
            "thread": thread.and_then(|thread| thread.name),
            "key": span.key.as_ref().map(|key| value(None, &key.value())),
            "more_events": more,
        });
        let mut object = to_string(&object);
        // The objects of events are written as they are, with numbers of all 64 bits.
        object.pop();
        let lines: Vec<&str> = lines.iter().map(|line| line.get()).collect();
        Ok(writeln!(
            out,
            "{object},\"events\":[{}]}}",
            lines.join(",")
        )?)
    }
}

fn nanoseconds(count: u64) -> Nanoseconds {
    Nanoseconds(i64::try_from(count).unwrap_or(i64::MAX))
}
