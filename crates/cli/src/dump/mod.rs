//! `timeline dump`: the events of a timeline, newest to oldest, as a table.
//! merge.rs dumps several, in either order and in any columns; from_line.rs from a line on.

mod from_line;
mod merge;

use std::io::Write;
use std::path::PathBuf;

use timeline::{
    Event, Order, Source,
    dump::{Newest, Table, Text},
};
use timeline_reading::{Extent, Log, Request, Stream};

use crate::args::{ANY, Example, number};
use crate::columns::TextOptions;
use crate::failure::Result;
use crate::fetch::Excerpt;
use crate::filters::{Filters, report_missed};
use crate::health;
use crate::json::JsonLines;
use crate::output;
use crate::recovery::Executables;
use crate::style::Theme;
use crate::target::Target;
use crate::thread_columns::ThreadColumns;
use crate::unknown_names;
use crate::verb::Verb;

/// Print the events of a timeline or an archive, newest to oldest
///
/// The columns are the NUMA node and core that logged the event, the cycles since the next older
/// event, the category and the message. Important events come first: they are never overwritten.
/// If entries of the same CPU or thread are missing right before an event, the next line says so:
/// "1,024 entries missing". An event that ends a span ("end X" after "begin X", or "finish
/// X" after "start X") says how long that took, if its begin was read: a filter that leaves the
/// begin out can leave out the time as well.
///
/// With --json, each line is an object with the fields ticks, time (RFC 3339, UTC), unix_ns (the
/// nanoseconds since 1970, as a text, because numbers of that size are rounded by many programs),
/// cycles (since the next older event), core, node, tid, pid, thread, process, executable (the path
/// of its file, if that is known; info has size and SHA-1), category, priority,
/// message, template, event (the number of the definition) and args (an object; an argument name
/// that a message uses again becomes name_2). Unknown fields are null. If a message was lost, its
/// values are named by their positions, beginning with 0. An event with a printf format has file
/// and line, and args is an array of its values. Values have the types of their fields: a number, a
/// text, true or false, a list; the name for an enum and names for flags; nanoseconds for ns and
/// time; and texts for "nan", "inf" and "-inf", which JSON has no numbers for, and for whole
/// numbers beyond 2^53, which many readers would round. cut lists the texts and arrays that the
/// payload had no room for. A thread of a group has group. An event with a call stack has
/// backtrace, in which each address has function, offset, object, base, file and line; before it
/// come the functions that were inlined there, with the same address and inlined: true. If entries
/// of the same CPU or thread were overwritten right before the event, missed is their number; of an
/// archive, also of those that are gone there. An important event has important: true, and one that
/// ends a span has duration, in nanoseconds.
///
/// Events of several programs in one archive are ordered by the wall clock. Then --json adds host
/// and timeline. If there are several machines, --long adds the machine before the thread.
///
/// Of archives of several machines, times are those of the store to which they were sent, as far as
/// it has compared the clocks. By how much a time may be wrong stands in the column error, after a
/// ~ if an event of another machine in a line above may belong below; a ? says that nobody has
/// compared the clocks. --json adds time_error_ns (null for ?) and may_be_earlier.
#[derive(clap::Args)]
#[command(override_usage = "timeline dump [OPTIONS] [PATH]...")]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// More of them: events are merged by time
    #[arg(value_name = "PATH")]
    others: Vec<PathBuf>,

    /// Print only the important events and the newest N others. In a rotated archive, only files
    /// that can hold these events are read; gaps and damage in other files are not reported
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        value_parser = number::<usize>(ANY),
        allow_negative_numbers = true
    )]
    max_entries: Option<usize>,

    /// Add time, thread and priority
    #[arg(short, long)]
    long: bool,

    /// Print one JSON object per line
    #[arg(long, conflicts_with = "long")]
    json: bool,

    /// Print the oldest event first
    #[arg(short, long)]
    reverse: bool,

    /// Print from this line on, oldest first. The lines of all events are numbered from 0 on, the
    /// important ones first; a message with several lines has several numbers
    #[arg(
        long,
        value_name = "N",
        value_parser = number::<u64>(ANY),
        allow_negative_numbers = true,
        conflicts_with_all = ["others", "reverse"]
    )]
    line: Option<u64>,

    #[command(flatten)]
    shown: TextOptions,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    executables: Executables,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "The newest 20 events of a running (or crashed) program",
        "timeline dump /timeline -n 20",
    ),
    (
        "A whole snapshot, with time, thread and priority",
        "timeline dump snapshot.timeline --long",
    ),
    (
        "What two programs did, oldest first, by the time since the event before",
        "timeline dump /timeline flight.tla --reverse --time delta",
    ),
    (
        "The newest 20 recorded events, also of a damaged archive",
        "timeline dump flight.tla -n 20",
    ),
    (
        "Twenty events from line 1,234,567 of an archive on",
        "timeline dump flight.tla --line 1234567 -n 20",
    ),
    (
        "Messages of errors",
        "timeline dump /timeline --json | jq -r 'select(.priority == \"error\").message'",
    ),
];

impl Args {
    /// Whether it takes more than a table, newest first.
    fn is_merged(&self) -> bool {
        let TextOptions { time, columns } = &self.shown;
        self.reverse || !self.others.is_empty() || time.is_some() || !columns.is_empty()
    }
}

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
    if let Some(line) = args.line {
        return from_line::run(args, line, &query);
    }
    if args.is_merged() {
        return merge::run(args, &query);
    }
    let most = match query.is_empty() {
        true => args.max_entries.unwrap_or(usize::MAX),
        // Nobody knows how far back the newest wanted ones are.
        false => usize::MAX,
    };
    let log = args
        .target
        .open_wanted(Extent::Newest(most), &Excerpt::WithSpans(&query))?;
    let request = Request::new(Order::NewestFirst).query(&query);
    let mut stream = log.stream(request.with_durations());
    show(&log, &mut stream, args)?;
    report_missed(stream.outcome()?.missed);
    unknown_names::tell(&query, &[&log]);
    health::report_stream(&stream)
}

/// Prints the events of a log, newest first.
fn show(log: &Log, events: &mut Stream, args: &Args) -> Result {
    let (at, programs) = (log.source(), log.programs());
    let mut out = output::stdout();
    let several_clocks = programs.filter(|programs| !programs.share_a_clock());
    let newest = Newest {
        events,
        most: args.max_entries.unwrap_or(usize::MAX),
        have_one_clock: |event: &Event, older: &Event| {
            several_clocks.is_none_or(|programs| programs.have_one_clock(event, older))
        },
    };
    if args.json {
        let mut lines = JsonLines::new(at).among(programs);
        newest.print(Text::new(), &mut out, |event, cycles, text| {
            lines.write(event, cycles, text);
        })?;
        return Ok(());
    }
    let columns = args.long.then(|| ThreadColumns::new(at).among(programs));
    text(at, newest, columns, &output::theme(), &mut out)
}

/// Writes events under a heading, in the colours of their priority, with more columns if `columns`
/// is given.
pub fn text<I: Iterator<Item = Event>>(
    at: &dyn Source,
    newest: Newest<I, impl Fn(&Event, &Event) -> bool>,
    mut columns: Option<ThreadColumns>,
    theme: &Theme,
    out: &mut impl Write,
) -> Result {
    let mut table = Table::new(at).styled(theme.dump());
    let mut text = Text::new();
    let heading = columns.as_ref().map(ThreadColumns::heading);
    table.heading(&heading.unwrap_or_default(), &mut text);
    let mut others = |event: &Event, text: &mut Text| {
        if let Some(columns) = &mut columns {
            columns.write(event, text);
        }
    };
    newest.print(text, out, |event, cycles, text| {
        table.row(event, cycles, &mut others, text);
    })?;
    Ok(())
}
