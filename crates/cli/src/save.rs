//! `timeline save`: copies a timeline or an archive to a file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use timeline::internal::layout::MAGIC;
use timeline::internal::{live_file, looks_like};
use timeline_archive::Archive;
use timeline_reading::{Extent, Holder, Log};
use timeline_search::Query;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::fetch::Excerpt;
use crate::filters::Filters;
use crate::format::{Bytes, agree, things};
use crate::health;
use crate::output;
use crate::recovery::Executables;
use crate::target::Target;
use crate::unknown_names;
use crate::verb::Verb;

/// Save a snapshot of a timeline to a file, even while programs log
///
/// Every event in the file is complete. If FILE exists, it is replaced completely or not at all,
/// and only if it is a snapshot; where PATH is omitted, never. All verbs that read a timeline also
/// read the snapshot. With -, it goes to standard output.
///
/// If PATH is an archive or a directory of files, FILE is one archive without the damaged frames,
/// and replaces only an archive.
///
/// With filters, FILE has only the wanted events. The others are not missing in it, and the gaps
/// between events are those of PATH.
#[derive(clap::Args)]
#[command(allow_missing_positional = true)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// File to write, or - for standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    executables: Executables,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Keep the latest events of a program",
        "timeline save /timeline snapshot.timeline",
    ),
    (
        "The ring of the previous run",
        "timeline save /timeline.prev crash.timeline",
    ),
    (
        "The events of a program on another host",
        "ssh host timeline save /timeline - | timeline dump -",
    ),
    (
        "Keep only errors and warnings",
        "timeline save /timeline errors.timeline --priority ..warning",
    ),
    (
        "The minute before the crash, to send it to somebody",
        "timeline save flights/ crash.tla --since 14:02 --until 14:03",
    ),
    (
        "All events recorded until now, as one file",
        "timeline save flights/ until-now.tla",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(&mut self.target)
    }

    fn executables(&self) -> Option<&Executables> {
        Some(&self.executables)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if args.target.was_chosen() {
        refuse_log(&args.file)?;
    }
    if args.file == Path::new("-") {
        return to_standard_output(args);
    }
    to_file(args, &args.file)
}

/// Refuses a FILE that was meant as PATH, where no other was given.
fn refuse_log(file: &Path) -> Result {
    let what = match live_file(file) {
        Some(_) => "is a name in shared memory",
        None if file.exists() => "exists already",
        None => return Ok(()),
    };
    let file = file.display();
    Err(Failure::misuse(format!(
        "the FILE to write is missing: {file} {what}; write `timeline save PATH FILE`"
    )))
}

/// Refuses to replace a file that holds something else than what is saved, which begins with
/// `magic`.
fn refuse_other(file: &Path, magic: &[u8], what: &str) -> Result {
    let mut beginning = Vec::new();
    // What cannot be read is left to whoever writes it.
    let read = File::open(file).and_then(|file| file.take(8).read_to_end(&mut beginning));
    let is_own = beginning.is_empty() || beginning.starts_with(magic);
    if read.is_err() || is_own || !file.is_file() {
        return Ok(());
    }
    let (file, found) = (file.display(), looks_like(&beginning));
    Err(Failure::Message(format!(
        "{file} was not replaced by {what}: it is {found}; name another FILE, or remove it first"
    )))
}

/// Saves to a file that nobody else sees, and writes that, because a snapshot is not written in the
/// order of its bytes.
fn to_standard_output(args: &Args) -> Result {
    if output::is_terminal() {
        let message = "standard output is a terminal; name a FILE, or redirect it";
        return Err(Failure::Message(message.into()));
    }
    let failed = |error| Failure::Message(format!("cannot write a temporary file: {error}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = folder.path().join("saved");
    to_file(args, &file)
}

/// Copies what was saved to standard output. Half of it is of no use, so unlike the output of other
/// verbs, a closed pipe is a failure.
fn put_out(file: &Path, bytes: u64) -> Result {
    let failed = |error| Failure::Message(format!("cannot read a temporary file: {error}"));
    let mut saved = File::open(file).map_err(failed)?;
    let mut out = output::stdout();
    let copied = io::copy(&mut saved, &mut out).and_then(|_| out.flush());
    copied.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Message(format!(
            "standard output was closed before all {} were written: what was saved is not whole",
            Bytes(bytes)
        )),
        _ => error.into(),
    })
}

fn to_file(args: &Args, file: &Path) -> Result {
    let query = args.filters.query();
    let log = args
        .target
        .open_wanted(Extent::Whole, &Excerpt::Where(&query))?;
    match log.holder() {
        Holder::Ring(at) => {
            refuse_other(file, &MAGIC, "a snapshot of a timeline")?;
            let is_all = query.is_empty();
            let saved = match is_all {
                true => at.save(file)?,
                false => {
                    let mut filter = query.on(&**at);
                    at.save_only(file, |event| filter.matches(event))?
                }
            };
            let mut lost = match saved.overwritten {
                0 => String::new(),
                lost => format!("; {} overwritten meanwhile", things(lost, "older entry")),
            };
            if !is_all {
                let left_out = things(saved.left_out, "event");
                lost += &format!("; {left_out} left out by the filter");
            }
            tell(args, file, saved.events, saved.bytes, &lost)?;
        }
        Holder::Archive(archive) => return save(&log, archive, &query, args, file),
    }
    unknown_names::tell(&query, &[&log]);
    Ok(())
}

fn save(log: &Log, archive: &Archive, query: &Query, args: &Args, file: &Path) -> Result {
    health::refuse_own_file(args.target.path(), file)?;
    health::refuse_empty(args.target.path(), archive)?;
    if live_file(file).is_some() {
        let file = file.display();
        return Err(Failure::Message(format!(
            "{file} is a name in shared memory, which is for timelines, and not for the archive \
             {}; name a file: .{file}.tla",
            args.target.path().display()
        )));
    }
    refuse_other(file, &timeline_archive::MAGIC, "an archive")?;
    if !query.is_empty() {
        let saved = archive.save_where(file, &mut query.on(archive))?;
        let left_out = things(saved.left_out, "event");
        let lost = format!("; {left_out} left out by the filter");
        tell(args, file, saved.events, saved.bytes, &lost)?;
        unknown_names::tell(query, &[log]);
        health::report(args.target.path(), archive, saved.lost);
        return Ok(());
    }
    let saved = archive.save(file)?;
    let left_out = match saved.left_out {
        0 => String::new(),
        bytes => format!(
            "; left out {} that {} to no whole frame",
            things(bytes, "byte"),
            agree(bytes, "belongs", "belong")
        ),
    };
    tell(args, file, archive.count(), saved.bytes, &left_out)?;
    health::report(args.target.path(), archive, 0);
    Ok(())
}

/// Says what was saved, once it is where it is to be.
fn tell(args: &Args, file: &Path, events: u64, bytes: u64, lost: &str) -> Result {
    let from = args.target.path().display();
    let to = match args.file == Path::new("-") {
        true => {
            put_out(file, bytes)?;
            "standard output".into()
        }
        false => args.file.display().to_string(),
    };
    let (events, size) = (things(events, "event"), Bytes(bytes));
    output::say(format_args!(
        "saved {events} of {from} to {to} ({size}){lost}"
    ));
    Ok(())
}
