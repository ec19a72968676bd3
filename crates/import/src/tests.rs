//! Property tests: whatever is imported comes back.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use proptest::prelude::*;
use timeline_archive::{Archive, Preamble};

use super::{CLOCK, Importer, LineWriter};

const MAGIC: u64 = 7;

/// The 23rd of November 2026, 14:03:07.
fn written() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_442_587)
}

fn preamble() -> Preamble {
    Preamble {
        magic: Some(MAGIC),
        clock: Some(CLOCK.into()),
        ..Preamble::default()
    }
}

/// The archive of a log, of which so many bytes are read at once.
pub fn import(log: &[u8], most: usize) -> Archive {
    import_all(&[log], most)
}

/// The archive of several logs.
fn import_all(logs: &[&[u8]], most: usize) -> Archive {
    let mut file = Vec::new();
    let zone = TimeZone::fixed(jiff::tz::offset(1));
    let mut importer = Importer::new(&mut file, preamble(), zone).unwrap();
    for log in logs {
        let mut input = importer.begin("a.log", written());
        for piece in log.chunks(most) {
            let mut piece = piece;
            while importer.read(&mut input, &mut piece).unwrap() > 0 {}
        }
        importer.end(&mut input).unwrap();
    }
    importer.flush().unwrap();
    drop(importer);
    Archive::from_bytes(file)
}

pub fn exported(archive: &Archive) -> Vec<u8> {
    let (mut writer, mut out) = (LineWriter::default(), Vec::new());
    for event in archive.events() {
        writer.write(&event, &mut out);
    }
    out
}

/// Lines of a few kinds that come again and again, with anything in between.
fn log() -> impl Strategy<Value = Vec<u8>> {
    let anything = proptest::collection::vec(
        prop_oneof![
            Just(b'%'),
            Just(0),
            Just(b'\r'),
            Just(0xff),
            Just(0xc3),
            Just(b' '),
            Just(b'['),
            b'0'..=b'9',
            b'a'..=b'g',
            Just(b'-'),
            Just(b':'),
            any::<u8>(),
        ],
        0..40,
    );
    let kind = prop_oneof![
        "got [0-9]{1,20} of 0x[0-9a-f]{1,17} at [0-9A-F]{4}%",
        "2026-11-2[0-9]T14:0[0-9]:07(\\.[0-9]{3})?(Z|\\+01:00)? (INFO|WARN) [a-z]{2} [0-9]",
        "Nov [ 1-3][0-9] 14:03:0[0-9] host x\\[[0-9]{1,3}\\]: user [a-d] did",
        "<[0-9]{1,2}>1 2026-11-23T14:03:07Z - [a-f0-9]{6,8}",
        "\\[ {0,4}[0-9]{1,5}\\.[0-9]{6}\\] usb [0-9]-[0-9]: é",
        "[EWIF]1123 14:03:07\\.[0-9]{6} [0-9]{1,2} main.c:[0-9]{1,3}\\] x",
        "10\\.0\\.[0-9]{1,3}\\.[0-9]{1,4} - \\[23/Nov/2026:14:03:0[0-9] \\+0000\\] \"GET /[a-c]\"",
        "1795442587(\\.[0-9]{1,9}|[0-9]{3})? up",
        "usage: %{1,3}n",
        "(9999999999|18000000000|0|\\[    0\\.000000\\]|2354-07-21T23:39:33Z) far",
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}( [0-9]){0,40}",
    ];
    let line = prop_oneof![
        4 => kind.prop_map(String::into_bytes),
        1 => anything,
    ];
    let lines = proptest::collection::vec(line, 1..12);
    let order = proptest::collection::vec(any::<prop::sample::Index>(), 0..400);
    let end = prop_oneof![Just(&b""[..]), Just(&b"\n"[..]), Just(&b"\r\n"[..])];
    (lines, order, end).prop_map(|(lines, order, end)| {
        let picked: Vec<_> = order.iter().map(|at| at.get(&lines).clone()).collect();
        [picked.join(&b"\n"[..]), end.to_vec()].concat()
    })
}

#[test]
fn lines_of_many_numbers_come_back() {
    for count in [30, 31, 32, 33, 200, 20_000] {
        let numbers: Vec<String> = (0..count).map(|n| (n + 10_000).to_string()).collect();
        let line = numbers.join(" ");
        for end in ["", "\n"] {
            let log = format!("{line}\n").repeat(20) + &line + end;
            assert_eq!(exported(&import(log.as_bytes(), 4096)), log.as_bytes());
            // If many lines have no line feed, a definition is made for them.
            let file = line.clone() + end;
            let files = [file.as_bytes(); 20];
            assert_eq!(exported(&import_all(&files, 4096)), files.concat());
        }
    }
}

#[test]
fn lines_that_end_like_a_conversion_come_back() {
    for ending in ["%n", "%%n", "%%%n", "n", "%"] {
        let log = format!("usage: {ending}\n").repeat(20);
        assert_eq!(exported(&import(log.as_bytes(), 4096)), log.as_bytes());
    }
}

#[test]
fn times_that_are_centuries_apart_come_back() {
    for (first, second) in [
        ("2354-07-21T23:39:33Z a", "2026-11-23T14:03:07Z b"),
        ("9999999999 a", "[    0.000000] b"),
        ("1970-01-01T00:00:00Z a", "2554-07-21T23:34:33Z b"),
    ] {
        for log in [
            format!("{first}\n{second}\n"),
            format!("{second}\n{first}\n"),
        ] {
            assert_eq!(exported(&import(log.as_bytes(), 4096)), log.as_bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_log_comes_back(log in log(), most in 1..2000_usize) {
        let archive = import(&log, most);
        prop_assert!(archive.damage().is_empty());
        prop_assert_eq!(exported(&archive), log);
    }
}

#[test]
fn long_lines_and_lines_without_an_end_come_back() {
    let long = |length| vec![b'7'; length];
    for log in [
        vec![],
        b"\n".to_vec(),
        b"\n\n\n".to_vec(),
        b"no end".to_vec(),
        [long(70_000), b"\nshort\n".to_vec(), long(3 << 20)].concat(),
        [
            long(super::lines::MOST),
            b"\n".to_vec(),
            long(super::lines::MOST),
        ]
        .concat(),
        b"a %s b %n\n%n".to_vec(),
        "word ".repeat(2000).into_bytes(),
    ] {
        for most in [1000, 1 << 20] {
            assert_eq!(exported(&import(&log, most)), log);
        }
    }
}

#[test]
fn words_that_differ_become_values() {
    let users: Vec<_> = (b'a'..=b'z')
        .flat_map(|a| (b'a'..=b'z').map(move |b| [a, b]))
        .collect();
    let line = |number: usize| {
        let user = String::from_utf8_lossy(&users[number % users.len()]).into_owned();
        format!("user {user} logged in from host {}\n", number % 7)
    };
    let log: String = (0..3000).map(line).collect();
    let archive = import(log.as_bytes(), 1 << 20);
    assert_eq!(exported(&archive), log.as_bytes());
    let mut formats: Vec<_> = archive
        .events()
        .filter_map(|event| event.definition.message.clone())
        .collect();
    formats.sort();
    formats.dedup();
    assert_eq!(formats, ["user %s logged in from host %lu".into()]);
}

#[test]
fn blocks_that_compress_too_well_are_read() {
    let log = "the same again\n".repeat(200_000);
    let archive = import(log.as_bytes(), 1 << 20);
    assert_eq!(exported(&archive), log.as_bytes());
    assert!(archive.bytes().len() < log.len() / 50);
}
