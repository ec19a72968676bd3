//! Dumps the events from a line on, oldest first.

use std::io::{BufWriter, StdoutLock, Write};
use std::ops::Range;

use timeline::dump::Messages;
use timeline::{Event, Order};
use timeline_search::{Index, LineNumbers, Query, line_count};

use super::Args;
use super::merged::{Found, Printer};
use crate::durations::{Pairing, PartialPairing};
use crate::failure::Result;
use crate::filters::Wanted;
use crate::health;
use crate::indexing;
use crate::output;
use crate::reading::{Events, Reading};
use crate::text_lines::Moment;
use crate::unmatched;

/// Prints the wanted events from a line on. Of an archive with an index, only what may be behind
/// that line is read.
pub fn run(args: &Args, line: u64, query: &Query) -> Result {
    let readings = [Reading::open(&args.target)?];
    let [reading] = &readings;
    let at = reading.source();
    let mut dump = Dump {
        reading,
        index: reading
            .archive()
            .map(|archive| indexing::of(reading.path(), archive).0),
        messages: Messages::new(at),
        printer: Printer::new(args, &readings),
        wanted: Wanted::new(query, at),
        left: args.max_entries.unwrap_or(usize::MAX),
        total: u64::MAX,
        out: output::stdout(),
    };
    dump.printer.heading(&mut dump.out)?;
    // Few events are likely to stand in as many lines. Then nothing behind these is read.
    let end = match dump.index.is_some() && dump.wanted.are_all() {
        true => line.saturating_add(dump.left as u64),
        false => u64::MAX,
    };
    dump.print(line..end, |first, lines| first.saturating_add(lines) > line)?;
    if dump.left > 0 && end < dump.total {
        // Some messages have no line, or several.
        dump.print(end..u64::MAX, |first, _| first >= end)?;
    }
    dump.out.flush()?;
    dump.wanted.report();
    unmatched::tell(query, &[reading.whole()]);
    if let Some(archive) = reading.archive() {
        health::report(reading.path(), archive, 0);
    }
    Ok(())
}

/// What is dumped, and how much of it is still to come.
struct Dump<'a> {
    reading: &'a Reading,
    index: Option<Index<'a>>,
    messages: Messages<'a>,
    printer: Printer<'a>,
    wanted: Wanted<'a>,
    left: usize,
    /// How many lines there are, as far as that is known.
    total: u64,
    out: BufWriter<StdoutLock<'static>>,
}

/// How long spans took.
enum Durations<'a> {
    /// All events are read.
    OfAll(Box<Pairing<'a>>),
    /// Only a part is.
    OfPart(Box<PartialPairing<'a>>),
}

impl<'a> Dump<'a> {
    /// Prints the wanted events before the end of these lines, from the first event on of which
    /// `begins` says so by its first line and by how many it has.
    fn print(&mut self, lines: Range<u64>, begins: impl Fn(u64, u64) -> bool) -> Result {
        let (mut events, mut numbers, mut durations) = self.events(&lines);
        let mut is_there = false;
        while self.left > 0
            && let Some(mut event) = events.next()
        {
            match &mut durations {
                Durations::OfAll(pairing) => pairing.add(&mut event),
                Durations::OfPart(pairing) => pairing.add(&mut event),
            }
            if !is_there || lines.end < u64::MAX {
                let count = self.lines(&event);
                let (first, _) = numbers.next(&event, count);
                if first >= lines.end {
                    break;
                }
                is_there = is_there || begins(first, count);
            }
            if is_there && self.wanted.has(&event) {
                let moment = Moment::of(self.reading.source(), &event);
                let found = Found {
                    part: 0,
                    event,
                    moment,
                };
                self.printer.print(&found, None, &mut self.out)?;
                self.left -= 1;
            }
        }
        events.report()
    }

    /// The events that may have these lines, and what numbers their lines and tells durations.
    fn events(&mut self, lines: &Range<u64>) -> (Events<'a>, LineNumbers, Durations<'a>) {
        let reading = self.reading;
        let candidates = self.index.take().and_then(|index| {
            let rest = reading.events_where(Order::OldestFirst, index.rest());
            let rest = rest.map(|event| self.lines(&event)).sum();
            let candidates = index.lines(lines.clone(), rest);
            if candidates.is_some() {
                self.total = index.coverage().lines.saturating_add(rest);
            }
            self.index = Some(index);
            candidates
        });
        match (candidates, reading.archive()) {
            (Some(found), Some(archive)) => (
                reading.events_where(Order::OldestFirst, found.selection),
                found.lines,
                Durations::OfPart(Box::new(PartialPairing::new(archive))),
            ),
            _ => (
                reading.events(Order::OldestFirst),
                LineNumbers::new(Order::OldestFirst),
                Durations::OfAll(Box::new(Pairing::new(reading.source()))),
            ),
        }
    }

    /// How many lines the message of an event has.
    fn lines(&mut self, event: &Event) -> u64 {
        let definition = self.reading.source().definition(event.id);
        line_count(&self.messages.text(event, definition))
    }
}
