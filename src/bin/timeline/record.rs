//! `timeline record`: follows a timeline into an archive.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use timeline::Attached;
use timeline::archive::{Form, Recorder, Totals};

use crate::args::{Example, Target};
use crate::failure::Result;
use crate::human::{Bytes, Count, Rate, things};
use crate::output;
use crate::signals::{Signals, Woken};

/// How long to wait between looks: shortest while events come, doubling to longest while none do.
const BUSY: Duration = Duration::from_millis(1);
const IDLE: Duration = Duration::from_millis(50);
/// How often to ask whether the program still runs, and to show progress.
const ASK: Duration = Duration::from_millis(200);

/// Record a timeline into an archive, until interrupted or its program is gone
///
/// Begins with the oldest event that is still there. A file that an earlier recording of the same run
/// left is continued where that one stopped, however it did: no event is missing or there twice, as
/// long as the timeline still held it. Events that were overwritten before they were recorded are
/// counted, and the count is recorded.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// File to write or to continue
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Write each event by itself, without compression
    #[arg(long)]
    plain: bool,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
    (
        "Keep everything that a program logs; Ctrl-C stops",
        "timeline record /timeline -o flight.tla",
    ),
    (
        "What the run before the last restart left, as an archive",
        "timeline record /timeline.prev -o before.tla",
    ),
];

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    let at = args.target.attach()?;
    let signals = Signals::catch()?;
    let form = match args.plain {
        true => Form::Plain,
        false => Form::Blocks,
    };
    let mut recorder = Recorder::new(&at, &args.output, form)?;
    let mut progress = Progress::new();
    let (mut nap, mut asked, mut gone) = (BUSY, None::<Instant>, false);
    loop {
        // Asked before the last look, so that nothing logged before the answer is left behind.
        if asked.is_none_or(|asked| asked.elapsed() >= ASK) {
            asked = Some(Instant::now());
            gone = is_gone(&at);
            progress.show(&recorder.totals());
        }
        let new = recorder.step()?;
        if !new && gone {
            break;
        }
        nap = if new { BUSY } else { (nap * 2).min(IDLE) };
        if signals.wait_for_signal(nap) == Woken::Interrupted {
            recorder.step()?;
            break;
        }
    }
    let totals = recorder.finish()?;
    progress.end();
    let (from, to) = (args.target.path.display(), args.output.display());
    let (events, missed) = (things(totals.events, "event"), Count(totals.missed));
    let size = Bytes(totals.bytes);
    output::talk(format_args!(
        "recorded {events} of {from} to {to} ({size}), {missed} missed"
    ));
    Ok(())
}

/// Whether no event can come any more.
fn is_gone(at: &Attached) -> bool {
    at.is_snapshot()
        || at.replaced()
        || timeline::users(at.path()).is_ok_and(|users| users.is_empty())
}

/// One line on a terminal that is written again and again.
struct Progress {
    shown: bool,
    begun: Instant,
}

impl Progress {
    fn new() -> Progress {
        Progress {
            shown: false,
            begun: Instant::now(),
        }
    }

    fn show(&mut self, totals: &Totals) {
        let mut terminal = std::io::stderr().lock();
        if !terminal.is_terminal() {
            return;
        }
        self.shown = true;
        let rate = totals.events as f64 / self.begun.elapsed().as_secs_f64().max(0.001);
        let (events, missed) = (things(totals.events, "event"), Count(totals.missed));
        let (rate, size) = (Rate(rate), Bytes(totals.bytes));
        // Nobody listening is no reason to stop recording.
        let _ = write!(
            terminal,
            "\r\x1b[K{events}, {rate} a second, {size}, {missed} missed"
        );
    }

    fn end(&self) {
        if self.shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
