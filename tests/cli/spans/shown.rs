//! dump and tail say how long a span took.

use nix::sys::signal::Signal;
use timeline::{Priority, event};

use super::*;

#[test]
fn dumps_of_all_sources_and_orders_say_how_long_spans_took() {
    let (name, directory) = (Name::new("spans-dump"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    log_spans(&tl, 3, 40);
    for source in sources(&name, directory.path()) {
        let (events, found) = searched(&source);
        assert!(found.len() > 200, "{source}: {}", found.len());
        let mut expected = vec![None; events.len()];
        found
            .iter()
            .for_each(|one| expected[one.end] = Some(one.nanos));
        let shown = |events: &[serde_json::Value]| -> Vec<Option<u64>> {
            events
                .iter()
                .map(|event| event["duration"].as_u64())
                .collect()
        };
        assert!(are_close(&shown(&events), &expected), "{source}");
        let mut newest = succeed(&["dump", &source, "--json"]).json();
        newest.reverse();
        let newest = shown(&newest);
        // Newest first, an end without a begin leaves nobody sure of the spans around it.
        let has_stray = |end: usize| {
            let one = found.iter().find(|one| one.end == end).unwrap();
            let mut inside = events[one.begin..end].iter();
            inside.any(|event| {
                event["tid"] == events[end]["tid"] && event["message"] == "end nothing"
            })
        };
        let known = (0..events.len()).map(|end| {
            let is_known = newest[end].is_some() || expected[end].is_some_and(|_| !has_stray(end));
            expected[end].filter(|_| is_known)
        });
        let known: Vec<_> = known.collect();
        assert!(are_close(&newest, &known), "{source}, newest first");
        let missing = known
            .iter()
            .zip(&expected)
            .filter(|(known, all)| known != all);
        assert!(missing.count() <= 18, "{source}, newest first");
    }
}

/// Whether these are the same, but for the nanosecond by which the time of an event of a ring
/// changes when the clocks were looked at again.
fn are_close(shown: &[Option<u64>], expected: &[Option<u64>]) -> bool {
    let is_close = |(one, other): (&Option<u64>, &Option<u64>)| match (one, other) {
        (Some(one), Some(other)) => one.abs_diff(*other) <= 1,
        (None, None) => true,
        _ => false,
    };
    shown.len() == expected.len() && shown.iter().zip(expected).all(is_close)
}

#[test]
fn a_filter_of_a_ring_keeps_the_durations() {
    let name = Name::new("spans-filter");
    let tl = name.create(1024);
    event!(tl, Priority::Info, "engine", "begin breath");
    event!(tl, Priority::Info, "engine", "end breath");
    let ran = succeed(&["dump", name.path(), "--event", "engine.end_*"]);
    let line = ran.stdout.lines().nth(1).unwrap();
    let (_, took) = line.split_once("engine   end breath took ").expect(line);
    assert!(
        took.ends_with("ns") || took.ends_with("µs") || took.ends_with("ms"),
        "{line}"
    );
}

#[test]
fn nothing_is_guessed_behind_a_gap() {
    let (name, directory) = (Name::new("spans-gap"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    let begin = tl
        .define("engine", Priority::Info, "begin breath $n")
        .unwrap();
    let end = tl
        .define("engine", Priority::Info, "end breath $n")
        .unwrap();
    let other = tl.define("engine", Priority::Info, "other").unwrap();
    tl.log(begin, [1]);
    for _ in 0..5_000 {
        tl.log(other, []);
    }
    tl.log(end, [1]);
    for n in 2..4 {
        tl.log(begin, [n]);
        tl.log(end, [n]);
    }
    for source in sources(&name, directory.path()) {
        let events = succeed(&["dump", &source, "--json"]).json();
        let ends = events
            .iter()
            .filter(|event| event["message"].as_str().unwrap().contains("end"));
        let known: Vec<_> = ends.map(|event| event["duration"].is_u64()).collect();
        assert_eq!(known, [true, true, false], "{source}");
        let ran = succeed(&["histogram", &source, "--json"]);
        assert_eq!(
            ran.stderr, "timeline: not measured: 1 end without a begin\n",
            "{source}"
        );
        assert_eq!(ran.json().last().unwrap()["count"], 2, "{source}");
    }
}

#[test]
fn tail_says_how_long_a_span_took() {
    let name = Name::new("spans-tail");
    let tl = name.create(1024);
    event!(tl, Priority::Info, "engine", "begin breath");
    let mut tail = Running::start(&["tail", name.path()]);
    tail.stdout_until("the begin", |lines| lines.len() == 1);
    event!(tl, Priority::Info, "engine", "end breath");
    let lines = tail.stdout_until("the end", |lines| lines.len() == 2);
    assert!(lines[1].contains("end breath took "), "{lines:?}");
    tail.signal(Signal::SIGINT);
    tail.succeed();
}
