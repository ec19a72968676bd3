//! Dumps the events from a line on, oldest first.

use std::io::Write;

use timeline::dump::Messages;
use timeline::{Event, Order};
use timeline_search::{Candidates, LineNumbers, Query, line_count};

use super::Args;
use super::merged::{Found, Printer};
use crate::durations::{Pairing, PartialPairing};
use crate::failure::Result;
use crate::filters::Wanted;
use crate::indexing;
use crate::output;
use crate::reading::Reading;
use crate::text_lines::Moment;

/// How long spans took.
enum Durations<'a> {
    /// All events are read.
    OfAll(Box<Pairing<'a>>),
    /// Only a part is.
    OfPart(Box<PartialPairing<'a>>),
}

/// Prints the wanted events from a line on. Of an archive with an index, only what may be behind
/// that line is read.
pub fn run(args: &Args, line: u64, query: &Query) -> Result {
    let readings = [Reading::open(&args.target)?];
    let [reading] = &readings;
    let index = reading
        .archive()
        .map(|archive| indexing::of(reading.path(), archive).0);
    let (at, mut printer) = (reading.source(), Printer::new(args, &readings));
    let mut messages = Messages::new(at);
    let mut count = |event: &Event| {
        let text = messages.text(event, at.definition(event.id));
        line_count(&text)
    };
    let candidates = index.and_then(|index| {
        let rest = reading.events_where(Order::OldestFirst, index.rest());
        index.from_line(line, rest.map(|event| count(&event)).sum())
    });
    let (mut events, mut numbers, mut durations) = match (candidates, reading.archive()) {
        (
            Some(Candidates {
                selection, lines, ..
            }),
            Some(archive),
        ) => {
            let events = reading.events_where(Order::OldestFirst, selection);
            (
                events,
                lines,
                Durations::OfPart(Box::new(PartialPairing::new(archive))),
            )
        }
        _ => {
            let numbers = LineNumbers::new(Order::OldestFirst);
            let events = reading.events(Order::OldestFirst);
            (
                events,
                numbers,
                Durations::OfAll(Box::new(Pairing::new(at))),
            )
        }
    };
    let mut wanted = Wanted::new(query, at);
    let mut out = output::stdout();
    printer.heading(&mut out)?;
    let mut left = args.max_entries.unwrap_or(usize::MAX);
    let mut is_there = false;
    while left > 0
        && let Some(mut event) = events.next()
    {
        match &mut durations {
            Durations::OfAll(pairing) => pairing.add(&mut event),
            Durations::OfPart(pairing) => pairing.add(&mut event),
        }
        if !is_there {
            let lines = count(&event);
            let (first, _) = numbers.next(&event, lines);
            is_there = first.saturating_add(lines) > line;
        }
        if is_there && wanted.has(&event) {
            let moment = Moment::of(at, &event);
            let found = Found {
                part: 0,
                event,
                moment,
            };
            printer.print(&found, None, &mut out)?;
            left -= 1;
        }
    }
    out.flush()?;
    wanted.report();
    events.report()
}
