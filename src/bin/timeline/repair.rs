//! `timeline repair`: an archive without its damaged parts.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use timeline::archive::Archive;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::human::things;
use crate::output;

/// Write the whole frames of a damaged archive to a new file
#[derive(clap::Args)]
pub struct Args {
    /// Archive to read: a file, or a directory of rotated files
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,

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
    let archive = Archive::open(&args.path)?;
    let to = args.output.display();
    let fail = |error| Failure::Message(format!("cannot write {to}: {error}"));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let out = options.open(&args.output).map_err(fail)?;
    let mut buffered = BufWriter::new(&out);
    let copied = archive.copy(&mut buffered).map_err(fail)?;
    buffered.flush().map_err(fail)?;
    out.sync_all().map_err(fail)?;
    let (frames, dropped) = (
        things(archive.frames(), "frame"),
        things(copied.left_out, "byte"),
    );
    let from = args.path.display();
    output::talk(format_args!(
        "wrote {frames} of {from} to {to}, without {dropped} of damage"
    ));
    Ok(())
}
