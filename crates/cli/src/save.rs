//! `timeline save`: copies a timeline or an archive to a file.

use std::path::PathBuf;

use timeline::live_file;
use timeline_archive::Archive;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::filters::Filters;
use crate::format::{Bytes, agree, things};
use crate::health;
use crate::output;
use crate::target::{Opened, Target};
use crate::unmatched::{self, Whole};

/// Save a snapshot of a timeline to a file, even while programs log
///
/// Every event in the file is complete. If FILE exists, it is replaced completely or not at all.
/// All verbs that read a timeline also read the snapshot.
///
/// If PATH is an archive or a directory of files, FILE is one archive without the damaged frames.
///
/// With filters, FILE has only the wanted events. The others are not missing in it, and the gaps
/// between events are those of PATH.
#[derive(clap::Args)]
#[command(allow_missing_positional = true)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// File to write
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    filters: Filters,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
    (
        "Keep the latest events of a program",
        "timeline save /timeline snapshot.timeline",
    ),
    (
        "The ring of the previous run",
        "timeline save /timeline.prev crash.timeline",
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

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    if args.target.was_chosen() && live_file(&args.file).is_some() {
        let name = args.file.display();
        return Err(Failure::misuse(
            "save",
            format!("the FILE to write is missing: {name} is a name in shared memory"),
        ));
    }
    match args.target.open()? {
        Opened::Ring(at) => {
            let query = args.filters.query();
            let is_all = query.is_empty();
            let saved = match is_all {
                true => at.save(&args.file)?,
                false => {
                    let mut filter = query.on(&*at);
                    at.save_only(&args.file, |event| filter.matches(event))?
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
            tell(args, saved.events, saved.bytes, &lost);
            unmatched::tell(&query, &[Whole::Ring(&at)]);
        }
        Opened::Archive(archive) => save(&archive, args)?,
    }
    Ok(())
}

fn save(archive: &Archive, args: &Args) -> Result {
    health::refuse_own_file(args.target.path(), &args.file)?;
    health::refuse_empty(args.target.path(), archive)?;
    let query = args.filters.query();
    if !query.is_empty() {
        let saved = archive.save_where(&args.file, &mut query.on(archive))?;
        let left_out = things(saved.left_out, "event");
        let lost = format!("; {left_out} left out by the filter");
        tell(args, saved.events, saved.bytes, &lost);
        unmatched::tell(&query, &[Whole::Archive(archive)]);
        health::report(args.target.path(), archive, saved.lost);
        return Ok(());
    }
    let saved = archive.save(&args.file)?;
    let left_out = match saved.left_out {
        0 => String::new(),
        bytes => format!(
            "; left out {} that {} to no whole frame",
            things(bytes, "byte"),
            agree(bytes, "belongs", "belong")
        ),
    };
    tell(args, archive.count(), saved.bytes, &left_out);
    health::report(args.target.path(), archive, 0);
    Ok(())
}

fn tell(args: &Args, events: u64, bytes: u64, lost: &str) {
    let (from, to) = (args.target.path().display(), args.file.display());
    let (events, size) = (things(events, "event"), Bytes(bytes));
    output::say(format_args!(
        "saved {events} of {from} to {to} ({size}){lost}"
    ));
}
