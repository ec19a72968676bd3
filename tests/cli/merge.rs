//! Dumps in other orders and columns, of several timelines, and of standard input.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use timeline::{Priority, Timeline, event};

use crate::command::*;
use crate::support::Name;

fn lines(words: &[&str]) -> Vec<String> {
    succeed(words).stdout.lines().map(str::to_owned).collect()
}

fn log_numbers(tl: &Timeline, numbers: std::ops::Range<u32>) {
    for number in numbers {
        event!(
            tl,
            Priority::Info,
            "count",
            "number {number} of many",
            number
        );
    }
}

/// A timeline with important events, and others.
fn create(name: &Name) -> Timeline {
    let tl = name.create(1024);
    log_numbers(&tl, 0..10);
    for id in 0..3_u32 {
        event!(important: true, tl, Priority::Error, "names", "interface {id}", id);
    }
    log_numbers(&tl, 10..30);
    tl
}

#[test]
fn a_dump_in_reverse_in_the_columns_of_a_tail_is_a_tail() {
    let (name, directory) = (Name::new("reverse"), tempfile::tempdir().unwrap());
    let _tl = create(&name);
    let file = snapshot(&name, directory.path());
    let archive = directory.path().join("a.tla").display().to_string();
    succeed(&["record", &file, "-o", &archive, "--fsync", "never"]);
    for path in [&file, &archive] {
        let tail = lines(&["tail", path, "-n", "100"]);
        assert_eq!(tail.len(), 33);
        let columns = ["--columns", "time,category,message", "--time", "absolute"];
        let dump = lines(&[&["dump", path, "--reverse"], &columns[..]].concat());
        assert_eq!(dump[0], "time             category      message");
        assert_eq!(dump[1..], tail, "{path}");
        let newest = lines(&[&["dump", path, "--reverse", "-n", "4"], &columns[..]].concat());
        assert_eq!(newest[1..4], tail[..3]);
        assert_eq!(newest[4..], tail[29..]);
        let long = lines(&["dump", path, "--reverse", "--long"]);
        assert_eq!(long[1..], lines(&["tail", path, "-n", "100", "--long"]));
        // Newest first, both parts are the other way round.
        let mut others = lines(&[&["dump", path], &columns[..]].concat()).split_off(1);
        others[..3].reverse();
        others[3..].reverse();
        assert_eq!(others, tail);
    }
}

#[test]
fn times_count_from_the_first_event_or_from_the_one_before() {
    let (name, directory) = (Name::new("times"), tempfile::tempdir().unwrap());
    let _tl = create(&name);
    // Times of a live timeline become more exact while it lives.
    let file = snapshot(&name, directory.path());
    let objects = succeed(&["dump", &file, "--json"]).json();
    let column = |options: &[&str]| {
        let words = [&["dump", &file, "--columns", "time"], options].concat();
        let lines = lines(&words).split_off(1);
        lines
            .iter()
            .map(|line| line.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let cycles = objects.iter().map(|event| event["cycles"].as_u64());
    let cycles = cycles.map(|cycles| cycles.map_or(String::new(), |c| c.to_string()));
    assert_eq!(column(&["--time", "cycles"]), cycles.collect::<Vec<_>>());
    let nanos = |event: &Value| event["unix_ns"].as_str().unwrap().parse::<i64>().unwrap();
    let shown = |nanos: i64| {
        let sign = if nanos < 0 { '-' } else { '+' };
        let nanos = nanos.unsigned_abs();
        format!(
            "{sign}{}.{:09}",
            nanos / 1_000_000_000,
            nanos % 1_000_000_000
        )
    };
    let since_first = objects
        .iter()
        .map(|event| shown(nanos(event) - nanos(&objects[0])));
    assert_eq!(
        column(&["--time", "relative"]),
        since_first.collect::<Vec<_>>()
    );
    // Of the oldest important event, and of the oldest other one, there is no older one.
    let delta = |pair: &[Value]| match pair[0]["important"] == pair[1]["important"] {
        true => shown(nanos(&pair[0]) - nanos(&pair[1])),
        false => String::new(),
    };
    let mut expected: Vec<_> = objects.windows(2).map(delta).collect();
    expected.push(String::new());
    assert_eq!(column(&["--time", "delta"]), expected);
    expected[..3].reverse();
    expected[3..].reverse();
    assert_eq!(column(&["--time", "delta", "--reverse"]), expected);
}

#[test]
fn several_timelines_are_merged_by_time() {
    let (one, other) = (Name::new("merged-one"), Name::new("merged-other"));
    let (first, second) = (one.create(1024), other.create(1024));
    for number in 0..20 {
        log_numbers(
            if number % 3 == 0 { &first } else { &second },
            number..number + 1,
        );
        // The clocks of two timelines differ by some microseconds.
        let logged = Instant::now();
        while logged.elapsed() < Duration::from_micros(200) {}
    }
    for tl in [&second, &first] {
        event!(important: true, tl, Priority::Error, "names", "interface");
    }
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("a.tla").display().to_string();
    let file = snapshot(&one, directory.path());
    succeed(&["record", &file, "-o", &archive, "--fsync", "never"]);
    for one in [one.path(), &archive] {
        let objects = |options: &[&str]| {
            let words = [&["dump", one, other.path(), "--json"], options].concat();
            let short = |event: Value| {
                let number = event["args"]["number"].as_i64().unwrap_or(-1);
                let path = event["path"].as_str().unwrap().to_owned();
                (number, if path == one { 0 } else { 1 })
            };
            succeed(&words)
                .json()
                .into_iter()
                .map(short)
                .collect::<Vec<_>>()
        };
        let number = |number: i64| (number, i32::from(number % 3 != 0));
        let numbers = |range: std::ops::Range<i64>| range.map(number).collect::<Vec<_>>();
        let oldest_first = [vec![(-1, 1), (-1, 0)], numbers(0..20)].concat();
        assert_eq!(objects(&["--reverse"]), oldest_first);
        let mut newest_first = oldest_first.clone();
        newest_first[..2].reverse();
        newest_first[2..].reverse();
        assert_eq!(objects(&[]), newest_first);
        assert_eq!(objects(&["-n", "5"]), newest_first[..7]);
        let newest = [&oldest_first[..2], &oldest_first[17..]].concat();
        assert_eq!(objects(&["-n", "5", "--reverse"]), newest);
        let some = objects(&["--reverse", "--where", "number >= 4 && number < 8"]);
        assert_eq!(some, numbers(4..8));
        let text = lines(&["dump", one, other.path(), "-n", "1", "--priority", "info"]);
        // Ticks of two timelines may be of two clocks.
        let cycles = [
            "--columns",
            "time",
            "--time",
            "cycles",
            "--where",
            "number >= 18",
        ];
        let cycles = lines(&[&["dump", one, other.path()], &cycles[..]].concat());
        assert_eq!(cycles[1].trim(), "", "{cycles:?}");
        assert!(
            text[0].starts_with("path         time             category"),
            "{text:?}"
        );
        assert!(text[1].starts_with(other.path()) && text[1].ends_with("number(19) of many"));
    }
    let message = fail(&["dump", one.path(), "/nowhere-at-all"]);
    assert!(
        message.contains("no timeline at /nowhere-at-all"),
        "{message}"
    );
}

#[test]
fn standard_input_is_read_like_a_file() {
    let (name, directory) = (Name::new("input"), tempfile::tempdir().unwrap());
    let _tl = create(&name);
    let file = snapshot(&name, directory.path());
    let archive = directory.path().join("a.tla").display().to_string();
    succeed(&["record", &file, "-o", &archive, "--fsync", "never"]);
    for path in [&file, &archive] {
        for verb in [
            &["dump", "-"][..],
            &["search", "-", "number(1"],
            &["stats", "-"],
        ] {
            let input = File::open(path).unwrap();
            let ran = Ran::new(command(verb).stdin(input).output().unwrap());
            let words = verb
                .iter()
                .map(|word| if *word == "-" { path } else { *word });
            assert_eq!(
                ran.stdout,
                succeed(&words.collect::<Vec<_>>()).stdout,
                "{verb:?}"
            );
        }
    }
    let ran = run(&["dump", "-"]);
    let expected = "timeline: standard input is neither a timeline nor an archive: it is empty\n";
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(1), "", expected)
    );
}

#[test]
fn standard_input_leaves_no_file_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = command(&["dump", "-"])
        .env("TMPDIR", directory.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // More than a pipe holds, so it is being read.
    let mut input = child.stdin.take().unwrap();
    input.write_all(&vec![0; 1 << 20]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn colours_are_as_asked_for() {
    let (name, directory) = (Name::new("colour"), tempfile::tempdir().unwrap());
    let _tl = create(&name);
    // Times of a live timeline become more exact while it lives.
    let file = snapshot(&name, directory.path());
    for words in [
        ["dump", "--long"],
        ["dump", "--reverse"],
        ["stats", "--by=event"],
    ] {
        let shown = |when: &str| succeed(&[words[0], &file, words[1], "--color", when]).stdout;
        let never = shown("never");
        assert_eq!(never, shown("auto"));
        assert!(
            !never.contains('\x1b') && shown("always").contains('\x1b'),
            "{words:?}"
        );
    }
    let found = succeed(&["search", name.path(), "--color=always", "number(7)"]).stdout;
    assert!(
        found.contains("\x1b[1m\x1b[31mnumber(7)\x1b[0m of many"),
        "{found:?}"
    );
    let ran = run(&["dump", name.path(), "--color", "sometimes"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[test]
fn columns_are_those_that_were_asked_for() {
    let name = Name::new("columns");
    let _tl = create(&name);
    let dumped = lines(&[
        "dump",
        name.path(),
        "-n",
        "1",
        "--category",
        "count",
        "--columns",
        "event,priority,pid,tid,message",
    ]);
    let object = &succeed(&[
        "dump",
        name.path(),
        "-n",
        "1",
        "--category",
        "count",
        "--json",
    ])
    .json()[0];
    let words: Vec<_> = dumped[1].split_whitespace().collect();
    let expected = [
        "count.number",
        "info",
        &object["pid"].to_string(),
        &object["tid"].to_string(),
        "number",
        "number(29)",
        "of",
        "many",
    ];
    assert_eq!(words, expected);
    assert_eq!(object["args"], json!({ "number": 29 }));
    for (words, expected) in [
        (&["--columns", "colour"][..], "[possible values: time, node"),
        (&["--time", "soon"], "[possible values: absolute"),
        (&["--columns", "time", "--json"], "cannot be used with"),
    ] {
        let ran = run(&[&["dump", name.path()], words].concat());
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}
