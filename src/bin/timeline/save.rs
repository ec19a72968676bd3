//! `timeline save`: keeps a timeline in a file.

use std::path::PathBuf;

use crate::args::{Example, Target};
use crate::failure::Result;
use crate::human::{Bytes, things};
use crate::output;

/// Save a timeline to a file, while it is written
///
/// Every event in the file is whole. A file of that name is replaced at once and in full, or not at
/// all. All verbs that read a live timeline read the file alike.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// File to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
    (
        "Keep what a program has just done",
        "timeline save /timeline snapshot.timeline",
    ),
    (
        "What the run before the last restart left behind",
        "timeline save /timeline.prev crash.timeline",
    ),
];

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    let saved = args.target.attach()?.save(&args.file)?;
    let (from, to) = (args.target.path.display(), args.file.display());
    let (events, size) = (things(saved.events, "event"), Bytes(saved.bytes));
    let lost = match saved.overwritten {
        0 => String::new(),
        lost => format!("; {} overwritten meanwhile", things(lost, "older event")),
    };
    output::talk(format_args!(
        "saved {events} of {from} to {to} ({size}){lost}"
    ));
    Ok(())
}
