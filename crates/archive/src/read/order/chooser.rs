//! Asks a [`Select`] while units are read, and counts what is missing before events left out.

use crate::read::choice::select::{Select, UnitChoice};
use crate::read::loss::gaps::Gap;
use crate::read::open::decode::Decoder;
use crate::read::units::form::DecodedEvent;
use crate::read::units::unit::Unit;

/// The wanted events of an archive: all, or those that somebody chooses.
#[derive(Default)]
pub struct EventChooser<'a> {
    select: Option<Box<dyn Select + 'a>>,
    /// How many entries are missing right before events that are not wanted.
    missed: u64,
}

impl<'a> EventChooser<'a> {
    pub fn by(select: Box<dyn Select + 'a>) -> EventChooser<'a> {
        EventChooser {
            select: Some(select),
            missed: 0,
        }
    }

    /// How many entries are missing right before events that are not wanted.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Whether a unit may have wanted events.
    pub fn wants_unit(&mut self, unit: &Unit, number: usize) -> bool {
        let Some(select) = &mut self.select else {
            return true;
        };
        let is_wanted = unit.important || select.wants_unit(&unit.info(number));
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
        let Some(select) = self.select.as_mut().filter(|_| !unit.important) else {
            return decoder.decode(unit, events);
        };
        let mut choice = UnitChoice::new(&mut **select, unit.info(number), unit.gap);
        let lost = decoder.decode_chosen(unit, &mut choice, events);
        let missed = choice.missed();
        // Not once more, if the unit is read again.
        if is_first {
            self.miss(missed);
        }
        lost
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
    use std::collections::HashMap;

    use timeline::internal::layout::words::IMPORTANT_LANE;
    use timeline::{Event, Order, Passage};

    use super::*;
    use crate::format::event::RawEvent;
    use crate::read::choice::columns::BlockColumns;
    use crate::read::choice::select::Places;
    use crate::read::open::archive::Archive;
    use crate::read::order::merge::ByTime;
    use crate::read::units::ordered::OrderedEvent;
    use crate::read::units::unit::UnitInfo;
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
                    let select = Box::new((Box::new(Arbitrary) as Box<dyn Select>, Arbitrary));
                    let chosen = ByTime::<OrderedEvent>::with_room(&archive, order, room);
                    let mut chosen = chosen.chosen_by(select);
                    let found: Vec<_> = chosen.by_ref().map(|ordered| ordered.event).collect();
                    assert!(found == expected, "{order:?} with {room} bytes");
                    assert_eq!((chosen.missed(), chosen.lost()), (missed, 0));
                }
            }
        }
    }
}
