//! `timeline search --stats`: what was read, against a naive count.

use std::fs;
use std::path::Path;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde_json::Value;
use timeline::{Priority, event};
use timeline_archive::{Form, RawEvent, Writer};

use crate::command::*;
use crate::support::Name;

/// Events behind each of the two places with rare texts: more than fit in a page.
const BEHIND: u64 = 2000;
/// A text of which one page has all ngrams, but in several lines.
const SPLIT: &str = "one alpha part two";

/// An archive of one file, and its index.
fn archive(name: &Name, directory: &Path) -> String {
    let tl = name.create(16384);
    let say = |text: &str| event!(tl, Priority::Info, "c", "{text}", text);
    let fill = || {
        for number in 0..BEHIND {
            event!(tl, Priority::Info, "net", "request {number}", number);
        }
    };
    event!(important: true, tl, Priority::Error, "net", "all begins");
    say("part one alpha");
    say("alpha part two");
    fill();
    say(SPLIT);
    fill();
    let file = snapshot(name, directory);
    let path = directory.join("flight.tla").display().to_string();
    succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
    succeed(&["index", &path]);
    path
}

/// What a search says that it read.
fn stats(words: &[&str]) -> Value {
    let ran = run(&[&["search", "--stats", "--json"], words].concat());
    let said: Value = serde_json::from_str(&ran.stderr).unwrap();
    let found = ran.json();
    assert_eq!(ran.code, Some(i32::from(found.is_empty())), "{words:?}");
    assert_eq!(said["events"], found.len(), "{words:?}");
    said
}

fn numbers(said: &Value, fields: &[&str]) -> Vec<u64> {
    let number = |field: &&str| {
        said[*field]
            .as_u64()
            .unwrap_or_else(|| panic!("{field} in {said}"))
    };
    fields.iter().map(number).collect()
}

const PAGES: [&str; 3] = ["candidates", "read", "vain"];
const EVENTS: [&str; 2] = ["looked_at", "made"];
const BYTES: [&str; 2] = ["bytes", "bytes_of_all"];

#[test]
fn pages_that_have_all_ngrams_but_no_line_are_read_in_vain() {
    let (name, directory) = (Name::new("stats-pages"), tempfile::tempdir().unwrap());
    let path = archive(&name, directory.path());
    for options in [&[][..], &["-r"], &["-E"], &["--category", "c"]] {
        let absent = stats(&[&[&*path, "no such text"], options].concat());
        assert_eq!(
            (&absent["index"], &absent["lines"]),
            (&"used".into(), &0.into())
        );
        assert_eq!(numbers(&absent, &PAGES), [0, 0, 0]);
        assert_eq!(numbers(&absent, &EVENTS), [1, 1], "the important event");

        let split = stats(&[&[&*path, SPLIT], options].concat());
        assert_eq!((&split["lines"], &split["events"]), (&1.into(), &1.into()));
        assert_eq!(numbers(&split, &PAGES), [2, 2, 1]);
        let looked_at = numbers(&split, &EVENTS)[0];
        assert!((4..=1 + 2 * 512).contains(&looked_at), "{looked_at}");
    }
    // A filter excludes what the text does not, and decides that a page is read in vain.
    let none = stats(&[&path, SPLIT, "--category", "net"]);
    assert_eq!(numbers(&none, &PAGES)[2], numbers(&none, &PAGES)[1]);
}

#[test]
fn without_an_index_all_is_read() {
    let (name, directory) = (Name::new("stats-all"), tempfile::tempdir().unwrap());
    let path = archive(&name, directory.path());
    let all = succeed(&["dump", &path, "--json"]).json();
    let requests = all
        .iter()
        .filter(|event| event["category"] == "net" && event["important"] != true);
    let requests = requests.count() as u64;
    let all = all.len() as u64;
    assert_eq!((all, requests), (4 + 2 * BEHIND, 2 * BEHIND));

    let expected = numbers(&stats(&[&path, "request", "--no-index"]), &BYTES)[1];
    assert!(expected > 1000);
    // Each request is found, and so each page with one.
    for options in [&["--no-index"][..], &["-E"], &["-r"], &[]] {
        let said = stats(&[&[&*path, "request"], options].concat());
        assert_eq!(numbers(&said, &BYTES), [expected; 2], "{options:?}");
        assert_eq!(numbers(&said, &EVENTS), [all, all], "{options:?}");
        assert_eq!(numbers(&said, &["lines", "vain"]), [requests, 0]);
        let [candidates, read] = [0, 1].map(|at| numbers(&said, &PAGES)[at]);
        assert_eq!(candidates, read);
        assert_eq!(candidates == 0, said["index"] == "none", "{said}");
    }
    // Values tell which events can have it, before they are made.
    let words = ["search", &path, "number(77)", "--no-index", "--stats"];
    let said = succeed(&words).stderr;
    // Of the others, those with a text may have it, and the important one.
    assert!(said.contains("made 6 of 4,004 events"), "{said}");
}

#[test]
fn a_ring_has_events_but_no_pages() {
    let name = Name::new("stats-ring");
    let tl = name.create(1024);
    log_sums(&tl, &Events::define(&tl), 50);
    let said = stats(&[name.path(), "tcp(7)"]);
    assert_eq!(
        (&said["index"], &said["path"]),
        (&"none".into(), &name.path().into())
    );
    assert_eq!(numbers(&said, &PAGES), [0, 0, 0]);
    assert_eq!(numbers(&said, &EVENTS), [50, 50]);
    let said = succeed(&["search", name.path(), "tcp(7)", "--stats", "-c"]);
    assert_eq!(said.stdout, "1\n");
    let expected = [
        format!("timeline: {}: found 1 line in 1 event", name.path()),
        "timeline: made 50 of 50 events".into(),
    ];
    assert!(said.stderr.lines().take(2).eq(expected), "{}", said.stderr);
    assert!(said.stderr.lines().count() == 3 && said.stderr.contains("searched in "));
}

/// An archive of many blocks, in a few of which "bytes(7)" is.
fn blocks(directory: &Path) -> String {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    for number in 1..=30_000 {
        let mut event = RawEvent {
            ticks: Some(number),
            unix_nanos: Some(number),
            lane: Some(0),
            number: Some(number),
            args: vec![number as i64 % 4_999],
            ..RawEvent::default()
        };
        event.definition.format = Some(writer.string("got $bytes"));
        writer.event(&event).unwrap();
        if number % 150 == 0 {
            writer.flush().unwrap();
        }
    }
    writer.flush().unwrap();
    let path = directory.join("blocks.tla").display().to_string();
    fs::write(&path, file).unwrap();
    path
}

#[test]
fn one_cpu_finds_and_reads_as_much_as_several() {
    let directory = tempfile::tempdir().unwrap();
    let path = blocks(directory.path());
    let searches = [
        &["bytes(7)"][..],
        &["bytes(7)", "--reverse"],
        &["--regex", r"bytes\(.*7\)"],
        &["bytes(", "--where", "bytes < 9"],
        &["bytes(7)", "-C", "1"],
        &["bytes(7)", "-n"],
    ];
    let found = || {
        searches.map(|words| {
            let words = [&["search", "--stats", &path], words].concat();
            let found = succeed(&words);
            let said = found.stderr.lines();
            let said = said.filter(|line| !line.starts_with("timeline: opened in "));
            (found.stdout, said.map(String::from).collect::<Vec<_>>())
        })
    };
    let on_all = found();
    let this = Pid::from_raw(0);
    let all = sched_getaffinity(this).unwrap();
    let first = (0..CpuSet::count()).find(|cpu| all.is_set(*cpu).unwrap());
    let mut one = CpuSet::new();
    one.set(first.unwrap()).unwrap();
    // Of this thread, and of what it starts.
    sched_setaffinity(this, &one).unwrap();
    let on_one = found();
    sched_setaffinity(this, &all).unwrap();
    for (words, (on_all, on_one)) in searches.iter().zip(on_all.iter().zip(&on_one)) {
        assert_eq!(on_all.1, on_one.1, "{words:?}");
        assert!(on_all.0 == on_one.0, "{words:?}");
    }
    assert_eq!(on_one[0].0.lines().count(), 6);
}
