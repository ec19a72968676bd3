//! `timeline repair`: an archive without its damaged parts.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use timeline::archive::Archive;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::human::things;
use crate::output;

/// Write the whole frames of a damaged archive to a new file
#[derive(clap::Args)]
pub struct Args {
    /// Archive to read
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// File to write, which must not exist yet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[(
    "Leave out what is damaged",
    "timeline repair crash.tla -o whole.tla",
)];

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    let archive = Archive::open(&args.file)?;
    let to = args.output.display();
    let fail = |error| Failure::Message(format!("cannot write {to}: {error}"));
    let mut options = OpenOptions::new();
    let mut out = options
        .write(true)
        .create_new(true)
        .open(&args.output)
        .map_err(fail)?;
    let (mut at, mut dropped) = (0, 0);
    for place in archive.damage() {
        out.write_all(&archive.bytes()[at..place.start])
            .map_err(fail)?;
        dropped += place.len();
        at = place.end;
    }
    out.write_all(&archive.bytes()[at..]).map_err(fail)?;
    out.sync_all().map_err(fail)?;
    let (frames, dropped) = (
        things(archive.frames(), "frame"),
        things(dropped as u64, "byte"),
    );
    let from = args.file.display();
    output::talk(format_args!(
        "wrote {frames} of {from} to {to}, without {dropped} of damage"
    ));
    Ok(())
}
