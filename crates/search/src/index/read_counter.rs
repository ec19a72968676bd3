//! Counts what is read of an archive to search it, and which pages are read in vain.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use timeline_archive::{Archive, UnitInfo};

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

    /// Counts a unit, unless it was read before: its bytes, its pages that may have what is looked
    /// for, the events of what is read of it, and how many of these are made.
    pub(super) fn read(&self, unit: &UnitInfo, [pages, events, made]: [usize; 3]) {
        let mut state = self.state();
        if state.units.insert(unit.number) {
            let counts = &mut state.counts;
            counts.bytes += unit.place.len() as u64;
            counts.pages += pages as u64;
            counts.events += events as u64;
            counts.made += made as u64;
        }
    }

    /// Counts an important event.
    pub(super) fn read_important(&self) {
        let counts = &mut self.state().counts;
        counts.events += 1;
        counts.made += 1;
    }

    /// Notes that something was found in a page: its unit and first place.
    pub(super) fn note_match(&self, page: (usize, usize)) {
        self.state().matched.insert(page);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
