//! `timeline priority`: shows or sets which events are logged.

use std::io::Write;

use timeline::Level;

use crate::args::{self, Example};
use crate::failure::Result;
use crate::info;
use crate::output;
use crate::target::Target;
use crate::trust::Trusted;

/// Show or set the level: which events a program logs
///
/// The priorities are, from the fewest events to the most: error, warning, info, trace, app,
/// packet, library. A level enables the events of its own priority and of those before it; `all`
/// enables all events, and `none` disables all. A new level takes effect at once, in every process
/// that writes to the timeline.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Level to set. Without it, the current level is printed
    #[arg(value_name = "LEVEL", value_parser = args::level())]
    level: Option<Level>,

    #[command(flatten)]
    trusted: Trusted,
}

impl Args {
    /// The timeline. If only a level is given, it is for the only timeline there is.
    pub fn target(&mut self) -> &mut Target {
        let is_level = |word: &str| word.parse::<Level>().is_ok();
        if self.level.is_none()
            && let Some(word) = self.target.take_if(is_level)
        {
            self.level = word.parse().ok();
        }
        &mut self.target
    }
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
    ("Which events are logged?", "timeline priority /timeline"),
    ("Log everything", "timeline priority /timeline all"),
    (
        "Only errors and warnings",
        "timeline priority /timeline warning",
    ),
];

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    match args.level {
        None => show(args),
        Some(level) => set(args, level),
    }
}

fn show(args: &Args) -> Result {
    let info = args.target.attach()?.info();
    let mut out = output::stdout();
    writeln!(out, "{}", info.level)?;
    out.flush()?;
    if info.boost != Level::NONE {
        output::say(info::level(&info));
    }
    Ok(())
}

fn set(args: &Args, level: Level) -> Result {
    let control = args.target.control(&args.trusted)?;
    let before = control.level();
    control.priority(level)?;
    output::say(format_args!(
        "{}: level {level}, was {before}",
        args.target.path().display()
    ));
    Ok(())
}
