//! `timeline watch`: waits for conditions on a timeline, and acts when one is met.
//!
//! ring.rs follows the ring, replay.rs reads a recording; gate.rs lets one firing through in a
//! while, line.rs prints it. session.rs acts: note.rs writes it into the timeline, snapshots.rs
//! saves, raise.rs raises the level, and commands.rs runs programs. action.rs reads `--then`.

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

use std::path::PathBuf;
use std::time::Duration;

use timeline_latency::Condition;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::filters::Filters;
use crate::format::{Count, things};
use crate::output;
use crate::reading::Reading;
use crate::signals::Signals;
use crate::target::{Opened, Target};
use crate::time::parse_duration;
use crate::trust::Trusted;
use action::Action;
use gate::Gate;
use session::Session;

/// Wait for a condition, such as a span that takes too long, and save the ring around that moment
///
/// Follows a timeline from now on, also into the next runs of its program, and prints a line for
/// each moment at which a condition is met. Conditions are: 'span NAME > 1ms' (also 'span A..B >
/// 1ms' between two events of a thread), 'p99(NAME, 1s) > 2ms', 'max(NAME, 1s) > 2ms',
/// 'rate(EVENT, 1s) > 1000/s', "event EVENT where FIELD > 10" and 'missing EVENT for 100ms'. A span
/// that is still open when it has lasted too long meets a condition without waiting for its end. A
/// rate, a percentile or a missing event fires when it begins to hold, once.
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

    /// After a firing, ignore others for this time. They are counted. 10s by default, and 0s for
    /// recordings
    #[arg(long, value_name = "TIME", value_parser = time_or_zero)]
    cooldown: Option<Duration>,

    /// Stop after N firings
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
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
    trusted: Trusted,

    #[command(flatten)]
    filters: Filters,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
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

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    refuse_nonsense(args)?;
    let fired = match args.target.open()? {
        Opened::Ring(at) if !at.is_snapshot() => {
            let signals = Signals::catch()?;
            let mut session = Session::new(args, &at, &signals)?;
            let watched = ring::watch(*at, args, &mut session);
            // Whatever happened: the level is restored, and what is pending is saved.
            let is_over = !matches!(watched, Ok(ring::End::Enough));
            session.finish(is_over);
            session.report();
            watched?;
            session.gate
        }
        opened => {
            refuse_actions(args)?;
            replay::report(&Reading::of(&args.target, opened), args)?
        }
    };
    report(&fired)
}

fn report(gate: &Gate) -> Result {
    let (fired, ignored) = (things(gate.fired(), "firing"), Count(gate.ignored()));
    output::say(format_args!("{fired}, {ignored} ignored in the cooldown"));
    match gate.fired() {
        0 => Err(Failure::NothingFound),
        _ => Ok(()),
    }
}

fn refuse_nonsense(args: &Args) -> Result {
    let momentary = args.when.iter().find(|one| !one.is_lasting());
    if let (Some(_), Some(condition)) = (args.hold, momentary) {
        let message = format!(
            "--for is about conditions that last (rates, percentiles and missing events), and \
             '{condition}' is met in a moment; leave --for out, or use max(NAME, 1s)"
        );
        return Err(Failure::misuse("watch", message));
    }
    let raises = args.actions.iter().filter(|action| action.is_priority());
    if raises.count() > 1 {
        let message = "there can be one --then 'priority LEVEL for TIME'";
        return Err(Failure::misuse("watch", message));
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
