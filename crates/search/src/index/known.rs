//! What is known of the index of an archive: it is read once, and then used by many queries.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use timeline_archive::{Archive, UnitInfo};

use super::file;
use super::file_index::FileIndex;
use super::lines::Rank;

/// The index of each file of an archive, and the pages of all of them.
pub struct Known {
    pub units: Vec<UnitInfo>,
    pub rank: Rank,
    pub files: Vec<FileIndex>,
    /// How the files of the index were right before they were opened.
    stamps: Vec<Option<[i64; 6]>>,
    /// `None` in it if the index is damaged.
    laid: OnceLock<Option<Arc<Laid>>>,
}

/// All pages of an index, as they stand in the archive and in the order of its events.
pub struct Laid {
    spots: Vec<Spot>,
    /// The spots of each unit begin here, and end where those of the next one begin.
    of_units: Vec<u32>,
    /// The ranks at which pages begin, and how many lines the pages have that begin before.
    pub starts: Vec<(u64, u64)>,
    /// The ranks at which pages end, and how many lines the pages have that end up to there.
    pub ends: Arc<Vec<(u64, u64)>>,
}

/// A page: the rank of its last event, and its places in its unit.
pub struct Spot {
    pub last: u64,
    pub at: u32,
    pub events: u32,
}

impl Known {
    /// Opens what lies beside the files of an archive, as far as it is there and can be believed.
    pub fn open(archive: &Archive) -> Known {
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
        Known {
            units,
            rank: match archive.magics().count() {
                0 | 1 => Rank::Ticks,
                _ => Rank::Time,
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
    pub fn laid(&self) -> Option<&Arc<Laid>> {
        let lay = || self.lay().map(Arc::new);
        self.laid.get_or_init(lay).as_ref()
    }

    fn lay(&self) -> Option<Laid> {
        let parts = self.files.iter().flat_map(|file| &file.parts);
        let most = parts.map(|part| part.entry.most_pages()).sum();
        let (mut starts, mut ends) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let mut spots = Vec::with_capacity(most);
        let mut of_units = Vec::with_capacity(self.units.len() + 1);
        for file in &self.files {
            file.each_page(&self.units, |unit, page| {
                // Units without pages have none between those of the units around them.
                if of_units.len() > unit + 1 {
                    return None;
                }
                of_units.resize(unit + 1, spots.len() as u32);
                let (first, last) = self.rank.range(page);
                starts.push((first, page.lines));
                ends.push((last, page.lines));
                spots.push(Spot {
                    last,
                    at: page.first,
                    events: page.events,
                });
                Some(())
            })?;
        }
        of_units.resize(self.units.len() + 1, spots.len() as u32);
        count_before(&mut starts);
        count_up_to(&mut ends);
        Some(Laid {
            spots,
            of_units,
            starts,
            ends: Arc::new(ends),
        })
    }
}

impl Laid {
    /// The pages of a unit, in the order of their places.
    pub fn of_unit(&self, unit: usize) -> &[Spot] {
        let bound = |unit: usize| self.of_units.get(unit).map(|at| *at as usize);
        match (bound(unit), bound(unit + 1)) {
            (Some(from), Some(to)) => &self.spots[from..to],
            _ => &[],
        }
    }

    /// The greatest rank at which a page begins and before which there cannot be more lines than
    /// these.
    pub fn start_rank(&self, line: u64) -> u64 {
        let behind = self.starts.partition_point(|(_, before)| *before <= line);
        behind.checked_sub(1).map_or(0, |last| self.starts[last].0)
    }
}

/// Sorts ranks with lines, and counts the lines before each.
fn count_before(firsts: &mut [(u64, u64)]) {
    firsts.sort_unstable();
    let (mut lines, mut same) = (0_u64, (0, 0));
    for (rank, more) in firsts {
        // All pages that begin before this one count, also those that end behind it.
        let before = if *rank == same.0 { same.1 } else { lines };
        same = (*rank, before);
        lines = lines.saturating_add(std::mem::replace(more, before));
    }
}

/// Sorts ranks with lines, and counts the lines up to each.
fn count_up_to(lasts: &mut [(u64, u64)]) {
    lasts.sort_unstable();
    let mut lines = 0_u64;
    for (_, more) in lasts {
        lines = lines.saturating_add(*more);
        *more = lines;
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
