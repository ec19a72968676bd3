//! Says when so much of an archive is wanted that choosing costs more than it saves.

/// How much is looked at before that is said.
const UNITS: u64 = 8;
/// One in so many is much.
const SHARE: u64 = 4;

/// How much of what was looked at was wanted.
#[derive(Debug, Default)]
pub struct WantedShare {
    units: u64,
    events: u64,
    wanted: u64,
}

impl WantedShare {
    /// Adds a unit.
    pub fn note(&mut self, events: u64, wanted: u64) {
        self.units += 1;
        self.events = self.events.saturating_add(events);
        self.wanted = self.wanted.saturating_add(wanted);
    }

    /// Whether much of a unit is wanted.
    pub fn is_much(events: u64, wanted: u64) -> bool {
        wanted.saturating_mul(SHARE) >= events
    }

    /// Whether much was wanted so far.
    pub fn is_large(&self) -> bool {
        self.units >= UNITS && WantedShare::is_much(self.events, self.wanted)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use timeline::{Event, Order};

    use crate::read::choice::columns::BlockColumns;
    use crate::read::choice::select::{Places, Select};
    use crate::read::open::archive::Archive;
    use crate::read::open::outline::tests::{file, steps};
    use crate::read::units::unit::UnitInfo;
    use crate::write::writer::Form;

    /// Wants some events, and counts the units that it was asked about in detail.
    struct Every {
        every: u64,
        chosen: usize,
    }

    impl Select for Every {
        fn wants_unit(&mut self, _: &UnitInfo) -> bool {
            true
        }

        fn choose(&mut self, _: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
            self.chosen += 1;
            places.ask_all();
        }

        fn wants(&mut self, event: &Event) -> bool {
            (event.ticks % 7).is_multiple_of(self.every)
        }
    }

    fn events(archive: &Archive) -> HashSet<String> {
        let events = archive.events_by_time(Order::OldestFirst);
        events
            .map(|event| format!("{} {:?}", event.ticks, event.args))
            .collect()
    }

    proptest! {
        #[test]
        fn what_is_wanted_is_there_and_nothing_that_the_archive_has_not(
            parts in prop::collection::vec((steps(), any::<bool>()), 1..20),
            every in 1_u64..7,
        ) {
            let (mut number, mut bytes) = (0, Vec::new());
            for (steps, plain) in &parts {
                let form = if *plain { Form::Plain } else { Form::Blocks };
                bytes.extend(file(steps, form, &mut number));
            }
            let archive = Archive::from_bytes(bytes);
            let mut select = Every { every, chosen: 0 };
            let (mut around, mut exact) = (Vec::new(), Vec::new());
            archive.copy_around(&mut around, &mut select).unwrap();
            archive.copy_where(&mut exact, &mut select).unwrap();
            let [around, exact] = [around, exact].map(Archive::from_bytes);
            let (all, found, wanted) = (events(&archive), events(&around), events(&exact));
            prop_assert!(wanted.is_subset(&found) && found.is_subset(&all));
            prop_assert!(around.damage().is_empty());
            prop_assert_eq!(around.missed(), archive.missed());
            prop_assert_eq!(around.gone(), archive.gone());
            prop_assert_eq!(around.repeated(), archive.repeated());
        }
    }

    /// Of an archive of which all is wanted, only the beginning is looked at.
    #[test]
    fn where_much_is_wanted_the_rest_is_not_looked_at() {
        let (mut number, mut bytes) = (0, Vec::new());
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for _ in 0..200 {
            let steps = steps().new_tree(&mut runner).unwrap().current();
            bytes.extend(file(&steps, Form::Blocks, &mut number));
        }
        let archive = Archive::from_bytes(bytes);
        let blocks = archive.units().len();
        let mut select = Every {
            every: 1,
            chosen: 0,
        };
        archive.copy_around(Vec::new(), &mut select).unwrap();
        assert!(select.chosen < blocks / 4, "{} of {blocks}", select.chosen);
    }
}
