//! `timeline tail`: follows a timeline as it is written, or an archive as it is recorded.

mod archive;
mod printer;

use std::io::Write;

use timeline::{Attached, Event, Follow, FollowFrom};
use timeline_latency::intervals::Lack;
use timeline_search::Query;

use crate::args::Example;
use crate::columns::Shown;
use crate::durations::Pairing;
use crate::failure::{Failure, Result};
use crate::filters::{Filters, Wanted};
use crate::format::things;
use crate::growth;
use crate::output;
use crate::restart::{self, Ended, Restart};
use crate::signals::{self, Pause, SignalledOutput, Signals, Woken};
use crate::target::{Opened, Target};
use crate::unmatched;
use printer::Printer;

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

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    filters: Filters,
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
    let query = args.filters.query();
    let signals = Signals::catch()?;
    let mut out = signals.stdout();
    let missed = match opened {
        Opened::Ring(at) => {
            unmatched::tell_so_far(&query, &at);
            follow(*at, args, &query, &signals, &mut out)?
        }
        Opened::Archive(archive) => archive::follow(&archive, args, &query, &signals, &mut out)?,
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
    query: &Query,
    signals: &Signals,
    out: &mut SignalledOutput,
) -> Result<u64> {
    let (mut first, mut missed) = (Some(args.max_entries), 0);
    loop {
        let mut follower = Follower::new(&at, args, query, first);
        // Of the next run, even the first events are wanted, and missed if they are overwritten.
        first = None;
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
    wanted: Wanted<'a>,
    pairing: Pairing<'a>,
    /// How many events to begin with, until they are found among those that the ring holds.
    first: Option<usize>,
    restart: Restart<'a>,
    missed: u64,
}

impl<'a> Follower<'a> {
    /// Begins with the newest `first` events, or else with all of the ring.
    fn new(
        at: &'a Attached,
        args: &'a Args,
        query: &'a Query,
        first: Option<usize>,
    ) -> Follower<'a> {
        let wanted = Wanted::new(query, at);
        let from = match first {
            None => FollowFrom::Start,
            Some(count) if wanted.are_all() => FollowFrom::Newest(count),
            // Nobody knows how far back the newest wanted ones are.
            Some(1..) => FollowFrom::Oldest,
            Some(0) => FollowFrom::Now,
        };
        Follower {
            at,
            follow: at.follow(from),
            batch: Vec::new(),
            printer: Printer::new(at, None, args),
            first: first.filter(|_| from == FollowFrom::Oldest),
            wanted,
            pairing: Pairing::new(at),
            restart: Restart::new(at, args.target.path()),
            missed: 0,
        }
    }

    /// Reads new events into the batch, as far as they are wanted. Returns how many entries were
    /// missed, and whether nothing was new.
    fn poll(&mut self) -> (u64, bool) {
        self.batch.clear();
        match self.first.take() {
            None => {
                let (_, missed, idle) = self.read_more();
                (missed, idle)
            }
            Some(count) => self.read_first(count),
        }
    }

    /// Appends new events to the batch, as far as they are wanted. Returns how many there were,
    /// how many entries were missed, and whether nothing was new.
    fn read_more(&mut self) -> (usize, u64, bool) {
        let known = self.batch.len();
        let missed = self.follow.poll(&mut self.batch);
        let new = self.batch.len() - known;
        let read = self.batch[known..].iter_mut();
        read.for_each(|event| self.pairing.add(event));
        self.wanted.notice_renames();
        let mut place = 0;
        self.batch.retain(|event| {
            place += 1;
            place <= known || self.wanted.has(event)
        });
        (new, missed, new == 0 && missed == 0)
    }

    /// Reads all that the ring holds now. Leaves the important events and the newest `count` others
    /// of the wanted ones in the batch. Returns as `poll` does.
    fn read_first(&mut self, count: usize) -> (u64, bool) {
        // A program that goes on logging would have it read forever. Where it logs so much that
        // some entries are never reached, as many others are enough.
        let held = self.follow.committed();
        let most = self.follow.left_of(&held);
        let (mut seen, mut all_missed) = (0, 0_u64);
        loop {
            let (new, missed, idle) = self.read_more();
            all_missed = all_missed.saturating_add(missed);
            keep_newest(&mut self.batch, count);
            seen = missed.saturating_add(seen).saturating_add(new as u64);
            let is_live = !self.at.is_snapshot();
            let has_all = is_live && (seen >= most || self.follow.left_of(&held) == 0);
            if idle || has_all {
                return (all_missed, idle);
            }
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
            let (missed, idle) = self.poll();
            self.at.intact()?;
            if missed > 0 {
                self.missed += missed;
                growth::say(Lack::Unread(missed), "");
            }
            let events = &self.batch;
            match self.printer.print(events, out).and_then(|()| out.flush()) {
                Err(error) if signals::is_interrupted(&error) => return Ok(Ended::Done),
                other => other?,
            }
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

/// Leaves the important events and the newest `count` others.
fn keep_newest(events: &mut Vec<Event>, count: usize) {
    let others = events.iter().filter(|event| !event.important).count();
    let mut surplus = others.saturating_sub(count);
    events.retain(|event| {
        let is_kept = event.important || surplus == 0;
        surplus -= usize::from(!is_kept);
        is_kept
    });
}
