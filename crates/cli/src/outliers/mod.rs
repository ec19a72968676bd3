//! `timeline outliers`: the slowest spans, each with the events in it.
//! inside.rs finds the events of each, and print.rs prints both.

mod inside;
mod print;

use std::io::Write;

use timeline_latency::Series;
use timeline_reading::{Extent, Longest};

use crate::args::{ANY, Example, number};
use crate::durations::{self, DurationArgs, Finding};
use crate::failure::Result;
use crate::filters::Filters;
use crate::output;
use crate::recovery::Executables;
use crate::target::Target;
use crate::unknown_names;
use crate::verb::Verb;

use inside::Inside;
use print::OutlierPrinter;

/// Show the slowest spans of a timeline or an archive, with the events in each
///
/// A span is from an event "begin X" to the event "end X" of the same category and thread, or from
/// "start X $key" to "finish X $key" with the same first value in any thread. --from and --to name
/// any other two events. The events of its thread, or of its key, between begin and end say what
/// it was doing; spans in it are indented, and their ends say how long they took.
///
/// Filters are about the events that end a span. Events whose other half is missing are counted on
/// standard error, and nothing is guessed in their place.
///
/// With --json, each line is an object with the fields span (the name), duration (in nanoseconds),
/// begin and end (RFC 3339, UTC), begin_ns and end_ns (since 1970, as texts), tid, thread, key
/// (null if there is none), events (as `dump --json` prints them, the oldest first) and more_events
/// (how many are left out).
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// How many spans
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        value_parser = number::<usize>(ANY),
        allow_negative_numbers = true,
        default_value_t = 10
    )]
    max_spans: usize,

    /// How many events of each span, from its begin on
    #[arg(
        long,
        value_name = "N",
        value_parser = number::<usize>(ANY),
        allow_negative_numbers = true,
        default_value_t = 100
    )]
    max_events: usize,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    durations: DurationArgs,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    executables: Executables,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "The three slowest breaths of a running engine, and what it did in them",
        "timeline outliers /timeline --span engine.breath -n 3",
    ),
    (
        "Requests, paired by their number, whichever thread they end in",
        "timeline outliers flights/ --from http.got --to http.sent --key id",
    ),
    (
        "The longest times between two ticks of one thread",
        "timeline outliers flight.tla --every engine.tick",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn is_long(&self) -> bool {
        true
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(&mut self.target)
    }

    fn executables(&self) -> Option<&Executables> {
        Some(&self.executables)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    let query = args.filters.query();
    // It is read twice.
    let log = args.target.open(Extent::Indexed)?.still()?;
    let measures = args.durations.measures();
    let mut finding = Finding::new(&log, &measures, &args.durations, &query);
    let mut slowest = Longest::new(args.max_spans);
    let (mut count, mut series) = (0_u64, Vec::<Series>::new());
    finding.all(&log, |all, found| {
        count += 1;
        if series.len() < all.len() {
            series = all.to_vec();
        }
        slowest.add(found.value, found);
    })?;
    finding.refuse_unknown()?;
    let spans: Vec<_> = slowest.into_sorted().collect();
    let mut inside = Inside::new(&log, &series, &spans, args.max_events);
    if args.max_events > 0 {
        inside.read(&log)?;
    }
    let mut out = output::stdout();
    let mut printer = OutlierPrinter::new(&log);
    for (number, span) in spans.iter().enumerate() {
        let (events, more) = &inside.events[number];
        let series = &series[span.series];
        match args.json {
            true => printer.json((series, span), (events, *more), &mut out)?,
            false => printer.text((number + 1, series, span), (events, *more), &mut out)?,
        }
    }
    out.flush()?;
    unknown_names::tell(&query, &[&log]);
    finding.report();
    if count == 0 {
        output::say(durations::NONE);
        return Ok(());
    }
    let shown = spans.len() as u64;
    output::say(format_args!(
        "{shown} of {}",
        crate::format::things(count, "span")
    ));
    Ok(())
}
