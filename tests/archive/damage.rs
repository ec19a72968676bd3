//! After damage, all events of undamaged frames come back, and none that was not there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use timeline::{Frame, Order, Source};
use timeline_archive::{Archive, EventText, Form, RecordedDefinition, RecordedEvent, Writer};

use crate::samples::{archive, frame_at, framed, frames, symbol};

fn events(file: &[u8]) -> Vec<RecordedEvent> {
    Archive::from_bytes(file).events().collect()
}

/// The record of what a writer writes when it is given one thing.
fn record_of(magic: u64, write: impl FnOnce(&mut Writer<&mut Vec<u8>>)) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, magic, Form::Plain);
    write(&mut writer);
    writer.flush().unwrap();
    frame_at(&file, 0).expect("a frame").1.to_vec()
}

/// An archive, and what each of its records holds, so that any file of some of them has one right
/// reading.
struct Sample {
    file: Vec<u8>,
    /// The events of each record.
    events: HashMap<Vec<u8>, Vec<RecordedEvent>>,
    /// The record of each string, and its number.
    strings: HashMap<(u64, String), (Vec<u8>, u64)>,
    /// The record of each symbol.
    symbols: HashMap<(u64, u64), Vec<u8>>,
}

impl Sample {
    fn new(file: Vec<u8>) -> Sample {
        let mut sample = Sample {
            file,
            events: HashMap::new(),
            strings: HashMap::new(),
            symbols: HashMap::new(),
        };
        let mut before = 0;
        for (place, _) in frames(&sample.file) {
            let mut until = events(&sample.file[..place.end]);
            let inside = until.split_off(before);
            before += inside.len();
            for event in &inside {
                sample.learn(event);
            }
            let (_, record) = frame_at(&sample.file, place.start).expect("a frame");
            sample.events.insert(record.to_vec(), inside);
        }
        sample
    }

    /// Notes what an event refers to.
    fn learn(&mut self, event: &RecordedEvent) {
        let (magic, definition) = (event.definition.magic, &event.definition);
        let texts = [
            &definition.category,
            &definition.message,
            &definition.file,
            &event.thread.name,
            &event.thread.process,
        ];
        for text in texts.into_iter().flatten() {
            let mut id = 0;
            let record = record_of(magic, |writer| id = writer.string(text));
            let key = (magic, text.to_string());
            self.strings.insert(key, (record, id));
        }
        for address in &event.backtrace {
            let record = record_of(magic, |w| w.symbol(Some(100), &symbol(*address)));
            self.symbols.insert((magic, *address), record);
        }
    }

    /// An event as it is shown when only these records are there.
    fn shown(&self, event: &RecordedEvent, there: &HashSet<&[u8]>) -> RecordedEvent {
        let magic = event.definition.magic;
        let text = |text: &Option<EventText>| {
            let text = text.as_deref()?;
            let (record, id) = &self.strings[&(magic, text.to_string())];
            let whole = there.contains(record.as_slice());
            let lost = || EventText::from(format!("<string {id:#x}?>"));
            Some(if whole { EventText::from(text) } else { lost() })
        };
        let mut event = event.clone();
        let definition = Arc::make_mut(&mut event.definition);
        *definition = RecordedDefinition {
            category: text(&definition.category),
            message: text(&definition.message),
            file: text(&definition.file),
            channels: text(&definition.channels),
            ..definition.clone()
        };
        let thread = Arc::make_mut(&mut event.thread);
        (thread.name, thread.process) = (text(&thread.name), text(&thread.process));
        event.missed = 0;
        event
    }

    /// Reads a file of these records and of damage between them: all must be there, and nothing
    /// else.
    fn check(&self, file: &[u8]) -> Archive {
        let (mut records, mut at, mut damaged) = (Vec::new(), 0, 0);
        while at < file.len() {
            if let Some((end, record)) = frame_at(file, at) {
                records.push(record);
                at = end;
            } else {
                (at, damaged) = (at + 1, damaged + 1);
            }
        }
        let there: HashSet<&[u8]> = records.iter().copied().collect();
        let expected = records
            .iter()
            .flat_map(|record| self.events.get(*record).expect("no record was made up"))
            .map(|event| self.shown(event, &there));
        let expected: Vec<_> = expected.collect();
        let read = Archive::from_bytes(file);
        // What is missing before an event, also as a record says, is tested in holes.rs.
        let found = read
            .events()
            .map(|event| RecordedEvent { missed: 0, ..event });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(read.frames(), records.len() as u64);
        let told: usize = read.damage().iter().map(|place| place.len()).sum();
        assert_eq!(told, damaged);
        for ((magic, address), record) in &self.symbols {
            let found = read.symbol(*magic, Some(100), *address);
            let expected = there.contains(record.as_slice()).then(|| symbol(*address));
            assert_eq!(
                found.and_then(|s| s.name.clone()),
                expected.and_then(|s| s.name)
            );
        }
        read
    }
}

fn samples(count: u64) -> [Sample; 2] {
    [Form::Plain, Form::Blocks].map(|form| Sample::new(archive(7, form, count)))
}

#[test]
fn a_sample_has_some_of_everything() {
    for sample in samples(24) {
        let tags: HashSet<u8> = frames(&sample.file).iter().map(|(_, tag)| *tag).collect();
        let events_in = if tags.contains(&16) { 16 } else { 127 };
        assert_eq!(tags, HashSet::from([0, 1, 2, 17, events_in]));
        let read = sample.check(&sample.file);
        let all: Vec<_> = read.events().collect();
        assert_eq!(all.len(), 24);
        assert!(all.iter().any(|e| !e.payload.is_empty()));
        assert!(all.iter().any(|e| !e.backtrace.is_empty()));
        assert!(all.iter().any(|e| !e.args.is_empty()));
        assert!(read.damage().is_empty());
        // As readers of rings see it.
        let first = read
            .events_by_time(Order::OldestFirst)
            .find(|e| !e.backtrace().is_empty());
        let first = first.expect("a call stack");
        let address = first.backtrace()[0];
        assert_eq!(read.frame(&first, address), Frame { ..symbol(address) });
    }
}

#[test]
fn every_byte_damaged_in_turn() {
    for sample in samples(13) {
        let frames = frames(&sample.file);
        let mut damaged = sample.file.clone();
        for flip in [0x01, 0x80, 0xff] {
            for at in 0..damaged.len() {
                damaged[at] ^= flip;
                let hit = frames.iter().find(|(place, _)| place.contains(&at));
                let (place, _) = hit.expect("every byte is in a frame");
                let read = sample.check(&damaged);
                assert_eq!(
                    read.damage(),
                    std::slice::from_ref(place),
                    "byte {at} ^ {flip:#x}"
                );
                damaged[at] ^= flip;
            }
        }
    }
}

#[test]
fn cut_at_every_length() {
    for sample in samples(13) {
        let frames = frames(&sample.file);
        for cut in 0..sample.file.len() {
            let whole = frames.iter().take_while(|(place, _)| place.end <= cut);
            let end = whole.last().map_or(0, |(place, _)| place.end);
            let read = sample.check(&sample.file[..cut]);
            assert_eq!(read.whole(), end);
            assert_eq!(read.damage().is_empty(), cut == end, "cut at {cut}");
        }
    }
}

#[test]
fn bytes_put_in_and_left_out_anywhere() {
    for sample in samples(5) {
        let (file, frames) = (&sample.file, frames(&sample.file));
        for at in 0..file.len() {
            for more in [&[0][..], &[0xc1], &[0xc1, 0xce], &file[..at.min(9)]] {
                let read = sample.check(&[&file[..at], more, &file[at..]].concat());
                assert!(read.frames() + 1 >= frames.len() as u64, "at {at}");
            }
            for less in [1, 2, 9] {
                let rest = &file[file.len().min(at + less)..];
                let read = sample.check(&[&file[..at], rest].concat());
                let hit = |(place, _): &&(std::ops::Range<usize>, u8)| {
                    place.start < at + less && at < place.end
                };
                let lost = frames.iter().filter(hit).count();
                assert_eq!(read.frames(), (frames.len() - lost) as u64, "at {at}");
            }
        }
    }
}

/// Harm that can come to a file, with where it comes as a fraction of the length.
#[derive(Debug, Clone)]
enum Harm {
    Written(f64, Vec<u8>),
    PutIn(f64, Vec<u8>),
    Removed(f64, usize),
    /// A part once more, elsewhere.
    Doubled(f64, usize, f64),
    Swapped(f64, f64),
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = || 0.0..1.0;
    let bytes = || prop::collection::vec(prop_oneof![any::<u8>(), Just(0xc1)], 1..20);
    prop_oneof![
        (at(), bytes()).prop_map(|(at, bytes)| Harm::Written(at, bytes)),
        (at(), bytes()).prop_map(|(at, bytes)| Harm::PutIn(at, bytes)),
        (at(), 1..300usize).prop_map(|(at, count)| Harm::Removed(at, count)),
        (at(), 1..900usize, at()).prop_map(|(at, n, to)| Harm::Doubled(at, n, to)),
        (at(), at()).prop_map(|(a, b)| Harm::Swapped(a, b)),
    ]
}

fn harmed(mut file: Vec<u8>, harm: &Harm) -> Vec<u8> {
    let length = file.len();
    let place = |at: f64| (at * length as f64) as usize;
    let some = |at: f64, count: usize| place(at)..length.min(place(at) + count);
    match harm {
        Harm::Written(at, bytes) => {
            let range = some(*at, bytes.len());
            let count = range.len();
            file[range].copy_from_slice(&bytes[..count]);
        }
        Harm::PutIn(at, bytes) => drop(file.splice(place(*at)..place(*at), bytes.clone())),
        Harm::Removed(at, count) => drop(file.drain(some(*at, *count))),
        Harm::Doubled(at, count, to) => {
            let part = file[some(*at, *count)].to_vec();
            drop(file.splice(place(*to)..place(*to), part));
        }
        Harm::Swapped(a, b) => {
            let (first, second) = (place(a.min(*b)), place(a.max(*b)));
            file[first..].rotate_left(second - first);
        }
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn any_harm_costs_only_the_frames_it_comes_to(harms in prop::collection::vec(harm(), 1..9)) {
        for sample in samples(24) {
            sample.check(&harms.iter().fold(sample.file.clone(), harmed));
        }
    }

    #[test]
    fn frames_in_any_order_and_number(
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        for sample in samples(24) {
            let frames = frames(&sample.file);
            let picked = picks.iter().map(|pick| &sample.file[pick.get(&frames).0.clone()]);
            let file = picked.collect::<Vec<_>>().concat();
            let read = sample.check(&file);
            prop_assert!(read.damage().is_empty());
            prop_assert_eq!(read.recoverable(), (read.events().count() as u64, 0));
            prop_assert_eq!(read.by_time(Order::OldestFirst).count(), read.events().count());
        }
    }
}

#[test]
fn archives_of_three_programs_without_the_first_preamble() {
    let parts = [
        archive(1, Form::Plain, 30),
        archive(2, Form::Blocks, 30),
        archive(3, Form::Blocks, 30),
    ];
    let sample = Sample::new(parts.concat());
    let orders: [&[usize]; 8] = [
        &[0, 1, 2],
        &[0, 2, 1],
        &[1, 0, 2],
        &[1, 2, 0],
        &[2, 0, 1],
        &[2, 1, 0],
        &[2, 2, 0, 1, 0],
        &[1],
    ];
    let mut merged = Vec::new();
    for order in orders {
        let mut file = order
            .iter()
            .map(|i| &parts[*i][..])
            .collect::<Vec<_>>()
            .concat();
        file[20] ^= 1;
        let read = sample.check(&file);
        let lost = order[0] as u64 + 1;
        let again = order[1..].contains(&order[0]);
        assert_eq!(read.preamble(lost).is_some(), again);
        for other in order.iter().filter(|i| **i != order[0]) {
            let magic = *other as u64 + 1;
            let path = read.preamble(magic).and_then(|p| p.path.clone());
            assert_eq!(path, Some(format!("/bin/program-{magic}")));
        }
        let programs: HashSet<_> = read.programs().iter().map(|p| p.magic).collect();
        let given: HashSet<_> = order.iter().map(|i| Some(*i as u64 + 1)).collect();
        assert_eq!(programs, given);
        assert_eq!(read.missed(), 3 * order.len() as u64);
        let mut sorted: Vec<_> = read.events().collect();
        sorted.sort_by_key(|e| (e.unix_nanos, e.ticks, e.definition.magic, e.lane, e.number));
        assert!(read.by_time(Order::OldestFirst).eq(sorted.iter().cloned()));
        sorted.reverse();
        assert!(read.by_time(Order::NewestFirst).eq(sorted.iter().cloned()));
        merged.push(sorted);
    }
    // The order of the files does not matter.
    assert!(merged[1..6].iter().all(|other| *other == merged[0]));
}

#[test]
fn a_lost_string_is_shown_by_its_number() {
    let file = archive(7, Form::Plain, 3);
    let (place, _) = &frames(&file)[2];
    let mut damaged = file.clone();
    damaged[place.end - 1] ^= 1;
    let found = events(&damaged);
    let lost = found[0].definition.file.as_deref().expect("a file");
    assert!(
        lost.starts_with("<string 0x") && lost.ends_with("?>"),
        "{lost}"
    );
    assert_eq!(found[0].definition.category.as_deref(), Some("net"));
    assert_eq!(events(&file)[0].definition.file.as_deref(), Some("main.c"));
}

#[test]
fn what_is_no_archive_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other");
    std::fs::write(&path, b"something else").unwrap();
    let error = Archive::open(&path).err().expect("no archive").to_string();
    assert!(error.contains("is not an archive"), "{error}");
    let ring = directory.path().join("ring");
    drop(timeline::Timeline::with_size(&ring, 1024, 4096).unwrap());
    let error = Archive::open(&ring).err().expect("a ring").to_string();
    assert!(error.contains("is a timeline or a snapshot"), "{error}");
    let error = Archive::open(directory.path().join("none"))
        .err()
        .expect("no file");
    assert_eq!(error.kind(), timeline::ErrorKind::NotFound);
    assert!(events(b"").is_empty());
}

#[test]
fn whole_frames_of_senseless_blocks_cost_only_themselves() {
    let after = archive(7, Form::Plain, 3);
    let block = |codec: &[u8; 3], expanded: u8, payload: &[u8]| {
        let head = [
            &[16, 0x84, 2, 0xa3][..],
            codec,
            &[3, expanded, 4, 5, 9, 0xc4],
        ]
        .concat();
        framed(&[&head[..], &[payload.len() as u8], payload].concat())
    };
    for senseless in [
        block(b"lz4", 100, &[0xff; 20]),
        block(b"lz4", 2, &[0x20, 0xff, 0xff]),
        block(b"new", 2, &[0x20, 0, 0]),
        framed(&[16, 0x81, 4, 5]),
        // Other codecs, no payload, places that are none; the tag as uint8.
        framed(&[16, 0x82, 4, 5, 2, 0xa3, b'l', b'z', b'4']),
        framed(&[0xcc, 16, 0x83, 4, 5, 10, 0x93, 1, 0xc0, 0xa1, b'x', 9, 0xc0]),
        framed(&[16, 0x83, 4, 5, 7, 0xff, 8, 0]),
    ] {
        let read = Archive::from_bytes([senseless, after.clone()].concat());
        assert!(read.damage().is_empty());
        assert_eq!(read.count(), 5 + 3);
        assert!(read.events().eq(events(&after)));
        assert_eq!(read.by_time(Order::NewestFirst).count(), 3);
    }
    // No msgpack at all: damage, although its sum is right.
    let read = Archive::from_bytes([framed(&[0xc1, 0]), after.clone()].concat());
    assert_eq!(read.damage().first(), Some(&(0..14)));
    assert_eq!(read.count(), 3);
}

#[test]
fn whole_frames_of_senseless_records_do_no_harm() {
    let after = archive(7, Form::Plain, 3);
    let deep = [&[127, 0x81, 10][..], &[0x91; 5_000], &[0xc0]].concat();
    let keys = [&[1, 0xdf, 0, 0, 0x10, 0][..], &[0x90; 0x2000]].concat();
    // Strings, symbols, processes and preambles of nothing or of the wrong types; missed without a
    // count; unknown tags.
    let senseless: [&[u8]; 14] = [
        &[1, 0x80],
        &[1, 0x82, 2, 0xc0, 3, 5],
        &[2, 0x81, 1, 7],
        &[2, 0x82, 2, 0xa1, b'x', 3, 0x90],
        &[0, 0x80],
        &[
            0, 0x83, 1, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0x91, 0x93, 1, 2, 3, 13, 5,
        ],
        &[17, 0x80],
        &[17, 0x82, 2, 0xd0, 0xff, 10, 0x91, 5],
        &[3, 0x82, 2, 0xa1, b'x', 7, 5],
        &[4, 0x82, 1, 0xc0, 2, 0xa1, b'x'],
        &[9, 0x81, 1],
        &[0xcd, 1, 0, 0xde, 0xff, 0xff],
        &[0xff, 0x80],
        &keys,
    ];
    for record in senseless {
        let read = Archive::from_bytes([framed(record), after.clone()].concat());
        assert!(read.damage().is_empty(), "{record:02x?}");
        assert!(read.events().eq(events(&after)), "{record:02x?}");
        assert_eq!(read.missed(), 3);
    }
    let read = Archive::from_bytes([framed(&deep), after.clone()].concat());
    assert_eq!(read.events().count(), 4);
    // More promised than is there: no record, although the frame is whole.
    let promises: [&[u8]; 9] = [
        &[],
        &[127],
        &[127, 0x81],
        &[127, 0x81, 10, 0xdd, 0xff, 0xff, 0xff, 0xff],
        &[127, 0x81, 4, 0xdd, 0x7f, 0xff, 0xff, 0xff, 1],
        &[0, 0x81, 9, 0xdd, 0xff, 0xff, 0xff, 0xff, 0x92, 1, 2],
        &[1, 0x81, 3, 0xdb, 0xff, 0xff, 0xff, 0xff, b'x'],
        &[16, 0x81, 9, 0xc6, 0xff, 0xff, 0xff, 0xff],
        &[127, 0xdf, 0xff, 0xff, 0xff, 0xff, 1, 1],
    ];
    for record in promises {
        let frame = framed(record);
        let read = Archive::from_bytes([frame.clone(), after.clone()].concat());
        assert_eq!(
            read.damage().first(),
            Some(&(0..frame.len())),
            "{record:02x?}"
        );
        assert!(read.events().eq(events(&after)), "{record:02x?}");
    }
}

#[test]
fn frames_within_damage_are_found_again() {
    // A payload that is a whole archive: hidden in its frame, and found when that one is damaged.
    let inner = archive(7, Form::Plain, 3);
    let outer = |inner: &[u8]| framed(&[&[127, 0x81, 10, 0x91, 0xc5, 4, 0][..], inner].concat());
    let mut padded = inner.clone();
    padded.resize(1_024, 0);
    let mut file = outer(&padded);
    let read = Archive::from_bytes(file.clone());
    assert_eq!((read.events().count(), read.missed()), (1, 0));
    file[3] ^= 1;
    let read = Archive::from_bytes(file);
    assert!(read.events().eq(events(&inner)));
}
