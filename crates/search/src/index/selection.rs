//! Chooses the events of an archive that are read.

use std::collections::HashMap;
use std::ops::Range;

use timeline_archive::{BlockColumns, Places, Select, UnitInfo};

/// Events of an archive that are read: of some pages, and of all units that are not indexed.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The pages that are read of a unit, in rising order, of the indexed units.
    pub(super) pages: HashMap<usize, Vec<SelectedPage>>,
    /// Whether each unit is indexed.
    pub(super) indexed: Vec<bool>,
}

/// A page that is read.
#[derive(Debug, Clone)]
pub(super) struct SelectedPage {
    /// The places of its events in the unit.
    pub places: Range<usize>,
    /// Whether it may have what is searched for. Others are read for their lines.
    pub may_match: bool,
}

impl Selection {
    /// The pages of a unit that may have what is searched for.
    pub(super) fn candidates(&self, unit: usize) -> impl Iterator<Item = Range<usize>> {
        let pages = self.pages.get(&unit).into_iter().flatten();
        let candidates = pages.filter(|page| page.may_match);
        candidates.map(|page| page.places.clone())
    }

    fn is_indexed(&self, unit: &UnitInfo) -> bool {
        self.indexed
            .get(unit.number)
            .is_some_and(|indexed| *indexed)
    }
}

impl Select for Selection {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        !self.is_indexed(unit) || self.pages.contains_key(&unit.number)
    }

    fn choose(&mut self, unit: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
        if !self.is_indexed(unit) {
            return;
        }
        let mut from = 0;
        for SelectedPage { places: wanted, .. } in
            self.pages.get(&unit.number).into_iter().flatten()
        {
            places.clear_range(from..wanted.start.max(from));
            from = wanted.end;
        }
        places.clear_range(from..places.len().max(from));
    }
}
