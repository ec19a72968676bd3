//! The index of a file of an archive, as far as it belongs to that file.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use timeline_archive::{Archive, Outline, UnitInfo};

use super::build::{Builder, digest_of_string};
use super::file::{Root, SegmentEntry, Writing};
use super::page::Page;
use super::segment::{Segment, SegmentBuilder};
use super::storage::IndexStorage;

/// The index of a file of an archive.
pub struct FileIndex {
    pub path: Option<PathBuf>,
    /// Where the file begins in the bytes of the archive.
    start: usize,
    /// The units of the file, and those of them that are indexed.
    pub units: Range<usize>,
    pub indexed: Range<usize>,
    root: Root,
    pub parts: Vec<LazySegment>,
    /// Whether something in it was found damaged. Then it is made again.
    pub is_damaged: bool,
    /// Whether it has an outline of the file as it was when the archive was opened.
    pub is_outlined: bool,
}

/// A segment of the index and its pages, which are read when they are needed.
pub struct LazySegment {
    pub entry: SegmentEntry,
    storage: Arc<IndexStorage>,
    segment: OnceLock<Option<Segment>>,
    pages: OnceLock<Option<Vec<Page>>>,
    first_unit: OnceLock<Option<u64>>,
}

impl LazySegment {
    fn new(entry: SegmentEntry, storage: &Arc<IndexStorage>) -> LazySegment {
        LazySegment {
            entry,
            storage: Arc::clone(storage),
            segment: OnceLock::new(),
            pages: OnceLock::new(),
            first_unit: OnceLock::new(),
        }
    }

    /// The ngrams, and the bytes that they are in. `None` if they are damaged.
    pub fn segment(&self) -> Option<(&Segment, &IndexStorage)> {
        let read = || self.entry.segment(&self.storage);
        let segment = self.segment.get_or_init(read).as_ref()?;
        Some((segment, &self.storage))
    }

    /// The pages. `None` if they are damaged.
    pub fn pages(&self) -> Option<&[Page]> {
        let read = || self.entry.pages(&self.storage);
        self.pages.get_or_init(read).as_deref()
    }

    /// Where the unit of the first page begins. `None` if the pages are damaged.
    fn first_unit(&self) -> Option<u64> {
        let read = || self.entry.first_unit(&self.storage);
        *self.first_unit.get_or_init(read)
    }
}

impl FileIndex {
    /// Of a file that begins at `start` in the archive and has these units. None are indexed.
    pub fn new(path: Option<PathBuf>, start: usize, units: Range<usize>) -> FileIndex {
        FileIndex {
            path,
            start,
            indexed: units.start..units.start,
            units,
            root: Root::default(),
            parts: Vec::new(),
            is_damaged: false,
            is_outlined: false,
        }
    }

    /// Drops everything, because something is damaged.
    pub fn forget(&mut self) {
        self.clear();
        self.is_damaged = true;
    }

    fn clear(&mut self) {
        let units = self.units.clone();
        *self = FileIndex::new(self.path.take(), self.start, units);
    }

    /// Takes what was found beside the file, if it belongs to the file.
    pub fn take(
        &mut self,
        archive: &Archive,
        units: &[UnitInfo],
        found: Option<(IndexStorage, Root)>,
    ) {
        self.clear();
        let Some((storage, root)) = found else {
            return;
        };
        let Some(indexed) = self.covered(archive, units, &root) else {
            return;
        };
        let storage = Arc::new(storage);
        let parts = root.segments.iter();
        self.parts = parts
            .map(|entry| LazySegment::new(entry.clone(), &storage))
            .collect();
        (self.root, self.indexed) = (root, indexed);
    }

    /// The units that a root covers, if it is of these units.
    fn covered(&self, archive: &Archive, units: &[UnitInfo], root: &Root) -> Option<Range<usize>> {
        let own = &units[self.units.clone()];
        let count = own.partition_point(|unit| self.end_of(unit) <= root.covered);
        let last = own[..count].last()?;
        let is_same = |(magic, number, digest): &(u64, u64, u64)| {
            digest_of_string(archive, *magic, *number) == *digest
        };
        let is_ours = self.end_of(last) == root.covered
            && last.digest == root.digest
            && root.names.iter().all(is_same)
            && root
                .symbols
                .is_none_or(|symbols| symbols == archive.symbols_digest());
        is_ours.then_some(self.units.start..self.units.start + count)
    }

    fn start_of(&self, unit: &UnitInfo) -> u64 {
        (unit.place.start - self.start) as u64
    }

    fn end_of(&self, unit: &UnitInfo) -> u64 {
        (unit.place.end - self.start) as u64
    }

    /// The number of the indexed unit that begins here in the file.
    pub fn unit(&self, units: &[UnitInfo], start: u64) -> Option<usize> {
        let indexed = &units[self.indexed.clone()];
        let at = indexed.binary_search_by_key(&start, |unit| self.start_of(unit));
        at.ok().map(|at| self.indexed.start + at)
    }

    /// The pages, and the unit of each: none if the index is damaged, which a missing part is, too.
    pub fn pages<'i>(
        &'i self,
        units: &'i [UnitInfo],
    ) -> impl Iterator<Item = (Option<usize>, &'i Page)> {
        // Pages of a unit follow one another.
        let mut last = None;
        let pages = self.parts.iter().filter_map(LazySegment::pages).flatten();
        pages.map(move |page| {
            let unit = match last {
                Some((start, unit)) if start == page.unit => Some(unit),
                _ => self.unit(units, page.unit),
            };
            last = unit.map(|unit| (page.unit, unit));
            (unit, page)
        })
    }

    /// Gives each page of a part to `take`, and the number of its unit. `None` if the index is
    /// damaged, or once `take` returns `None`.
    pub fn each_page(
        &self,
        part: &LazySegment,
        units: &[UnitInfo],
        mut take: impl FnMut(usize, &Page) -> Option<()>,
    ) -> Option<()> {
        let mut last = None;
        part.pages()?.iter().try_for_each(|page| {
            let unit = match last {
                Some((start, unit)) if start == page.unit => unit,
                _ => self.unit(units, page.unit)?,
            };
            last = Some((page.unit, unit));
            take(unit, page)
        })
    }

    /// The number of the unit of the first page of a part. `None` if the index is damaged.
    pub fn first_unit(&self, part: &LazySegment, units: &[UnitInfo]) -> Option<usize> {
        self.unit(units, part.first_unit()?)
    }

    /// The units that can be indexed, but are not. Events may be appended to the last unit, unless
    /// it is a block.
    pub fn missing(&self, units: &[UnitInfo]) -> Range<usize> {
        let last = units[self.units.clone()].last();
        let open = usize::from(last.is_some_and(|unit| !unit.block));
        self.indexed.end..(self.units.end - open).max(self.indexed.end)
    }

    /// Indexes the units that are missing, and adds a new outline, as long as `goes_on` returns
    /// true: it is asked with the bytes of the file that are done.
    ///
    /// # Errors
    /// Those of writing. What was written before stays.
    pub fn go_on(
        &mut self,
        archive: &Archive,
        units: &[UnitInfo],
        (mut writing, outline): (Writing, Option<Outline>),
        goes_on: impl FnMut(u64) -> bool,
    ) -> io::Result<()> {
        let root = match self.missing(units).is_empty() {
            true => Some(std::mem::take(&mut self.root)),
            false => self.add_missing(archive, units, &mut writing, goes_on)?,
        };
        let Some(mut root) = root else {
            return Ok(());
        };
        let is_outlined = outline.is_some() && !root.segments.is_empty();
        if let Some(outline) = outline.filter(|_| is_outlined) {
            root = writing.append_outline(&outline, root)?;
        }
        self.take(archive, units, Some((writing.storage()?, root)));
        self.is_outlined = is_outlined;
        Ok(())
    }

    /// Indexes the units that are missing, as long as `goes_on` returns true. Returns the root, or
    /// nothing if the archive cannot be indexed.
    fn add_missing(
        &mut self,
        archive: &Archive,
        units: &[UnitInfo],
        writing: &mut Writing,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> io::Result<Option<Root>> {
        let (mut builder, mut root) = self.reopen(archive, writing)?;
        let (mut reader, mut events) = (archive.unit_reader(), Vec::new());
        let missing = self.missing(units);
        let mut added = missing.start;
        for number in missing.clone() {
            let unit = &units[number];
            events.clear();
            if !unit.important {
                reader.read(number, &mut events);
            }
            // A unit takes long, so it is asked in the midst of it as well.
            let stops = number > missing.start && !goes_on(self.end_of(&units[added]));
            if !stops {
                builder.add(self.start_of(unit), &events);
                added = number;
            }
            if archive.has_cut_names() {
                // Messages depend on what was read before.
                writing.clear()?;
                return Ok(None);
            }
            let unit = &units[added];
            let is_last = stops || !goes_on(self.end_of(unit)) || number + 1 == missing.end;
            if builder.is_full() || is_last {
                (root.covered, root.digest) = (self.end_of(unit), unit.digest);
                let (mut bytes, old) = (Vec::new(), root.segments.len());
                if !builder.is_empty() {
                    root.segments.push(builder.finish(&mut bytes));
                }
                builder.add_names(&mut root);
                root = writing.append(&bytes, root, old)?;
            }
            if is_last {
                break;
            }
        }
        Ok(Some(root))
    }

    /// Goes on with the last segment, if it has room. Without a root, begins anew.
    fn reopen<'a>(
        &mut self,
        archive: &'a Archive,
        writing: &mut Writing,
    ) -> io::Result<(Builder<'a>, Root)> {
        let mut root = std::mem::take(&mut self.root);
        if self.indexed.is_empty() {
            writing.clear()?;
            return Ok((Builder::new(archive), Root::default()));
        }
        if writing.is_wasteful(&root) {
            root = writing.compact(root)?;
        }
        let last = self.parts.last().and_then(|part| {
            let (segment, storage) = part.segment()?;
            let pages = part.pages()?.to_vec();
            let segment = SegmentBuilder::go_on(segment, storage)?;
            Some((segment, pages, part.entry.text))
        });
        let mut builder = Builder::new(archive);
        if let Some((segment, pages, text)) = last
            && !segment.is_full()
        {
            builder.go_on(segment, pages, text);
            root.segments.pop();
        }
        Ok((builder, root))
    }
}
