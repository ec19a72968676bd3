//! Times as people and programs are shown them: the same at each reading, and not rounded.

use serde_json::Value;

use crate::command::{Events, log_sums, succeed};
use crate::support::Name;

/// The greatest number below which all are kept by who reads JSON into a floating-point number.
const EXACT: u64 = 1 << 53;

fn check(value: &Value, path: &str) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                check(value, &format!("{path}.{name}"));
                let is_moment = name.ends_with("unix_ns") || name == "begin_ns" || name == "end_ns";
                if is_moment && !value.is_null() {
                    let nanos = crate::json::nanos(value);
                    assert!(
                        nanos.is_some_and(|nanos| nanos > EXACT),
                        "{path}.{name}: {value}"
                    );
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| check(value, path)),
        Value::Number(number) => {
            let is_exact = number
                .as_f64()
                .is_some_and(|number| number.abs() <= EXACT as f64);
            assert!(is_exact, "{path}: {number}");
        }
        _ => {}
    }
}

#[test]
fn no_moment_in_json_is_a_number_that_browsers_round() {
    let (name, folder) = (Name::new("times"), tempfile::tempdir().unwrap());
    let timeline = name.create(1024);
    let events = Events::define(&timeline);
    log_sums(&timeline, &events, 5);
    let begin = timeline
        .define("engine", timeline::Priority::Info, "begin breath")
        .unwrap();
    let end = timeline
        .define("engine", timeline::Priority::Info, "end breath")
        .unwrap();
    timeline.log(begin, []);
    timeline.log(end, []);
    drop(timeline);
    let archive = folder.path().join("times.tla").display().to_string();
    succeed(&["record", "--once", name.path(), "-o", &archive]);
    let both = [name.path(), &archive];
    let recorded = [&*archive];
    for (words, places) in [
        (&["dump", "--json"][..], &both[..]),
        (&["dump", "--json", "--reverse"], &both),
        (&["search", "--json", "breath"], &both),
        (&["info", "--json"], &both),
        (&["stats", "--json"], &both),
        (&["events", "--json"], &both),
        (&["outliers", "--json"], &both),
        (&["histogram", "--json"], &both),
        (&["tail", "--json", "-n", "9"], &recorded),
        (
            &["watch", "--json", "--when", "span engine.* >= 0s"],
            &recorded,
        ),
    ] {
        for place in places {
            let words = [&words[..1], &[place], &words[1..]].concat();
            let found = succeed(&words).json();
            assert!(!found.is_empty(), "{words:?}");
            for value in found {
                check(&value, &words.join(" "));
            }
        }
    }
}

#[test]
fn a_ring_without_a_writer_has_the_same_times_at_each_reading() {
    let name = Name::new("times");
    let timeline = name.create(1024);
    let events = Events::define(&timeline);
    log_sums(&timeline, &events, 100);
    drop(timeline);
    for words in [
        &["dump", name.path(), "--json"][..],
        &["dump", name.path(), "--long"],
    ] {
        let first = succeed(words).stdout;
        assert_eq!(
            first.lines().count(),
            100 + usize::from(words.len() == 3 && words[2] == "--long")
        );
        for _ in 1..8 {
            assert_eq!(succeed(words).stdout, first);
        }
    }
}

#[test]
fn what_stands_under_time_is_a_time() {
    let name = Name::new("times");
    let timeline = name.create(1024);
    let events = Events::define(&timeline);
    log_sums(&timeline, &events, 3);
    let day = |line: &str, from: usize| -> bool {
        let time: Vec<_> = line[from..]
            .split_whitespace()
            .next()
            .unwrap()
            .split(':')
            .collect();
        time.len() == 3 && time[2].len() == 9
    };
    for words in [
        &["--columns", "time,message"][..],
        &["--line", "0"],
        &["--reverse", "--columns", "core,time,message"],
        &["--reverse", "--time", "absolute"],
    ] {
        let shown = succeed(&[&["dump", name.path()], words].concat()).stdout;
        let mut lines = shown.lines();
        let from = lines
            .next()
            .unwrap()
            .find("time")
            .unwrap_or_else(|| panic!("{shown}"));
        assert!(
            lines.clone().count() == 3 && lines.all(|line| day(line, from)),
            "{shown}"
        );
    }
    for words in [&["--reverse"][..], &["--line", "0", "--time", "cycles"]] {
        let shown = succeed(&[&["dump", name.path()], words].concat()).stdout;
        let heading = shown.lines().next().unwrap();
        assert!(
            heading.contains("cycles") && !heading.contains("time"),
            "{shown}"
        );
    }
}
