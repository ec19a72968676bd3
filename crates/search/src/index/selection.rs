//! Chooses the events of an archive that are read.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use timeline_archive::{Archive, Places, UnitInfo};

use super::page_layout::PageLayout;

/// Events of an archive that are read: of some pages, and of all units that are not indexed.
#[derive(Clone, Default)]
pub struct PageSelection {
    /// The pages that are read of a unit, in rising order, of the indexed units.
    pub(super) pages: HashMap<usize, Vec<SelectedPage>>,
    /// Likewise, all pages that do not end before a rank, nor begin behind another one.
    pub(super) between: Option<(Arc<PageLayout>, u64, u64)>,
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

impl PageSelection {
    /// Reads all events of the units that `wants` wants, and nothing of the others.
    pub fn of_units(archive: &Archive, mut wants: impl FnMut(&UnitInfo) -> bool) -> PageSelection {
        PageSelection {
            indexed: archive.units().map(|unit| !wants(&unit)).collect(),
            ..PageSelection::default()
        }
    }

    /// The pages of a unit that may have what is searched for.
    pub(super) fn candidates(&self, unit: usize) -> impl Iterator<Item = Range<usize>> {
        let pages = self.pages.get(&unit).into_iter().flatten();
        let candidates = pages.filter(|page| page.may_match);
        candidates.map(|page| page.places.clone())
    }

    /// The places of the pages of a unit that are read because of their ranks.
    fn between(&self, unit: usize) -> impl Iterator<Item = Range<usize>> {
        let between = self.between.iter().flat_map(move |(laid, low, high)| {
            let spots = laid.of_unit(unit).iter();
            spots.filter(move |spot| spot.last >= *low && spot.first <= *high)
        });
        between.map(|spot| spot.at as usize..(spot.at + spot.events) as usize)
    }

    /// Whether anything of a unit is read.
    pub(super) fn wants_unit(&self, unit: &UnitInfo) -> bool {
        !self.is_indexed(unit)
            || self.pages.contains_key(&unit.number)
            || self.between(unit.number).next().is_some()
    }

    /// Clears the places of a unit that are not read.
    pub(super) fn choose(&self, unit: &UnitInfo, places: &mut Places) {
        if !self.is_indexed(unit) {
            return;
        }
        let mut from = 0;
        let listed = self.pages.get(&unit.number).into_iter().flatten();
        let listed = listed.map(|page| page.places.clone());
        // One of them is empty.
        for wanted in listed.chain(self.between(unit.number)) {
            places.clear_range(from..wanted.start.max(from));
            from = wanted.end;
        }
        places.clear_range(from..places.len().max(from));
    }

    fn is_indexed(&self, unit: &UnitInfo) -> bool {
        self.indexed
            .get(unit.number)
            .is_some_and(|indexed| *indexed)
    }
}
