//! Names of events and positions of values of imported logs: what is shown is found.

use super::Logs;
use crate::command::*;

#[test]
fn a_name_that_is_shown_is_one_that_filters_know() {
    let logs = Logs::new();
    let line = |n: usize| match n % 50 {
        7 => format!("2026-11-23T14:03:07Z ERROR db: lost {n} rows\n"),
        _ => format!("2026-11-23T14:03:07Z INFO server: port {n} of 10.0.0.1\n"),
    };
    let archive = logs.import((0..2_000).map(line).collect::<String>());
    let of = |verb: &str, words: &[&str]| {
        let words = [&[verb, &archive, "--json"], words].concat();
        let ran = run(&words);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{words:?}");
        ran.json()
    };
    let named = of("events", &[]);
    let names = named.iter().map(|event| event["event"].as_str().unwrap());
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["_.INFO_server", "_.ERROR_db"]);
    for (name, count) in [("_.ERROR_db", 40), ("*INFO*", 1_960)] {
        assert_eq!(of("dump", &["--event", name]).len(), count);
        assert_eq!(of("search", &["--event", name, ""]).len(), count);
        let stats = run(&["stats", &archive, "--json", "--event", name]).json();
        assert_eq!(stats[0]["events"], count);
        let when = format!("event {name}");
        let watched = run(&["watch", &archive, "--when", &when]);
        assert_eq!(watched.stdout.lines().count(), count, "{watched:?}");
    }
    // What stands in the column of the category.
    assert_eq!(of("dump", &["--category", "?"]).len(), 2_000);
    for (words, told) in [
        (
            ["--event", "_.ERROR_dc"],
            "there is no event _.ERROR_dc; did you mean _.ERROR_db?",
        ),
        (
            ["--category", "net"],
            "there is no category net; there are: ?",
        ),
        (
            ["--where", "port > 1"],
            "there is no field port; there are: $0, $1",
        ),
    ] {
        let ran = run(&[&["dump", &archive], &words[..]].concat());
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
}

#[test]
fn values_are_whole_numbers_in_kinds_of_lines_that_come_often() {
    let logs = Logs::new();
    let line = |n: usize| format!("took {}.5ms\n", n + 10);
    let often: String = (0..16).map(line).collect();
    for (log, found) in [
        (often.clone() + "saw 12\n", [1, 13]),
        ("took 12.5ms\n".into(), [0, 0]),
    ] {
        let archive = logs.import(log);
        for (condition, count) in ["$0 == 12 && $1 == 5", "$0 > 12"].iter().zip(found) {
            let dumped = succeed(&["dump", &archive, "--json", "--where", condition]);
            assert_eq!(dumped.json().len(), count, "{condition}");
        }
    }
}
