//! `timeline sample`: raises the level for short bursts.

use std::time::{Duration, Instant};

use timeline::{Attached, Level};

use crate::args::{self, Example};
use crate::failure::{Failure, Result};
use crate::output;
use crate::signals::{Signals, WakeReason};
use crate::target::Target;
use crate::time::{HumanDuration, parse_duration};
use crate::trust::TrustArgs;
use crate::verb::Verb;

/// How often to check whether the name still leads to the timeline that is sampled.
const IDENTITY: Duration = Duration::from_millis(200);

/// Raise the level for short bursts, until interrupted
///
/// During a burst, all events up to its level are logged. Between bursts, the former level applies,
/// so the program pays for the detail only during bursts. The former level is restored when
/// sampling ends, even if Ctrl-C ends it.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// Level during a burst
    #[arg(long, value_name = "LEVEL", value_parser = args::level())]
    level: Level,

    /// Length of a burst
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    length: Duration,

    /// Time from the start of a burst to the start of the next
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    every: Duration,

    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,

    #[command(flatten)]
    trusted: TrustArgs,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "All events of 100 microseconds, every 10 ms, until Ctrl-C",
        "timeline sample /timeline --level all --for 100us --every 10ms",
    ),
    (
        "The same, for five seconds",
        "timeline sample /timeline --level all --for 100us --every 10ms --duration 5s",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(&mut self.target)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    let (level, length, every) = (
        args.level,
        HumanDuration(args.length),
        HumanDuration(args.every),
    );
    if args.length >= args.every {
        return Err(Failure::misuse(format!(
            "--for must be shorter than --every ({every}), got {length}"
        )));
    }
    let control = args.target.control(&args.trusted)?;
    let watched = args.target.attach()?;
    // Before the level is changed, so that a signal cannot leave it raised.
    let signals = Signals::catch()?;
    let path = args.target.path().display();
    let sampler = control.sample(level, args.length, args.every)?;
    output::say(format_args!(
        "{path}: {level} for {length} every {every}; Ctrl-C stops"
    ));
    let result = wait(args, &watched, &signals);
    drop(sampler);
    result?;
    output::say(format_args!(
        "{path}: stopped, the level is {} again",
        control.rules()
    ));
    Ok(())
}

/// Waits until interrupted or done. It is an error if the timeline has lost its name.
fn wait(args: &Args, watched: &Attached, signals: &Signals) -> Result {
    let end = args.duration.map(|duration| Instant::now() + duration);
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let nap = left.unwrap_or(IDENTITY).min(IDENTITY);
        if nap.is_zero() || signals.wait_for_signal(nap) == WakeReason::Interrupted {
            return Ok(());
        }
        if watched.replaced() {
            return Err(Failure::Message(format!(
                "{} was removed or created again, so sampling has ended",
                args.target.path().display()
            )));
        }
    }
}
