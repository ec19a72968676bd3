//! Asks a [`Select`] while units are read, and counts what is missing before events left out.

use timeline::Event;

use crate::read::choice::select::Select;
use crate::read::choice::unit_choice::UnitChoice;
use crate::read::choice::visitor::UnitVisitor;
use crate::read::loss::gaps::Gap;
use crate::read::open::decode::Decoder;
use crate::read::units::form::DecodedEvent;
use crate::read::units::unit::{Unit, UnitInfo};

/// The wanted events of an archive: all, or those that somebody chooses.
#[derive(Default)]
pub struct EventChooser<'a> {
    select: Option<Box<dyn Select + 'a>>,
    visitor: Option<Box<dyn UnitVisitor + 'a>>,
    /// How many entries are missing right before events that are not wanted.
    missed: u64,
}

impl<'a> EventChooser<'a> {
    /// By what `select` wants.
    pub fn by(select: Box<dyn Select + 'a>) -> EventChooser<'a> {
        EventChooser {
            select: Some(select),
            ..EventChooser::default()
        }
    }

    /// By what `select` wants, if there is one. A visitor takes what need not be made.
    pub fn visited(
        select: Option<Box<dyn Select + 'a>>,
        visitor: impl UnitVisitor + 'a,
    ) -> EventChooser<'a> {
        EventChooser {
            select,
            visitor: Some(Box::new(visitor)),
            missed: 0,
        }
    }

    /// How many entries are missing right before events that are not wanted.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Whether a unit may have wanted events, and is visited.
    pub fn may_want(&mut self, unit: &UnitInfo) -> bool {
        let (select, visitor) = (self.select.as_mut(), self.visitor.as_mut());
        select.is_none_or(|select| select.wants_unit(unit))
            && visitor.is_none_or(|visitor| visitor.wants_unit(unit))
    }

    /// Whether a unit may have wanted events. Counts what is missing before them, if not.
    pub fn wants_unit(&mut self, unit: &Unit, number: usize) -> bool {
        let is_wanted = unit.important || self.may_want(&unit.info(number));
        if !is_wanted {
            self.miss(unit.gap.as_ref().map_or(0, Gap::missed));
        }
        is_wanted
    }

    /// Appends the wanted events of a unit, and important ones, wanted or not. Returns how many
    /// cannot be read.
    pub fn read<T: DecodedEvent>(
        &mut self,
        decoder: &mut Decoder<T>,
        (unit, number): (&Unit, usize),
        is_first: bool,
        events: &mut Vec<T>,
    ) -> u64 {
        let EventChooser {
            select, visitor, ..
        } = self;
        if unit.important || (select.is_none() && visitor.is_none()) {
            return decoder.decode(unit, events);
        }
        let mut choice = UnitChoice::new(unit.info(number), unit.gap)
            .by(select.as_mut().map(|select| &mut **select as _))
            .without(visitor.as_mut().map(|visitor| &mut **visitor as _));
        let lost = decoder.decode_chosen(unit, &mut choice, events);
        let missed = choice.missed();
        // Not once more, if the unit is read again.
        if is_first {
            self.miss(missed);
        }
        lost
    }

    /// Has the visitor take an event that was made. Returns whether to go on.
    pub fn visit(&mut self, event: Event) -> bool {
        let visitor = self.visitor.as_mut();
        visitor.is_some_and(|visitor| visitor.event(event))
    }

    /// Whether an important event is wanted.
    pub fn wants<T: DecodedEvent>(&mut self, event: &T) -> bool {
        let (Some(select), Some(event)) = (&mut self.select, event.event()) else {
            return true;
        };
        let is_wanted = select.wants(event);
        if !is_wanted {
            self.miss(event.missed);
        }
        is_wanted
    }

    /// So many more entries are missing there.
    pub fn miss(&mut self, missed: u64) {
        self.missed = self.missed.saturating_add(missed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::sync::Mutex;

    use timeline::internal::layout::words::IMPORTANT_LANE;
    use timeline::{Order, Passage};

    use super::*;
    use crate::format::event::RawEvent;
    use crate::read::choice::columns::BlockColumns;
    use crate::read::choice::select::Places;
    use crate::read::open::archive::Archive;
    use crate::read::order::merge::ByTime;
    use crate::read::units::ordered::OrderedEvent;
    use crate::write::writer::{Form, Writer};

    /// A number that looks random.
    fn mixed(number: usize) -> usize {
        let mut mixed = number as u64 ^ 0x5bd1_e995;
        for _ in 0..3 {
            mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        (mixed >> 40) as usize
    }

    /// Part of an archive, whose blocks overlap those of other parts. Entries are missing before
    /// some events, and other parts have the same important events at slightly other times.
    fn part(magic: u64, part: u64) -> Vec<u8> {
        let mut file = Vec::new();
        let form = [Form::Blocks, Form::Plain][usize::from(part % 3 == 2)];
        let mut writer = Writer::new(&mut file, magic, form);
        for i in 0..200 {
            let at = 1 + i + i * 7_919 % 60;
            let is_important = i % 16 == 7;
            let event = RawEvent {
                ticks: Some(at),
                unix_nanos: Some(1_000 + 10 * at + if is_important { 3 * i + part } else { 0 }),
                lane: Some(if is_important {
                    IMPORTANT_LANE.into()
                } else {
                    i % 2
                }),
                number: Some(part * 1_000 * u64::from(!is_important) + i),
                args: vec![(part * 1_000 + i) as i64; 6],
                ..RawEvent::default()
            };
            if !is_important && i % 35 == 3 {
                writer.gap(&event, 1 + i, part).unwrap();
            }
            writer.event(&event).unwrap();
            if i % 50 == 49 {
                writer.flush().unwrap();
            }
        }
        writer.flush().unwrap();
        file
    }

    /// Which events are wanted, by numbers that look random.
    struct Arbitrary;

    fn is_unit_wanted(unit: usize) -> bool {
        !mixed(unit).is_multiple_of(4)
    }

    fn is_place_wanted(unit: usize, place: usize) -> bool {
        !mixed(unit * 1_000 + place).is_multiple_of(3)
    }

    fn is_asked(unit: usize, place: usize) -> bool {
        mixed(unit * 1_000 + place).is_multiple_of(2)
    }

    fn is_event_wanted(event: &Event) -> bool {
        !mixed(event.time.map_or(0, |time| time.get() as usize)).is_multiple_of(3)
    }

    impl Select for Arbitrary {
        fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
            assert!(!unit.important);
            is_unit_wanted(unit.number)
        }

        fn choose(
            &mut self,
            unit: &UnitInfo,
            columns: Option<&mut BlockColumns<'_>>,
            places: &mut Places,
        ) {
            assert!(is_unit_wanted(unit.number) && !unit.important);
            assert_eq!(
                (columns.is_some(), places.len() as u64),
                (unit.block, unit.count)
            );
            let cleared = (0..places.len()).filter(|place| !is_place_wanted(unit.number, *place));
            cleared.for_each(|place| places.clear(place));
            let asked = (0..places.len()).filter(|place| is_asked(unit.number, *place));
            asked.for_each(|place| places.ask(place));
        }

        fn wants(&mut self, event: &Event) -> bool {
            is_event_wanted(event)
        }
    }

    fn id(event: &Event) -> Vec<u8> {
        event.payload.as_ref().unwrap().values.clone()
    }

    /// The unit and the place of each event.
    fn places(archive: &Archive) -> HashMap<Vec<u8>, (usize, usize)> {
        let (mut places, mut reader) = (HashMap::new(), archive.unit_reader());
        for unit in archive.units() {
            let mut events = Vec::new();
            assert_eq!(reader.read(unit.number, &mut events), 0);
            assert_eq!(events.len() as u64, unit.count);
            for (place, event) in events.iter().enumerate() {
                places.insert(id(event), (unit.number, place));
            }
        }
        assert_eq!(reader.read(archive.units().len(), &mut Vec::new()), 0);
        places
    }

    #[test]
    fn events_are_those_that_are_left_when_all_are_filtered() {
        let of_one_ring: Vec<_> = (0..12).map(|seed| part(1, seed)).collect();
        let of_several: Vec<_> = (0..12).map(|seed| part(seed % 4, seed)).collect();
        for parts in [of_one_ring, of_several] {
            let archive = Archive::from_bytes(parts.concat());
            let places = places(&archive);
            for order in [Order::OldestFirst, Order::NewestFirst] {
                let all = archive.events_by_time(order);
                // Passages are told of all events, not of those that are merged here.
                let alone = |event| Event {
                    passage: Passage::default(),
                    ..event
                };
                let (expected, others): (Vec<_>, Vec<_>) = all.map(alone).partition(|event| {
                    let (unit, place) = places[&id(event)];
                    let is_chosen = is_unit_wanted(unit) && is_place_wanted(unit, place);
                    match event.important {
                        true => is_event_wanted(event),
                        false if is_asked(unit, place) => is_chosen && is_event_wanted(event),
                        false => is_chosen,
                    }
                });
                let missed: u64 = others.iter().map(|event| event.missed).sum();
                assert!(expected.len() > 100 && others.len() > 100 && missed > 1_000);
                assert!(expected.iter().any(|event| event.missed > 0));
                assert!(others.iter().any(|event| event.important));
                for room in [usize::MAX, 100_000, 10_000, 0] {
                    let chosen = ByTime::<OrderedEvent>::with_room(&archive, order, room);
                    let mut chosen = chosen.chosen_by(EventChooser::by(Box::new(Arbitrary)));
                    let found: Vec<_> = chosen.by_ref().map(|ordered| ordered.event).collect();
                    assert!(found == expected, "{order:?} with {room} bytes");
                    assert_eq!((chosen.missed(), chosen.lost()), (missed, 0));
                }
            }
        }
    }

    /// Takes some places of blocks, and what is made of the others.
    struct Taker {
        taken: HashSet<(usize, usize)>,
        made: Vec<Vec<u8>>,
        most: usize,
    }

    impl UnitVisitor for Taker {
        fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
            assert!(!unit.important && is_unit_wanted(unit.number));
            unit.number != 5
        }

        fn take(
            &mut self,
            unit: &UnitInfo,
            columns: Option<&mut BlockColumns<'_>>,
            places: &mut Places,
        ) {
            if columns.is_none() {
                return;
            }
            let is_taken = |place: &usize| mixed(unit.number + place).is_multiple_of(2);
            let taken: Vec<usize> = places.iter().filter(is_taken).collect();
            for place in taken
                .into_iter()
                .filter(|place| !is_asked(unit.number, *place))
            {
                places.clear(place);
                self.taken.insert((unit.number, place));
            }
        }

        fn event(&mut self, event: Event) -> bool {
            if !event.important {
                self.made.push(id(&event));
            }
            self.made.len() < self.most
        }
    }

    #[test]
    fn what_a_visitor_leaves_is_made_and_nothing_comes_twice() {
        let parts: Vec<_> = (0..12).map(|seed| part(1, seed)).collect();
        let archive = Archive::from_bytes(parts.concat());
        let places = places(&archive);
        let taker = |most| Taker {
            taken: HashSet::new(),
            made: Vec::new(),
            most,
        };
        let mut all = taker(usize::MAX);
        let select = Box::new(Arbitrary);
        assert_eq!(archive.visit(Order::OldestFirst, Some(select), &mut all), 0);
        let (mut left, mut expected) = (0, 0);
        for event in archive.events_by_time_where(Order::OldestFirst, Box::new(Arbitrary)) {
            let place = places[&id(&event)];
            if event.important || place.0 == 5 || all.taken.contains(&place) {
                left += 1;
                continue;
            }
            assert_eq!(all.made.get(expected), Some(&id(&event)));
            expected += 1;
        }
        assert_eq!(all.made.len(), expected);
        assert!(expected > 100 && left > 100 && all.taken.len() > 100);
        // It ends where the visitor has enough.
        let mut some = taker(3);
        archive.visit(Order::OldestFirst, Some(Box::new(Arbitrary)), &mut some);
        assert_eq!(some.made, all.made[..3]);
        // Several threads, each with a visitor of its own, take the same.
        let together = Mutex::new(HashSet::new());
        archive.visit_ahead(|| (Arbitrary, Shared(&together)));
        assert_eq!(together.into_inner().unwrap(), all.taken);
    }

    /// A visitor of one of several threads.
    struct Shared<'t>(&'t Mutex<HashSet<(usize, usize)>>);

    impl UnitVisitor for Shared<'_> {
        fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
            unit.number != 5
        }

        fn take(
            &mut self,
            unit: &UnitInfo,
            columns: Option<&mut BlockColumns<'_>>,
            places: &mut Places,
        ) {
            let mut taker = Taker {
                taken: HashSet::new(),
                made: Vec::new(),
                most: 0,
            };
            taker.take(unit, columns, places);
            self.0.lock().unwrap().extend(taker.taken);
        }

        fn event(&mut self, _: Event) -> bool {
            panic!("nobody gets what visitors leave");
        }
    }
}
