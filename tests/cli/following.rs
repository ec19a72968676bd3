//! tail.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use serde_json::Value;
use timeline::Priority;
use timeline_archive::WatchMark;

use crate::command::*;
use crate::support::Name;

/// Starts a tail that has shown that it reads: its first line is there.
fn tail(name: &Name, args: &[&str]) -> Running {
    let mut tail = Running::start(&[&["tail", name.path(), "-n", "1"], args].concat());
    tail.stdout_until("the newest event", |lines| lines.len() == 1);
    tail
}

/// The counts of tail's last words.
fn totals(stderr: &[String]) -> (u64, u64) {
    let last = stderr.last().expect("tail says how much it showed");
    let numbers: Vec<u64> = last
        .replace(',', "")
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(last.contains("shown") && last.contains("missed"), "{last}");
    (numbers[0], numbers[1])
}

#[test]
fn tail_shows_the_newest_and_then_what_comes() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let name = Name::new(&format!("tail-{signal}"));
        let tl = name.create(1024);
        let events = Events::define(&tl);
        log_sums(&tl, &events, 3);
        let mut tail = Running::start(&["tail", name.path(), "-n", "2"]);
        let lines = tail.stdout_until("the newest two", |lines| lines.len() == 2);
        assert!(
            lines[0].ends_with("processed tcp(2), udp(-2), and other(3)"),
            "{lines:?}"
        );
        assert!(
            lines[1].ends_with("processed tcp(3), udp(-3), and other(3)"),
            "{lines:?}"
        );
        // Time of day, category, message.
        let words: Vec<_> = lines[0].split_whitespace().collect();
        words[0].parse::<jiff::civil::Time>().unwrap();
        assert_eq!(words[0].len(), "00:00:00.123456".len());
        assert_eq!(words[1], "example");

        tl.log(events.warn, [1]);
        tl.log(events.fail, [1, 2, 3]);
        let lines = tail.stdout_until("two more", |lines| lines.len() == 4);
        assert!(
            lines[2].ends_with("example.low   only left(1) left"),
            "{lines:?}"
        );
        assert!(
            lines[3].ends_with("disk          read size(1) of size(2) at offset(3)"),
            "{lines:?}"
        );
        tail.signal(signal);
        let (stdout, stderr) = tail.succeed();
        assert_eq!(stdout.len(), 4);
        assert_eq!(stderr, ["timeline: 4 events shown, 0 entries missed"]);
    }
}

#[test]
fn tail_defaults_to_ten_and_all_there_are_if_fewer() {
    let name = Name::new("tail-ten");
    let tl = name.create(256);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 3);
    for expected in [3, 10] {
        let mut tail = Running::start(&["tail", name.path()]);
        tail.stdout_until("the newest", |lines| lines.len() == expected);
        tail.signal(Signal::SIGINT);
        let (stdout, _) = tail.succeed();
        assert_eq!(stdout.len(), expected);
        log_sums(&tl, &events, 30);
    }
}

#[test]
fn tail_from_now_shows_nothing_of_before() {
    let name = Name::new("tail-now");
    let tl = name.create(1024);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 5);
    let mut tail = Running::start(&["tail", name.path(), "-n", "0"]);
    // It follows once something logged now arrives; until then, log again.
    let mut sent = 100;
    eventually("an event logged while tail runs", || {
        sent += 1;
        tl.log(events.sum, [sent, 0, 0]);
        !tail.stdout_now().is_empty()
    });
    tail.signal(Signal::SIGINT);
    let (stdout, _) = tail.succeed();
    assert!(stdout[0].contains("processed tcp(1"), "{}", stdout[0]);
    assert!(
        stdout.iter().all(|line| !line.contains("tcp(5)")),
        "{stdout:?}"
    );
}

#[test]
fn tail_json_and_long_show_more() {
    let name = Name::new("tail-forms");
    let tl = name.create(1024);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 1);
    let mut json = tail(&name, &["--json"]);
    let mut long = tail(&name, &["--long"]);
    tl.log(events.fail, [1, 2, 3]);
    let lines = json.stdout_until("the next event", |lines| lines.len() == 2);
    let objects: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let dumped = succeed(&["dump", "--json", name.path()]).json();
    assert_eq!(objects[1]["ticks"], dumped[0]["ticks"]);
    assert_eq!(objects[1]["cycles"], dumped[0]["cycles"]);
    assert_eq!(objects[1]["args"], dumped[0]["args"]);
    assert_eq!(objects[0]["cycles"], Value::Null);
    let lines = long.stdout_until("the next event", |lines| lines.len() == 2);
    let (tid, thread) = (gettid().to_string(), thread_name());
    for part in [thread.as_str(), &tid, "error", "disk", "read size(1)"] {
        assert!(lines[1].contains(part), "{part} is not in {}", lines[1]);
    }
    for tail in [json, long] {
        tail.signal(Signal::SIGTERM);
        tail.succeed();
    }
}

#[test]
fn tail_counts_exactly_what_it_missed() {
    let name = Name::new("tail-missed");
    let tl = name.create(256);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 1);
    let mut tail = tail(&name, &[]);
    // The ring is small and this thread does not wait: the follower is overrun many times.
    const LOGGED: i64 = 200_000;
    log_sums(&tl, &events, LOGGED);
    tl.log(events.warn, [0]);
    let lines = tail.stdout_until("the last event", |lines| {
        lines.last().unwrap().ends_with("only left(0) left")
    });
    tail.signal(Signal::SIGINT);
    let (_, stderr) = tail.succeed();
    let (shown, missed) = totals(&stderr);
    assert_eq!(shown, lines.len() as u64);
    assert_eq!(shown + missed, 1 + LOGGED as u64 + 1);
    assert!(missed > 0);
    let reports = stderr
        .iter()
        .filter(|line| line.contains("missed here"))
        .count();
    assert!(reports > 0 && reports == stderr.len() - 1, "{stderr:?}");
}

#[test]
fn tail_quits_quietly_when_its_reader_leaves() {
    let name = Name::new("tail-closed");
    let tl = name.create(256);
    log_sums(&tl, &Events::define(&tl), 1);
    let mut tail = Running::start_unread(&["tail", name.path()]);
    let mut stdout = BufReader::new(tail.take_stdout());
    stdout.read_line(&mut String::new()).unwrap();
    // Nothing is logged any more, so it writes nothing: it has to notice by itself.
    drop(stdout);
    let (_, stderr) = tail.succeed();
    assert!(stderr.is_empty(), "{stderr:?}");
}

#[test]
fn tail_ends_on_a_signal_while_its_reader_stands_still() {
    let name = Name::new("tail-stuck");
    let tl = name.create(16 * 1024);
    log_sums(&tl, &Events::define(&tl), 16 * 1024);
    let mut tail = Running::start_unread(&["tail", name.path(), "-n", "16384"]);
    let pipe = format!("/proc/{}/fd/1", tail.pid());
    let pipe = std::fs::File::options().write(true).open(pipe).unwrap();
    eventually("the pipe to be full", || {
        let mut pipe = [PollFd::new(pipe.as_fd(), PollFlags::POLLOUT)];
        poll(&mut pipe, PollTimeout::ZERO).unwrap() == 0
    });
    // Otherwise it stays open when `tail` has ended.
    drop(pipe);
    tail.signal(Signal::SIGINT);
    let mut stdout = tail.take_stdout();
    let (_, stderr) = tail.succeed();
    let mut piped = String::new();
    stdout.read_to_string(&mut piped).unwrap();
    // What went into the pipe as whole lines is what it says it has shown.
    let lines = piped.matches('\n').count() as u64;
    assert_eq!(totals(&stderr), (lines, 0));
    assert!(lines > 0);
}

#[test]
fn tail_goes_on_with_the_timeline_of_the_next_run() {
    let name = Name::new("tail-restart");
    let tl = name.create(256);
    log_sums(&tl, &Events::define(&tl), 1);
    let mut tail = tail(&name, &[]);
    drop(tl);
    let tl = name.create(256);
    tl.log(Events::define(&tl).warn, [42]);
    tail.stdout_until("the event of the next run", |lines| {
        lines.len() == 2 && lines[1].ends_with("only left(42) left")
    });
    tail.stderr_until("a word about it", |lines| {
        lines.len() == 1 && lines[0].contains("was created again by ")
    });
    // And once more, over a time with no timeline at all.
    drop(tl);
    timeline::unlink(name.path()).unwrap();
    tail.stderr_until("a word about the removal", |lines| {
        lines.len() == 2 && lines[1].contains("was removed")
    });
    let tl = name.create(256);
    tl.log(Events::define(&tl).warn, [43]);
    tail.stdout_until("the event after that", |lines| {
        lines.len() == 3 && lines[2].ends_with("only left(43) left")
    });
    tail.signal(Signal::SIGINT);
    let (_, stderr) = tail.succeed();
    assert_eq!(totals(&stderr), (3, 0));
}

#[test]
fn tail_of_a_snapshot_ends_by_itself() {
    let name = Name::new("tail-snapshot");
    let tl = name.create(256);
    log_sums(&tl, &Events::define(&tl), 20);
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    let ran = succeed(&["tail", &file, "-n", "3"]);
    assert_eq!(ran.stdout.lines().count(), 3);
    assert!(
        ran.stdout
            .ends_with("processed tcp(20), udp(-20), and other(3)\n")
    );
    assert_eq!(ran.stderr, "timeline: 3 events shown, 0 entries missed\n");
}

#[test]
fn a_recorder_is_told_while_somebody_follows_its_archive() {
    let (name, folder) = (Name::new("tail-told"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 3);
    for path in ["flight.tla", "flights/"] {
        let path = folder.path().join(path).display().to_string();
        let recorder = Running::start(&["record", name.path(), "-o", &path]);
        eventually("the beginning of an archive", || {
            run(&["dump", &path]).stdout.contains("tcp(3)")
        });
        let watched = WatchMark::new(path.as_ref());
        let every = ["histogram", "--follow", "--every", "example.processed"];
        for words in [&["tail", "-n", "1"][..], &every] {
            assert!(!watched.is_now(), "{words:?}");
            let words = [&words[..1], &[&*path], &words[1..]].concat();
            let follower = Running::start(&words);
            eventually("the recorder is told", || watched.is_now());
            follower.signal(Signal::SIGINT);
            follower.finish();
            assert!(!watched.is_now(), "{words:?}");
        }
        recorder.signal(Signal::SIGINT);
        recorder.succeed();
    }
}

#[test]
fn whoever_waits_for_events_that_are_off_is_told_at_the_beginning() {
    let name = Name::new("tail-disabled");
    let tl = name.create(256);
    tl.define("engine", Priority::Packet, "got $bytes").unwrap();
    let sent = tl.define("net", Priority::Info, "sent $size").unwrap();
    tl.priority(Priority::Info.into()).unwrap();
    tl.log(sent, [1]);
    let path = name.path();
    let told = format!("engine.got is not logged at present: the level of {path} is info");
    for words in [
        &["tail", path, "--event", "engine.got"][..],
        &["tail", path, "--priority", "trace.."],
        &["watch", path, "--when", "event engine.got"],
        &["watch", path, "--when", "missing *.got for 1h"],
    ] {
        let mut running = Running::start(words);
        running.stderr_until("the events that are off", |lines| {
            lines.iter().any(|line| line.contains(&told))
        });
        running.signal(Signal::SIGINT);
        running.finish();
    }
    // Some are on, or it is no filter that waits.
    for words in [&["tail", path][..], &["tail", path, "--event", "*"]] {
        let mut running = Running::start(words);
        running.stdout_until("an event", |lines| lines.len() == 1);
        running.signal(Signal::SIGINT);
        let (_, told) = running.succeed();
        assert_eq!(told, ["timeline: 1 event shown, 0 entries missed"]);
    }
}
