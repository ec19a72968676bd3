//! Tests what a reader gives of a file that is changed while the archive is open, or was checked.

use std::fs;

use timeline::Order;
use timeline_archive::{Archive, Form, RawDefinition, RawEvent, RawThread, Writer};

use crate::samples::frames;

#[test]
fn a_file_that_is_changed_after_it_was_opened_loses_what_was_changed() {
    let mut content = Vec::new();
    let mut writer = Writer::new(&mut content, 7, Form::Plain);
    for i in 0..100 {
        let event = RawEvent {
            ticks: Some(i),
            args: vec![i as i64; 4],
            ..RawEvent::default()
        };
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.tla");
    fs::write(&path, &content).unwrap();
    let archive = Archive::open(&path).unwrap();
    let expected: Vec<_> = archive.events().collect();
    // The last argument of an event: nothing but a checksum tells.
    let (place, _) = frames(&content)[40].clone();
    content[place.end - 1] ^= 1;
    fs::write(&path, &content).unwrap();
    let changed: Vec<_> = archive.events().collect();
    assert_eq!(changed.len(), 99);
    assert!(changed.iter().all(|event| expected.contains(event)));
    assert_eq!(archive.recoverable(), (99, 1));
}

/// The file of a recorder of this ring: events with these ticks that are alike.
fn alike(magic: u64, ticks: std::ops::Range<u64>) -> Vec<u8> {
    let mut content = Vec::new();
    let mut writer = Writer::new(&mut content, magic, Form::Plain);
    for ticks in ticks {
        let event = RawEvent {
            definition: RawDefinition {
                event: Some(3),
                ..RawDefinition::default()
            },
            thread: RawThread {
                tid: Some(2),
                pid: Some(1),
                ..RawThread::default()
            },
            ticks: Some(1 << 40 | ticks),
            unix_nanos: Some(1 << 60 | ticks),
            core: Some(1),
            lane: Some(1),
            args: vec![ticks as i64 % 100; 2],
            ..RawEvent::default()
        };
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    content
}

/// Several times as many events as are read at once.
const MANY: u64 = 10_000;

#[test]
fn events_that_only_differ_in_their_rings_stay_apart() {
    let rings = [(7, 0), (8, MANY), (7, 2 * MANY)];
    let files = rings.map(|(magic, first)| alike(magic, first..first + MANY));
    let archive = Archive::from_bytes(files.concat());
    // From the end, where the last ring took the place of the others in what a reader knows.
    let mut events = archive.by_time(Order::NewestFirst);
    for (magic, first) in rings.into_iter().rev() {
        for ticks in (first..first + MANY).rev() {
            let event = events.next().expect("it was written");
            let expected = (magic, Some(1 << 40 | ticks));
            assert_eq!((event.definition.magic, event.ticks), expected);
        }
    }
    assert_eq!(events.count(), 0);
}

#[test]
fn a_string_that_looks_like_an_event_between_events_is_none() {
    let mut content = alike(7, 0..MANY);
    let (place, _) = frames(&content)[MANY as usize * 2 / 3].clone();
    // What is behind the begin of the list of arguments, all of it characters.
    let [end, ..] = content[place.clone()]
        .rsplitn(2, |byte| *byte == 0x92)
        .collect::<Vec<_>>()[..]
    else {
        panic!("it has two arguments");
    };
    let end = str::from_utf8(end).unwrap().to_owned();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Plain);
    for length in 0..100 {
        let mut event = RawEvent::default();
        event.definition.format = Some(writer.string(&("a".repeat(length) + &end)));
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    let strings = frames(&file).into_iter().filter(|(_, tag)| *tag == 1);
    let strings: Vec<u8> = strings
        .flat_map(|(place, _)| file[place].to_vec())
        .collect();
    assert!(strings.len() > 5_000);
    let expected = Archive::from_bytes(content.clone());
    content.splice(place.start..place.start, strings);
    let archive = Archive::from_bytes(content);
    assert!(archive.events().eq(expected.events()));
}
