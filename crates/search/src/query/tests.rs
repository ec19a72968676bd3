//! Tests that columns choose what is found among all events, also of a part of each block.

use std::ops::Range;

use proptest::prelude::*;
use timeline::dump::Messages;
use timeline::{Event, Order};
use timeline_archive::{
    Archive, BlockColumns, Form, PRINTF, Places, RawEvent, Select, UnitInfo, Writer,
};

use super::*;

/// An event to be written: of which message, with which values, and whether its block ends.
type Logged = (usize, [i64; 3], &'static str, bool);

/// Messages, and whether they are formats of printf. The first two have values in the same columns.
const MESSAGES: [(&str, bool); 4] = [
    ("matched $bytes at $position, $distance back", false),
    ("got $bytes of $position", false),
    ("took %s ms in %ld of %ld", true),
    ("%ld, %s", true),
];

fn events() -> impl Strategy<Value = Vec<Logged>> {
    let number = || prop_oneof![4 => 0_i64..4, 1 => -300_i64..300, 1 => any::<i64>()];
    let text = prop::sample::select(vec!["", "1", "bytes(1)", "2 of 3", "a\nb"]);
    let event = (
        0..MESSAGES.len(),
        [number(), number(), number()],
        text,
        prop::bool::weighted(0.003),
    );
    prop::collection::vec(event, 1..400)
}

/// Writes each event at a time of its own.
fn archive(logged: &[Logged]) -> Archive {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, 7, Form::Blocks);
    for (number, (message, values, text, ends)) in (1..).zip(logged) {
        let mut event = RawEvent {
            ticks: Some(number),
            unix_nanos: Some(number),
            lane: Some(0),
            number: Some(number),
            ..RawEvent::default()
        };
        let (format, is_printf) = MESSAGES[*message];
        event.definition.format = Some(writer.string(format));
        if is_printf {
            event.definition.syntax = Some(PRINTF);
            let text = [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
            let numbers = values.map(|value| [&[0xd3][..], &value.to_be_bytes()].concat());
            event.payload = match message {
                2 => [&text[..], &numbers[0], &numbers[1]].concat(),
                _ => [&numbers[0], &text[..]].concat(),
            };
        } else {
            event.args = values[..3 - message].to_vec();
        }
        writer.event(&event).unwrap();
        if *ends {
            writer.flush().unwrap();
        }
    }
    writer.flush().unwrap();
    Archive::from_bytes(bytes)
}

/// Only wanted events in a range of places of each unit.
struct Part<'a>(Range<usize>, Filter<'a>);

impl Select for Part<'_> {
    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        places.clear_range(0..self.0.start);
        places.clear_range(self.0.end..places.len());
        if places.any() {
            self.1.choose(unit, columns, places);
        }
    }

    fn wants(&mut self, event: &Event) -> bool {
        self.1.wants(event)
    }
}

/// The times of the wanted events in a part of each unit, with nothing but the events themselves.
fn naive(archive: &Archive, query: &Query, part: &Range<usize>) -> Vec<u64> {
    let (mut filter, mut reader) = (query.on(archive), archive.unit_reader());
    let mut times = Vec::new();
    for unit in archive.units() {
        let mut events = Vec::new();
        assert_eq!(reader.read(unit.number, &mut events), 0);
        let wanted = events.iter().enumerate();
        let wanted = wanted.filter(|(place, _)| part.contains(place));
        let wanted = wanted.filter(|(_, event)| filter.matches(event));
        times.extend(wanted.filter_map(|(_, event)| event.time).map(u64::from));
    }
    times
}

/// Places of a unit: all, or some.
fn part() -> impl Strategy<Value = Range<usize>> {
    let some = (0..200_usize, 0..100_usize).prop_map(|(at, count)| at..at + count);
    prop_oneof![Just(0..usize::MAX), some]
}

/// Some of the last line of a message.
fn some_of(message: &str, start: usize, length: usize) -> String {
    let line = message.lines().last().unwrap_or_default();
    let start = start.min(line.len().saturating_sub(2));
    line.chars().skip(start).take(length).collect()
}

proptest! {
    #[test]
    fn columns_choose_what_is_found_among_all(
        logged in events(),
        part in part(),
        of in any::<prop::sample::Index>(),
        (start, length) in (0..40_usize, 1..30_usize),
        case in prop::sample::select(vec![Case::Sensitive, Case::Insensitive]),
        condition in prop::sample::select(vec!["", "position > 1", "bytes == 2 || distance < 1"]),
    ) {
        let archive = archive(&logged);
        let all: Vec<_> = archive.events_by_time(Order::OldestFirst).collect();
        prop_assert_eq!(all.len(), logged.len());
        let event = of.get(&all);
        let mut messages = Messages::new(&archive);
        let message = messages.text(event, archive.definition(event.id));
        let text = some_of(&message, start, length);
        let mut query = Query::default();
        query.texts.push(Needle::text(&text, case).unwrap());
        if !condition.is_empty() {
            query.expressions.push(Expression::parse(condition).unwrap());
        }
        let select = Box::new(Part(part.clone(), query.on(&archive)));
        let found = archive.events_by_time_where(Order::OldestFirst, select);
        let found: Vec<u64> = found.filter_map(|event| event.time).map(u64::from).collect();
        prop_assert_eq!(found, naive(&archive, &query, &part), "{:?} {}", text, condition);
    }
}
