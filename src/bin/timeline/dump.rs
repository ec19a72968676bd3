//! `timeline dump`: the events of a timeline, newest to oldest.

use std::io::Write;

use timeline::Attached;
use timeline::dump::{Rows, Table};

use crate::args::{Example, Target};
use crate::failure::{INFALLIBLE, Result};
use crate::human;
use crate::json::Lines;
use crate::output;
use crate::style::Theme;
use crate::who::Who;

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
    max_entries: Option<usize>,

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
    let max = args.max_entries.unwrap_or(usize::MAX);
    if args.json {
        let mut lines = Lines::new(&at);
        for row in Rows::new(&at).take(max) {
            lines.write(&row.event, row.cycles, &mut out)?;
        }
    } else {
        text(&at, max, args.long, &output::theme(), &mut out)?;
    }
    out.flush()?;
    Ok(())
}

/// Writes the newest events under a heading, in the colours of their priority.
pub fn text(at: &Attached, max: usize, long: bool, theme: &Theme, out: &mut impl Write) -> Result {
    let table = Table::new(at);
    let mut who = Who::new(at);
    let mut row_text = String::new();
    if long {
        row_text.push_str(&Who::heading());
    }
    table.heading(&mut row_text).expect(INFALLIBLE);
    let bold = theme.bold;
    writeln!(out, "{bold}{row_text}{bold:#}")?;
    for row in Rows::new(at).take(max) {
        row_text.clear();
        if long {
            who.write(&row.event, &mut row_text).expect(INFALLIBLE);
        }
        table.row(&row, &mut row_text).expect(INFALLIBLE);
        let priority = at
            .definition(row.event.id)
            .map(|definition| definition.priority);
        let style = priority.map_or(theme.bad, |priority| theme.priority(priority));
        writeln!(out, "{style}{}{style:#}", human::clean(&row_text))?;
    }
    Ok(())
}
