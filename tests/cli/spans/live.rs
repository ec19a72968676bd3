//! Tests histograms of what goes on.
//! They tell what was overwritten before it was read, and go on with the next run of the program.

use std::fs;
use std::time::{Duration, SystemTime};

use nix::sys::signal::Signal;
use serde_json::Value;
use timeline::Timeline;

use super::*;

fn breaths(tl: &Timeline, count: u64) {
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

/// Holds a process until it is let go on.
fn stop(running: &Running) {
    running.signal(Signal::SIGSTOP);
    let stat = format!("/proc/{}/stat", running.pid());
    eventually("it to stop", || {
        let stat = fs::read_to_string(&stat).unwrap();
        stat.rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('T')
    });
}

fn rows(lines: &[String], kind: &str) -> Vec<Value> {
    let rows = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["type"] == kind).collect()
}

#[test]
fn a_follower_that_was_held_up_says_what_it_missed_and_since_when() {
    let (name, directory) = (Name::new("histogram-held"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    let log = directory.path().join("held.hlog").display().to_string();
    let words = ["histogram", name.path(), "--follow", "--interval", "5ms"];
    let mut json = Running::start(&[&words[..], &["--json"]].concat());
    let mut text = Running::start(&words);
    let of_log = Running::start(&[&words[..], &["-o", &log]].concat());
    let is_in_log = || fs::read_to_string(&log).is_ok_and(|log| log.contains(",HIST"));
    // Each of them reads before it is held.
    eventually("all to read", || {
        breaths(&tl, 1);
        let is_row = |line: &String| line.contains("engine.breath");
        let (json, text) = (json.stdout_now(), text.stdout_now());
        json.iter().any(is_row) && text.iter().any(is_row) && is_in_log()
    });
    for running in [&json, &text, &of_log] {
        stop(running);
    }
    breaths(&tl, 100_000);
    for running in [json, text, of_log] {
        running.signal(Signal::SIGCONT);
        running.signal(Signal::SIGINT);
        let (stdout, stderr) = running.succeed();
        let said = stderr.iter().any(|line| line.contains("missed here"));
        assert!(said, "{stderr:?}");
        if stdout.iter().any(|line| line.starts_with('{')) {
            let missed = rows(&stdout, "missed");
            let entries: u64 = missed
                .iter()
                .map(|row| row["entries"].as_u64().unwrap())
                .sum();
            assert!((190_000..=200_000).contains(&entries), "{missed:?}");
            let (since, until) = (missed[0]["since"].as_f64(), missed[0]["until"].as_f64());
            assert!(since > Some(1e9) && until >= since, "{missed:?}");
        } else if !stdout.is_empty() {
            let is_told = |line: &&String| line.trim_start().starts_with("missed ");
            let told = stdout.iter().find(is_told).expect("a line of the table");
            assert!(
                told.contains("overwritten before they were read, between 20"),
                "{told}"
            );
        }
    }
    let written = fs::read_to_string(&log).unwrap();
    let is_told = |line: &str| line.starts_with("#[timeline: ") && line.contains("overwritten");
    assert!(written.lines().any(is_told), "{written}");
    // A comment is none of the intervals.
    succeed(&["histogram", &log]);
}

#[test]
fn what_a_ring_had_overwritten_is_told_in_the_table_and_in_the_log() {
    let (name, directory) = (Name::new("histogram-lapped"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    breaths(&tl, 20_000);
    let log = directory.path().join("lapped.hlog").display().to_string();
    let ran = succeed(&["histogram", name.path(), "--json"]);
    let lines: Vec<String> = ran.stdout.lines().map(String::from).collect();
    let (missed, totals) = (rows(&lines, "missed"), rows(&lines, "total"));
    let (entries, counted) = (missed[0]["entries"].as_u64(), totals[0]["count"].as_u64());
    assert!(
        entries.is_some_and(|entries| (38_900..40_000).contains(&entries)),
        "{missed:?}"
    );
    assert!(
        counted.is_some_and(|count| (100..=512).contains(&count)),
        "{totals:?}"
    );
    assert!(
        ran.stderr.contains("nothing of that time is measured"),
        "{}",
        ran.stderr
    );
    let text = succeed(&["histogram", name.path()]).stdout;
    assert!(text.contains("\n      missed "), "{text}");
    let second = text.lines().nth(1).unwrap();
    assert!(
        second.starts_with("      missed "),
        "before all rows: {text}"
    );
    succeed(&["histogram", name.path(), "-o", &log]);
    let written = fs::read_to_string(&log).unwrap();
    assert!(
        written.contains("entries overwritten before they were read"),
        "{written}"
    );
    let of = |what| written.find(what).unwrap();
    assert!(
        of("overwritten") < of("HIST") && of("BaseTime") < of("overwritten"),
        "{written}"
    );
}

#[test]
fn the_next_run_of_a_program_is_followed() {
    let name = Name::new("histogram-again");
    let first = name.create(16384);
    let words = [
        "histogram",
        name.path(),
        "--follow",
        "--json",
        "--interval",
        "5ms",
    ];
    let mut running = Running::start(&words);
    eventually("a row of the first run", || {
        breaths(&first, 1);
        running
            .stdout_now()
            .iter()
            .any(|line| line.contains("engine.breath"))
    });
    drop(first);
    timeline::unlink(name.path()).unwrap();
    let second = name.create(16384);
    event!(second, Priority::Info, "other", "end breath");
    event!(second, Priority::Info, "engine", "begin later");
    event!(second, Priority::Info, "engine", "end later");
    running.stdout_until("a row of the next run", |lines| {
        lines.iter().any(|line| line.contains("engine.later"))
    });
    breaths(&second, 700);
    running.signal(Signal::SIGINT);
    let (lines, said) = running.succeed();
    let totals = rows(&lines, "total");
    let of = |tag: &str| {
        let row = totals.iter().find(|row| row["tag"] == tag);
        row.and_then(|row| row["count"].as_u64())
            .unwrap_or_default()
    };
    assert_eq!(of("engine.later"), 1, "{totals:?}");
    assert!(of("engine.breath") > 700, "{totals:?}");
    assert!(
        said.iter()
            .any(|line| line.contains("was created again by")),
        "{said:?}"
    );
}

/// Words of a command, with the path behind the verb, and what is said of their names.
const MISSPELT: &[(&[&str], &str)] = &[
    (
        &["histogram", "--span", "engine.braeth"],
        "did you mean engine.breath?",
    ),
    (
        &["outliers", "--span", "engine.breth"],
        "did you mean engine.breath?",
    ),
    (
        &["outliers", "--every", "net.snt"],
        "no event net.snt; did you mean net.sent?",
    ),
    (
        &["histogram", "--field", "net.sent.sise"],
        "did you mean size?",
    ),
    (
        &["histogram", "--from", "net.sent", "--to", "x.y"],
        "no event x.y; there are",
    ),
    (
        &["watch", "--when", "span engine.breaht > 1ms"],
        "mean engine.breath?",
    ),
    (
        &["watch", "--when", "p99(engine.breaht) > 1ms"],
        "mean engine.breath?",
    ),
    (
        &["watch", "--when", "rate(net.snet) > 1/s"],
        "mean net.sent?",
    ),
    (
        &["watch", "--when", "event net.sent where sizes > 1"],
        "mean size?",
    ),
    (
        &["watch", "--when", "missing net.snet for 1s"],
        "mean net.sent?",
    ),
    (
        &["histogram", "--field", "net.sent.load"],
        "give --scale 1000",
    ),
    (
        &["histogram", "--field", "net.sent.Size"],
        "no field Size in net.sent; did you mean size?",
    ),
    // Another event has it.
    (
        &["histogram", "--field", "engine.begin_breath.size"],
        "no field size in engine.begin_breath; there are: number",
    ),
    (
        &["histogram", "--field", "NET.sent.size"],
        "no event NET.sent; did you mean net.sent?",
    ),
    (
        &["histogram", "--field", "net.sent."],
        "expected EVENT.FIELD, such as net.sent.size, got net.sent.",
    ),
    (
        &["histogram", "--field", ".size"],
        "expected EVENT.FIELD, such as net.sent.size, got .size",
    ),
];

#[test]
fn names_that_are_not_there_are_refused_with_those_that_are_like_them() {
    let (name, directory) = (Name::new("histogram-names"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    breaths(&tl, 3);
    event!(
        tl,
        Priority::Info,
        "net",
        "sent {size} at {load}",
        size = 40_u32,
        load = 0.75_f64
    );
    let file = snapshot(&name, directory.path());
    let archive = directory.path().join("names.tla").display().to_string();
    succeed(&[
        "record", "--once", &file, "-o", &archive, "--fsync", "never",
    ]);
    for path in [name.path(), &file, &archive] {
        for (words, said) in MISSPELT {
            let words = &[&words[..1], &[path], &words[1..]].concat()[..];
            let ran = run(words);
            assert!(ran.code.is_some_and(|code| code != 0), "{words:?}: {ran:?}");
            assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
        }
        let scaled = [
            "histogram",
            path,
            "--field",
            "net.sent.load",
            "--scale",
            "1000",
            "--json",
        ];
        let rows = succeed(&scaled).json();
        let total = rows.iter().find(|row| row["type"] == "total").unwrap();
        assert_eq!(
            (&total["tag"], &total["max"]),
            (&"net.sent.load*1000".into(), &750.into())
        );
    }
}

#[test]
fn names_like_no_other_are_waited_for_and_so_is_any_pattern() {
    let name = Name::new("histogram-later");
    let tl = name.create(16384);
    breaths(&tl, 3);
    let words = ["histogram", name.path(), "--follow", "--span"];
    let refused = run(&[&words[..], &["engine.breaths"]].concat());
    assert!(
        refused
            .stderr
            .contains("write it as a pattern: engine.breaths*"),
        "{refused:?}"
    );
    // An event that is defined has no other fields.
    let words = ["histogram", name.path(), "--follow", "--field"];
    for field in ["engine.begin_breath.size", "engine.begin_breath.size*"] {
        let refused = run(&[&words[..], &[field]].concat());
        assert!(
            refused
                .stderr
                .contains("write its name as a pattern: engine.begin_breath*"),
            "{refused:?}"
        );
    }
    let words = ["histogram", name.path(), "--follow", "--span"];
    for span in ["engine.breaths*", "disk.read"] {
        let running = Running::start(&[&words[..], &[span, "--json"]].concat());
        eventually("signals to be caught", || {
            let status = fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
            let caught = status
                .lines()
                .find_map(|line| line.strip_prefix("SigCgt:"))
                .unwrap();
            u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0
        });
        running.signal(Signal::SIGINT);
        running.succeed();
    }
}

#[test]
fn what_the_next_run_overwrote_is_missing_since_that_began() {
    let (name, directory) = (Name::new("histogram-since"), tempfile::tempdir().unwrap());
    let log = directory.path().join("since.hlog").display().to_string();
    let first = name.create(1024);
    let words = ["histogram", name.path(), "--follow", "--interval", "5ms"];
    let mut json = Running::start(&[&words[..], &["--json"]].concat());
    let mut of_log = Running::start(&[&words[..], &["-o", &log]].concat());
    let is_in_log = || fs::read_to_string(&log).is_ok_and(|log| log.contains(",HIST"));
    eventually("both to read", || {
        breaths(&first, 1);
        let json = json.stdout_now();
        json.iter().any(|line| line.contains("engine.breath")) && is_in_log()
    });
    stop(&json);
    stop(&of_log);
    breaths(&first, 3);
    drop(first);
    timeline::unlink(name.path()).unwrap();
    let second = name.create(1024);
    breaths(&second, 10_000);
    // What the former timeline's intervals must not reach before it is read.
    let logged = SystemTime::now();
    eventually("some intervals to pass", || {
        logged.elapsed().unwrap() > Duration::from_millis(100)
    });
    json.signal(Signal::SIGCONT);
    of_log.signal(Signal::SIGCONT);
    let is_told = |lines: &[String]| lines.iter().any(|line| line.contains("created again"));
    json.stderr_until("the restart", is_told);
    of_log.stderr_until("the restart", is_told);
    json.signal(Signal::SIGINT);
    of_log.signal(Signal::SIGINT);
    let (lines, said) = json.succeed();
    let late: Vec<_> = said.iter().filter(|line| line.contains("late")).collect();
    assert!(late.is_empty(), "{late:?}");
    let created = name.attach().info().created_unix_nanos as f64 / 1e9;
    let missed = rows(&lines, "missed");
    let [missed] = &missed[..] else {
        panic!("expected one loss, got {missed:?}");
    };
    let (since, until) = (missed["since"].as_f64(), missed["until"].as_f64());
    assert!(
        since.is_some_and(|since| (since - created).abs() < 0.0011),
        "{missed} {created}"
    );
    assert!(until > since, "{missed}");
    assert!(
        (18_900..20_000).contains(&missed["entries"].as_u64().unwrap()),
        "{missed}"
    );
    assert_eq!(missed["what"], "unread");
    // It stands before the interval in which it begins.
    let at = lines
        .iter()
        .position(|line| line.contains("\"missed\""))
        .unwrap();
    let (before, behind) = (
        rows(&lines[..at], "interval"),
        rows(&lines[at..], "interval"),
    );
    let end = |row: &Value| row["start"].as_f64().unwrap() + row["length"].as_f64().unwrap();
    // Both are told in milliseconds.
    let since = since.unwrap();
    let unit = 1.1e-3;
    assert!(
        before.iter().all(|row| end(row) <= since + unit),
        "{missed}"
    );
    assert!(behind.iter().all(|row| end(row) > since - unit), "{missed}");
    of_log.succeed();
    let written = fs::read_to_string(&log).unwrap();
    let is_loss = |line: &&str| line.contains("overwritten before they were read");
    assert_eq!(written.lines().filter(is_loss).count(), 1, "{written}");
}
