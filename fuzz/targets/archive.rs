//! Reads bytes as an archive, in every way of reading.
//! Whatever is whole must come out, and nothing that is not in the bytes.

use std::collections::BTreeSet;

use timeline::dump::{Newest, Table, Text};
use timeline::{Event, Order, Passage, Source};
use timeline_archive::{Archive, RecordedEvent};
use timeline_search::{Expression, Query};

use super::frames::{self, Frame};
use super::part_of;

/// Events that are looked at one by one: a few frames can hold very many.
const SHOWN: usize = 100;
/// With more events, a fuzzer would spend a second on an input that says nothing new.
const MANY: usize = 1_000;

/// Checks, of which a fuzzer makes one for each input.
const PARTS: [fn(&Read); 9] = [
    |read| each_event_is_of_its_frame(read),
    |read| texts_stand_in_the_file(read.bytes, &read.events),
    |read| all_ways_of_reading_agree(&read.archive, &read.events),
    |read| chosen_events_are_those_that_are_left(&read.archive, &queries()[..2]),
    |read| chosen_events_are_those_that_are_left(&read.archive, &queries()[2..]),
    |read| everything_can_be_shown(&read.archive),
    |read| repaired_it_is_the_same(&read.archive, &read.events),
    |read| lost_texts_are_looked_for(read),
    |read| in_pieces_it_is_the_same(read),
];

/// What was read of bytes.
struct Read<'a> {
    bytes: &'a [u8],
    frames: Vec<Frame>,
    archive: Archive,
    events: Vec<RecordedEvent>,
}

/// Reads them as an archive, and makes all checks.
pub fn run(bytes: &[u8]) {
    let read = read(bytes);
    for part in PARTS {
        part(&read);
    }
}

/// Reads them as an archive, and makes one of the checks if it has few events.
pub fn run_part(bytes: &[u8]) {
    let read = read(bytes);
    if read.events.len() <= MANY {
        PARTS[part_of(bytes, PARTS.len())](&read);
    }
}

fn read(bytes: &[u8]) -> Read<'_> {
    let archive = Archive::from_bytes(bytes);
    let frames = frames::whole(bytes);
    frames_and_damage_fill_the_file(&archive, bytes.len(), &frames);
    let events = archive.events().collect();
    Read {
        bytes,
        frames,
        archive,
        events,
    }
}

/// Wherever an archive says that its executables are, nothing else of it changes.
fn lost_texts_are_looked_for(read: &Read) {
    let mut archive = Archive::from_bytes(read.bytes);
    archive.recover(&["/dev/null".into()]);
    let found = archive.recovery().expect("it was asked for");
    assert!(found.recovered <= found.lost, "{found:?}");
    let count = archive.events().count();
    assert_eq!(count, read.events.len());
}

/// What comes in pieces, which are cut anywhere, is the same damage and the same events.
fn in_pieces_it_is_the_same(read: &Read) {
    let growing = Archive::from_bytes([]);
    let (mut inflow, mut came) = (growing.inflow(), Vec::new());
    for piece in read.bytes.chunks(read.bytes.len() / 7 + 1) {
        inflow.receive(piece);
        inflow.poll(&mut came);
    }
    inflow.end();
    while {
        inflow.poll(&mut came);
        inflow.is_behind()
    } {}
    assert_eq!(inflow.waiting(), 0);
    let damage = read.archive.damage().iter();
    let damaged: usize = damage.map(ExactSizeIterator::len).sum();
    assert_eq!(inflow.damaged(), damaged as u64);
    let all = read.archive.events_by_time(Order::OldestFirst);
    let key = |event: &Event| (event.ticks, event.time, event.args, event.important);
    let (mut all, mut came): (Vec<_>, Vec<_>) = (
        all.map(|event| key(&event)).collect(),
        came.iter().map(key).collect(),
    );
    all.sort_unstable();
    came.sort_unstable();
    assert_eq!(came, all);
}

fn is_block(bytes: &[u8], frame: &Frame) -> bool {
    // Its tag is 16, in one byte or in more.
    !matches!(bytes[frame.record.clone()].first(), Some(tag) if *tag != 0x10 && *tag < 0x80)
}

fn is_damaged(archive: &Archive, frame: &Frame) -> bool {
    let place = &frame.place;
    let hits =
        |damage: &&std::ops::Range<usize>| damage.start < place.end && place.start < damage.end;
    let hit = archive.damage().iter().find(hits);
    if let Some(damage) = hit {
        let within = damage.start <= place.start && place.end <= damage.end;
        assert!(within, "damage {damage:?} ends within the frame {place:?}");
    }
    hit.is_some()
}

fn frames_and_damage_fill_the_file(archive: &Archive, length: usize, frames: &[Frame]) {
    assert_eq!(archive.bytes().len(), length);
    let whole = frames.last().map_or(0, |frame| frame.place.end);
    assert_eq!(archive.whole(), whole);
    let damage = archive.damage();
    assert!(damage.iter().all(|d| d.start < d.end && d.end <= length));
    assert!(
        damage.windows(2).all(|two| two[0].end < two[1].start),
        "{damage:?}"
    );

    let sound = frames.iter().filter(|frame| !is_damaged(archive, frame));
    let sound: Vec<usize> = sound.map(|frame| frame.place.len()).collect();
    assert_eq!(archive.frames(), sound.len() as u64);
    let sound: usize = sound.iter().sum();
    let damaged: usize = damage.iter().map(ExactSizeIterator::len).sum();
    assert_eq!(sound + damaged, length, "neither damage nor a frame");
}

/// An event but for its texts, which may stand in other frames.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Numbers {
    // What orders events of several rings, in this order.
    unix_nanos: u64,
    ticks: u64,
    magic: u64,
    lane: u64,
    number: u64,
    known: [Option<u64>; 10],
    args: Vec<i64>,
    payload: Vec<u8>,
    backtrace: Vec<u64>,
}

fn numbers(event: &RecordedEvent) -> Numbers {
    let (definition, thread) = (&event.definition, &event.thread);
    Numbers {
        unix_nanos: event.unix_nanos.unwrap_or(0),
        ticks: event.ticks.unwrap_or(0),
        magic: definition.magic,
        lane: event.lane.unwrap_or(0),
        number: event.number.unwrap_or(0),
        known: [
            event.unix_nanos,
            event.ticks,
            event.lane,
            event.number,
            event.core,
            definition.line,
            definition.event,
            definition.priority.map(|priority| priority as u64),
            thread.tid,
            thread.pid,
        ],
        args: event.args.clone(),
        payload: event.payload.clone(),
        backtrace: event.backtrace.clone(),
    }
}

fn each_event_is_of_its_frame(read: &Read) {
    let Read { bytes, archive, .. } = read;
    let mut events = read.events.iter();
    for frame in &read.frames {
        let alone = Archive::from_bytes(&bytes[frame.place.clone()]);
        assert_eq!(alone.damage().is_empty(), !is_damaged(archive, frame));
        let mut count = 0;
        for event in alone.events() {
            let expected = events.next().map(numbers);
            assert_eq!(Some(numbers(&event)), expected, "in {:?}", frame.place);
            count += 1;
        }
        if !is_block(bytes, frame) {
            let is_event = bytes[frame.record.start] == 127 && alone.damage().is_empty();
            assert_eq!(count, usize::from(is_event), "in {:?}", frame.place);
        }
    }
    assert_eq!(events.next(), None, "of no frame");
    if read.frames.iter().all(|frame| !is_block(bytes, frame)) {
        single_events_come_in_order(archive, &read.events);
    }
}

fn texts_stand_in_the_file(bytes: &[u8], events: &[RecordedEvent]) {
    let texts = events.iter().take(SHOWN).flat_map(|event| {
        let (definition, thread) = (&event.definition, &event.thread);
        let said = [&definition.category, &definition.message, &definition.file];
        said.into_iter().chain([&thread.name, &thread.process])
    });
    let texts: BTreeSet<&str> = texts.flatten().map(|text| &**text).collect();
    for text in texts {
        let lost = text.starts_with("<string 0x") && text.ends_with("?>");
        // In place of what was no UTF-8.
        let mended = text.contains('\u{fffd}') || text.is_empty();
        let there = lost || mended || {
            let mut places = bytes.windows(text.len());
            places.any(|place| place == text.as_bytes())
        };
        assert!(there, "{text:?} was made up");
    }
}

fn all_ways_of_reading_agree(archive: &Archive, events: &[RecordedEvent]) {
    assert!(archive.events().eq(events.iter().cloned()), "read twice");
    let count = events.len() as u64;
    let (found, lost) = archive.recoverable();
    assert_eq!(found, count);
    assert!(found.saturating_add(lost) >= archive.count());

    let mut expected: Vec<Numbers> = events.iter().map(numbers).collect();
    expected.sort();
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let mut merged: Vec<Numbers> = archive.by_time(order).map(|e| numbers(&e)).collect();
        merged.sort();
        assert!(merged == expected, "{order:?}: other events");
        let mut plain = archive.events_by_time(order);
        assert_eq!(plain.by_ref().count() as u64, count, "{order:?}");
        assert_eq!(plain.lost(), lost, "{order:?}");
    }
    for event in events.iter().take(SHOWN) {
        assert!(
            archive
                .magics()
                .any(|magic| magic == event.definition.magic)
        );
    }
}

/// Of the columns of a block, and of what else is known of its events.
fn queries() -> [Query; 4] {
    let by = |text: &str| Query {
        expressions: vec![Expression::parse(text).expect("a condition")],
        ..Query::default()
    };
    [
        by("$0 > 5 || $1 < 0 && !($2 == 0)"),
        by("$1 == 'eth0' || bytes != 1500 || $0 >= $1"),
        Query {
            categories: vec!["*e*".into()],
            threads: vec!["*r*".into(), "7".into()],
            ..Query::default()
        },
        Query {
            cores: vec![0..=2, 7..=7],
            ..by("!$3")
        },
    ]
}

/// Filters on columns choose what is left when all events are made and filtered.
fn chosen_events_are_those_that_are_left(archive: &Archive, queries: &[Query]) {
    // Of a block that says it has important ones, these may be others: each comes once.
    let all: Vec<Event> = archive.events_by_time(Order::OldestFirst).collect();
    let is_usual = |event: &&Event| !event.important;
    // What of a unit is lost is known once it is read: from there on its events are in no passage.
    let as_text = |event: &Event| {
        let event = Event {
            passage: Passage::default(),
            ..event.clone()
        };
        format!("{event:?}")
    };
    for query in queries {
        let mut filter = query.on(archive);
        let usual = all.iter().filter(is_usual);
        let mut expected: Vec<_> = usual
            .filter(|event| filter.matches(event))
            .map(as_text)
            .collect();
        let select = Box::new(query.on(archive));
        let mut chosen = archive.events_by_time_where(Order::OldestFirst, select);
        let found: Vec<Event> = chosen.by_ref().collect();
        let mut found: Vec<_> = found.iter().filter(is_usual).map(as_text).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert!(found == expected, "{query:?}");
        assert!(chosen.lost() <= archive.recoverable().1, "{query:?}");
    }
}

/// Blocks may lie about their times; what the events say themselves orders them.
fn single_events_come_in_order(archive: &Archive, events: &[RecordedEvent]) {
    let one_ring = archive.magics().count() < 2;
    let mut sorted = events.to_vec();
    sorted.sort_by_key(|event| {
        let Numbers {
            unix_nanos,
            ticks,
            magic,
            lane,
            number,
            ..
        } = numbers(event);
        (
            if one_ring { 0 } else { unix_nanos },
            ticks,
            magic,
            lane,
            number,
        )
    });
    assert!(
        archive
            .by_time(Order::OldestFirst)
            .eq(sorted.iter().cloned())
    );
    sorted.reverse();
    assert!(archive.by_time(Order::NewestFirst).eq(sorted));
}

fn everything_can_be_shown(archive: &Archive) {
    let known = archive.definitions().count();
    let mut text = Text::new();
    let mut table = Table::new(archive);
    table.heading("", &mut text);
    let newest = Newest {
        events: archive.events_by_time(Order::NewestFirst),
        most: SHOWN,
        have_one_clock: |_: &Event, _: &Event| true,
    };
    let shown = newest.print(text, &mut std::io::sink(), |event, cycles, text| {
        table.row(event, cycles, |_, _| (), text);
        let _ = archive.thread(event);
        let _ = archive.time(event);
        for address in event.backtrace() {
            let _ = archive.frame(event, *address);
        }
        let _ = archive.definition(event.id);
    });
    shown.expect("a sink takes everything");
    assert_eq!(
        archive.definitions().count(),
        known,
        "reading defines nothing"
    );
    for program in archive.programs() {
        let _ = archive.preamble(program.magic.unwrap_or(0));
    }
}

fn repaired_it_is_the_same(archive: &Archive, events: &[RecordedEvent]) {
    let mut repaired = Vec::new();
    let copied = archive
        .copy(&mut repaired)
        .expect("memory takes everything");
    let damaged: usize = archive.damage().iter().map(ExactSizeIterator::len).sum();
    assert_eq!(copied.bytes, repaired.len() as u64);
    assert_eq!(copied.left_out, damaged as u64);

    let whole = Archive::from_bytes(repaired.clone());
    assert!(whole.damage().is_empty(), "{:?}", whole.damage());
    assert!(whole.events().eq(events.iter().cloned()), "repaired");
    assert_eq!(whole.programs(), archive.programs());
    assert_eq!(whole.recoverable(), archive.recoverable());
    assert_eq!(
        (whole.missed(), whole.unknown(), whole.count()),
        (archive.missed(), archive.unknown(), archive.count())
    );

    // What is gone from one may be told in the other, or in neither.
    let alone = |event: RecordedEvent| RecordedEvent { missed: 0, ..event };
    let twice = Archive::from_bytes([repaired.as_slice(), &repaired].concat());
    let both = events.iter().chain(events).cloned();
    assert!(twice.events().map(alone).eq(both.map(alone)), "joined");
}
