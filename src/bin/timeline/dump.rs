//! `timeline dump`: the events of a timeline, newest to oldest.

use std::io::Write;

use timeline::dump::Columns;
use timeline::{Attached, Order};

use crate::args::{Example, Target};
use crate::failure::Result;
use crate::json::Lines;
use crate::output;
use crate::style::Theme;

/// Print the events of a timeline, newest to oldest
///
/// The columns are the NUMA node and core that logged the event, the cycles since the next older
/// event, the category and the message.
///
/// With --json, each line is an object with the fields ticks, time (RFC 3339, UTC), unix_ns, cycles
/// (since the next older event), core, node, tid, pid, thread, process, category, priority, message,
/// template, event (the number of the definition) and args (an object; an argument name that a
/// message uses again becomes name_2). What is not known is null.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Print the newest N events only
    #[arg(short = 'n', long, value_name = "N")]
    max_entries: Option<u64>,

    /// Add time, thread and priority
    #[arg(short, long)]
    long: bool,

    /// Print one JSON object a line
    #[arg(long, conflicts_with = "long")]
    json: bool,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
    (
        "The newest 20 events of a running (or crashed) program",
        "timeline dump /timeline -n 20",
    ),
    (
        "A whole snapshot, with time, thread and priority",
        "timeline dump snapshot.timeline --long",
    ),
    (
        "Messages of errors",
        "timeline dump /timeline --json | jq -r 'select(.priority == \"error\").message'",
    ),
];

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    let at = args.target.attach()?;
    let mut out = output::stdout();
    if args.json {
        json(&at, args.max_entries, &mut out)?;
    } else {
        let columns = if args.long {
            Columns::Long
        } else {
            Columns::Short
        };
        text(&at, args.max_entries, columns, &output::theme(), &mut out)?;
    }
    out.flush()?;
    Ok(())
}

fn json(at: &Attached, max: Option<u64>, out: &mut impl Write) -> Result {
    let mut lines = Lines::new(at);
    // One event more than is printed: the last one still has an older neighbour.
    let mut events = at.events(Order::NewestFirst).peekable();
    let mut left = max.unwrap_or(u64::MAX);
    while left > 0
        && let Some(event) = events.next()
    {
        lines.write(&event, events.peek(), out)?;
        left -= 1;
    }
    Ok(())
}

/// Writes the dump as text: what `timeline::dump` gives, with rows in the colours of their priority.
pub fn text(
    at: &Attached,
    max: Option<u64>,
    columns: Columns,
    theme: &Theme,
    out: &mut dyn Write,
) -> Result {
    if !theme.is_on() {
        timeline::dump::write(at, max, columns, out)?;
        return Ok(());
    }
    let dim = theme.dim;
    writeln!(out, "{dim}{}{dim:#}", timeline::dump::header(columns))?;
    let mut row = String::new();
    let mut events = at.events(Order::NewestFirst).peekable();
    let mut left = max.unwrap_or(u64::MAX);
    while left > 0
        && let Some(event) = events.next()
    {
        let definition = at.definition(event.id);
        let style = definition.map_or(theme.bad, |d| theme.priority(d.priority));
        row.clear();
        timeline::dump::row(at, &event, events.peek(), columns, &mut row)
            .expect("writing to a String cannot fail");
        writeln!(out, "{style}{row}{style:#}")?;
        left -= 1;
    }
    Ok(())
}
