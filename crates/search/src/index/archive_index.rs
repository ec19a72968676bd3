//! The index of an archive: that of each of its files, and what queries and line numbers need.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use timeline::Order;
use timeline_archive::{Archive, UnitInfo};

use super::file::{self, Writing};
use super::file_index::{FileIndex, LazySegment};
use super::index_set::IndexSet;
use super::lines::LineNumbers;
use super::page::Page;
use super::page_layout::PageLayout;
use super::page_set::PageSet;
use super::requirement::Requirement;
use super::selection::{PageSelection, SelectedPage};
use crate::query::Needle;

/// The index of an archive: which pages of its events have which ngrams, and how many lines.
///
/// An index is derived from the archive. What it does not cover is searched as it is.
pub struct Index<'a> {
    archive: &'a Archive,
    known: Arc<IndexSet>,
}

/// An index that was opened, for further queries of the same archive.
#[derive(Clone)]
pub struct OpenIndex(Arc<IndexSet>);

impl OpenIndex {
    /// The index, if its files are as they were when it was opened.
    pub fn of<'a>(&self, archive: &'a Archive) -> Option<Index<'a>> {
        let known = Arc::clone(&self.0);
        let is_of = known.units.len() == archive.units().len() && known.is_current();
        is_of.then_some(Index { archive, known })
    }
}

/// How much of an archive is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexCoverage {
    /// The bytes of the events of the archive.
    pub bytes: u64,
    /// The bytes of those that can be indexed but are not.
    pub missing: u64,
    /// How many lines are indexed.
    pub lines: u64,
    /// In how many pages they are.
    pub pages: u64,
    /// The bytes of these lines as text.
    pub text: u64,
    /// The bytes of the index.
    pub index: u64,
}

/// Which events are to be read, and how their lines are numbered.
pub struct Candidates {
    /// The events: pages of the index, and all that is not indexed.
    pub selection: PageSelection,
    /// Numbers the lines of these events.
    pub lines: LineNumbers,
    /// How many pages may have what is searched for.
    pub pages: u64,
}

/// A page of the archive.
struct Place<'i> {
    unit: usize,
    page: &'i Page,
    /// Where its first and its last event stand in the order.
    first: u64,
    last: u64,
    /// Whether it may have a match.
    may_match: bool,
    /// Whether it is read: because it may, or because of its lines or its neighbours.
    is_read: bool,
}

impl<'a> Index<'a> {
    /// The index that lies beside the files of an archive, as far as it is there and can be
    /// believed.
    pub fn open(archive: &'a Archive) -> Index<'a> {
        let known = Arc::new(IndexSet::open(archive));
        Index { archive, known }
    }

    /// What was opened, to be used again.
    pub fn opened(&self) -> OpenIndex {
        OpenIndex(Arc::clone(&self.known))
    }

    /// To be changed by this query alone.
    fn own(&mut self) -> &mut IndexSet {
        if Arc::get_mut(&mut self.known).is_none() {
            self.known = Arc::new(IndexSet::open(self.archive));
        }
        let known = Arc::get_mut(&mut self.known).expect("nobody else has it");
        known.forget_pages();
        known
    }

    /// Whether a part of the index was found damaged. [`Index::update`] makes it again.
    pub fn is_damaged(&self) -> bool {
        self.known.files.iter().any(|file| file.is_damaged)
    }

    /// Whether [`Index::update`] would make it possible to open the archive without reading all of
    /// it.
    pub fn lacks_outlines(&self) -> bool {
        let lacks = |number| self.archive.has_new_outline(number);
        let files = self.known.files.iter().enumerate();
        files
            .filter(|(_, file)| !file.is_outlined && !file.parts.is_empty())
            .any(|(number, _)| lacks(number))
    }

    /// How much is indexed.
    pub fn coverage(&self) -> IndexCoverage {
        let mut coverage = IndexCoverage::default();
        let bytes = |units: &[UnitInfo]| {
            let bytes = units.iter().map(|unit| unit.place.len() as u64);
            bytes.sum::<u64>()
        };
        let units = &self.known.units;
        for file in &self.known.files {
            coverage.bytes += bytes(&units[file.units.clone()]);
            coverage.missing += bytes(&units[file.missing(units)]);
            for part in &file.parts {
                let entry = &part.entry;
                coverage.lines = coverage.lines.saturating_add(entry.lines);
                coverage.pages += u64::from(entry.pages);
                coverage.text = coverage.text.saturating_add(entry.text);
                coverage.index = coverage.index.saturating_add(entry.bytes());
            }
        }
        coverage
    }

    /// Indexes what is not indexed yet, and writes it and outlines of the files beside them. Calls
    /// `progress` with the number of bytes of the archive that are done.
    ///
    /// # Errors
    /// Those of writing, and the path of the index. What was written before is not lost.
    pub fn update(&mut self, mut progress: impl FnMut(u64)) -> Result<(), (PathBuf, io::Error)> {
        self.update_while(|done| {
            progress(done);
            true
        })
    }

    /// Like [`Index::update`], but only as long as `go_on` returns true, which is asked before each
    /// part of the archive. What is indexed by then is written, and the next update goes on there.
    ///
    /// # Errors
    /// Those of `update`.
    pub fn update_while(
        &mut self,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> Result<(), (PathBuf, io::Error)> {
        let (mut done, archive) = (0, self.archive);
        let IndexSet { units, files, .. } = self.own();
        for (number, file) in files.iter_mut().enumerate() {
            let Some(path) = file.path.clone() else {
                continue;
            };
            let lacks_outline = !file.is_outlined && archive.has_new_outline(number);
            let is_complete = file.missing(units).is_empty() && !lacks_outline;
            if !is_complete && !archive.has_cut_names() {
                let failed = |error| (file::path_of(&path), error);
                let (writing, found) = Writing::begin(&path).map_err(failed)?;
                let storage = writing.storage().map_err(failed)?;
                let found = found.filter(|_| !file.is_damaged);
                let found = found.map(|root| (storage, root));
                file.take(archive, units, found);
                let outline = archive.new_outline(number).filter(|_| lacks_outline);
                let beside = (writing, outline);
                if !go_on(done) {
                    break;
                }
                file.go_on(archive, units, beside, |bytes| go_on(done + bytes))
                    .map_err(failed)?;
            }
            done += units[file.units.clone()]
                .last()
                .map_or(0, |unit| unit.place.end as u64);
        }
        Ok(())
    }

    /// The events that may have a needle. If their lines are numbered, or `context` events around
    /// each are needed, all events between the first and the last of these are among them.
    ///
    /// If a part of the index is damaged, it is forgotten, and its file is searched as it is.
    pub fn candidates(
        &mut self,
        needle: &Needle,
        order: Order,
        context: Option<usize>,
    ) -> Candidates {
        let requirement = Requirement::of_pattern(needle.pattern(), needle.is_insensitive());
        loop {
            let of_part = |part: &LazySegment| -> Option<PageSet> {
                let (segment, storage) = part.segment()?;
                let set = segment.pages_with(&requirement, storage)?;
                // Pages without a match count for numbers of lines and for neighbours alone.
                if context.is_some() || !set.is_empty() {
                    part.pages()?;
                }
                Some(set)
            };
            let sets = |file: &FileIndex| file.parts.iter().map(of_part).collect();
            let sets: Vec<Option<Vec<PageSet>>> = self.known.files.iter().map(sets).collect();
            let damaged: Vec<bool> = sets.iter().map(Option::is_none).collect();
            if !damaged.contains(&true) {
                let sets: Vec<Vec<PageSet>> = sets.into_iter().flatten().collect();
                if let Some(candidates) = self.choose(&sets, order, context) {
                    return candidates;
                }
                self.own().files.iter_mut().for_each(FileIndex::forget);
                continue;
            }
            let files = self.own().files.iter_mut();
            let damaged = files.zip(damaged).filter(|(_, is)| *is);
            damaged.for_each(|(file, _)| file.forget());
        }
    }

    /// The events of pages of which `may_match` says that they may have what is wanted: it gets the
    /// number of a unit, and places in it. Pages before the line `from` are left out; `rest` is how
    /// many lines the events have that are not indexed. All events between the first and the last
    /// of a page are among them, so that their lines can be numbered. `None` if the index is
    /// damaged.
    pub fn candidates_where(
        &self,
        (from, rest): (u64, u64),
        may_match: impl Fn(usize, Range<usize>) -> bool,
    ) -> Option<Candidates> {
        let mut places = self.places(&self.no_pages())?;
        let (_, rank) = self.known.laid_from(from.saturating_sub(rest))?;
        for place in &mut places {
            place.may_match = place.last >= rank && may_match(place.unit, place.page.places());
            place.is_read = place.may_match;
        }
        let pages = places.iter().filter(|place| place.may_match).count();
        complete(&mut places, self.rest_ranges(), 0);
        Some(self.reading(&places, Order::OldestFirst, pages as u64))
    }

    /// The pages of the archive. `None` if one is of no unit: the index is damaged.
    fn places(&self, sets: &[Vec<PageSet>]) -> Option<Vec<Place<'_>>> {
        let mut places = Vec::new();
        for (file, sets) in self.known.files.iter().zip(sets) {
            // One that is missing is damaged.
            file.parts
                .iter()
                .map(LazySegment::pages)
                .collect::<Option<Vec<_>>>()?;
            let parts = file.parts.iter().zip(sets);
            let numbers = parts.flat_map(|(part, set)| {
                let numbers = 0..part.entry.pages;
                numbers.map(|number| set.contains(number))
            });
            for ((unit, page), may_match) in file.pages(&self.known.units).zip(numbers) {
                let (first, last) = self.known.rank.range(page);
                places.push(Place {
                    unit: unit?,
                    page,
                    first,
                    last,
                    may_match,
                    is_read: may_match,
                });
            }
        }
        Some(places)
    }

    /// Of these, the pages in the sets.
    fn matching_places(&self, sets: &[Vec<PageSet>]) -> Option<Vec<Place<'_>>> {
        let (units, mut places) = (&self.known.units, Vec::new());
        for (file, sets) in self.known.files.iter().zip(sets) {
            let parts = file.parts.iter().zip(sets);
            for (part, set) in parts.filter(|(_, set)| !set.is_empty()) {
                let pages = part.pages()?;
                for number in set.iter() {
                    let page = pages.get(usize::from(number))?;
                    let (first, last) = self.known.rank.range(page);
                    places.push(Place {
                        unit: file.unit(units, page.unit)?,
                        page,
                        first,
                        last,
                        may_match: true,
                        is_read: true,
                    });
                }
            }
        }
        Some(places)
    }

    fn choose(
        &self,
        sets: &[Vec<PageSet>],
        order: Order,
        context: Option<usize>,
    ) -> Option<Candidates> {
        let pages = sets.iter().flatten().map(|set| set.len() as u64).sum();
        let places = match context {
            None => self.matching_places(sets)?,
            Some(context) => {
                let mut places = self.places(sets)?;
                complete(&mut places, self.rest_ranges(), context);
                places
            }
        };
        Some(self.reading(&places, order, pages))
    }

    /// Reads some of these pages, of which so many may have what is searched for.
    fn reading(&self, places: &[Place], order: Order, pages: u64) -> Candidates {
        let (wanted, skipped): (Vec<&Place>, Vec<&Place>) =
            places.iter().partition(|place| place.is_read);
        let skipped: Vec<&Page> = skipped.into_iter().map(|place| place.page).collect();
        Candidates {
            lines: LineNumbers::skipping(order, self.known.rank, &skipped),
            selection: self.selection(wanted.into_iter()),
            pages,
        }
    }

    fn selection<'p>(&self, wanted: impl Iterator<Item = &'p Place<'p>>) -> PageSelection {
        let mut pages: HashMap<usize, Vec<SelectedPage>> = HashMap::new();
        for place in wanted {
            pages.entry(place.unit).or_default().push(SelectedPage {
                places: place.page.places(),
                may_match: place.may_match,
            });
        }
        PageSelection {
            pages,
            between: None,
            indexed: self.indexed(),
        }
    }

    /// Whether each unit is indexed.
    fn indexed(&self) -> Vec<bool> {
        let mut indexed = vec![false; self.known.units.len()];
        for file in &self.known.files {
            indexed[file.indexed.clone()].fill(true);
        }
        indexed
    }

    /// The events of all pages that do not end before a rank, nor begin behind another one, oldest
    /// first.
    fn between(&self, laid: Arc<PageLayout>, low: u64, high: u64) -> Candidates {
        let skipped = laid.ends.partition_point(|(last, _)| *last < low);
        let skipped = (Arc::clone(&laid.ends), skipped);
        Candidates {
            lines: LineNumbers::skipping_first(Order::OldestFirst, self.known.rank, skipped),
            selection: PageSelection {
                between: Some((laid, low, high)),
                indexed: self.indexed(),
                ..PageSelection::default()
            },
            pages: 0,
        }
    }

    /// Where the events stand that are not indexed, but for important ones.
    fn rest_ranges(&self) -> Vec<(u64, u64)> {
        let units = self.known.units.iter().zip(self.indexed());
        let rest = units.filter(|(unit, is_indexed)| !is_indexed && !unit.important);
        rest.map(|(unit, _)| self.known.rank.choose(unit.ticks, unit.unix))
            .collect()
    }

    /// The events that are not indexed: important ones, and those that came last.
    pub fn rest(&self) -> PageSelection {
        self.selection([].into_iter())
    }

    /// The events with these lines, oldest first, and some before and behind them. Those behind are
    /// not all that there are. `rest`: how many lines the events have that are not indexed. `None`
    /// if the index is damaged.
    pub fn lines(&self, lines: Range<u64>, rest: u64) -> Option<Candidates> {
        // All of the rest may stand before the lines, or none.
        let (laid, low) = self.known.laid_from(lines.start.saturating_sub(rest))?;
        let high = laid.around(lines.end).1;
        Some(self.between(laid, low, high))
    }

    /// The events with these lines, oldest first, and some others. They are numbered rightly; some
    /// of the others get a number that is too small. `rest`: how many lines the events have that
    /// are not indexed. `None` if the index is damaged.
    pub fn at_lines(&self, lines: &[u64], rest: u64) -> Option<Candidates> {
        let mut places = self.places(&self.no_pages())?;
        let laid = self.known.laid()?;
        // All of the rest may stand before the line, or none.
        let range = |line: &u64| {
            let first = laid.start_rank(line.saturating_sub(rest));
            (first, laid.around(*line).1)
        };
        let ranges = lines.iter().map(range).collect();
        complete(&mut places, ranges, 0);
        Some(self.reading(&places, Order::OldestFirst, 0))
    }

    /// The events from a time on, oldest first, and some before it: in nanoseconds since 1970.
    /// `None` if the index is damaged.
    pub fn from_time(&self, time: u64) -> Option<Candidates> {
        let (laid, rank) = self.known.laid_from_time(time)?;
        Some(self.between(laid, rank, u64::MAX))
    }

    /// No page of any segment.
    fn no_pages(&self) -> Vec<Vec<PageSet>> {
        let none = |file: &FileIndex| {
            let parts = file.parts.iter();
            parts.map(|part| PageSet::none(part.entry.pages)).collect()
        };
        self.known.files.iter().map(none).collect()
    }
}

/// Adds all pages that overlap a candidate, one of these ranges, or the `context` events before and
/// behind it.
fn complete(places: &mut [Place], mut ranges: Vec<(u64, u64)>, context: usize) {
    let candidates = places.iter().filter(|place| place.may_match);
    ranges.extend(candidates.map(|place| (place.first, place.last)));
    if context > 0 {
        // The events behind important ones.
        ranges.extend([(0, 0), (u64::MAX, u64::MAX)]);
        widen(&mut ranges, places, context as u64);
    }
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    for place in places {
        // The first range that does not end before it.
        let at = joined.partition_point(|range| range.1 < place.first);
        place.is_read |= joined.get(at).is_some_and(|range| range.0 <= place.last);
    }
}

/// Widens ranges by pages before and behind them that have at least so many events.
fn widen(ranges: &mut [(u64, u64)], places: &[Place], context: u64) {
    let mut by_last: Vec<&Place> = places.iter().collect();
    by_last.sort_unstable_by_key(|place| place.last);
    let mut by_first: Vec<&Place> = places.iter().collect();
    by_first.sort_unstable_by_key(|place| place.first);
    for (first, last) in ranges {
        let (start, end) = (*first, *last);
        let before = by_last.partition_point(|place| place.last < start);
        let behind = by_first.partition_point(|place| place.first <= end);
        let mut events = 0;
        for place in by_last[..before].iter().rev() {
            *first = (*first).min(place.first);
            events += u64::from(place.page.events);
            if events >= context {
                break;
            }
        }
        events = 0;
        for place in &by_first[behind..] {
            *last = (*last).max(place.last);
            events += u64::from(place.page.events);
            if events >= context {
                break;
            }
        }
    }
}
