//! Tests that the newest events of a rotated archive are the same as those of the whole.
//! No more files are read than may hold one of them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use timeline::{Event, Order};
use timeline_archive::{Archive, Form, Preamble, RawEvent, Writer};

/// Nanoseconds since the epoch at the first event.
const BEGIN: u64 = 1_700_000_000_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// What is behind a second at each event.
const FRACTION: u64 = SECOND / 10 * 9;

/// A file with events of a ring at these seconds, as it was changed last at the last of them or
/// some seconds later.
fn write(folder: &Path, number: usize, magic: u64, seconds: &[u64], later: u64) -> PathBuf {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, magic, Form::Blocks);
    writer.preamble(&Preamble {
        magic: Some(magic),
        timeline: Some("/timeline".into()),
        ..Preamble::default()
    });
    let format = writer.string("number $n");
    for second in seconds {
        let mut event = RawEvent {
            // Each ring has a clock of its own.
            ticks: Some(second * SECOND + magic * 1_000_000),
            unix_nanos: Some(BEGIN + second * SECOND + FRACTION),
            args: vec![*second as i64, number as i64],
            ..RawEvent::default()
        };
        event.definition.format = Some(format);
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    let path = folder.join(format!("timeline-{number:06}.tla"));
    fs::write(&path, file).unwrap();
    let last = seconds.iter().max().copied().unwrap_or(0) + later;
    changed(&path, BEGIN + last * SECOND + FRACTION);
    path
}

fn changed(path: &Path, at: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_nanos(at))
        .unwrap();
}

fn newest(archive: &Archive, count: usize) -> Vec<Event> {
    archive
        .events_by_time(Order::NewestFirst)
        .take(count)
        .collect()
}

fn said(events: &[Event]) -> Vec<(u64, [i64; 4])> {
    let said = |event: &Event| (event.time.map_or(0, Into::into), event.args);
    events.iter().map(said).collect()
}

fn file() -> impl Strategy<Value = (u64, Vec<u64>, u64, u64)> {
    let seconds = prop_oneof![
        // As one file follows upon the other, or at any time.
        proptest::collection::vec(0..1_000_000u64, 0..6),
        (0..1_000_000u64).prop_map(|at| (at..at + 5).collect()),
    ];
    let later = prop_oneof![3 => Just(0u64), 1 => 0..9u64, 1 => Just(10_000_000)];
    (1..3u64, seconds, later, 0..3u64)
}

proptest! {
    #[test]
    fn the_newest_are_those_of_the_whole(
        files in proptest::collection::vec(file(), 1..12),
        gaps in proptest::collection::vec(1..4usize, 12),
        count in 0..12usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut number = 0;
        for ((magic, seconds, later, cut), gap) in files.iter().zip(&gaps) {
            number += gap;
            let path = write(folder.path(), number, *magic, seconds, *later);
            // As what copies files cuts off what it does not keep: to seconds, or to even ones.
            let at = fs::metadata(&path).unwrap().modified().unwrap();
            let at = at.duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
            if *cut > 0 {
                changed(&path, at - at % (cut * SECOND));
            }
        }
        let whole = Archive::open(folder.path()).unwrap();
        let part = Archive::open_newest(folder.path(), count).unwrap();
        prop_assert_eq!(said(&newest(&part, count)), said(&newest(&whole, count)));
    }
}

/// How many files are read for so many events.
fn read(folder: &Path, count: usize) -> usize {
    let archive = Archive::open_newest(folder, count).unwrap();
    assert_eq!(newest(&archive, count).len(), count);
    archive.bytes().files().count()
}

#[test]
fn only_files_that_may_hold_one_are_read() {
    let folder = tempfile::tempdir().unwrap();
    // 500 files of 100 seconds each.
    for number in 0..500 {
        let begin = number as u64 * 100;
        let seconds: Vec<u64> = (begin..begin + 100).collect();
        write(folder.path(), number + 1, 7, &seconds, 0);
    }
    assert_eq!(read(folder.path(), 1), 1);
    assert_eq!(read(folder.path(), 90), 1);
    let some = read(folder.path(), 1_000);
    assert!((11..=24).contains(&some), "{some}");
    // One that was begun and no more.
    write(folder.path(), 501, 7, &[], 0);
    changed(
        &folder.path().join("timeline-000501.tla"),
        BEGIN + 50_000 * SECOND,
    );
    assert_eq!(read(folder.path(), 1), 2);
    // One that was copied later is looked into, too.
    changed(
        &folder.path().join("timeline-000100.tla"),
        BEGIN + 90_000 * SECOND,
    );
    let some = read(folder.path(), 1);
    assert!((3..=4).contains(&some), "{some}");
}

#[test]
fn the_command_reads_no_more_than_it_shows() {
    let folder = tempfile::tempdir().unwrap();
    for number in 1..=300 {
        let second = number as u64 * 100;
        write(folder.path(), number, 7, &[second, second + 50], 0);
        if number < 299 {
            // Would be told if it was read.
            let path = folder.path().join(format!("timeline-{number:06}.tla"));
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x55;
            fs::write(&path, bytes).unwrap();
            changed(&path, BEGIN + (second + 50) * SECOND);
        }
    }
    let dump = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let output = command
            .args(["dump", "--json"])
            .arg(folder.path())
            .args(more)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let status = output.status.code();
        (text(output.stdout), text(output.stderr), status)
    };
    let (whole, told, status) = dump(&[]);
    assert_eq!(status, Some(1));
    assert!(told.contains("belong to no whole frame"), "{told}");
    let (one, told, status) = dump(&["-n", "1"]);
    assert_eq!(status, Some(0), "no damage in what was asked for");
    assert_eq!(
        (one.trim_end(), told.as_str()),
        (whole.lines().next().unwrap(), "")
    );
    assert!(one.contains("number n(30050)"), "{one}");
}
