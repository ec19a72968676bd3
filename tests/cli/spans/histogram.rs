//! timeline histogram: percentiles against sorted durations.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;
use timeline::{Priority, event};

use super::naive::time;
use super::*;

/// Whether a histogram of three digits may say this of an exact value.
fn is_close(shown: &Value, exact: u64) -> bool {
    let shown = shown.as_u64().expect("a duration");
    shown >= exact && (shown - exact) as f64 <= exact as f64 * 0.001
}

/// The percentile of sorted durations that HdrHistogram gives.
fn percentile(sorted: &[u64], percent: f64) -> u64 {
    // Exact: no floating-point number is 99.9.
    let hundredths = (percent * 100.0).round() as usize;
    let rank = (hundredths * sorted.len()).div_ceil(10_000);
    sorted[rank.clamp(1, sorted.len()) - 1]
}

fn check_row(row: &Value, mut nanos: Vec<u64>) {
    nanos.sort_unstable();
    assert_eq!(row["count"], nanos.len(), "{row}");
    let (Some(min), Some(max)) = (nanos.first(), nanos.last()) else {
        return;
    };
    // The least is that of a bucket's begin.
    let least = row["min"].as_u64().unwrap();
    assert!(
        least <= *min && (min - least) as f64 <= *min as f64 * 0.001,
        "{row}"
    );
    assert!(is_close(&row["max"], *max), "{row}");
    for (name, percent) in [("p50", 50.0), ("p90", 90.0), ("p99", 99.0)] {
        let exact = percentile(&nanos, percent);
        assert!(is_close(&row[name], exact), "{name} of {row}: {exact}");
    }
}

/// The rows of the totals, by tag.
fn totals(rows: &[Value]) -> Vec<(&str, &Value)> {
    let totals = rows.iter().filter(|row| row["type"] == "total");
    totals
        .map(|row| (row["tag"].as_str().unwrap_or(""), row))
        .collect()
}

#[test]
fn percentiles_are_those_of_sorted_durations_in_all_sources() {
    let (name, directory) = (Name::new("histogram"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    log_spans(&tl, 3, 60);
    // The times of a ring change by a nanosecond when the clocks are looked at again.
    for source in &sources(&name, directory.path())[1..] {
        let (_, found) = searched(source);
        let rows = succeed(&["histogram", source, "--json"]).json();
        let mut names: Vec<_> = found.iter().map(|one| &*one.name).collect();
        names.sort_unstable();
        names.dedup();
        let totals = totals(&rows);
        assert_eq!(totals.len(), names.len(), "{source}: {totals:?}");
        for (tag, row) in totals {
            let of_tag = found.iter().filter(|one| one.name == tag);
            check_row(row, of_tag.map(|one| one.nanos).collect());
        }
    }
}

#[test]
fn each_interval_has_the_durations_that_end_in_it() {
    let (name, directory) = (
        Name::new("histogram-intervals"),
        tempfile::tempdir().unwrap(),
    );
    let tl = name.create(16384);
    log_spans(&tl, 2, 200);
    // The times of a ring change by a nanosecond when the clocks are looked at again.
    let path = &snapshot(&name, directory.path());
    let (events, found) = searched(path);
    let file = directory.path().join("spans.hlog").display().to_string();
    let words = ["--span", "engine.breath", "--interval", "1ms", "--align"];
    let ran = succeed(&[&["histogram", path, "-o", &file], &words[..]].concat());
    let log = fs::read_to_string(&file).unwrap();
    for line in [
        "#[Histogram log format version 1.3]",
        "#[StartTime: ",
        "#[BaseTime: ",
    ] {
        assert!(log.contains(&format!("\n{line}")), "{log}");
    }
    assert!(
        ran.stderr.contains(&format!("to {file}\n")),
        "{}",
        ran.stderr
    );
    // The log says the same as the events.
    for words in [
        [&["histogram", path, "--json"], &words[..]].concat(),
        vec!["histogram", &file, "--json"],
    ] {
        let rows = succeed(&words).json();
        let intervals: Vec<_> = rows
            .iter()
            .filter(|row| row["type"] == "interval")
            .collect();
        let mut sum = 0;
        for (number, row) in intervals.iter().enumerate() {
            let seconds = row["start"].as_f64().unwrap();
            let first = intervals[0]["start"].as_f64().unwrap();
            let expected = first + number as f64 / 1000.0;
            assert!(
                (seconds - expected).abs() < 1e-4,
                "empty ones are there: {row}"
            );
            let start = (seconds * 1000.0).round() as u64 * 1_000_000;
            let is_in = |one: &&Duration| {
                let end = time(&events[one.end]);
                one.name == "engine.breath" && (start..start + 1_000_000).contains(&end)
            };
            let nanos: Vec<_> = found.iter().filter(is_in).map(|one| one.nanos).collect();
            sum += nanos.len();
            check_row(row, nanos);
        }
        assert_eq!(sum, 400, "{words:?}");
    }
}

#[test]
fn a_part_of_the_time_has_the_durations_that_end_in_it() {
    let (name, directory) = (Name::new("histogram-time"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    log_spans(&tl, 3, 60);
    for source in &sources(&name, directory.path())[1..] {
        let (events, found) = searched(source);
        let middle = |part: usize| time(&events[events.len() * part / 7]);
        let (since, until) = (middle(2), middle(5));
        let moment =
            |nanos: u64| format!("@{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
        let (from, to) = (moment(since), moment(until));
        let rows = succeed(&[
            "histogram",
            source,
            "--json",
            "--span",
            "engine.app",
            "--since",
            &from,
            "--until",
            &to,
        ]);
        let is_in = |one: &&Duration| {
            let end = time(&events[one.end]);
            one.name == "engine.app" && (since..until).contains(&end)
        };
        let nanos: Vec<_> = found.iter().filter(is_in).map(|one| one.nanos).collect();
        assert!(nanos.len() > 10);
        check_row(totals(&rows.json())[0].1, nanos);
    }
}

#[test]
fn any_two_events_and_any_number_can_be_measured() {
    let name = Name::new("histogram-measures");
    let tl = name.create(16384);
    log_spans(&tl, 2, 50);
    let directory = tempfile::tempdir().unwrap();
    // The times of a ring change by a nanosecond when the clocks are looked at again.
    let path = &*snapshot(&name, directory.path());
    let (events, found) = searched(path);
    let total = |words: &[&str]| {
        let rows = succeed(&[&["histogram", path, "--json"], words].concat()).json();
        totals(&rows).last().unwrap().1.clone()
    };
    let of = |name: &str| -> Vec<u64> {
        let found = found.iter().filter(|one| one.name == name);
        found.map(|one| one.nanos).collect()
    };
    let ends = [
        "--from",
        "http.start_request",
        "--to",
        "http.finish_request",
        "--key",
        "id",
    ];
    check_row(&total(&ends), of("http.request"));
    let ends = ["--from", "engine.begin_breath", "--to", "engine.end_breath"];
    check_row(&total(&ends), of("engine.breath"));
    let packets: Vec<_> = events
        .iter()
        .filter(|event| event["category"] == "net")
        .collect();
    let sizes = packets
        .iter()
        .map(|event| event["args"]["size"].as_u64().unwrap());
    check_row(&total(&["--field", "net.packet.size"]), sizes.collect());
    let field = ["histogram", path, "--field", "net.packet.size"];
    let text = succeed(&field).stdout;
    assert!(
        !text.contains("ns") && !text.contains("µs"),
        "no durations: {text}"
    );
    let refused = run(&[&field[..], &["--plot", "x.svg"]].concat());
    assert!(
        refused.stderr.contains("pictures are of durations"),
        "{refused:?}"
    );
    let mut every = Vec::new();
    for (place, packet) in packets.iter().enumerate() {
        let before = packets[..place].iter().rev();
        let before = before.clone().find(|before| before["tid"] == packet["tid"]);
        every.extend(before.map(|before| time(packet) - time(before)));
    }
    check_row(&total(&["--every", "net.packet"]), every);
}

#[test]
fn a_live_timeline_and_an_archive_that_grows_are_followed() {
    let (name, directory) = (Name::new("histogram-follow"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    let archive = directory.path().join("flight.tla").display().to_string();
    let recorder = Running::start(&["record", name.path(), "-o", &archive]);
    eventually("the archive", || fs::metadata(&archive).is_ok());
    let log = directory.path().join("live.hlog").display().to_string();
    let words = ["--follow", "--interval", "5ms"];
    let mut rows = Running::start(&[&["histogram", name.path(), "--json"], &words[..]].concat());
    let of_archive = [&["histogram", &archive, "-o", &log], &words[..]].concat();
    let of_archive = Running::start(&of_archive);
    let is_counted = |lines: &[String]| {
        lines
            .iter()
            .any(|line| line.contains("engine.breath") && !line.contains("\"count\":0"))
    };
    eventually("a row with durations", || {
        event!(tl, Priority::Info, "engine", "begin breath");
        event!(tl, Priority::Info, "engine", "end breath");
        is_counted(&rows.stdout_now())
    });
    eventually("a line of the log", || {
        event!(tl, Priority::Info, "engine", "begin breath");
        event!(tl, Priority::Info, "engine", "end breath");
        fs::read_to_string(&log).is_ok_and(|log| log.contains("Tag=engine.breath,"))
    });
    for _ in 0..1_000 {
        event!(tl, Priority::Info, "engine", "begin burst");
        event!(tl, Priority::Info, "engine", "end burst");
    }
    rows.signal(Signal::SIGINT);
    let (rows, _) = rows.succeed();
    // All that was logged before the signal.
    let totals = rows.iter().filter(|row| row.contains("\"type\":\"total\""));
    let totals: Vec<Value> = totals
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    let burst = totals.iter().find(|row| row["tag"] == "engine.burst");
    assert_eq!(burst.unwrap()["count"], 1_000, "{totals:?}");
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    // Nothing is recorded any more, so it ends by itself.
    of_archive.succeed();
    assert!(!succeed(&["histogram", &log, "--json"]).json().is_empty());
}

#[test]
fn pictures_and_distributions_are_made() {
    let (name, directory) = (Name::new("histogram-plots"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    log_spans(&tl, 1, 60);
    let file = |name: &str| directory.path().join(name).display().to_string();
    let (log, svg, png, map) = (
        file("a.hlog"),
        file("a.svg"),
        file("a.png"),
        file("map.svg"),
    );
    succeed(&[
        "histogram",
        name.path(),
        "-o",
        &log,
        "--plot",
        &svg,
        "--interval",
        "1ms",
    ]);
    let two = [
        "histogram",
        &log,
        &log,
        "--plot-spectrum",
        &png,
        "--plot-heat-map",
        &map,
    ];
    succeed(&two);
    for (file, beginning) in [(svg, "<svg"), (map, "<svg")] {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with(beginning), "{file}");
        assert!(
            text.contains("engine.breath") || text.contains("a.hlog"),
            "{file}"
        );
    }
    assert!(fs::read(png).unwrap().starts_with(b"\x89PNG"));
    let words = [
        "histogram",
        name.path(),
        "--span",
        "engine.breath",
        "--percentiles",
    ];
    let text = succeed(&words).stdout;
    assert!(
        text.contains("Value     Percentile TotalCount 1/(1-Percentile)"),
        "{text}"
    );
    assert!(text.contains("Total count    =           60]"), "{text}");
    // Merged with itself, each interval has twice as many.
    let rows = succeed(&["histogram", &log, &log, "--tag", "engine.breath", "--json"]).json();
    assert_eq!(totals(&rows)[0].1["count"], 120);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (name, directory) = (Name::new("histogram-refused"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    log_spans(&tl, 1, 9);
    let log = directory.path().join("a.hlog").display().to_string();
    succeed(&["histogram", name.path(), "-o", &log]);
    let path = name.path();
    for (words, said) in [
        (&[path, "--percentiles"][..], "several: engine.breath"),
        (
            &[path, "--tag", "x", "--span", "*"],
            "--tag x is for one span",
        ),
        (&[path, "--field", "size"], "expected EVENT.FIELD"),
        (&[path, "--field", "net.packet.size", "--span", "x*"], ""),
        (
            &[path, "--field", "net.packet.size", "--span", "*"],
            "several units",
        ),
        (&[path, "--interval", "1us"], "whole milliseconds"),
        (&[path, "--interval", "1.5ms"], "no finer times, got 1.5ms"),
        (&[path, "--interval", "0s"], "above zero"),
        (&[path, "--from", "a"], "--to"),
        (&[path, "--plot", "x.jpg"], "ends in .svg or .png"),
        (&[path, "--start", "1s"], "are for interval logs"),
        (&[path, &log], "must all be interval logs"),
        (&[path, "--digits", "9"], "digits"),
        (&[&log, "--span", "x"], "no events to choose from"),
        (&[&log, "--follow"], "cannot be followed"),
        (&[&log, "--start", "-1s"], "after the start"),
    ] {
        let ran = run(&[&["histogram"], words].concat());
        assert_eq!(ran.code == Some(0), said.is_empty(), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
        // What was typed is at fault.
        let is_value = ["--interval", "--digits"].contains(&words[1]);
        assert!(!is_value || ran.code == Some(2), "{words:?}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
    // What is read is not written over, whatever it is called.
    let text = fs::read_to_string(&log).unwrap();
    let other = directory.path().join("b.hlog").display().to_string();
    std::os::unix::fs::symlink(&log, &other).unwrap();
    for words in [
        [&log, "-o", &log],
        [&log, "-o", &other],
        [&other, "-o", &log],
    ] {
        let ran = run(&[&["histogram"], &words[..]].concat());
        assert!(
            ran.code == Some(1) && ran.stderr.contains("choose a new name for -o"),
            "{ran:?}"
        );
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), text);
    // A damaged line costs itself, if that is wanted.
    fs::write(&log, text + "Tag=x,1.0,nonsense\n").unwrap();
    let failed = run(&["histogram", &log, "--json"]);
    assert!(
        failed.code == Some(1) && failed.stderr.contains("line "),
        "{failed:?}"
    );
    let passed = succeed(&["histogram", &log, "--json", "--skip-damaged"]);
    assert!(passed.stderr.contains("passed over"), "{}", passed.stderr);
    assert!(!passed.json().is_empty());
}

#[test]
fn where_nothing_can_be_measured_that_is_said() {
    let (name, directory) = (Name::new("histogram-none"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    event!(tl, Priority::Info, "net", "packet {size}", size = 3);
    event!(tl, Priority::Info, "net", "packet {size}", size = 4);
    let none = "no durations were found: a span is from an event";
    for source in sources(&name, directory.path()) {
        for words in [
            &["histogram", &source][..],
            &["histogram", &source, "--csv"],
            &["histogram", &source, "--json"],
            &["histogram", &source, "--percentiles"],
            &["outliers", &source],
            &["outliers", &source, "--json"],
            &[
                "outliers",
                &source,
                "--every",
                "net.packet",
                "--where",
                "size > 4",
            ],
        ] {
            let ran = succeed(words);
            assert!(ran.stderr.contains(none), "{words:?}: {ran:?}");
            assert!(ran.stderr.contains("--every"), "{words:?}: {ran:?}");
            let is_bare = !words.contains(&"--csv");
            assert!(!is_bare || ran.stdout.is_empty(), "{words:?}: {ran:?}");
        }
        let field = ["histogram", &source, "--field", "net.packet.size"];
        let ran = succeed(&[&field[..], &["--where", "size > 4"]].concat());
        assert!(ran.stderr.contains("no values were found"), "{ran:?}");
        // Nothing of the kind, where there are some.
        let every = ["histogram", &source, "--every", "net.packet"];
        for words in [&field[..], &every] {
            let ran = succeed(words);
            assert!(!ran.stderr.contains("were found"), "{words:?}: {ran:?}");
        }
        // The unit of what is written without one.
        let unit = "the durations are in milliseconds; --unit";
        let ran = succeed(&[&every[..], &["--percentiles"]].concat());
        assert!(ran.stderr.contains(unit), "{ran:?}");
        let ran = succeed(&[&every[..], &["--percentiles", "--unit", "us"]].concat());
        assert!(!ran.stderr.contains(unit), "{ran:?}");
        let ran = succeed(&[&field[..], &["--percentiles"]].concat());
        assert!(!ran.stderr.contains(unit), "{ran:?}");
    }
}
