//! `timeline index`: makes or completes the index of an archive.

use std::io::Write;

use timeline_search::Index;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::{Bytes, percent, things};
use crate::indexing;
use crate::output;
use crate::target::{Opened, Target};

/// Index the lines of an archive, so that `search` and `dump --line` read only the parts they need
///
/// The index lies beside each file of the archive: flight.tla.idx. It can be removed at any time.
/// `search` makes or completes it when there is much to index. An index that is damaged, or that
/// belongs to another archive, is noticed and made again.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Shown by `--help`.
pub const EXAMPLES: &[Example] = &[
    (
        "Index a recorded archive before it is searched",
        "timeline index flight.tla",
    ),
    (
        "Index all files of a rotated archive",
        "timeline index flights/",
    ),
];

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    let path = args.target.path();
    let Opened::Archive(archive) = args.target.open()? else {
        return Err(Failure::Message(format!(
            "{} is a timeline; only archives have an index, because a ring changes all the time",
            path.display()
        )));
    };
    let mut index = Index::open(&archive);
    indexing::update(&mut index, path)
        .map_err(|failed| Failure::Message(indexing::told(&failed)))?;
    let covered = index.coverage();
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
