//! `timeline import`: makes an archive of text logs.
//!
//! follow.rs goes on as logs grow, progress.rs shows how far it is.

mod follow;
mod progress;

use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use timeline::internal::files::NewFile;
use timeline_archive::{Preamble, create_file};
use timeline_import::{CLOCK, ImportError, Importer, expanded};
use timeline_search::local_zone;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::{Bytes, things};
use crate::output;
use crate::permission;
use crate::signals::{self, Signals};
use crate::verb::Verb;
use follow::FollowedLog;
use progress::ImportProgress;

/// Make an archive of text logs, from which export gives back the same bytes
///
/// A line of JSON with a message, as `timeline export --format jsonl` and Horde write it, becomes
/// an event with that message, its level, and its properties as named values. From these, export
/// gives back equal objects, perhaps with other spaces. With --format text they are lines as any
/// others.
///
/// Each other line becomes an event, whose message is the whole line. What lines have in common
/// becomes a definition; numbers, ids and other words that differ become its values. So all verbs
/// that read archives read logs, and the archive takes less space than the compressed log. Numbers
/// are whole ones, and only kinds of lines that come 16 times have values.
///
/// The time and the priority of an event are those that its line says, in the shapes that are usual
/// in logs. A line that says no time has that of the line before. Times without a zone are local
/// ones (TZ); times without a year are of the last year before the file was changed.
#[derive(clap::Args)]
pub struct Args {
    /// Logs to read, also compressed ones (gzip, zstd, xz); - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Archive to write, which must not exist yet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// What the lines are
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: Format,

    /// Go on with the lines that programs append, until interrupted, also when the logs are rotated
    #[arg(short, long)]
    follow: bool,
}

/// What lines are taken for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines of JSON with a message are events with named values, and all others are text
    Auto,
    /// Text, so that export gives back the same bytes
    Text,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Keep a log in less space, and find things in it",
        "timeline import server.log -o server.tla",
    ),
    (
        "Follow a log, even when it is rotated; Ctrl-C stops",
        "timeline import server.log -o server.tla --follow",
    ),
    (
        "The output of a command",
        "make 2>&1 | timeline import - -o build.tla",
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
    refuse_dashes(args)?;
    let signals = args.follow.then(Signals::catch).transpose()?;
    signals::take_limits_for_errors()?;
    // All are opened before anything is written.
    let inputs: Vec<Input> = (args.files.iter())
        .map(|path| Input::open(path, args.follow))
        .collect::<Result<_>>()?;
    let imported = match &signals {
        // The archive has its name at once, because others read it while it grows.
        Some(signals) => {
            let out = create_file(&args.output).map_err(|error| match error.is_of_name() {
                true => exists_already(&args.output),
                false => error.into(),
            })?;
            let imported = import(args, inputs, &out, Some(signals));
            if imported.is_err() {
                follow::remove_torn_frame(&args.output, &out);
            }
            imported
        }
        None => {
            let out = NewFile::at(&args.output).map_err(|error| cannot_create(args, &error))?;
            let imported = import(args, inputs, out.file(), None);
            imported.and_then(|imported| match out.keep() {
                Ok(()) => Ok(imported),
                Err(error) => Err(cannot_create(args, &error)),
            })
        }
    };
    let (bytes, lines, written) = imported?;
    output::say(format_args!(
        "imported {} ({}) into {} ({})",
        things(lines, "line"),
        Bytes(bytes),
        args.output.display(),
        Bytes(written),
    ));
    Ok(())
}

/// Refuses `-` where it cannot be standard input.
fn refuse_dashes(args: &Args) -> Result {
    let is_dash = |path: &PathBuf| path == Path::new("-");
    let count = args.files.iter().filter(|path| is_dash(path)).count();
    let message = match count {
        _ if is_dash(&args.output) => "OUT must be a file, got -; an archive is written to a file",
        1.. if args.follow => {
            "--follow needs files; leave it out to read standard input to its end"
        }
        2.. => "- can be given once, because standard input is read once",
        _ => return Ok(()),
    };
    Err(Failure::misuse(message))
}

/// A log that is read.
struct Input {
    path: PathBuf,
    file: Source,
    written: SystemTime,
}

/// Where the bytes of a log come from.
enum Source {
    /// To the end.
    Whole(Box<dyn Read>),
    /// And what will be appended.
    Growing(File),
}

impl Input {
    fn open(path: &Path, follow: bool) -> Result<Input> {
        let failed = |error| Failure::Message(permission::failed("read", path, &error));
        if path == Path::new("-") && !follow {
            if io::stdin().is_terminal() {
                let message = "standard input is a terminal; give - a log, as in `dmesg | timeline \
                               import - -o dmesg.tla`";
                return Err(Failure::Message(message.into()));
            }
            return Ok(Input {
                path: path.into(),
                file: Source::Whole(expanded(io::stdin()).map_err(failed)?),
                written: SystemTime::now(),
            });
        }
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Failure::Message(format!(
                "{} is a directory; name the logs in it",
                path.display()
            )));
        }
        let file = match follow {
            true => {
                follow::refuse_what_stays(path, &mut file)?;
                Source::Growing(file)
            }
            false => Source::Whole(expanded(file).map_err(failed)?),
        };
        Ok(Input {
            path: path.into(),
            file,
            written: written(&metadata),
        })
    }

    /// The name that its lines have as that of their thread.
    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// When a file was changed last.
fn written(metadata: &Metadata) -> SystemTime {
    metadata.modified().unwrap_or_else(|_| SystemTime::now())
}

fn cannot_create(args: &Args, error: &io::Error) -> Failure {
    let path = &args.output;
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists_already(path),
        _ => Failure::Message(permission::failed("create", path, error)),
    }
}

fn exists_already(path: &Path) -> Failure {
    let path = path.display();
    let message = format!("{path} exists already; choose another file, or remove it first");
    Failure::Message(message)
}

/// Imports logs. Returns how many bytes were read, and how many lines and bytes were written.
fn import(
    args: &Args,
    inputs: Vec<Input>,
    out: &File,
    signals: Option<&Signals>,
) -> Result<(u64, u64, u64)> {
    let failed = |error| Failure::Message(permission::failed("write", &args.output, &error));
    let preamble = preamble(&inputs);
    let mut importer = Importer::new(out, preamble, local_zone()).map_err(failed)?;
    if args.format == Format::Text {
        importer = importer.only_text();
    }
    let (mut progress, mut bytes) = (ImportProgress::new(), 0);
    let mut followed = Vec::new();
    for input in inputs {
        let mut file = importer.begin(&input.name(), input.written);
        let mut whole = match input.file {
            Source::Growing(log) => {
                followed.push(FollowedLog::new(&input.path, log, file));
                continue;
            }
            Source::Whole(whole) => whole,
        };
        loop {
            match importer.read(&mut file, &mut whole) {
                Ok(0) => break,
                Ok(count) => bytes += count as u64,
                Err(ImportError::Write(error)) => return Err(failed(error)),
                Err(ImportError::Read(error)) => {
                    let message = permission::failed("read", &input.path, &error);
                    return Err(Failure::Message(message));
                }
            }
            progress.show(bytes, importer.progress());
        }
        importer.end(&mut file).map_err(failed)?;
    }
    if let Some(signals) = signals {
        bytes = follow::follow(&mut importer, &mut followed, signals, &args.output)?;
    }
    importer.flush().map_err(failed)?;
    if signals.is_some() {
        out.sync_all().map_err(failed)?;
    }
    progress.clear();
    let (lines, written) = importer.progress();
    Ok((bytes, lines, written))
}

/// What the archive says of itself.
fn preamble(inputs: &[Input]) -> Preamble {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let created = now.map_or(0, |now| now.as_nanos() as u64);
    let mut magic = DefaultHasher::new();
    (created, std::process::id()).hash(&mut magic);
    (inputs.iter()).for_each(|input| input.path.hash(&mut magic));
    let names: Vec<_> = inputs.iter().map(Input::name).collect();
    Preamble {
        magic: Some(magic.finish()),
        timeline: Some(names.join(", ")),
        clock: Some(CLOCK.into()),
        writer: Some(concat!("timeline ", env!("CARGO_PKG_VERSION")).into()),
        created: Some(created),
        ..Preamble::default()
    }
}
