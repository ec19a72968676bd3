//! `timeline priority`: shows or sets which events are logged.

use std::io::Write;

use timeline::{Control, Level};

use crate::args::{self, Example, Target};
use crate::failure::Result;
use crate::info;
use crate::output;

/// Show or set the level: which events a program logs
///
/// The priorities are, from the fewest events to the most: error, warning, info, trace, app, packet,
/// library. A level lets through its own priority and those before it; `all` lets everything
/// through, `none` nothing. It takes effect at once, in every process that writes the timeline.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Level to set; without it, the present one is printed
    #[arg(value_name = "LEVEL", value_parser = args::level())]
    level: Option<Level>,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
    ("Which events are logged?", "timeline priority /timeline"),
    ("Log everything", "timeline priority /timeline all"),
    (
        "Only what goes wrong",
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
        output::talk(info::level(&info));
    }
    Ok(())
}

fn set(args: &Args, level: Level) -> Result {
    let control = Control::open(&args.target.path).map_err(|error| args.target.explain(error))?;
    let before = control.level();
    control.priority(level)?;
    output::talk(format_args!(
        "{}: level {level}, was {before}",
        args.target.path.display()
    ));
    Ok(())
}
