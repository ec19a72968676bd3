//! Chooses the events of some definitions in an archive, before they are made.

use std::collections::HashMap;
use std::ops::Range;

use timeline::{Definition, Event, EventId, Source};
use timeline_archive::{Archive, BlockColumns, BlockRanges, Places, Select, UnitInfo};

/// Chooses the events of the definitions that `wants` wants in units that may have events of some
/// times, and those right behind gaps, which say how many entries are missing before them.
pub struct EventsOf<'a, W> {
    archive: &'a Archive,
    times: Range<u64>,
    wants: W,
    definitions: HashMap<EventId, bool>,
    is_cancelled: Option<&'a dyn Fn() -> bool>,
}

impl<'a, W: FnMut(&Definition) -> bool> EventsOf<'a, W> {
    /// Of an archive; the times are nanoseconds since 1970.
    pub fn new(archive: &'a Archive, times: Range<u64>, wants: W) -> EventsOf<'a, W> {
        EventsOf {
            archive,
            times,
            wants,
            definitions: HashMap::new(),
            is_cancelled: None,
        }
    }

    /// Reads no further unit once `is_cancelled` says that nobody waits for it.
    #[must_use]
    pub fn unless(mut self, is_cancelled: &'a dyn Fn() -> bool) -> EventsOf<'a, W> {
        self.is_cancelled = Some(is_cancelled);
        self
    }

    fn has(&mut self, id: EventId) -> bool {
        let (archive, wants) = (self.archive, &mut self.wants);
        let known = self.definitions.entry(id);
        *known.or_insert_with(|| archive.definition(id).is_some_and(wants))
    }
}

impl<W: FnMut(&Definition) -> bool> Select for EventsOf<'_, W> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        let is_cancelled = self.is_cancelled;
        unit.may_have(&self.times) && is_cancelled.is_none_or(|is_cancelled| !is_cancelled())
    }

    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        unit.has_gap || ranges.definitions().iter().any(|id| self.has(*id))
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        let Some(columns) = columns else {
            return places.ask_all();
        };
        let mut wanted = places.of_definitions(columns, |id| self.has(id));
        if unit.has_gap && !places.is_empty() {
            wanted.add(0);
        }
        places.intersect(&wanted);
    }

    fn wants(&mut self, event: &Event) -> bool {
        event.missed > 0 || self.has(event.id)
    }
}
