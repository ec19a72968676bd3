//! `timeline histogram`: durations as percentiles over time, and as interval logs of HdrHistogram.
//!
//! recording.rs makes intervals of the durations of events, follow.rs goes on with those that come,
//! and logs.rs reads intervals from logs. output.rs takes them, as a table, a log or a
//! distribution, and plots.rs draws them.

mod follow;
mod logs;
mod output;
mod plots;
mod recording;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use timeline::dump::printable;
use timeline_latency::Measure;
use timeline_latency::intervals::{HistogramShape, IntervalOptions};

use crate::args::{Example, number};
use crate::durations::DurationArgs;
use crate::failure::{Failure, Result};
use crate::filters::Filters;
use crate::recovery::Executables;
use crate::target::Target;
use crate::time::parse_duration;
use crate::verb::Verb;

/// Show how long spans take, as percentiles over time
///
/// Finds the durations of spans, or between any two events, in a timeline or an archive. Prints a
/// row for each interval and a row for all of them: how many durations there are, the shortest, the
/// percentiles, the longest and the mean, and their distribution as a line of bars. With -o, it
/// writes an interval log of HdrHistogram, which tools of that family read. Several spans have
/// rows, or tags in the log, of their own.
///
/// PATH can also be such an interval log, of this or another program, compressed or not, and - for
/// standard input. Several are merged: intervals of the same tag, start and length become one.
///
/// Durations are in nanoseconds, exact to three digits. A duration belongs to the interval in which
/// it ends. Filters are about the event that ends it. Events whose other half is missing are
/// counted on standard error, and nothing is guessed in their place.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// More interval logs
    #[arg(value_name = "LOG")]
    others: Vec<PathBuf>,

    /// The values of a number in an event, such as net.sent.size, in the place of durations
    #[arg(long, value_name = "EVENT.FIELD")]
    field: Vec<String>,

    /// Multiply the values of --field by N, a whole number, before they are rounded to whole
    /// numbers: 1000 for thousandths of a number with a fraction. The name says so
    #[arg(long, value_name = "N", requires = "field", value_parser = number::<u64>(SCALES))]
    scale: Option<u64>,

    /// How long an interval is: whole milliseconds
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = milliseconds)]
    interval: Duration,

    /// Begin intervals at multiples of their length, so that those of several programs agree
    #[arg(long)]
    align: bool,

    /// Go on with the events that come, until interrupted: a row, or a line of the log, for each
    /// interval
    #[arg(short, long, conflicts_with = "percentiles")]
    follow: bool,

    /// The tag of the only span, or of interval logs the tag that is wanted ('' for none)
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,

    /// Something happens every TIME: a longer duration stands for those that were not measured
    /// while it lasted
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expected_interval: Option<Duration>,

    /// Significant digits of durations, from 1 to 5
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = number::<u8>(1..=5))]
    digits: u8,

    /// Write an interval log (- for standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print all percentiles, as HistogramLogProcessor does (.hgrm): durations in milliseconds,
    /// unless --unit says another unit, and other values as they are
    #[arg(long, conflicts_with_all = ["output", "json", "csv"])]
    percentiles: bool,

    /// The unit of the durations of --percentiles; a last line says it
    #[arg(long, value_name = "UNIT", requires = "percentiles")]
    unit: Option<DurationUnit>,

    /// Print comma-separated values, durations in nanoseconds
    #[arg(long, conflicts_with_all = ["output", "json"])]
    csv: bool,

    /// Print a JSON object for each row, durations in nanoseconds
    #[arg(long, conflicts_with = "output")]
    json: bool,

    #[command(flatten)]
    durations: DurationArgs,

    #[command(flatten)]
    logs: logs::LogOptions,

    #[command(flatten)]
    plots: plots::PlotOptions,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    executables: Executables,
}

/// What values may be multiplied by.
const SCALES: RangeInclusive<u64> = 1..=1_000_000_000;

/// A unit of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DurationUnit {
    Ns,
    Us,
    Ms,
    S,
}

impl DurationUnit {
    /// Its nanoseconds, and its name.
    fn of(self) -> (f64, &'static str) {
        match self {
            DurationUnit::Ns => (1.0, "ns"),
            DurationUnit::Us => (1e3, "us"),
            DurationUnit::Ms => (1e6, "ms"),
            DurationUnit::S => (1e9, "s"),
        }
    }
}

/// Reads the length of an interval.
fn milliseconds(text: &str) -> std::result::Result<Duration, String> {
    let time = parse_duration(text)?;
    match time.subsec_nanos() % 1_000_000 {
        0 => Ok(time),
        _ => Err(format!(
            "expected whole milliseconds, such as 1ms or 1.5s, because interval logs have no finer \
             times, got {}",
            printable(text)
        )),
    }
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "How long the breaths of a running engine take, second by second",
        "timeline histogram /timeline --span engine.breath",
    ),
    (
        "Write an interval log of all spans while a program runs",
        "timeline histogram /timeline --follow --interval 100ms -o spans.hlog",
    ),
    (
        "From one event to another of the same thread, as a picture",
        "timeline histogram flights/ --from http.got --to http.sent --plot all.svg",
    ),
    (
        "One second of an archive in detail",
        "timeline histogram flight.tla -i 10ms --since 14:03:07 --until 14:03:08",
    ),
    (
        "All percentiles of the first two minutes of an interval log",
        "timeline histogram spans.hlog --tag engine.breath --percentiles --end 2m",
    ),
    (
        "The same of a running engine, in microseconds",
        "timeline histogram /timeline --span engine.breath --percentiles --unit us",
    ),
];

impl Args {
    fn measures(&self) -> Result<Vec<Measure>> {
        let mut measures = self.durations.given();
        for field in &self.field {
            let parts = field.rsplit_once('.');
            let parts = parts.filter(|(event, field)| !event.is_empty() && !field.is_empty());
            let Some((event, field)) = parts else {
                return Err(Failure::misuse(format!(
                    "expected EVENT.FIELD, such as net.sent.size, got {field}"
                )));
            };
            measures.push(Measure::Values {
                event: event.into(),
                field: field.into(),
                scale: self.scale,
            });
        }
        if measures.is_empty() {
            measures = self.durations.measures();
        }
        Ok(measures)
    }

    fn interval_options(&self) -> IntervalOptions {
        IntervalOptions {
            length: self.interval,
            aligned: self.align,
            shape: self.shape(),
            expected: self.expected_interval,
            ..IntervalOptions::default()
        }
    }

    fn shape(&self) -> HistogramShape {
        HistogramShape {
            digits: self.digits,
            ..HistogramShape::default()
        }
    }
}

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
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
    if logs::is_log(args.target.path())? {
        return logs::run(args);
    }
    if let Some(other) = args.others.first() {
        return Err(Failure::misuse(format!(
            "{} is not needed: several PATHs must all be interval logs, and {} is none",
            other.display(),
            args.target.path().display()
        )));
    }
    if args.logs.are_given() {
        return Err(Failure::misuse(
            "--start, --end, --java-compat, --float-unit and --skip-damaged are for interval logs; \
             use --since and --until",
        ));
    }
    match args.follow {
        true => follow::run(args),
        false => recording::run(args),
    }
}
