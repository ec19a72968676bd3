//! `timeline repair`: copies an archive without its damaged parts.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use timeline::internal::files::NewFile;
use timeline_archive::{Archive, CopyTotals};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::health;
use crate::output;
use crate::permission;
use crate::recovery::{self, Executables};
use crate::target::Target;
use crate::verb::Verb;

/// Write the whole frames of a damaged archive to a new file
///
/// What is gone with damaged frames, or with files that were removed, counts as missed in the new
/// file, which is whole. Texts whose frames are gone are written anew, if the executable that
/// logged them still has them.
#[derive(clap::Args)]
pub struct Args {
    /// Archive to read: a file, or a directory of rotated files
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,

    /// File to write, which must not exist yet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    executables: Executables,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Copy the archive without the damaged frames",
        "timeline repair crash.tla -o whole.tla",
    ),
    (
        "Take texts that were lost from the executable, which is elsewhere by now",
        "timeline repair crash.tla -o whole.tla --executable build/engine",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn executables(&self) -> Option<&Executables> {
        Some(&self.executables)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if args.output == Path::new("-") {
        let message = "OUT must be a file, got -; an archive is written to a file";
        return Err(Failure::misuse(message));
    }
    Target::named(args.path.clone()).refuse_trace()?;
    let mut archive = Archive::open(&args.path)?;
    archive.recover(recovery::given());
    health::refuse_own_file(&args.path, &args.output)?;
    health::refuse_empty(&args.path, &archive)?;
    let to = args.output.display();
    let fail = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::Message(format!(
            "{to} exists already; choose another file, or remove it first"
        )),
        _ => Failure::Message(permission::failed("write", &args.output, &error)),
    };
    let out = NewFile::at(&args.output).map_err(fail)?;
    let copied = write(&archive, out.file()).map_err(fail)?;
    out.keep().map_err(fail)?;
    let (frames, dropped) = (
        things(archive.frames(), "frame"),
        things(copied.left_out, "byte"),
    );
    let from = args.path.display();
    let counted = match copied.counted {
        0 => String::new(),
        counted => format!(
            "; {} that are gone count as missed",
            things(counted, "entry")
        ),
    };
    let texts = recovery::told(&archive);
    let texts = texts.map_or(String::new(), |told| format!("; recovered {told}"));
    output::say(format_args!(
        "wrote {frames} of {from} to {to}, without {dropped} of damage{counted}{texts}"
    ));
    Ok(())
}

fn write(archive: &Archive, out: &File) -> io::Result<CopyTotals> {
    let mut buffered = BufWriter::new(out);
    let copied = archive.repair(&mut buffered)?;
    buffered.flush()?;
    Ok(copied)
}
