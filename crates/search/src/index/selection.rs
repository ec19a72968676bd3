//! Chooses the events of an archive that are read.

use std::collections::HashMap;
use std::ops::Range;

use timeline_archive::{BlockColumns, Places, Select, UnitInfo};

/// Events of an archive that are read: of some pages, and of all units that are not indexed.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The places that are read of a unit, in rising order, of the indexed units.
    pub(super) places: HashMap<usize, Vec<Range<usize>>>,
    /// Whether each unit is indexed.
    pub(super) indexed: Vec<bool>,
}

impl Selection {
    fn is_indexed(&self, unit: &UnitInfo) -> bool {
        self.indexed
            .get(unit.number)
            .is_some_and(|indexed| *indexed)
    }
}

impl Select for Selection {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        !self.is_indexed(unit) || self.places.contains_key(&unit.number)
    }

    fn choose(&mut self, unit: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
        if !self.is_indexed(unit) {
            return;
        }
        let mut from = 0;
        for wanted in self.places.get(&unit.number).into_iter().flatten() {
            places.clear_range(from..wanted.start.max(from));
            from = wanted.end;
        }
        places.clear_range(from..places.len().max(from));
    }
}
