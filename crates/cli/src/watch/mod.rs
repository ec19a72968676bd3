//! `timeline watch`: waits for conditions on a timeline, and acts when one is met.
//!
//! ring.rs follows the ring, replay.rs reads a recording; gate.rs lets one firing of a condition
//! through in a while, line.rs prints it. session.rs acts: note.rs writes it into the timeline,
//! snapshots.rs saves, raise.rs raises the level, and commands.rs runs programs. action.rs reads
//! `--then`.

mod action;
mod commands;
mod gate;
mod line;
mod note;
mod raise;
mod replay;
mod ring;
mod session;
mod snapshots;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use timeline::{Attached, FollowFrom, Source};
use timeline_archive::has_archive_name;
use timeline_latency::Condition;
use timeline_reading::{Extent, Log};

use crate::args::{Example, number};
use crate::durations;
use crate::failure::{Failure, Result};
use crate::fetch;
use crate::filters::Filters;
use crate::format::{Count, things};
use crate::output;
use crate::signals::Signals;
use crate::target::Target;
use crate::time::parse_duration;
use crate::trust::TrustArgs;
use crate::verb::Verb;
use crate::waiting;
use action::Action;
use gate::Gates;
use session::Session;
use snapshots::Snapshots;

/// Wait for a condition, such as a span that takes too long, and save the ring around that moment
///
/// Waits until the timeline exists, follows it from now on, also into the next runs of its program,
/// and prints a line for each moment at which a condition is met. Conditions are: 'span NAME > 1ms'
/// (also 'span A..B > 1ms' between two events of a thread), 'p99(NAME, 1s) > 2ms', 'max(NAME, 1s) >
/// 2ms', 'rate(EVENT, 1s) > 1000/s', "event EVENT where FIELD > 10" and 'missing EVENT for 100ms'.
/// A span that is still open when it has lasted too long meets a condition without waiting for its
/// end. A rate, a percentile or a missing event fires when it begins to hold, once.
///
/// With --save, a snapshot has what the ring held before that moment, and what followed for
/// --after. So the ring must be large enough for what is to be kept. What fired is also logged into
/// the timeline, as an event of the category watch, as long as its program runs.
///
/// Of a snapshot or an archive, watch prints all moments at which a condition was met, and ends.
///
/// Filters choose the events that count: of a span the event that ends it, not the one that begins
/// it. With filters, spans that are still open meet no condition.
///
/// The exit status is 0 if a condition was met, 1 if none was, and 2 after a failure.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// Condition to wait for. Of several, any is enough
    #[arg(long, value_name = "CONDITION", required = true)]
    when: Vec<Condition>,

    /// A condition must hold for this time. Not for spans and single events, which are over at once
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    hold: Option<Duration>,

    /// Save a snapshot to a new file in this directory, which is made if it is missing
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,

    /// How long to wait before the snapshot, so that it has what followed
    #[arg(long, value_name = "TIME", value_parser = time_or_zero, default_value = "100ms")]
    after: Duration,

    /// What to do as well: 'priority LEVEL for TIME' raises the level, 'exec COMMAND' runs a
    /// command by sh, and save is --save in the present directory
    #[arg(long = "then", value_name = "ACTION")]
    actions: Vec<Action>,

    /// After a firing, ignore others of the same condition for this time. They are counted; what
    /// still holds at its end fires. 10s by default, and 0s for recordings
    #[arg(long, value_name = "TIME", value_parser = time_or_zero)]
    cooldown: Option<Duration>,

    /// Stop after N firings
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        value_parser = number::<u64>(1..=u64::MAX),
        allow_negative_numbers = true
    )]
    max_firings: Option<u64>,

    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,

    /// Do not log what fired into the timeline
    #[arg(long)]
    read_only: bool,

    #[command(flatten)]
    trusted: TrustArgs,

    #[command(flatten)]
    filters: Filters,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Keep what led to each breath of more than a millisecond",
        "timeline watch /timeline --when 'span engine.breath > 1ms' --save snapshots",
    ),
    (
        "Has the 99th percentile of a second been too high for 5 s?",
        "timeline watch /timeline --when 'p99(engine.breath) > 2ms' --for 5s",
    ),
    (
        "After an error, log everything for a moment",
        "timeline watch /timeline --when 'event disk.*' --then 'priority all for 1ms'",
    ),
    (
        "Run a command when the program has been silent for a second",
        "timeline watch /timeline --when 'missing * for 1s' -n 1 --then 'exec date'",
    ),
    (
        "When would this have fired?",
        "timeline watch flight.tla --when 'rate(engine.*) > 20k/s'",
    ),
];

/// The time in which others are ignored after a firing, while a ring is watched.
const COOLDOWN: Duration = Duration::from_secs(10);

fn time_or_zero(text: &str) -> std::result::Result<Duration, String> {
    let zero = ["0", "0s", "0ms", "0us", "0ns"];
    match zero.contains(&text) {
        true => Ok(Duration::ZERO),
        false => parse_duration(text),
    }
}

/// Nanoseconds, of which a long time has no more than fit.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn is_search(&self) -> bool {
        true
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(&mut self.target)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    refuse_nonsense(args)?;
    let (gates, failed) = match opened(args)? {
        None => live(args, None)?,
        Some(log) => match log.live().cloned() {
            Some(at) => {
                refuse_unknown(args, &*at, true)?;
                // The timeline of a run that is over takes memory as long as anybody has it.
                drop(log);
                live(args, Some(at))?
            }
            None => {
                refuse_actions(args)?;
                refuse_unknown(args, log.source(), false)?;
                (replay::report(&log, args)?, 0)
            }
        },
    };
    report(args, &gates);
    match (failed, gates.fired()) {
        (1.., _) => {
            let snapshots = things(failed, "snapshot");
            Err(Failure::Message(format!("{snapshots} could not be saved")))
        }
        (0, 0) => Err(Failure::NothingFound),
        (0, _) => Ok(()),
    }
}

/// Fails if a condition is about a span, an event or a field that is not there.
fn refuse_unknown(args: &Args, source: &dyn Source, can_grow: bool) -> Result {
    let unknown = args.when.iter().filter_map(|one| one.unknown(source));
    durations::refuse(unknown, can_grow)
}

/// What is to be watched; `None` if there is no timeline of that name yet. The name of an archive
/// is not waited for: nothing makes one that was meant.
fn opened(args: &Args) -> Result<Option<Log>> {
    let path = args.target.path();
    let is_kept = path == Path::new("-") || has_archive_name(path) || fetch::is_trace(path);
    let may_come = !is_kept && !path.exists();
    if may_come && waiting::open_if_there(&args.target)?.is_none() {
        return Ok(None);
    }
    args.target.open(Extent::Whole).map(Some)
}

/// Watches the timeline, or the first that takes its name. Also returns how many snapshots could
/// not be saved.
fn live(args: &Args, at: Option<Arc<Attached>>) -> Result<(Gates, u64)> {
    let start = Instant::now();
    // Before anything is waited for: what can never be saved is no use to wait for.
    let snapshots = snapshots(args)?;
    let signals = Signals::catch()?;
    let cooldown = args.cooldown.unwrap_or(COOLDOWN);
    let (at, from) = match at {
        Some(at) => (at, FollowFrom::Now),
        None => match waiting::wait(&args.target, |rest| signals.wait(rest), args.duration)? {
            // Of this run, even the first events matter.
            Some(at) => (Arc::new(at), FollowFrom::Start),
            None => {
                let none = Gates::new(args.when.len(), nanos(cooldown), args.max_firings);
                return Ok((none, 0));
            }
        },
    };
    let mut session = Session::new(args, (&at, start), snapshots, &signals)?;
    let watched = ring::watch((at, from), args, &mut session);
    // Whatever happened: the level is restored, and what is pending is saved.
    let is_over = !matches!(watched, Ok(ring::End::Enough));
    session.finish(is_over);
    session.report();
    watched?;
    let failed = session.failed();
    Ok((session.gates, failed))
}

fn snapshots(args: &Args) -> Result<Option<Snapshots>> {
    let here = || {
        let saves = args.actions.contains(&Action::Save);
        saves.then(|| PathBuf::from("."))
    };
    let folder = args.save.clone().or_else(here);
    let snapshots = folder.map(|folder| Snapshots::new(&folder, args.after));
    snapshots.transpose()
}

/// Says how many firings there were; of several conditions, also of which were ignored.
fn report(args: &Args, gates: &Gates) {
    let ignored: Vec<u64> = gates.ignored().collect();
    let of_each = ignored
        .iter()
        .zip(&args.when)
        .filter(|(count, _)| **count > 0);
    let of_each: Vec<_> = of_each
        .map(|(count, condition)| format!("{} of '{condition}'", Count(*count)))
        .collect();
    let which = match args.when.len() > 1 && !of_each.is_empty() {
        true => format!(": {}", of_each.join(", ")),
        false => String::new(),
    };
    let (fired, ignored) = (things(gates.fired(), "firing"), Count(ignored.iter().sum()));
    output::say(format_args!(
        "{fired}, {ignored} ignored in the cooldown{which}"
    ));
}

fn refuse_nonsense(args: &Args) -> Result {
    let momentary = args.when.iter().find(|one| !one.is_lasting());
    if let (Some(_), Some(condition)) = (args.hold, momentary) {
        let message = format!(
            "--for is about conditions that last (rates, percentiles and missing events), and \
             '{condition}' is met in a moment; leave --for out, or use max(NAME, 1s)"
        );
        return Err(Failure::misuse(message));
    }
    let raises = args.actions.iter().filter(|action| action.is_priority());
    if raises.count() > 1 {
        let message = "there can be one --then 'priority LEVEL for TIME'";
        return Err(Failure::misuse(message));
    }
    Ok(())
}

fn refuse_actions(args: &Args) -> Result {
    if args.save.is_none() && args.actions.is_empty() {
        return Ok(());
    }
    let path = args.target.path().display();
    Err(Failure::Message(format!(
        "{path} is a recording, of which watch tells when conditions were met; leave out --save \
         and --then, which act on a timeline that programs log to"
    )))
}
