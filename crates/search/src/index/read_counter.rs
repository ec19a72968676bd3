//! Counts what is read of an archive to search it, and which pages are read in vain.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use timeline::Event;
use timeline_archive::{Archive, BlockColumns, BlockRanges, Places, Select, UnitInfo};

use super::selection::PageSelection;
use crate::query::Filter;

/// What was read of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// How many pages were read that might have what was searched for.
    pub pages: u64,
    /// How many of these have nothing that was found.
    pub vain: u64,
    /// How many events are in the pages that were read, and in what is not indexed.
    pub events: u64,
    /// How many of these were made, because nothing spoke against them before.
    pub made: u64,
    /// The bytes of the blocks that were read, and of other events. A block that is read again
    /// counts once.
    pub bytes: u64,
}

/// Counts what is read of an archive, by one thread or by several.
pub struct ReadCounter {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counts: Counts,
    /// The units that were read.
    units: HashSet<usize>,
    /// The pages with something that was found: unit and first place.
    matched: HashSet<(usize, usize)>,
}

impl ReadCounter {
    /// Counts from now on.
    pub fn new(archive: &Archive) -> ReadCounter {
        // They are read before all others, without a question.
        let important = archive.units().filter(|unit| unit.important);
        let counts = Counts {
            bytes: important.map(|unit| unit.place.len() as u64).sum(),
            ..Counts::default()
        };
        let state = State {
            counts,
            ..State::default()
        };
        ReadCounter {
            state: Mutex::new(state),
        }
    }

    /// What was read up to now.
    pub fn counts(&self) -> Counts {
        let state = self.state();
        Counts {
            vain: state.counts.pages - state.matched.len() as u64,
            ..state.counts
        }
    }

    /// Reads only what is selected, if anything is, and of it only what is `chosen`. If that is not
    /// what is found, `found` says what is. Each thread that reads has its own.
    pub fn select<'a>(
        &'a self,
        selection: Option<PageSelection>,
        chosen: Option<Filter<'a>>,
        found: Option<Filter<'a>>,
    ) -> impl Select + 'a {
        CountedSelect {
            counted: self,
            selection,
            chosen,
            found,
            unit: 0,
            candidates: Vec::new(),
            places: Places::default(),
            asked: Places::default(),
            next: 0,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says which events are wanted, and counts what is read for them.
struct CountedSelect<'a> {
    counted: &'a ReadCounter,
    selection: Option<PageSelection>,
    /// Leaves other events out.
    chosen: Option<Filter<'a>>,
    /// Which events are found, if it is not those that are chosen.
    found: Option<Filter<'a>>,
    /// The present unit: its number, its candidates, and the places that are made.
    unit: usize,
    candidates: Vec<Range<usize>>,
    places: Places,
    /// Those that the filter asks about.
    asked: Places,
    /// The first place that nobody was asked about.
    next: usize,
}

impl CountedSelect<'_> {
    /// Whether an event is chosen that was made, and notes the page of one that is found. Events
    /// of a unit come in the order of their places.
    fn decide(&mut self, event: &Event) -> bool {
        let Some(place) = self.places.next(self.next) else {
            return true;
        };
        self.next = place + 1;
        let is_chosen = match &mut self.chosen {
            Some(chosen) if self.asked.asks(place) => chosen.wants(event),
            _ => true,
        };
        let after = self.candidates.partition_point(|page| page.end <= place);
        let page = self.candidates.get(after);
        if is_chosen
            && let Some(page) = page.filter(|page| page.contains(&place))
            && self.found.as_mut().is_none_or(|found| found.matches(event))
        {
            let page = (self.unit, page.start);
            self.counted.state().matched.insert(page);
        }
        is_chosen
    }
}

impl Select for CountedSelect<'_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        self.selection.wants_unit(unit) && self.chosen.wants_unit(unit)
    }

    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        self.chosen.wants_block(unit, ranges)
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        self.candidates.clear();
        if let Some(selection) = &mut self.selection {
            selection.choose(unit, None, places);
            self.candidates.extend(selection.candidates(unit.number));
        }
        let events = places.wanted() as u64;
        if places.any() {
            self.chosen.choose(unit, columns, places);
        }
        let mut state = self.counted.state();
        if state.units.insert(unit.number) {
            let counts = &mut state.counts;
            counts.bytes += unit.place.len() as u64;
            counts.pages += self.candidates.len() as u64;
            counts.events += events;
            counts.made += places.wanted() as u64;
        }
        self.unit = unit.number;
        self.next = 0;
        self.asked = places.clone();
        places.ask_all();
        self.places = places.clone();
    }

    fn wants(&mut self, event: &Event) -> bool {
        if !event.important {
            return self.decide(event);
        }
        let counts = &mut self.counted.state().counts;
        counts.events += 1;
        counts.made += 1;
        self.chosen.wants(event)
    }
}
