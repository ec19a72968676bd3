//! Dumps several timelines and archives as one, in either order and in any columns.

use std::io::Write;

use timeline::dump::Text;
use timeline::{Event, Order};
use timeline_reading::json::to_string;
use timeline_search::Query;

use super::Args;
use crate::columns::{Column, TimeForm};
use crate::durations::Paired;
use crate::failure::{INFALLIBLE, Result};
use crate::filters::{Wanted, report_missed};
use crate::json::Lines;
use crate::output;
use crate::reading::{Events, Reading};
use crate::target::Target;
use crate::text_lines::{Moment, TextLines, Times};
use crate::unmatched;

/// Prints the wanted events of all that were named.
pub fn run(args: &Args, query: &Query) -> Result {
    let first = [Reading::open(&args.target)];
    let others = args.others.iter();
    let others = others.map(|path| Reading::open(&Target::named(path.clone())));
    let readings: Vec<Reading> = first.into_iter().chain(others).collect::<Result<_>>()?;
    let mut printer = Printer::new(args, &readings);
    let mut out = output::stdout();
    printer.heading(&mut out)?;
    // The newest events are only known from the end.
    let is_streamed = args.reverse && args.max_entries.is_none();
    let order = match is_streamed {
        true => Order::OldestFirst,
        false => Order::NewestFirst,
    };
    let mut parts: Vec<Part> = readings
        .iter()
        .map(|reading| Part::new(reading, query, order))
        .collect();
    let mut merged = Merged {
        parts: &mut parts,
        order,
        left: args.max_entries.unwrap_or(usize::MAX),
    };
    if is_streamed || !args.reverse {
        let mut next = merged.next();
        while let Some(found) = next {
            next = merged.next();
            let older = if args.reverse { &None } else { &next };
            printer.print(&found, older.as_ref(), &mut out)?;
        }
    } else {
        let mut events: Vec<Found> = merged.collect();
        let first = events
            .iter()
            .take_while(|found| found.event.important)
            .count();
        events[..first].reverse();
        events[first..].reverse();
        for found in &events {
            printer.print(found, None, &mut out)?;
        }
    }
    out.flush()?;
    let all: Vec<_> = readings.iter().map(Reading::whole).collect();
    unmatched::tell(query, &all);
    for part in &parts {
        let events = part.events.get_ref();
        report_missed(events.missed().saturating_add(part.wanted.missed()));
        events.report()?;
    }
    Ok(())
}

/// The wanted events of one timeline or archive.
struct Part<'a> {
    reading: &'a Reading,
    events: Paired<'a, Events<'a>>,
    wanted: Wanted<'a>,
    /// Whether the ticks of all events are of one clock.
    has_one_clock: bool,
    /// The next one, and when it was logged.
    next: Option<(Event, Moment)>,
}

/// An event, and the number of the part that it comes from.
pub struct Found {
    pub part: usize,
    pub event: Event,
    pub moment: Moment,
}

/// Merges parts by time: all important events, and then at most so many others.
struct Merged<'m, 'a> {
    parts: &'m mut [Part<'a>],
    order: Order,
    left: usize,
}

impl<'a> Part<'a> {
    fn new(reading: &'a Reading, query: &'a Query, order: Order) -> Part<'a> {
        let (events, wanted) = reading.with_edges(order, query);
        let mut part = Part {
            reading,
            events: Paired::new(reading.source(), order, events),
            wanted,
            has_one_clock: reading
                .programs()
                .is_none_or(|programs| programs.share_a_clock()),
            next: None,
        };
        part.turn();
        part
    }

    /// Takes the next event, and looks for the one behind it.
    fn turn(&mut self) -> Option<(Event, Moment)> {
        let wanted = &mut self.wanted;
        let next = self.events.find(|event| wanted.has(event));
        let source = self.reading.source();
        let next = next.map(|event| {
            let mut moment = Moment::of(source, &event);
            if !self.has_one_clock {
                moment.ticks = 0;
            }
            (event, moment)
        });
        std::mem::replace(&mut self.next, next)
    }
}

impl Iterator for Merged<'_, '_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        let order = self.order;
        let key = |(number, part): (usize, &Part)| {
            let (event, moment) = part.next.as_ref()?;
            let time = moment.time.unwrap_or(0);
            // The least comes first. At the same time, the first part has the oldest event.
            Some(match order {
                Order::NewestFirst => (!event.important, u64::MAX - time, usize::MAX - number),
                Order::OldestFirst => (!event.important, time, number),
            })
        };
        let parts = self.parts.iter().enumerate();
        let (_, part) = parts.filter_map(|one| Some((key(one)?, one.0))).min()?;
        let (event, moment) = self.parts[part].turn()?;
        if !event.important {
            self.left = self.left.checked_sub(1)?;
        }
        Some(Found {
            part,
            event,
            moment,
        })
    }
}

/// Prints events of several parts.
pub struct Printer<'a> {
    writers: Vec<Writer<'a>>,
    /// The event printed last, from which the times of the next one count if that is older.
    last: Option<(usize, Moment)>,
    reverse: bool,
    has_printed: bool,
    line: Text,
}

enum Writer<'a> {
    Text(Box<TextLines<'a>>),
    Json {
        lines: Box<Lines<'a>>,
        /// What stands before the other fields, if there are several parts.
        path: Option<String>,
    },
}

impl<'a> Printer<'a> {
    pub fn new(args: &'a Args, readings: &'a [Reading]) -> Printer<'a> {
        let several = readings.len() > 1;
        let mut columns = args.shown.columns.clone();
        if columns.is_empty() {
            columns.extend(several.then_some(Column::Path));
            columns.extend(match args.long {
                true => &Column::LONG[..],
                // Cycles say nothing between events of several clocks.
                false if several => &Column::SHORT[..],
                false => &Column::DUMP[..],
            });
        }
        // Who names columns, or asks for a line of a log, wants to know when it was.
        let is_table = args.shown.columns.is_empty() && args.line.is_none();
        let form = match several || args.long || !is_table {
            true => TimeForm::Absolute,
            false => TimeForm::Cycles,
        };
        let times = Times::new(args.shown.time.unwrap_or(form), args.long);
        let writer = |reading: &'a Reading| {
            let path = reading.path().display().to_string();
            let (at, programs) = (reading.source(), reading.programs());
            match args.json {
                true => Writer::Json {
                    lines: Box::new(Lines::new(at).among(programs)),
                    path: several.then(|| to_string(&path)),
                },
                false => {
                    let lines = TextLines::new(at, &columns, times.clone());
                    Writer::Text(Box::new(lines.among(programs).named(&path)))
                }
            }
        };
        Printer {
            writers: readings.iter().map(writer).collect(),
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
    pub fn print(&mut self, found: &Found, older: Option<&Found>, out: &mut impl Write) -> Result {
        let Found {
            part,
            event,
            moment,
        } = found;
        let older = match self.reverse {
            true => self.last,
            false => older.map(|older| (older.part, older.moment)),
        };
        // The ticks of two parts may be of two clocks.
        let older = older.map(|(other, moment)| Moment {
            ticks: if other == *part { moment.ticks } else { 0 },
            ..moment
        });
        self.line.clear();
        match &mut self.writers[*part] {
            Writer::Text(lines) => {
                lines.set_older(older);
                lines.write(event, None, &mut self.line).expect(INFALLIBLE);
            }
            Writer::Json { lines, path, .. } => {
                let cycles = older.and_then(|older| moment.cycles_since(older));
                lines.write(event, cycles, &mut self.line);
                if let Some(path) = path {
                    write!(out, "{{\"path\":{path},")?;
                    out.write_all(&self.line.as_bytes()[1..])?;
                    self.line.clear();
                }
            }
        }
        if !std::mem::replace(&mut self.has_printed, true) {
            for writer in &mut self.writers {
                if let Writer::Text(lines) = writer {
                    lines.set_first(*moment);
                }
            }
        }
        self.last = Some((*part, *moment));
        Ok(out.write_all(self.line.as_bytes())?)
    }
}
