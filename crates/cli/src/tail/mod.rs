//! `timeline tail`: follows timelines as they are written, and archives as they are recorded.
//!
//! origin.rs is what it is asked to follow: ring.rs follows a timeline, archive.rs an archive.
//! part.rs has all that reads and shows one of these, printer.rs prints it, and tail_merge.rs
//! merges several by time.

mod archive;
mod origin;
mod part;
mod printer;
mod ring;
mod tail_merge;

use std::path::PathBuf;

use timeline_reading::{Extent, Log};

use crate::args::{ANY, Example, number};
use crate::columns::TextOptions;
use crate::failure::Result;
use crate::fetch::{self, Excerpt};
use crate::filters::Filters;
use crate::format::things;
use crate::output;
use crate::recovery::Executables;
use crate::signals::Signals;
use crate::target::Target;
use crate::verb::Verb;
use origin::TailOrigin;
use tail_merge::TailMerge;

/// Follow a timeline: print events as they are logged, until interrupted
///
/// Prints all important events, the newest others and then every new event, oldest first. Entries
/// of the ring that were overwritten before they could be printed are counted and reported; an
/// event with a payload takes several entries. When the program is restarted, tail continues with
/// its new timeline.
///
/// If PATH is an archive, tail prints new events while a recorder writes them. In a directory, it
/// continues with each new file. It ends when the recorder ends.
///
/// Of several PATHs, events are merged by time. Those of an archive come when they are recorded.
/// The option -n is about the newest events of all.
#[derive(clap::Args)]
#[command(override_usage = "timeline tail [OPTIONS] [PATH]...")]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// More of them: events are merged by time
    #[arg(value_name = "PATH")]
    others: Vec<PathBuf>,

    /// Start with the important events and the newest N others
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        value_parser = number::<usize>(ANY),
        allow_negative_numbers = true,
        default_value_t = 10
    )]
    max_entries: usize,

    /// As other programs have it: tail always follows
    #[arg(short = 'f', long = "follow", hide = true)]
    _follow: bool,

    /// Add date, nanoseconds, thread, priority and core
    #[arg(short, long)]
    long: bool,

    /// Print one JSON object per line, with the fields of `timeline dump --json`
    #[arg(long, conflicts_with = "long")]
    json: bool,

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
        "Watch a running program; Ctrl-C stops",
        "timeline tail /timeline",
    ),
    (
        "Only new events, with threads and priorities",
        "timeline tail /timeline -n 0 --long",
    ),
    (
        "The newest events that another process records",
        "timeline tail flights/",
    ),
    (
        "What two programs log, as it comes: one of them is recorded",
        "timeline tail /timeline flight.tla",
    ),
    (
        "Categories and arguments of new events",
        "timeline tail /timeline --json | jq -c '[.category, .args]'",
    ),
];

impl Args {
    /// Whether there are several PATHs.
    fn is_of_several(&self) -> bool {
        !self.others.is_empty()
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
    let others = args.others.iter().cloned().map(Target::named);
    let others: Vec<_> = others.collect();
    let targets = || [&args.target].into_iter().chain(&others);
    let logs = targets().map(|target| target.open_wanted(Extent::Whole, &Excerpt::Growing));
    let logs: Vec<Log> = logs.collect::<Result<_>>()?;
    let query = args.filters.query();
    let signals = Signals::catch()?;
    let origins = logs.into_iter().map(|log| TailOrigin {
        log,
        args,
        query: &query,
        signals: &signals,
        first: Some(args.max_entries),
    });
    let mut out = signals.stdout();
    let missed = TailMerge::new(origins)?.follow(&mut out)?;
    // The output counts events as it writes them, because an interrupted write shows only a part.
    let shown = things(out.get_ref().events(), "event");
    let missed = things(missed, "entry");
    output::say(format_args!("{shown} shown, {missed} missed"));
    fetch::intact()
}
