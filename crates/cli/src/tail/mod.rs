//! `timeline tail`: follows a timeline as it is written, or an archive as it is recorded.

mod archive;
mod printer;

use std::io::Write;

use timeline::{Attached, Event, Follow, FollowFrom};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::output;
use crate::restart::{self, Ended, Restart};
use crate::signals::{self, Pause, SignalledOutput, Signals, Woken};
use crate::target::{Opened, Target};
use printer::{Layout, Printer};

/// Follow a timeline: print events as they are logged, until interrupted
///
/// Prints all important events, the newest others and then every new event, oldest first. Entries
/// of the ring that were overwritten before they could be printed are counted and reported; an
/// event with a payload takes several entries. When the program is restarted, tail continues with
/// its new timeline.
///
/// If PATH is an archive, tail prints new events while a recorder writes them. In a directory, it
/// continues with each new file. It ends when the recorder ends.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// Start with the important events and the newest N others
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    max_entries: usize,

    /// Add date, nanoseconds, thread, priority and core
    #[arg(short, long)]
    long: bool,

    /// Print one JSON object per line, with the fields of `timeline dump --json`
    #[arg(long, conflicts_with = "long")]
    json: bool,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
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
        "Categories and arguments of new events",
        "timeline tail /timeline --json | jq -c '[.category, .args]'",
    ),
];

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    let opened = args.target.open()?;
    let signals = Signals::catch()?;
    let mut out = signals.stdout();
    let missed = match opened {
        Opened::Ring(at) => follow(*at, args, &signals, &mut out)?,
        Opened::Archive(archive) => archive::follow(&archive, args, &signals, &mut out)?,
    };
    // The output counts events as it writes them, because an interrupted write shows only a part.
    let shown = things(out.get_ref().events(), "event");
    let missed = things(missed, "entry");
    output::say(format_args!("{shown} shown, {missed} missed"));
    Ok(())
}

/// Follows a timeline, and each one that takes its name later. Returns how many entries were
/// missed.
fn follow(
    mut at: Attached,
    args: &Args,
    signals: &Signals,
    out: &mut SignalledOutput,
) -> Result<u64> {
    let (mut from, mut missed) = (FollowFrom::Newest(args.max_entries), 0);
    loop {
        let mut follower = Follower::new(&at, args, from);
        // Of the next run, even the first events are wanted, and missed if they are overwritten.
        from = FollowFrom::Start;
        let ended = follower.run(signals, out);
        missed += follower.missed;
        match ended? {
            Ended::Done => return Ok(missed),
            Ended::Replaced(next) => {
                restart::report(&at, &next);
                at = *next;
            }
        }
    }
}

/// Prints the events of one timeline until it ends.
struct Follower<'a> {
    at: &'a Attached,
    follow: Follow<'a>,
    batch: Vec<Event>,
    printer: Printer<'a>,
    restart: Restart<'a>,
    missed: u64,
}

impl<'a> Follower<'a> {
    fn new(at: &'a Attached, args: &'a Args, from: FollowFrom) -> Follower<'a> {
        Follower {
            at,
            follow: at.follow(from),
            batch: Vec::new(),
            printer: Printer::new(at, None, layout(args)),
            restart: Restart::new(at, args.target.path()),
            missed: 0,
        }
    }

    fn run(&mut self, signals: &Signals, out: &mut SignalledOutput) -> Result<Ended> {
        let mut pause = Pause::new();
        let mut next = None;
        loop {
            // Before the last look, so that no event is left that was logged before this check.
            if !self.at.is_snapshot() && next.is_none() && self.restart.is_due() {
                next = self.restart.next();
            }
            self.batch.clear();
            let missed = self.follow.poll(&mut self.batch);
            self.at.intact()?;
            if missed > 0 {
                self.missed += missed;
                let what = things(missed, "entry");
                output::say(format_args!(
                    "{what} missed here, overwritten before they were read"
                ));
            }
            let events = &self.batch;
            match self.printer.print(events, out).and_then(|()| out.flush()) {
                Err(error) if signals::is_interrupted(&error) => return Ok(Ended::Done),
                other => other?,
            }
            let idle = events.is_empty() && missed == 0;
            if idle && let Some(next) = next {
                return Ok(Ended::Replaced(Box::new(next)));
            }
            if idle && self.at.is_snapshot() {
                return Ok(Ended::Done);
            }
            match signals.wait(pause.after(!idle)) {
                Woken::Timeout => {}
                Woken::Interrupted => return Ok(Ended::Done),
                Woken::OutputClosed => return Err(Failure::ClosedPipe),
            }
        }
    }
}

fn layout(args: &Args) -> Layout {
    match (args.json, args.long) {
        (true, _) => Layout::Json,
        (_, true) => Layout::Long,
        _ => Layout::Short,
    }
}
