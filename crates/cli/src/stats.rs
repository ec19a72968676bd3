//! `timeline stats`: how many events there are, by category and event.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::json;
use timeline::internal::PerEvent;
use timeline::{Definition, Event, EventId, Layout, Source, Value};
use timeline_analysis::{Analysis, AnalysisInput, Analyzer, EventContext, Lack, Subscriptions};
use timeline_reading::json::write_line;

use crate::args::Example;
use crate::clocks;
use crate::failure::Result;
use crate::fetch::Excerpt;
use crate::filters::Filters;
use crate::format::{self, Align, Bytes, Cell, Count, MetricNumber, things};
use crate::health;
use crate::output;
use crate::recovery::Executables;
use crate::target::Target;
use crate::time::HumanDuration;
use crate::unknown_names;
use crate::verb::Verb;

/// Count the events of a timeline or an archive, by category and event
///
/// Prints how many events there are of each name, the most frequent first, with their share of all,
/// how many that is a second, and the bytes of their values: 8 for each number and address, and the
/// length of each text and array. The second is an average over the time from the first to the last
/// event, without important ones: these are kept from long before the others, and only those of the
/// same time count. Filters say which events count. Those of several PATHs count together.
///
/// With --json, each line is an object with the fields category, event (the name), events, share
/// (of 1), per_second (null if there is no time between the first and the last event) and bytes.
#[derive(clap::Args)]
#[command(override_usage = "timeline stats [OPTIONS] [PATH]...")]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// More of them
    #[arg(value_name = "PATH")]
    others: Vec<PathBuf>,

    /// What is counted together
    #[arg(long, value_name = "WHAT", default_value = "event")]
    by: By,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    executables: Executables,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum By {
    /// Events of one category
    Category,
    /// Events of one name
    Event,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "What fills the ring of a program",
        "timeline stats /timeline",
    ),
    (
        "The categories of large packets in the last minute",
        "timeline stats flights/ --by category --since 1m --where 'bytes > 1500'",
    ),
];

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
    let query = args.filters.query();
    let others = args.others.iter().cloned().map(Target::named);
    let others: Vec<_> = others.collect();
    // All are opened before anything is counted.
    let targets: Vec<&Target> = [&args.target].into_iter().chain(&others).collect();
    let logs = clocks::open(&targets, &query, |query| Excerpt::Where(query))?;
    let mut all = All::default();
    let mut read = Vec::new();
    for log in &logs {
        let mut stats = Stats::default();
        let input = AnalysisInput::whole([log]).query(&query);
        let outcome = Analysis::new(input).with(&mut stats).run();
        stats.set_apart();
        all.add(&stats, log.source(), args.by);
        read.push((log, stats.lost, outcome));
    }
    all.print(args)?;
    unknown_names::tell(&query, &logs.iter().collect::<Vec<_>>());
    read.into_iter().try_for_each(|(log, lost, outcome)| {
        outcome?;
        health::report_log(log, lost);
        Ok(())
    })
}

/// The counts of all.
#[derive(Default)]
struct All {
    /// By category and name.
    lines: HashMap<(String, String), Amount>,
    span: Option<(u64, u64)>,
}

/// The counts of one timeline or archive so far.
#[derive(Default)]
struct Stats {
    definitions: PerEvent<Amount>,
    /// Events that are not defined count together: they may have any number.
    undefined: Amount,
    /// The first and the last time, as far as they are known, of events that are not important.
    span: Option<(u64, u64)>,
    /// The events and times of the important ones. Nothing overwrites these, so they may be much
    /// older than the others.
    important: Vec<(EventId, Option<u64>)>,
    /// How many could not be read.
    lost: u64,
}

#[derive(Clone, Copy, Default)]
struct Amount {
    events: u64,
    bytes: u64,
    /// Important events of another time than the others: these are in no rate.
    apart: u64,
}

impl Analyzer for Stats {
    fn begin(&mut self, wanted: &mut Subscriptions) {
        wanted.all();
    }

    fn event(&mut self, context: &EventContext) -> timeline_analysis::Result {
        let event = context.event();
        let (id, amount) = match context.definition() {
            Some(definition) => {
                if self.definitions.get(event.id).is_none() {
                    let none = Amount::default();
                    self.definitions.insert(event.id, definition, none);
                }
                (event.id, self.definitions.get_mut(event.id))
            }
            None => (EventId::NEVER, None),
        };
        let amount = amount.unwrap_or(&mut self.undefined);
        amount.events += 1;
        amount.bytes += bytes(event, context.layout());
        let time = context.time();
        if event.important {
            self.important.push((id, time));
        } else if let Some(time) = time {
            self.span = both(self.span, Some((time, time)));
        }
        Ok(())
    }

    fn loss(&mut self, _: usize, what: Lack) -> timeline_analysis::Result {
        if let Lack::Unreadable(events) = what {
            self.lost += events;
        }
        Ok(())
    }
}

impl Stats {
    /// Takes those important events out of all rates that are not of the time of the others. If
    /// there are no others, the time is theirs.
    fn set_apart(&mut self) {
        let times = self.important.iter().filter_map(|(_, time)| *time);
        let own = times.clone().min().zip(times.max());
        self.span = self.span.or(own);
        let Some((first, last)) = self.span else {
            return;
        };
        for (id, time) in self.important.drain(..) {
            if time.is_some_and(|time| !(first..=last).contains(&time)) {
                let amount = self.definitions.get_mut(id);
                amount.unwrap_or(&mut self.undefined).apart += 1;
            }
        }
    }
}

/// The span of two.
fn both(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let (Some((first, last)), Some((begin, end))) = (one, other) else {
        return one.or(other);
    };
    Some((first.min(begin), last.max(end)))
}

impl All {
    fn add(&mut self, stats: &Stats, source: &dyn Source, by: By) {
        let undefined = Some((EventId::NEVER, &stats.undefined));
        let undefined = undefined.filter(|(_, amount)| amount.events > 0);
        for (id, amount) in stats.definitions.iter().chain(undefined) {
            let definition = source.definition(id);
            let category = definition.map_or("", |definition| &definition.category);
            let name = definition.filter(|_| by == By::Event);
            let name = name.map_or(String::new(), Definition::name);
            let line = self.lines.entry((category.into(), name)).or_default();
            line.events += amount.events;
            line.apart += amount.apart;
            line.bytes += amount.bytes;
        }
        self.span = both(self.span, stats.span);
    }

    /// The category, the name and the amount of each line, the most events first.
    fn lines(&self) -> Vec<(&str, &str, Amount)> {
        let lines = self.lines.iter();
        let lines = lines.map(|((category, name), amount)| (&**category, &**name, *amount));
        let mut lines: Vec<_> = lines.collect();
        lines.sort_by(
            |(category, name, amount), (other_category, other_name, other)| {
                let by_name = (category, name).cmp(&(other_category, other_name));
                other.events.cmp(&amount.events).then(by_name)
            },
        );
        lines
    }

    fn print(&self, args: &Args) -> Result {
        let lines = self.lines();
        let all: u64 = lines.iter().map(|(.., amount)| amount.events).sum();
        let seconds = self.span.map(|(first, last)| (last - first) as f64 / 1e9);
        let rate = |amount: &Amount| {
            let seconds = seconds.filter(|seconds| *seconds > 0.0)?;
            Some((amount.events - amount.apart) as f64 / seconds)
        };
        let mut out = output::stdout();
        if args.json {
            for (category, name, amount) in &lines {
                let Amount { events, bytes, .. } = amount;
                let object = json!({
                    "category": (!category.is_empty()).then_some(category),
                    "event": (!name.is_empty()).then_some(name),
                    "events": events,
                    "share": *events as f64 / all as f64,
                    "per_second": rate(amount),
                    "bytes": bytes,
                });
                write_line(&object, &mut out)?;
            }
        } else if all > 0 {
            let theme = output::theme();
            let mut columns = vec![
                ("EVENTS", Align::Right),
                ("SHARE", Align::Right),
                ("A SECOND", Align::Right),
                ("BYTES", Align::Right),
                ("CATEGORY", Align::Left),
            ];
            if args.by == By::Event {
                columns.push(("EVENT", Align::Left));
            }
            let row = |(category, name, amount): &(&str, &str, Amount)| {
                let rate = rate(amount).map_or("?".into(), |rate| MetricNumber(rate).to_string());
                let category = if category.is_empty() { "?" } else { *category };
                let mut cells: Vec<Cell> = vec![
                    Count(amount.events).to_string().into(),
                    format::percent(amount.events, all).into(),
                    rate.into(),
                    Bytes(amount.bytes).to_string().into(),
                    category.to_owned().into(),
                ];
                if args.by == By::Event {
                    cells.push(Cell::new(theme.name, *name));
                }
                cells
            };
            let rows: Vec<_> = lines.iter().map(row).collect();
            format::table(&mut out, theme.bold, &columns, &rows)?;
        }
        out.flush()?;
        let events = things(all, "event");
        let apart: u64 = lines.iter().map(|(.., amount)| amount.apart).sum();
        let apart = match apart {
            0 => String::new(),
            apart => format!(", {} of them important and of another time", Count(apart)),
        };
        match self.span {
            Some((first, last)) if last > first => {
                let time = HumanDuration(Duration::from_nanos(last - first));
                output::say(format_args!("{events} in {time}{apart}"));
            }
            _ => output::say(format_args!("{events}{apart}")),
        }
        Ok(())
    }
}

/// The bytes of the values of an event.
fn bytes(event: &Event, layout: &Layout) -> u64 {
    let values = event.values(layout).map(|value| match value {
        Value::Text { bytes, .. } => bytes.len(),
        Value::LongDouble(_) => 16,
        Value::Addresses(addresses) => 8 * addresses.len(),
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => 8,
        Value::Nil => 0,
    });
    (values.sum::<usize>() + 8 * event.backtrace().len()) as u64
}
