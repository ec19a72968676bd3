//! tail of an archive that is being recorded, and what other followers of one say.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use timeline::{Priority, event};

use crate::command::*;
use crate::damaged::frames;
use crate::mixture::Mixture;
use crate::support::Name;

/// A recorder of the program, and a tail of what it writes.
fn followed(mixture: &mut Mixture, output: &str, options: &[&str]) -> (Running, String) {
    mixture.log(3);
    let path = mixture.path(output);
    let name = mixture.name.path();
    let args = ["record", name, "-o", &path, "--once", "--fsync", "never"];
    let recorder = Running::start(&[&args[..], options].concat());
    eventually("the archive", || {
        let ran = run(&["info", "--json", &path]);
        ran.code == Some(0) && ran.json()[0]["events"] == mixture.logged
    });
    (recorder, path)
}

/// What is a line of an event, and not of its call stack.
fn is_event(line: &&String) -> bool {
    !line.starts_with("    at ")
}

#[test]
fn tail_follows_a_recorder_over_all_its_files_and_ends_with_it() {
    for (output, options) in [
        ("flight.tla", &[] as &[&str]),
        ("flights/", &["--rotate-every", "1ms"]),
        ("plain/", &["--rotate-size", "64k", "--plain"]),
    ] {
        let mut mixture = Mixture::new(&format!("growing-{}", options.len()));
        let (recorder, path) = followed(&mut mixture, output, options);
        let mut tail = Running::start(&["tail", &path, "-n", "100000"]);
        for _ in 0..4 {
            mixture.log(25);
            let logged = mixture.logged as usize;
            tail.stdout_until("what was logged", |lines| {
                lines.iter().filter(is_event).count() == logged
            });
        }
        mixture.end();
        recorder.succeed();
        let (shown, said) = tail.succeed();
        let last = said.last().unwrap();
        let count = mixture.logged;
        assert!(
            last.contains(&format!(
                "{},{:03} events shown, 0 entries missed",
                count / 1000,
                count % 1000
            )),
            "{said:?}"
        );
        assert!(shown.len() as i64 > count, "call stacks are shown");
        let all = succeed(&["tail", &path, "-n", "100000"]).stdout;
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        // What comes late from one of two threads is shown late.
        assert_eq!(
            sorted(shown),
            sorted(all.lines().map(String::from).collect())
        );
        if output.ends_with('/') {
            assert!(fs::read_dir(&path).unwrap().count() > 2);
        }
    }
}

#[test]
fn tail_of_a_recording_ends_upon_a_signal_and_with_its_reader() {
    let mut mixture = Mixture::new("growing-signal");
    let (recorder, path) = followed(&mut mixture, "flight.tla", &[]);
    let mut tail = Running::start(&["tail", &path, "-n", "2"]);
    tail.stdout_until("the newest", |lines| {
        lines.iter().filter(is_event).count() == 2
    });
    tail.signal(Signal::SIGINT);
    let (_, said) = tail.succeed();
    assert_eq!(said, ["timeline: 2 events shown, 0 entries missed"]);

    let mut tail = Running::start_unread(&["tail", &path, "-n", "2"]);
    let mut line = String::new();
    BufReader::new(tail.take_stdout())
        .read_line(&mut line)
        .unwrap();
    assert!(!line.is_empty());
    mixture.log(1);
    let (_, said) = tail.succeed();
    assert_eq!(said, [] as [&str; 0]);
    mixture.end();
    recorder.succeed();
}

#[test]
fn a_recording_without_events_yet_is_an_archive() {
    let mixture = Mixture::new("growing-none");
    let path = mixture.path("flight.tla");
    let missing = Name::new("growing-later");
    let recorder = Running::start(&["record", missing.path(), "-o", &path]);
    eventually("the file", || fs::exists(&path).unwrap());
    eventually("a recorder that holds it", || {
        run(&["info", &path]).code == Some(0)
    });
    assert!(succeed(&["info", &path]).stdout.contains("being recorded"));
    assert_eq!(succeed(&["dump", "--json", &path]).stdout, "");
    let mut tail = Running::start(&["tail", &path]);
    let timeline = missing.create(1024);
    let events = Events::define(&timeline);
    log_sums(&timeline, &events, 3);
    tail.stdout_until("three", |lines| lines.len() == 3);
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    let (lines, _) = tail.succeed();
    assert_eq!(lines.len(), 3);
}

/// Logs spans, and ends.
fn breaths(name: &Name, count: u64) {
    let tl = name.create(1024);
    for number in 0..count {
        event!(
            tl,
            Priority::Info,
            "engine",
            "begin breath {number}",
            number
        );
        event!(tl, Priority::Info, "engine", "end breath {number}", number);
    }
}

/// An archive, and how long it was before it grew by much that is missing: entries that were
/// overwritten, runs that nobody recorded, and frames that were damaged.
pub fn lacking_growth(name: &Name, archive: &str) -> (Vec<u8>, usize) {
    let record = || {
        let words = ["record", name.path(), "-o", archive, "--once", "--plain"];
        succeed(&[&words[..], &["--fsync", "never"]].concat());
    };
    breaths(name, 20);
    record();
    let grown_from = fs::metadata(archive).unwrap().len() as usize;
    for count in [5, 20_000] {
        timeline::unlink(name.path()).unwrap();
        breaths(name, count);
    }
    record();
    let mut bytes = fs::read(archive).unwrap();
    let frames = frames(&bytes);
    let middle = (frames.len() + frames.partition_point(|at| *at < grown_from)) / 2;
    bytes[frames[middle] + 20] ^= 1;
    (bytes, grown_from)
}

#[test]
fn all_followers_of_an_archive_say_the_same_of_what_is_missing() {
    let (name, folder) = (Name::new("growing-lacks"), tempfile::tempdir().unwrap());
    let path = |file: &str| folder.path().join(file).display().to_string();
    let (bytes, grown_from) = lacking_growth(&name, &path("whole.tla"));
    let (growing, log) = (path("growing.tla"), path("live.hlog"));
    fs::write(&growing, &bytes[..grown_from]).unwrap();
    // As a recorder does.
    let file = fs::OpenOptions::new().append(true).open(&growing).unwrap();
    let mut file = Flock::lock(file, FlockArg::LockExclusiveNonblock).unwrap();
    let mut tail = Running::start(&["tail", &growing, "-n", "1"]);
    let follow = ["histogram", &growing, "--follow", "--interval", "1ms"];
    let of_log = Running::start(&[&follow[..], &["-o", &log]].concat());
    tail.stdout_until("the newest", |lines| lines.len() == 1);
    eventually("the log", || fs::exists(&log).unwrap());
    file.write_all(&bytes[grown_from..]).unwrap();
    drop(file);

    let (status, _, mut of_tail) = tail.finish();
    assert_eq!(status.code(), Some(1), "{of_tail:?}");
    assert!(of_tail.pop().unwrap().contains("events shown"));
    for what in ["recorded", "between two runs", "whole frame", "gone here"] {
        let is_said = of_tail.iter().any(|line| line.contains(what));
        assert!(is_said, "{what}: {of_tail:?}");
    }
    let (status, _, said) = of_log.finish();
    assert_eq!(status.code(), Some(1), "{said:?}");
    let so = ": open spans are forgotten";
    let said: Vec<_> = said
        .iter()
        .filter_map(|line| line.strip_suffix(so))
        .collect();
    assert_eq!(said, of_tail);
    let written = fs::read_to_string(&log).unwrap();
    for what in [
        "entries overwritten before they were recorded, between 20",
        "#[timeline: an unknown number of entries, because no recorder ran",
        "bytes of no whole frame, between 20",
        "recorded and gone since, between 20",
    ] {
        assert!(written.contains(what), "{what}: {written}");
    }
}
