//! Dumps the events from a line on, oldest first.

use std::io::{BufWriter, StdoutLock, Write};
use std::ops::Range;

use timeline::dump::Messages;
use timeline::{Event, Order};
use timeline_reading::{EventTime, Extent, Log, LogEvent, Request, Sieve, Stream};
use timeline_search::{Index, LineNumbers, Query, line_count};

use super::Args;
use super::merge::DumpPrinter;
use crate::failure::Result;
use crate::filters::report_missed;
use crate::health;
use crate::indexing;
use crate::output;
use crate::unknown_names;

/// Prints the wanted events from a line on. Of an archive with an index, only what may be behind
/// that line is read.
pub fn run(args: &Args, line: u64, query: &Query) -> Result {
    let logs = [args.target.open(Extent::Indexed)?];
    let [log] = &logs;
    let at = log.source();
    let mut dump = Dump {
        log,
        index: log
            .archive()
            .map(|archive| indexing::of(log.path(), archive).0),
        messages: Messages::new(at),
        printer: DumpPrinter::new(args, &logs, false),
        sieve: Sieve::new(query, at),
        left: args.max_entries.unwrap_or(usize::MAX),
        total: u64::MAX,
        lost: 0,
        out: output::stdout(),
    };
    dump.printer.heading(&mut dump.out)?;
    // Few events are likely to stand in as many lines. Then nothing behind these is read.
    let end = match dump.index.is_some() && dump.sieve.wants_all() {
        true => line.saturating_add(dump.left as u64),
        false => u64::MAX,
    };
    dump.print(line..end, |first, lines| first.saturating_add(lines) > line)?;
    if dump.left > 0 && end < dump.total {
        // Some messages have no line, or several.
        dump.print(end..u64::MAX, |first, _| first >= end)?;
    }
    dump.out.flush()?;
    report_missed(dump.sieve.missed());
    unknown_names::tell(query, &[log]);
    health::report_log(log, dump.lost);
    Ok(())
}

/// What is dumped, and how much of it is still to come.
struct Dump<'a> {
    log: &'a Log,
    index: Option<Index<'a>>,
    messages: Messages<'a>,
    printer: DumpPrinter<'a>,
    sieve: Sieve<'a>,
    left: usize,
    /// How many lines there are, as far as that is known.
    total: u64,
    /// How many events could not be read.
    lost: u64,
    out: BufWriter<StdoutLock<'static>>,
}

impl<'a> Dump<'a> {
    /// Prints the wanted events before the end of these lines, from the first event on of which
    /// `begins` says so by its first line and by how many it has.
    fn print(&mut self, lines: Range<u64>, begins: impl Fn(u64, u64) -> bool) -> Result {
        let (mut events, mut numbers) = self.events(&lines);
        let mut is_there = false;
        while self.left > 0
            && let Some(event) = events.next()
        {
            if !is_there || lines.end < u64::MAX {
                let count = self.lines(&event);
                let (first, _) = numbers.next(&event, count);
                if first >= lines.end {
                    break;
                }
                is_there = is_there || begins(first, count);
            }
            if is_there && self.sieve.wants(&event) {
                let time = EventTime::of(self.log.source(), &event);
                let found = LogEvent {
                    log: 0,
                    event,
                    time,
                    error: Some(0),
                    may_be_earlier: false,
                };
                self.printer.print(&found, None, &mut self.out)?;
                self.left -= 1;
            }
        }
        self.lost += events.outcome()?.lost;
        Ok(())
    }

    /// The events that may have these lines, and what numbers their lines.
    fn events(&mut self, lines: &Range<u64>) -> (Stream<'a>, LineNumbers) {
        let (log, request) = (self.log, Request::new(Order::OldestFirst));
        let candidates = self.index.take().and_then(|index| {
            let rest = log.stream_of(request, index.rest());
            let rest = rest.map(|event| self.lines(&event)).sum();
            let candidates = index.lines(lines.clone(), rest);
            if candidates.is_some() {
                self.total = index.coverage().lines.saturating_add(rest);
            }
            self.index = Some(index);
            candidates
        });
        log.numbered(request.with_durations(), candidates)
    }

    /// How many lines the message of an event has.
    fn lines(&mut self, event: &Event) -> u64 {
        let definition = self.log.source().definition(event.id);
        line_count(&self.messages.text(event, definition))
    }
}
