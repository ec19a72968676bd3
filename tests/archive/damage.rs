//! After damage, all events of undamaged frames come back, and none that was not there.

use timeline::Order;
use timeline::archive::{Archive, Form, Recorded};

use crate::support::{archive, frames, numbers};

fn events(file: &[u8]) -> Vec<Recorded> {
    Archive::from_bytes(file).events().collect()
}

/// The events of each frame.
fn events_by_frame(file: &[u8]) -> Vec<Vec<Recorded>> {
    let mut all = events(file).into_iter();
    let mut before = 0;
    let found = frames(file).into_iter().map(|(place, _)| {
        let until = events(&file[..place.end]).len();
        let count = until - std::mem::replace(&mut before, until);
        all.by_ref().take(count).collect()
    });
    found.collect()
}

#[test]
fn every_byte_damaged_in_turn() {
    for form in [Form::Plain, Form::Blocks] {
        let file = archive(7, form, 40);
        let (frames, by_frame) = (frames(&file), events_by_frame(&file));
        for flip in [0x01, 0x80, 0xff] {
            for at in 0..file.len() {
                let mut damaged = file.clone();
                damaged[at] ^= flip;
                let hit = frames.iter().position(|(place, _)| place.contains(&at));
                let hit = hit.expect("every byte is in a frame");
                let whole = by_frame.iter().enumerate().filter(|(i, _)| *i != hit);
                let expected: Vec<_> = whole.flat_map(|(_, events)| events).collect();
                let read = Archive::from_bytes(damaged);
                let found: Vec<_> = read.events().collect();
                assert_eq!(
                    found.iter().map(numbers).collect::<Vec<_>>(),
                    expected.iter().map(|e| numbers(e)).collect::<Vec<_>>(),
                    "{form:?}, byte {at} ^ {flip:#x}"
                );
                if frames[hit].1 != 1 {
                    assert!(found.iter().eq(expected), "{form:?}, byte {at} ^ {flip:#x}");
                }
                assert_eq!(read.damage(), [frames[hit].0.clone()]);
            }
        }
    }
}

#[test]
fn cut_at_every_length() {
    for form in [Form::Plain, Form::Blocks] {
        let file = archive(7, form, 40);
        let (frames, by_frame) = (frames(&file), events_by_frame(&file));
        for cut in 0..file.len() {
            let whole: Vec<_> = frames.iter().filter(|(f, _)| f.end <= cut).collect();
            let expected: Vec<_> = by_frame[..whole.len()].iter().flatten().collect();
            let read = Archive::from_bytes(&file[..cut]);
            assert!(
                read.events().eq(expected.into_iter().cloned()),
                "{form:?}, cut at {cut}"
            );
            let end = whole.last().map_or(0, |(place, _)| place.end);
            assert_eq!(read.whole(), end);
            assert_eq!(
                read.damage().is_empty(),
                cut == end,
                "{form:?}, cut at {cut}"
            );
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
    let expected: Vec<_> = parts.iter().flat_map(|part| events(part)).collect();
    let mut file = parts.concat();
    file[20] ^= 1;
    let read = Archive::from_bytes(file);
    assert!(read.events().eq(expected.clone()));
    assert!(read.preamble(1).is_none());
    let path = read.preamble(3).and_then(|p| p.path.clone());
    assert_eq!(path.as_deref(), Some("/bin/program-3"));
    assert_eq!(read.missed(), 9);

    // In any other order, nothing changes when they are merged.
    let [a, b, c] = &parts;
    let other = Archive::from_bytes([c.as_slice(), a, b].concat());
    for order in [Order::OldestFirst, Order::NewestFirst] {
        assert!(other.by_time(order).eq(read.by_time(order)));
    }
    let mut sorted = expected;
    sorted.sort_by_key(|e| (e.unix_nanos, e.ticks, e.statement.magic, e.lane, e.number));
    assert!(read.by_time(Order::OldestFirst).eq(sorted.iter().cloned()));
    sorted.reverse();
    assert!(read.by_time(Order::NewestFirst).eq(sorted));
}

#[test]
fn a_lost_string_is_shown_by_its_number() {
    let file = archive(7, Form::Plain, 3);
    let (place, _) = &frames(&file)[2];
    let mut damaged = file.clone();
    damaged[place.end - 1] ^= 1;
    let found = events(&damaged);
    let lost = found[0].statement.file.as_deref().expect("a file");
    assert!(
        lost.starts_with("<string 0x") && lost.ends_with("?>"),
        "{lost}"
    );
    assert_eq!(found[0].statement.category.as_deref(), Some("net"));
    assert_eq!(events(&file)[0].statement.file.as_deref(), Some("main.c"));
}

#[test]
fn what_is_no_archive_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other");
    std::fs::write(&path, b"something else").unwrap();
    let error = Archive::open(&path).err().expect("no archive").to_string();
    assert!(error.contains("is not an archive"), "{error}");
    let error = Archive::open(directory.path().join("none"))
        .err()
        .expect("no file");
    assert_eq!(error.kind(), timeline::ErrorKind::NotFound);
    assert!(events(b"").is_empty());
}

/// A whole frame around any record.
fn framed(record: &[u8]) -> Vec<u8> {
    let mut frame = vec![0xc1, 0xce];
    frame.extend(crc32fast::hash(record).to_be_bytes());
    frame.extend([0xc1, 0xda]);
    frame.extend((record.len() as u16).to_be_bytes());
    frame.extend(record);
    frame
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
    ] {
        let read = Archive::from_bytes([senseless, after.clone()].concat());
        assert!(read.damage().is_empty());
        assert_eq!(read.count(), 5 + 3);
        assert!(read.events().eq(events(&after)));
        assert_eq!(read.by_time(Order::NewestFirst).count(), 3);
    }
    // No msgpack at all: damage, although its sum is right.
    let read = Archive::from_bytes([framed(&[0xc1, 0]), after.clone()].concat());
    assert_eq!(read.damage().first(), Some(&(0..12)));
    assert_eq!(read.count(), 3);
}
