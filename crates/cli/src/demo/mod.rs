//! `timeline demo`: a program to watch, and a timeline to try commands on.
//!
//! workload.rs is the program, matches.rs its compressor's part, and view.rs shows its events.

mod matches;
mod view;
mod workload;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use timeline::{Attached, Level, Priority, Timeline};

use crate::args::{Example, number};
use crate::failure::{Failure, Result};
use crate::format::{agree, things};
use crate::output::{self, TextLine};
use crate::signals::{Signals, WakeReason};
use crate::style::Theme;
use crate::verb::Verb;
use view::View;
use workload::Workload;

/// Enough for a minute of the demo, and small enough to be created at once.
const ENTRIES: u64 = 64 * 1024;
const STRINGS: u64 = 64 * 1024;

/// Run a small multi-threaded program that logs to a timeline, and show its events
///
/// One thread makes blocks of text, and three threads compress them. The timeline stays when the
/// demo ends. Then the demo prints commands to try on the timeline.
#[derive(clap::Args)]
pub struct Args {
    /// Name of the timeline (/timeline-demo), or the path of a file
    #[arg(value_name = "NAME", default_value = "/timeline-demo")]
    name: PathBuf,

    /// How long to run
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = number::<u64>(1..=86_400),
        allow_negative_numbers = true
    )]
    seconds: u64,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    ("Watch the demo for five seconds", "timeline demo"),
    (
        "Run for a minute, to try `timeline tail` and other verbs",
        "timeline demo --seconds 60",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if !args.name.as_os_str().as_encoded_bytes().contains(&b'/') {
        let name = args.name.display();
        return Err(Failure::misuse(format!(
            "{name} would be a file of 4 MiB in this directory; write /{name} for a timeline \
                 in shared memory, or ./{name} for the file"
        )));
    }
    let signals = Signals::catch()?;
    let tl = Arc::new(Timeline::with_size(&args.name, ENTRIES, STRINGS)?);
    tl.priority(Level::from(Priority::Packet))?;
    let at = Attached::open(&args.name)?;
    let workload = Workload::start(tl.clone())?;
    let shown = show(&at, args, &signals);
    workload.stop();
    shown?;
    epilogue(&at, args)
}

/// Shows the timeline until the time is over or a signal comes.
fn show(at: &Attached, args: &Args, signals: &Signals) -> Result {
    let mut view = View::new(at, output::theme(), output::is_terminal());
    let mut out = output::stdout();
    let start = Instant::now();
    let length = Duration::from_secs(args.seconds);
    let mut next = Duration::ZERO;
    while next < length {
        next = length.min(next + view.period());
        match signals.wait(next.saturating_sub(start.elapsed())) {
            WakeReason::Timeout => {}
            WakeReason::Interrupted => break,
            WakeReason::OutputClosed => return Err(Failure::ClosedPipe),
        }
        view.draw(length - next, &mut out)?;
        out.flush()?;
    }
    Ok(())
}

/// The commands to try now.
fn epilogue(at: &Attached, args: &Args) -> Result {
    let theme = output::theme();
    let mut out = output::stdout();
    let held = at.info().entries_held;
    let (held, are) = (things(held, "event"), agree(held, "is", "are"));
    let name = args.name.display();
    writeln!(out)?;
    TextLine::from(format!(
        "The demo has ended, and its {held} {are} still in {name}. Try:"
    ))
    .write(&mut out)?;
    writeln!(out)?;
    let tries = [
        (
            format!("timeline dump {name} -n 20 --long"),
            "the newest events, with threads",
        ),
        (
            format!("timeline info {name}"),
            "fill, time span and writers",
        ),
        (
            format!("timeline dump {name} --json | head -n 3"),
            "the newest events as JSON, for programs",
        ),
        (
            format!("timeline save {name} demo.timeline"),
            "save a snapshot, and dump it",
        ),
        (format!("timeline rm {name}"), "remove the timeline"),
    ];
    write_tries(&tries, &theme, &mut out)?;
    writeln!(out)?;
    TextLine::from(format!(
        "Or run `timeline demo {name} --seconds 600`, and in another terminal:"
    ))
    .write(&mut out)?;
    writeln!(out)?;
    let tries = [
        (format!("timeline tail {name}"), "follow the events"),
        (
            format!("timeline priority {name} warning"),
            "only errors and warnings",
        ),
        (
            format!("timeline sample {name} --level all --for 100us --every 10ms"),
            "see inside the compressor",
        ),
    ];
    write_tries(&tries, &theme, &mut out)?;
    out.flush()?;
    Ok(())
}

/// Each command is below its purpose: side by side they would not fit into 80 columns.
fn write_tries(tries: &[(String, &str)], theme: &Theme, out: &mut impl Write) -> Result {
    for (line, what) in tries {
        TextLine::from("  ")
            .styled(theme.dim, format_args!("# {what}"))
            .write(out)?;
        TextLine::from("  ").styled(theme.name, line).write(out)?;
    }
    Ok(())
}
