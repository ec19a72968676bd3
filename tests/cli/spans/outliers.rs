//! timeline outliers: the slowest, and what was logged in them.

use serde_json::Value;

use super::naive::time;
use super::*;

/// The messages of events, with their times.
fn rows<'e>(events: impl Iterator<Item = &'e Value>) -> Vec<(u64, String)> {
    let row = |event: &Value| (time(event), event["message"].as_str().unwrap().to_owned());
    events.map(row).collect()
}

#[test]
fn the_slowest_are_those_that_a_naive_search_finds_with_all_that_happened_in_them() {
    let (name, directory) = (Name::new("outliers"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    log_spans(&tl, 3, 40);
    // The times of a ring change by a nanosecond when the clocks are looked at again.
    for source in &sources(&name, directory.path())[1..] {
        let (events, mut found) = searched(source);
        found.sort_by_key(|one| std::cmp::Reverse(one.nanos));
        let ran = succeed(&[
            "outliers",
            source,
            "--json",
            "-n",
            "30",
            "--max-events",
            "9",
        ]);
        let shown = ran.json();
        assert_eq!(shown.len(), 30);
        for (shown, expected) in shown.iter().zip(&found) {
            // Another one may have taken as long.
            assert_eq!(shown["duration"], expected.nanos, "{source}");
            let (begin, end) = (
                crate::json::nanos(&shown["begin_ns"]),
                crate::json::nanos(&shown["end_ns"]),
            );
            let (begin, end) = (begin.unwrap(), end.unwrap());
            let is_it = |one: &&Duration| {
                let times = (time(&events[one.begin]), time(&events[one.end]));
                one.name == shown["span"].as_str().unwrap() && times == (begin, end)
            };
            let one = found
                .iter()
                .find(is_it)
                .expect("a naive search finds it, too");
            let ended = &events[one.end];
            let is_inside = |event: &&Value| {
                let is_of = match shown["key"].is_null() {
                    true => event["tid"] == ended["tid"],
                    false => event["args"]["id"] == shown["key"],
                };
                is_of && (begin..=end).contains(&time(event))
            };
            let inside = rows(events.iter().filter(is_inside));
            let listed = rows(shown["events"].as_array().unwrap().iter());
            assert_eq!(listed, inside[..inside.len().min(9)], "{source}: {shown}");
            let more = inside.len() - listed.len();
            assert_eq!(shown["more_events"], more);
        }
        assert!(
            ran.stderr.contains(&format!("30 of {} spans", found.len())),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn text_indents_spans_in_spans() {
    let name = Name::new("outliers-text");
    let tl = name.create(1024);
    log_spans(&tl, 1, 3);
    let ran = succeed(&[
        "outliers",
        name.path(),
        "--span",
        "engine.breath",
        "-n",
        "9",
    ]);
    let last = ran
        .stdout
        .split("\n\n")
        .find(|one| one.contains("round(2)"))
        .unwrap();
    let messages: Vec<_> = last
        .lines()
        .skip(1)
        .map(|line| {
            let (_, message) = line.trim_start().split_once("  ").unwrap();
            message.split(" took ").next().unwrap()
        })
        .collect();
    assert_eq!(
        messages,
        [
            "engine  begin breath round(2)",
            "  http  start request id(2)",
            "  engine  begin app name(nic)",
            "  engine  end app name(nic)",
            "  engine  begin app name(firewall)",
            "    engine  begin app name(firewall)",
            "    engine  end app name(firewall)",
            "  engine  end app name(firewall)",
            "  net  packet id(2) of size(200)",
            "  http  finish request id(1) with status(200)",
            "engine  end breath round(2)",
        ],
        "{last}"
    );
    assert!(last.contains("engine.breath  from "), "{last}");
}

#[test]
fn filters_are_about_the_end() {
    let name = Name::new("outliers-filters");
    let tl = name.create(16384);
    log_spans(&tl, 1, 40);
    let (events, found) = searched(name.path());
    let words = [
        "outliers",
        name.path(),
        "--json",
        "-n",
        "99",
        "--where",
        "status >= 500",
    ];
    let failed = found
        .iter()
        .filter(|one| events[one.end]["args"]["status"] == 500);
    assert_eq!(succeed(&words).json().len(), failed.count());
    let words = [
        "outliers",
        name.path(),
        "--json",
        "-n",
        "99",
        "--max-events",
        "0",
    ];
    let without = succeed(&words).json();
    assert!(
        without
            .iter()
            .all(|one| one["events"].as_array().unwrap().is_empty())
    );
}
