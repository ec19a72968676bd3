//! The pages of an index in the order of the archive and in that of its events.

use std::sync::Arc;

use super::page::Page;

/// Pages of an index, as they stand in the archive and in the order of its events. A segment whose
/// pages are of no interest stands as one page, and so does each of its units.
pub struct PageLayout {
    spots: Vec<PageSpot>,
    /// The spots of each unit begin here, and end where those of the next one begin.
    of_units: Vec<u32>,
    /// The ranks at which pages begin, and how many lines the pages have that begin before.
    pub starts: Vec<(u64, u64)>,
    /// The ranks at which pages end, and how many lines the pages have that end up to there.
    pub ends: Arc<Vec<(u64, u64)>>,
}

/// A page: the ranks of its first and its last event, and its places in its unit.
pub struct PageSpot {
    pub first: u64,
    pub last: u64,
    pub at: u32,
    pub events: u32,
}

impl PageLayout {
    /// Of segments with these ranks and lines.
    pub fn of_segments(segments: impl Iterator<Item = ((u64, u64), u64)>) -> PageLayout {
        let mut laying = PageLayoutBuilder::default();
        segments.for_each(|(range, lines)| laying.range(range, lines));
        laying.finish(0)
    }

    /// The pages of a unit, in the order of their places.
    pub fn of_unit(&self, unit: usize) -> &[PageSpot] {
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

    /// The ranks between which the event with this line stands.
    pub fn around(&self, line: u64) -> (u64, u64) {
        let end = self.ends.partition_point(|(_, lines)| *lines <= line);
        let high = self.ends.get(end).map_or(u64::MAX, |(last, _)| *last);
        (self.start_rank(line), high)
    }
}

/// Lays pages, in the order of the archive.
#[derive(Default)]
pub struct PageLayoutBuilder {
    spots: Vec<PageSpot>,
    of_units: Vec<u32>,
    starts: Vec<(u64, u64)>,
    ends: Vec<(u64, u64)>,
    /// The ranks of the segment to which all units belong from the last one on.
    whole: Option<(u64, u64)>,
    /// The first unit that has no pages yet.
    next: usize,
}

impl PageLayoutBuilder {
    /// Makes room for so many pages.
    pub fn reserve(&mut self, pages: usize) {
        self.spots.reserve(pages);
        self.starts.reserve(pages);
        self.ends.reserve(pages);
    }

    /// Adds a page of a unit. `None` if pages of a later one came before.
    pub fn page(&mut self, unit: usize, range: (u64, u64), page: &Page) -> Option<()> {
        self.end(unit)?;
        self.begin(unit)?;
        self.next = unit + 1;
        self.range(range, page.lines);
        self.spots.push(PageSpot {
            first: range.0,
            last: range.1,
            at: page.first,
            events: page.events,
        });
        Some(())
    }

    /// Adds a segment that begins with a unit and ends before the next pages. `None` if other pages
    /// of this unit or of a later one came before.
    pub fn segment(&mut self, unit: usize, range: (u64, u64), lines: u64) -> Option<()> {
        self.end(unit)?;
        (self.next <= unit).then_some(())?;
        self.begin(unit)?;
        self.range(range, lines);
        self.whole = Some(range);
        Some(())
    }

    /// Ends the segment before a unit. `None` if it has no unit.
    pub fn end(&mut self, unit: usize) -> Option<()> {
        if let Some((first, last)) = self.whole.take() {
            (self.of_units.len() <= unit).then_some(())?;
            self.next = unit;
            while self.of_units.len() <= unit {
                self.spots.push(PageSpot {
                    first,
                    last,
                    at: 0,
                    events: u32::MAX,
                });
                self.of_units.push(self.spots.len() as u32);
            }
        }
        Some(())
    }

    fn range(&mut self, (first, last): (u64, u64), lines: u64) {
        self.starts.push((first, lines));
        self.ends.push((last, lines));
    }

    fn begin(&mut self, unit: usize) -> Option<()> {
        // Units without pages have none between those of the units around them.
        (self.of_units.len() <= unit + 1).then_some(())?;
        self.of_units.resize(unit + 1, self.spots.len() as u32);
        Some(())
    }

    /// The pages of an archive with so many units.
    pub fn finish(mut self, units: usize) -> PageLayout {
        self.of_units.resize(units + 1, self.spots.len() as u32);
        count_before(&mut self.starts);
        count_up_to(&mut self.ends);
        PageLayout {
            spots: self.spots,
            of_units: self.of_units,
            starts: self.starts,
            ends: Arc::new(self.ends),
        }
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
