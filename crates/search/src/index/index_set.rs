//! What is known of the index of an archive: it is read once, and then used by many queries.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use timeline_archive::{Archive, UnitInfo};

use super::file::{self, SegmentEntry};
use super::file_index::{FileIndex, LazySegment};
use super::lines::Rank;
use super::page_layout::{PageLayout, PageLayoutBuilder};

/// The index of each file of an archive, and the pages of all of them.
pub struct IndexSet {
    pub units: Vec<UnitInfo>,
    pub rank: Rank,
    pub files: Vec<FileIndex>,
    /// How the files of the index were right before they were opened.
    stamps: Vec<Option<[i64; 6]>>,
    /// `None` in it if the index is damaged.
    laid: OnceLock<Option<Arc<PageLayout>>>,
}

impl IndexSet {
    /// Opens what lies beside the files of an archive, as far as it is there and can be believed.
    pub fn open(archive: &Archive) -> IndexSet {
        let units: Vec<UnitInfo> = archive.units().collect();
        let mut starts: Vec<(Option<PathBuf>, usize)> = archive
            .bytes()
            .files()
            .map(|(path, start)| (Some(path.to_path_buf()), start))
            .collect();
        if starts.is_empty() {
            starts.push((None, 0));
        }
        let ends = starts.iter().skip(1).map(|(_, start)| *start);
        let ends: Vec<usize> = ends.chain([archive.bytes().len()]).collect();
        let (mut files, mut stamps) = (Vec::new(), Vec::new());
        for ((path, start), end) in starts.into_iter().zip(ends) {
            let at = |place| units.partition_point(|unit| unit.place.start < place);
            let mut file = FileIndex::new(path, start, at(start)..at(end));
            stamps.push(stamp(&file));
            let found = file.path.as_deref().and_then(file::open);
            file.take(archive, &units, found);
            files.push(file);
        }
        IndexSet {
            units,
            rank: match archive.has_one_ring() {
                true => Rank::Ticks,
                false => Rank::Time,
            },
            files,
            stamps,
            laid: OnceLock::new(),
        }
    }

    /// Whether the files of the index are as they were.
    pub fn is_current(&self) -> bool {
        let files = self.files.iter().zip(&self.stamps);
        files.into_iter().all(|(file, was)| stamp(file) == *was)
    }

    /// Something is not as it was: the pages have to be laid anew.
    pub fn forget_pages(&mut self) {
        self.laid = OnceLock::new();
    }

    /// All pages. `None` if one is of no unit: the index is damaged.
    pub fn laid(&self) -> Option<&Arc<PageLayout>> {
        let lay = || self.lay(|_| true).map(Arc::new);
        self.laid.get_or_init(lay).as_ref()
    }

    /// The pages around a line, and where the pages begin before which there cannot be more lines
    /// than these. Other segments may stand as one page each: most of an index is not read then.
    /// `None` if the index is damaged.
    pub fn laid_from(&self, line: u64) -> Option<(Arc<PageLayout>, u64)> {
        let laid = match self.laid.get() {
            Some(laid) => Arc::clone(laid.as_ref()?),
            None => {
                let entries = self.parts().map(|part| &part.entry);
                let segments = entries.map(|entry| (self.range(entry), entry.lines));
                let (low, high) = PageLayout::of_segments(segments).around(line);
                Arc::new(self.lay(|(first, last)| first <= high && last >= low)?)
            }
        };
        let rank = laid.start_rank(line);
        Some((laid, rank))
    }

    /// The pages around the first events with this time, in nanoseconds since 1970, and where they
    /// begin. `None` if the index is damaged.
    pub fn laid_from_time(&self, time: u64) -> Option<(Arc<PageLayout>, u64)> {
        let parts = self.parts().filter(|part| part.entry.time.1 >= time);
        let mut parts: Vec<_> = parts
            .map(|part| (self.range(&part.entry).0, part))
            .collect();
        parts.sort_unstable_by_key(|(first, _)| *first);
        let mut rank = u64::MAX;
        for (first, part) in parts {
            if first >= rank {
                break;
            }
            let behind = part.pages()?.iter().filter(|page| page.time.1 >= time);
            let first = behind.map(|page| self.rank.range(page).0).min();
            rank = rank.min(first.unwrap_or(u64::MAX));
        }
        let laid = match self.laid.get() {
            Some(laid) => Arc::clone(laid.as_ref()?),
            None => Arc::new(self.lay(|(first, last)| first <= rank && last >= rank)?),
        };
        Some((laid, rank))
    }

    fn parts(&self) -> impl Iterator<Item = &LazySegment> {
        self.files.iter().flat_map(|file| &file.parts)
    }

    /// Where the first and the last event of a segment stand.
    fn range(&self, entry: &SegmentEntry) -> (u64, u64) {
        self.rank.choose(entry.ticks, entry.time)
    }

    /// Lays the pages of the segments whose ranks are wanted. Others become a page each.
    fn lay(&self, is_wanted: impl Fn((u64, u64)) -> bool) -> Option<PageLayout> {
        let mut laying = PageLayoutBuilder::default();
        for file in &self.files {
            for part in file.parts.iter().filter(|part| part.entry.pages > 0) {
                let range = self.range(&part.entry);
                if is_wanted(range) {
                    laying.reserve(part.pages()?.len());
                    file.each_page(part, &self.units, |unit, page| {
                        laying.page(unit, self.rank.range(page), page)
                    })?;
                } else {
                    let unit = file.first_unit(part, &self.units)?;
                    laying.segment(unit, range, part.entry.lines)?;
                }
            }
            laying.end(file.indexed.end)?;
        }
        Some(laying.finish(self.units.len()))
    }
}

/// The state of the file of an index; nothing if there is none.
fn stamp(file: &FileIndex) -> Option<[i64; 6]> {
    let path = file::path_of(file.path.as_deref()?);
    let found = std::fs::symlink_metadata(path).ok()?;
    let (written, changed) = (found.mtime_nsec(), found.ctime_nsec());
    let identity = [found.dev() as i64, found.ino() as i64];
    Some([
        identity[0],
        identity[1],
        found.size() as i64,
        written,
        found.ctime(),
        changed,
    ])
}
