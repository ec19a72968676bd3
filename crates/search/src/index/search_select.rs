//! Chooses the events of an archive that are in pages of its index and meet a query.

use std::ops::Range;

use timeline::Event;
use timeline_archive::{BlockColumns, BlockRanges, Places, Select, UnitInfo};

use super::read_counter::ReadCounter;
use super::selection::PageSelection;
use crate::query::Filter;

/// Chooses the events of an archive that are in pages of its index and meet a query; each as far as
/// there is one.
#[derive(Default)]
pub struct SearchSelect<'a> {
    /// All of these have an event.
    selections: Vec<PageSelection>,
    filter: Option<Filter<'a>>,
    counted: Option<CountedUnit<'a>>,
}

/// The unit that is being counted.
struct CountedUnit<'a> {
    counter: &'a ReadCounter,
    /// Which events are found, if it is not those that are wanted.
    found: Option<Filter<'a>>,
    number: usize,
    /// Its pages that may have what is searched for.
    candidates: Vec<Range<usize>>,
    /// The places that are made.
    places: Places,
    /// Those that the filter asks about.
    asked: Places,
    /// The first place that nobody was asked about.
    next: usize,
}

impl<'a> SearchSelect<'a> {
    /// Reads only what is selected.
    pub fn of(selections: impl IntoIterator<Item = PageSelection>) -> SearchSelect<'a> {
        SearchSelect {
            selections: selections.into_iter().collect(),
            ..SearchSelect::default()
        }
    }

    /// Leaves out what a filter does not let through, if there is one.
    #[must_use]
    pub fn and(self, filter: impl Into<Option<Filter<'a>>>) -> SearchSelect<'a> {
        SearchSelect {
            filter: filter.into(),
            ..self
        }
    }

    /// Counts what is read. If that is not what is found, `found` says what is.
    #[must_use]
    pub fn counted(self, counter: &'a ReadCounter, found: Option<Filter<'a>>) -> SearchSelect<'a> {
        let counted = CountedUnit {
            counter,
            found,
            number: 0,
            candidates: Vec::new(),
            places: Places::default(),
            asked: Places::default(),
            next: 0,
        };
        SearchSelect {
            counted: Some(counted),
            ..self
        }
    }
}

impl<'a> From<PageSelection> for Box<dyn Select + 'a> {
    fn from(selection: PageSelection) -> Box<dyn Select + 'a> {
        Box::new(SearchSelect::of([selection]))
    }
}

impl CountedUnit<'_> {
    /// Begins a unit, of which so many events are selected. Has each event that is made asked
    /// about: only then its page is known.
    fn begin(&mut self, unit: &UnitInfo, selected: usize, places: &mut Places) {
        let counts = [self.candidates.len(), selected, places.wanted()];
        self.counter.read(unit, counts);
        self.number = unit.number;
        self.next = 0;
        self.asked = places.clone();
        places.ask_all();
        self.places = places.clone();
    }

    /// Whether an event is wanted that was made, and notes the page of one that is found. Events of
    /// a unit come in the order of their places.
    fn decide(&mut self, filter: &mut Option<Filter>, event: &Event) -> bool {
        let Some(place) = self.places.next(self.next) else {
            return true;
        };
        self.next = place + 1;
        let is_wanted = match filter {
            Some(filter) if self.asked.asks(place) => filter.wants(event),
            _ => true,
        };
        let after = self.candidates.partition_point(|page| page.end <= place);
        let page = self.candidates.get(after);
        if is_wanted
            && let Some(page) = page.filter(|page| page.contains(&place))
            && self.found.as_mut().is_none_or(|found| found.matches(event))
        {
            self.counter.note_match((self.number, page.start));
        }
        is_wanted
    }
}

impl Select for SearchSelect<'_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        let filter = self.filter.as_mut();
        self.selections.iter().all(|one| one.wants_unit(unit))
            && filter.is_none_or(|filter| filter.wants_unit(unit))
    }

    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        let filter = self.filter.as_mut();
        filter.is_none_or(|filter| filter.wants_block(unit, ranges))
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        for selection in &self.selections {
            selection.choose(unit, places);
        }
        let selected = places.wanted();
        if let Some(filter) = self.filter.as_mut().filter(|_| selected > 0) {
            filter.choose(unit, columns, places);
        }
        if let Some(counted) = &mut self.counted {
            let candidates = self.selections.iter();
            counted.candidates.clear();
            counted
                .candidates
                .extend(candidates.flat_map(|one| one.candidates(unit.number)));
            counted.begin(unit, selected, places);
        }
    }

    fn wants(&mut self, event: &Event) -> bool {
        match &mut self.counted {
            Some(counted) if !event.important => return counted.decide(&mut self.filter, event),
            Some(counted) => counted.counter.read_important(),
            None => {}
        }
        let filter = self.filter.as_mut();
        filter.is_none_or(|filter| filter.wants(event))
    }
}
