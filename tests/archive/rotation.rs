//! Recording into a directory: files by size and time, each readable by itself, the oldest removed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use timeline_archive::Archive;

use crate::flight::{Flight, eventually, first_arguments, said, size, stack};
use crate::samples::{frame_at, frames};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_are_begun_by_size_and_each_can_be_read_alone() {
    for (form, count, purpose) in [
        (["--plain", "--rotate-size", "64K"], 30_000, "size-plain"),
        (
            ["--fsync=never", "--rotate-size", "64K"],
            200_000,
            "size-blocks",
        ),
    ] {
        let mut flight = Flight::of_files(purpose, 1 << 18);
        flight.log(count);
        let events = flight.land(&form);
        assert_eq!(first_arguments(&events), flight.expected());
        assert_eq!(mode(&flight.file()), 0o700);
        let files = flight.files();
        assert!(files.len() > 2, "{files:?}");
        for (number, file) in (1..).zip(&files) {
            assert_eq!(
                *file,
                flight.file().join(format!("timeline-{number:06}.tla"))
            );
            assert_eq!(mode(file), 0o600);
            assert!(size(file) <= 64 << 10, "{} bytes", size(file));
            let archive = Archive::open(file).unwrap();
            assert_eq!(archive.preambles().len(), 1);
        }
        // Nothing new: no new file either.
        flight.land(&form);
        assert_eq!(flight.files(), files);
    }
}

/// The tags of records that define something, those that hold events, and those that say where they
/// stand.
const DEFINITIONS: [u8; 2] = [1, 2];
const BLOCK: u8 = 16;
const EVENT: u8 = 127;

/// Fails if what a file refers to is not defined in it, once, and right before it is first referred
/// to.
fn defines_what_it_refers_to(file: &Path) {
    let bytes = fs::read(file).unwrap();
    let frames = frames(&bytes);
    assert_eq!(frames[0].1, 0, "a preamble first");
    let mut defined: Vec<&[u8]> = Vec::new();
    // The numbers of strings, and addresses, that were defined since the last event.
    let mut new: Vec<&[u8]> = Vec::new();
    for (place, tag) in &frames {
        let frame = &bytes[place.clone()];
        if DEFINITIONS.contains(tag) {
            assert!(!defined.contains(&frame), "defined twice in {file:?}");
            defined.push(frame);
            // Behind the tag and the head of the map: magic and number, or address, are fields 1
            // and 2, and of 64 bits.
            let (_, record) = frame_at(&bytes, place.start).unwrap();
            assert_eq!(
                (&record[2..4], &record[12..14]),
                (&[1, 0xcf][..], &[2, 0xcf][..])
            );
            new.push(&record[14..22]);
        } else if *tag == EVENT {
            for one in new.drain(..) {
                let refers = frame.windows(8).any(|eight| eight == one);
                assert!(refers, "a definition is before its event in {file:?}");
            }
        } else if *tag == BLOCK {
            let until = Archive::from_bytes(&bytes[..place.end]);
            resolves(&until, file);
        }
    }
    resolves(&Archive::open(file).unwrap(), file);
}

fn resolves(archive: &Archive, file: &Path) {
    for event in archive.events() {
        let (definition, thread) = (&event.definition, &event.thread);
        assert!(
            definition
                .message
                .as_deref()
                .is_some_and(|m| m.starts_with("number "))
        );
        assert_eq!(definition.category.as_deref(), Some("test"));
        assert!(thread.name.is_some() && thread.process.is_some());
        if !event.payload.is_empty() {
            assert_eq!(
                (definition.file.as_deref(), definition.line),
                (Some("test.c"), Some(7))
            );
        }
        for address in &event.backtrace {
            let symbol = archive.symbol(definition.magic, thread.pid, *address);
            let name = symbol.and_then(|symbol| symbol.name.as_deref());
            assert!(
                name.is_some_and(|name| name.contains("restart")),
                "{symbol:?} in {file:?}"
            );
        }
    }
}

#[test]
fn each_file_defines_what_it_refers_to_once_and_right_before_it() {
    for (form, purpose) in [
        (&["--plain", "--rotate-size", "64K"], "defines-plain"),
        (&["--fsync=never", "--rotate-size", "64K"], "defines-blocks"),
    ] {
        let mut flight = Flight::of_files(purpose, 1 << 15).mixed();
        // Over a restart of the recorder, too, which knows what the one before defined.
        for _ in 0..2 {
            let recorder = flight.start(form);
            flight.log(600);
            flight.until_recorded();
            assert!(recorder.stop(Signal::SIGTERM).0.success());
        }
        let events = flight.land(form);
        assert_eq!(first_arguments(&events), flight.expected());
        for (event, number) in events.iter().zip(0..) {
            let expected = if number % 3 == 2 {
                stack(number)
            } else {
                Vec::new()
            };
            assert_eq!(event.backtrace, expected);
        }
        let files = flight.files();
        assert!(files.len() > 2);
        for file in &files {
            assert!(size(file) <= 64 << 10, "{}", size(file));
            defines_what_it_refers_to(file);
        }
    }
}

#[test]
fn the_newest_file_is_enough_to_go_on() {
    let mut flight = Flight::of_files("newest", 1 << 15);
    let form = ["--plain", "--rotate-size", "64K"];
    flight.log(20_000);
    let recorder = flight.start(&form);
    flight.until_recorded();
    assert!(recorder.stop(Signal::SIGTERM).0.success());
    let mut files = flight.files();
    let newest = files.pop().unwrap();
    assert!(files.len() > 10);
    let first = first_arguments(&Archive::open(&newest).unwrap().events().collect::<Vec<_>>())[0];
    for file in files {
        fs::remove_file(file).unwrap();
    }
    flight.log(1_000);
    let events = flight.land(&form);
    let expected: Vec<i64> = (first..flight.logged).collect();
    assert_eq!(first_arguments(&events), expected);
    assert_eq!(flight.missed(), 0);
    assert!(!flight.file().join("timeline-000001.tla").exists());
}

#[test]
fn a_file_that_was_begun_and_no_more_is_begun_again() {
    let mut flight = Flight::of_files("begun", 1 << 12);
    let record = |flight: &Flight| {
        let recorder = flight.start(&["--plain"]);
        flight.until_recorded();
        assert!(recorder.stop(Signal::SIGTERM).0.success());
    };
    flight.log(100);
    record(&flight);
    let first = fs::read(&flight.files()[0]).unwrap();
    let preamble = frames(&first)[0].0.end;
    for (number, length) in (2..).zip([0, 1, 7, preamble / 2, preamble, preamble + 1]) {
        let newest = flight.file().join(format!("timeline-{number:06}.tla"));
        fs::write(&newest, &first[..length]).unwrap();
        flight.log(10);
        record(&flight);
        assert_eq!(flight.files().last(), Some(&newest));
        let events = flight.events();
        assert_eq!(first_arguments(&events), flight.expected(), "{length}");
        assert_eq!(flight.missed(), 0, "{length}");
    }
}

#[test]
fn the_oldest_files_go_when_there_is_too_much() {
    let mut flight = Flight::of_files("keep", 1 << 15);
    flight.log(20_000);
    let form = ["--plain", "--rotate-size", "64K", "--keep-size", "200K"];
    let events = first_arguments(&flight.land(&form));
    let total: u64 = flight.files().iter().map(|file| size(file)).sum();
    assert!((128 << 10..=200 << 10).contains(&total), "{total}");
    let expected: Vec<i64> = (20_000 - events.len() as i64..20_000).collect();
    assert_eq!(events, expected);
    assert_eq!(flight.missed(), 0, "removed is not missed");
}

#[test]
fn files_are_begun_by_time_but_not_without_events() {
    let mut flight = Flight::of_files("time", 1 << 12);
    let recorder = flight.start(&["--plain", "--rotate-every", "1ms"]);
    let mut rounds = 0;
    eventually("a few files", || {
        flight.log(1);
        flight.until_recorded();
        rounds += 1;
        flight.files().len() > 5
    });
    assert!(flight.files().len() <= rounds + 1);
    assert!(recorder.stop(Signal::SIGINT).0.success());
    assert_eq!(first_arguments(&flight.events()), flight.expected());
}

#[test]
fn what_makes_no_sense_is_misuse() {
    let file = Flight::not_there("misuse", 256, "flight.tla");
    let files = Flight::not_there("misuse-files", 256, "flights/");
    for (flight, more, hint) in [
        (&file, &["--rotate-size", "1M"][..], "flight.tla/"),
        (&file, &["--rotate-every", "1h"], "flight.tla/"),
        (&file, &["--keep-size", "1M"], "flight.tla/"),
        (
            &files,
            &["--keep-size", "1M"],
            "--rotate-size or --rotate-every",
        ),
        (
            &files,
            &["--keep-size", "1M", "--rotate-size", "2M"],
            "at least as large",
        ),
        (&files, &["--rotate-size", "0"], "above zero"),
        (&files, &["--rotate-size", "64"], "at least 64K"),
        (&files, &["--rotate-size", "65535"], "at least 64K"),
        (
            &files,
            &["--rotate-every", "1h", "--keep-size", "63K"],
            "at least 64K",
        ),
        (&files, &["--rotate-size", "much"], "64M"),
        (&files, &["--fsync", "often"], "every, rotate, never"),
    ] {
        let output = flight.command(more).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(hint), "{said}");
        assert!(!flight.file().exists());
    }
}

#[test]
fn a_directory_has_one_recorder_and_one_timeline() {
    let mut flight = Flight::of_files("one", 1 << 12);
    flight.log(10);
    let recorder = flight.start(&[]);
    flight.until_recorded();
    let file = flight.files()[0].clone();
    for taken in [flight.file(), file.clone()] {
        let mut second = Command::new(env!("CARGO_BIN_EXE_timeline"));
        second
            .args(["record", &flight.name, "--once", "-o"])
            .arg(taken);
        let output = second.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said(&output).contains("another recorder"),
            "{}",
            said(&output)
        );
    }
    assert!(recorder.stop(Signal::SIGINT).0.success());

    let mut other = Flight::of_files("one-other", 1 << 12);
    other.log(10);
    other.land(&[]);
    let theirs = fs::read(&other.files()[0]).unwrap();
    fs::write(&file, &theirs).unwrap();
    let output = flight.command(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("was not changed"),
        "{}",
        said(&output)
    );
    assert_eq!(fs::read(&file).unwrap(), theirs);
}

/// How often a recorder with these options wrote, made a file durable, and the names of files.
fn calls(flight: &Flight, library: &Path, form: &[&str]) -> [usize; 3] {
    let noted = flight.folder.path().join("calls");
    let mut command = flight.command(form);
    command.env("LD_PRELOAD", library).env("CALLS", &noted);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let noted = fs::read_to_string(noted).unwrap();
    ['w', 'd', 'f'].map(|letter| noted.matches(letter).count())
}

#[test]
fn it_is_made_durable_as_often_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("calls.so");
    let source = crate::support::root().join("tests/archive/calls.c");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]);
    compiler.arg(&library).arg(source).arg("-ldl");
    assert!(compiler.status().unwrap().success());
    for when in ["every", "rotate", "never"] {
        let mut flight = Flight::of_files(&format!("fsync-{when}"), 1 << 13);
        flight.log(4_000);
        flight.timeline = None;
        let form = ["--plain", "--rotate-size", "64K", "--fsync", when, "--once"];
        let [writes, files, names] = calls(&flight, &library, &form);
        let finished = flight.files().len();
        assert!(finished > 4 && writes > finished, "{writes} {finished}");
        let expected = match when {
            "every" => writes + finished,
            "rotate" => finished,
            _ => 0,
        };
        assert_eq!((files, names), (expected, expected), "{when}");
        assert_eq!(first_arguments(&flight.events()), flight.expected());
    }
}

#[test]
fn an_older_run_that_goes_on_over_many_files_does_not_hide_the_newest() {
    let form = ["--plain", "--rotate-size", "64K"];
    let mut flight = Flight::of_files("hidden", 1 << 13);
    let record = |flight: &Flight| {
        let recorder = flight.start(&form);
        flight.until_recorded();
        assert!(recorder.stop(Signal::SIGTERM).0.success());
    };
    flight.log(100);
    record(&flight);
    flight.log(4_000);
    flight.restart();
    // The next run is recorded while what the one before left is elsewhere.
    let [before, aside] = ["prev", "aside"].map(|end| format!("/dev/shm{}.{end}", flight.name));
    fs::rename(&before, &aside).unwrap();
    flight.log(100);
    record(&flight);
    fs::rename(&aside, &before).unwrap();
    let mut older = Command::new(env!("CARGO_BIN_EXE_timeline"));
    older
        .args(["record", &format!("{}.prev", flight.name), "-o"])
        .arg(flight.file())
        .args(form);
    assert!(older.output().unwrap().status.success());
    assert!(flight.files().len() > 4);
    flight.log(100);
    let mut numbers = first_arguments(&flight.land(&form));
    // The end of the older run stands behind the beginning of the next one.
    assert!(!numbers.is_sorted());
    numbers.sort_unstable();
    assert_eq!((numbers, flight.missed()), (flight.expected(), 0));
}
