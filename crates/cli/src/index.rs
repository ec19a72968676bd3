//! `timeline index`: makes or completes the index of an archive.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use timeline_archive::Archive;
use timeline_reading::{Extent, Holder};
use timeline_search::{Index, IndexCoverage};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::{Bytes, percent, things};
use crate::indexing;
use crate::output;
use crate::signals::{Signals, WakeReason};
use crate::target::Target;
use crate::verb::Verb;

/// Index the lines of an archive, so that `search` and `dump --line` read only the parts they need
///
/// The index lies beside each file of the archive: flight.tla.idx. It can be removed at any time.
/// `search` makes or completes it when there is much to index. An index that is damaged, or that
/// belongs to another archive, is noticed and made again.
///
/// With --follow, it indexes what a recorder appends, whenever that is much, until the recorder has
/// ended or a signal comes, which ends it with what is indexed by then. So the first search of a
/// long recording need not wait.
#[derive(clap::Args)]
pub struct Args {
    /// Archive to index: a file, or a directory of rotated files
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,

    /// Go on while the archive is recorded
    #[arg(short, long)]
    follow: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Index a recorded archive before it is searched",
        "timeline index flight.tla",
    ),
    (
        "Index all files of a rotated archive",
        "timeline index flights/",
    ),
    (
        "Index an archive while it is recorded",
        "timeline index --follow flight.tla",
    ),
];

/// How long nothing is done after the archive was looked at.
const PAUSE: Duration = Duration::from_millis(250);
/// Nor for so many times as long as it took to open it: the more there is, the longer that takes.
const SHARE: u32 = 4;

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    let (archive, covered) = if args.follow {
        follow(args)?
    } else {
        let archive = open(args)?;
        let covered = complete(args, &archive)?;
        (archive, covered)
    };
    let mut out = output::stdout();
    if args.json {
        writeln!(
            out,
            "{{\"lines\":{},\"text\":{},\"index\":{},\"missing\":{}}}",
            covered.lines, covered.text, covered.index, covered.missing
        )?;
        return Ok(());
    }
    let (lines, text) = (things(covered.lines, "line"), Bytes(covered.text));
    let (size, share) = (Bytes(covered.index), percent(covered.index, covered.text));
    writeln!(
        out,
        "{lines}, {text} of text; the index has {size}, {share} of the text"
    )?;
    if archive.has_cut_names() {
        output::say("the texts of its definitions are too long to be indexed");
    }
    Ok(())
}

fn open(args: &Args) -> Result<Archive> {
    if args.path == Path::new("-") {
        return Err(Failure::misuse(
            "- has no index, which lies beside a file: expected the file of an archive",
        ));
    }
    let target = Target::named(args.path.clone());
    target.refuse_trace()?;
    match target.open(Extent::Whole)?.into_holder() {
        Holder::Archive(archive) => Ok(*archive),
        Holder::Ring(_) => Err(Failure::Message(format!(
            "{} is a timeline; only archives have an index, because a ring changes all the time",
            args.path.display()
        ))),
    }
}

/// Indexes what is missing.
fn complete(args: &Args, archive: &Archive) -> Result<IndexCoverage> {
    let mut index = Index::open(archive);
    complete_unless_busy(args, &mut index, || true)?
        .map_err(|busy| Failure::Message(indexing::told(&busy)))?;
    Ok(index.coverage())
}

/// Indexes what is missing, as long as `goes_on` returns true. The second error is that another
/// process writes the index.
fn complete_unless_busy(
    args: &Args,
    index: &mut Index,
    goes_on: impl Fn() -> bool,
) -> Result<std::result::Result<(), (PathBuf, io::Error)>> {
    match indexing::update(index, &args.path, goes_on) {
        Ok(()) => Ok(Ok(())),
        Err(busy) if busy.1.kind() == io::ErrorKind::WouldBlock => Ok(Err(busy)),
        Err(failed) => Err(Failure::Message(indexing::told(&failed))),
    }
}

/// Indexes an archive again and again when it has grown, until nobody records it any more, or a
/// signal comes. A search may index it at the same time.
fn follow(args: &Args) -> Result<(Archive, IndexCoverage)> {
    let signals = Signals::catch()?;
    let goes_on = || signals.count() == 0;
    let mut is_last = false;
    loop {
        let begun = Instant::now();
        let archive = open(args)?;
        let mut index = Index::open(&archive);
        let is_worthwhile = indexing::is_worthwhile(&index);
        let pause = PAUSE.max(SHARE * begun.elapsed());
        let mut is_done = false;
        if goes_on() && (is_last || is_worthwhile) {
            is_done = complete_unless_busy(args, &mut index, goes_on)?.is_ok() && is_last;
        }
        if is_done || !goes_on() {
            let covered = index.coverage();
            drop(index);
            return Ok((archive, covered));
        }
        drop(index);
        // More may have been recorded since it was opened: it is looked at once more.
        is_last |= !archive.is_recorded();
        // A signal is noticed where the archive was opened, which says what its index has.
        if signals.wait(pause) == WakeReason::OutputClosed {
            return Err(Failure::ClosedPipe);
        }
    }
}
