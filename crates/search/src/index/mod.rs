//! Finds the events of an archive whose text may have what is searched for, by ngrams.
//!
//! `ngrams` cuts the messages of events, and `requirement` cuts a needle in the same way. `build`
//! collects the ngrams of each `page` of events in a `segment`, whose `postings` are sets of pages
//! (`page_set`). `file` keeps segments beside a file of the archive (`storage` reads their bytes),
//! `file_index` compares them with that file, `index_set` has those of all files, which many
//! queries share (`page_layout` has their pages in order), and `archive_index` answers these. A
//! query becomes a `selection` of the events that are read, which `search_select` chooses; `lines`
//! numbers these, and `read_counter` counts what is read.

mod archive_index;
mod build;
mod file;
mod file_index;
mod index_set;
mod lines;
mod ngrams;
mod page;
mod page_layout;
mod page_set;
mod postings;
mod read_counter;
mod requirement;
mod search_select;
mod segment;
mod selection;
mod storage;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use timeline_archive::{Archive, Result};

pub use archive_index::{Candidates, Index, IndexCoverage, OpenIndex};
pub use lines::LineNumbers;
pub use read_counter::{Counts, ReadCounter};
pub use search_select::SearchSelect;
pub use selection::PageSelection;

/// Opens the archive at `path`. Of a file that has not changed since it was indexed, only a small
/// part is read.
///
/// # Errors
/// Those of [`Archive::open`].
pub fn open_archive(path: impl AsRef<Path>) -> Result<Archive> {
    Archive::open_with(path, &file::outline)
}

/// Opens an archive whose files `open` opens: a directory and its files, or one file. Their indexes
/// are beside their paths, as for [`open_archive`].
///
/// # Errors
/// Those of [`Archive::open_by`].
pub fn open_archive_by(
    places: (Option<&Path>, Vec<PathBuf>),
    open: &dyn Fn(&Path) -> io::Result<File>,
) -> Result<Archive> {
    Archive::open_by(places, open, &file::outline)
}
