//! Any archive with any holes, copied: the copy has them as well.

use proptest::prelude::*;
use timeline::{Event, Order};

use crate::read::choice::columns::BlockColumns;
use crate::read::choice::select::{Places, Select};
use crate::read::open::archive::Archive;
use crate::read::open::samples::{chain, chain_of, changes, frames, runs};
use crate::read::units::unit::UnitInfo;

/// Wants the events with some ticks.
#[derive(Clone, Copy)]
struct Some {
    every: u64,
    until: u64,
}

impl Some {
    fn has(self, ticks: u64) -> bool {
        ticks < self.until && (ticks / 10 % 7).is_multiple_of(self.every)
    }
}

impl Select for Some {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        unit.ticks.0 < self.until
    }

    fn choose(&mut self, _: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
        places.ask_all();
    }

    fn wants(&mut self, event: &Event) -> bool {
        event.important || self.has(event.ticks)
    }
}

fn events(archive: &Archive) -> Vec<Event> {
    archive.events_by_time(Order::OldestFirst).collect()
}

/// What [`chain`] says of the events that are left: nothing is missing if it is not on the way.
fn chosen(chain: &[(u64, bool)], select: Some) -> Vec<(u64, bool)> {
    let (mut all, mut is_whole) = (Vec::new(), true);
    for (ticks, goes_on) in chain {
        is_whole &= *goes_on;
        if select.has(*ticks) {
            all.push((*ticks, is_whole && !all.is_empty()));
            is_whole = true;
        }
    }
    all
}

proptest! {
    #[test]
    fn a_copy_has_the_holes_of_its_archive_and_no_others(
        runs in runs(),
        changes in changes(),
        every in 1_u64..5,
        until in prop_oneof![Just(u64::MAX), 1_000..4_000_u64],
    ) {
        let archive = Archive::from_bytes(frames(&runs, &changes).concat());
        let select = Some { every, until };
        let of_archive = events(&archive);
        let mut saved = Vec::new();
        archive.copy_where(&mut saved, &mut select.clone()).unwrap();
        let saved = Archive::from_bytes(saved);
        prop_assert!(saved.damage().is_empty());
        prop_assert_eq!(chain(&events(&saved)), chosen(&chain_of(&archive, &of_archive), select));
        prop_assert_eq!(saved.gone(), archive.gone());
        prop_assert_eq!(saved.repeated(), archive.repeated());
        prop_assert_eq!(saved.missed(), archive.missed());

        let (mut whole, mut repaired) = (Vec::new(), Vec::new());
        let copied = archive.copy(&mut whole).unwrap();
        prop_assert_eq!(copied.bytes, whole.len() as u64);
        let copied = archive.repair(&mut repaired).unwrap();
        prop_assert_eq!((copied.bytes, copied.counted), (repaired.len() as u64, archive.gone()));
        let (whole, repaired) = (Archive::from_bytes(whole), Archive::from_bytes(repaired));
        for (copy, gone) in [(&whole, archive.gone()), (&repaired, 0)] {
            prop_assert!(copy.damage().is_empty());
            prop_assert_eq!(chain(&events(copy)), chain(&of_archive));
            prop_assert_eq!(copy.gone(), gone);
            prop_assert_eq!(copy.missed() + gone, archive.missed() + archive.gone());
            // Where entries of several rings are missing, a record tells those of the event's own.
            let is_alone = runs.len() == 1;
            let counts = |events: &[Event]| events.iter().map(|e| e.missed).collect::<Vec<_>>();
            let (found, expected) = (counts(&events(copy)), counts(&of_archive));
            prop_assert!(!is_alone || found == expected, "{:?}, not {:?}", found, expected);
        }
    }
}
