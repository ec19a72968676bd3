//! `timeline rm`: removes timelines.

use std::path::{Path, PathBuf};

use timeline::{Error, ErrorKind};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::info;
use crate::output;
use crate::target::explain;
use crate::verb::Verb;

/// Remove timelines that have no writer
#[derive(clap::Args)]
pub struct Args {
    /// Names in shared memory (/timeline) or files (snapshot.timeline)
    #[arg(value_name = "NAME", required = true)]
    names: Vec<PathBuf>,

    /// Also remove timelines that have a writer or cannot be read
    #[arg(short, long)]
    force: bool,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Remove the ring of a program that has ended",
        "timeline rm /timeline",
    ),
    (
        "Remove it and the ring of the previous run, also while they have writers",
        "timeline rm --force /timeline /timeline.prev",
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

/// Tries every name, and reports the failures one by one.
fn run(args: &Args) -> Result {
    let mut failures = args
        .names
        .iter()
        .filter_map(|name| remove(name, args.force).err());
    let Some(mut last) = failures.next() else {
        return Ok(());
    };
    for failure in failures {
        if let Failure::Message(message) = std::mem::replace(&mut last, failure) {
            output::say(message);
        }
    }
    Err(last)
}

fn remove(name: &Path, force: bool) -> Result {
    if force {
        return timeline::unlink(name).map_err(|error| explain(name, error));
    }
    timeline::remove(name).map_err(|error| unknown_use(name, error))
}

/// Damaged timelines, and those of another version, may have users that cannot be found: the user
/// of the command decides.
fn unknown_use(name: &Path, error: Error) -> Failure {
    match error.kind() {
        // Not by force, either.
        _ if matches!(error, Error::InCreation { .. }) => explain(name, error),
        ErrorKind::InUse => Failure::Message(in_use(name, error)),
        ErrorKind::Corrupt | ErrorKind::Version | ErrorKind::Busy => {
            Failure::Message(format!("{error}; to remove it anyway, use --force"))
        }
        _ => explain(name, error),
    }
}

/// Whose it is. The processes are looked up again, because these may have other names by now.
fn in_use(name: &Path, error: Error) -> String {
    let users = timeline::users(name).unwrap_or_default();
    let users: Vec<_> = users.iter().map(info::writer).collect();
    match users.is_empty() {
        true => format!("{error}; or use --force"),
        false => format!(
            "{} is in use by {}; stop them first, or use --force",
            name.display(),
            users.join(", ")
        ),
    }
}
