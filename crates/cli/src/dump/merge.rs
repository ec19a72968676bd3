//! Dumps several timelines and archives as one, in either order and in any columns.

use std::io::Write;

use timeline::Order;
use timeline::dump::Text;
use timeline_reading::json::to_string;
use timeline_reading::{EventTime, Log, LogEvent, LogMerge, Request};
use timeline_search::Query;

use super::Args;
use crate::clocks;
use crate::columns::{Column, TimeStyle};
use crate::failure::{INFALLIBLE, Result};
use crate::fetch::Excerpt;
use crate::filters::report_missed;
use crate::health;
use crate::json::JsonLines;
use crate::output;
use crate::target::Target;
use crate::text_lines::{TextLines, TimeWriter};
use crate::unknown_names;

/// Prints the wanted events of all that were named.
pub fn run(args: &Args, query: &Query) -> Result {
    let others = args.others.iter().cloned().map(Target::named);
    let others: Vec<Target> = others.collect();
    let targets: Vec<&Target> = [&args.target].into_iter().chain(&others).collect();
    let logs = clocks::open(&targets, query, |query| Excerpt::WithSpans(query))?;
    let order = match args.reverse {
        true => Order::OldestFirst,
        false => Order::NewestFirst,
    };
    let request = Request::new(order).query(query).with_durations();
    let mut merge = LogMerge::new(&logs, request, args.max_entries);
    let mut printer = DumpPrinter::new(args, &logs, merge.alignment().is_some());
    let mut out = output::stdout();
    printer.heading(&mut out)?;
    let mut next = merge.next();
    while let Some(found) = next {
        next = merge.next();
        let older = if args.reverse { &None } else { &next };
        printer.print(&found, older.as_ref(), &mut out)?;
    }
    out.flush()?;
    if let Some(alignment) = merge.alignment() {
        clocks::tell(alignment, &logs);
    }
    unknown_names::tell(query, &logs.iter().collect::<Vec<_>>());
    for stream in merge.streams() {
        report_missed(stream.outcome()?.missed);
        health::report_stream(stream)?;
    }
    Ok(())
}

/// Prints events of several parts.
pub struct DumpPrinter<'a> {
    writers: Vec<Writer<'a>>,
    /// Whether they are of several hosts.
    has_hosts: bool,
    /// The event printed last, from which the times of the next one count if that is older.
    last: Option<(usize, EventTime)>,
    reverse: bool,
    has_printed: bool,
    line: Text,
}

enum Writer<'a> {
    Text(Box<TextLines<'a>>),
    Json {
        lines: Box<JsonLines<'a>>,
        /// What stands before the other fields, if there are several parts.
        path: Option<String>,
    },
}

impl<'a> DumpPrinter<'a> {
    /// `has_hosts`: whether the logs are of several hosts, the clocks of which may differ.
    pub fn new(args: &'a Args, logs: &'a [Log], has_hosts: bool) -> DumpPrinter<'a> {
        let several = logs.len() > 1;
        let mut columns = args.shown.columns.clone();
        if columns.is_empty() {
            columns.extend(several.then_some(Column::Path));
            columns.extend(match args.long {
                true => &Column::LONG[..],
                // Cycles say nothing between events of several clocks.
                false if several => &Column::SHORT[..],
                false => &Column::DUMP[..],
            });
            let time = columns.iter().position(|column| *column == Column::Time);
            if let Some(time) = time.filter(|_| has_hosts) {
                columns.insert(time + 1, Column::Error);
            }
        }
        // Who names columns, or asks for a line of a log, wants to know when it was.
        let is_table = args.shown.columns.is_empty() && args.line.is_none();
        let form = match several || args.long || !is_table {
            true => TimeStyle::Absolute,
            false => TimeStyle::Cycles,
        };
        let times = TimeWriter::new(args.shown.time.unwrap_or(form), args.long);
        let writer = |log: &'a Log| {
            let path = log.path().display().to_string();
            let (at, programs) = (log.source(), log.programs());
            match args.json {
                true => Writer::Json {
                    lines: Box::new(JsonLines::new(at).among(programs)),
                    path: several.then(|| to_string(&path)),
                },
                false => {
                    let lines = TextLines::new(at, &columns, times.clone());
                    Writer::Text(Box::new(lines.among(programs).named(&path)))
                }
            }
        };
        DumpPrinter {
            writers: logs.iter().map(writer).collect(),
            has_hosts,
            last: None,
            reverse: args.reverse || args.line.is_some(),
            has_printed: false,
            line: Text::new(),
        }
    }

    pub fn heading(&self, out: &mut impl Write) -> Result {
        if let Some(Writer::Text(lines)) = self.writers.first() {
            let mut line = Text::new();
            lines.heading(&mut line);
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    /// Prints an event. `older`: the one behind it, if they come newest first.
    pub fn print(
        &mut self,
        found: &LogEvent,
        older: Option<&LogEvent>,
        out: &mut impl Write,
    ) -> Result {
        let LogEvent {
            log,
            event,
            time,
            error,
            may_be_earlier,
        } = found;
        let older = match self.reverse {
            true => self.last,
            false => older.map(|older| (older.log, older.time)),
        };
        // The ticks of two logs may be of two clocks.
        let older = older.map(|(other, time)| EventTime {
            ticks: if other == *log { time.ticks } else { 0 },
            ..time
        });
        self.line.clear();
        match &mut self.writers[*log] {
            Writer::Text(lines) => {
                lines.set_older(older);
                if self.has_hosts {
                    lines.set_error(clocks::error_text(*error, *may_be_earlier));
                }
                lines.write(event, None, &mut self.line).expect(INFALLIBLE);
            }
            Writer::Json { lines, path, .. } => {
                let cycles = older.and_then(|older| time.cycles_since(older));
                lines.write(event, cycles, &mut self.line);
                if let Some(path) = path {
                    write!(out, "{{\"path\":{path},")?;
                    if self.has_hosts {
                        let error = clocks::json_error(*error);
                        write!(
                            out,
                            "\"time_error_ns\":{error},\"may_be_earlier\":{may_be_earlier},"
                        )?;
                    }
                    out.write_all(&self.line.as_bytes()[1..])?;
                    self.line.clear();
                }
            }
        }
        if !std::mem::replace(&mut self.has_printed, true) {
            for writer in &mut self.writers {
                if let Writer::Text(lines) = writer {
                    lines.set_first(*time);
                }
            }
        }
        self.last = Some((*log, *time));
        Ok(out.write_all(self.line.as_bytes())?)
    }
}
