//! Durations and spans that are served are those of `histogram` and `outliers`.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use serde_json::Value;
use timeline::{Priority, Timeline, event};

use super::http::{Served, quoted};
use crate::command::*;
use crate::support::{Name, Random};

/// Nested spans of three threads, spans by key that cross threads, and halves of spans.
fn log_spans(tl: &Timeline, rounds: u64) {
    thread::scope(|scope| {
        for thread in 0..3_u64 {
            scope.spawn(move || {
                for round in 0..rounds {
                    let id = thread * rounds + round;
                    let other = (id + 3 * rounds - 1) % (3 * rounds);
                    event!(tl, Priority::Info, "engine", "begin breath {round}", round);
                    event!(tl, Priority::Info, "http", "start request {id}", id);
                    for app in 0..round % 3 {
                        event!(tl, Priority::Trace, "engine", "begin app {app}", app);
                        event!(tl, Priority::Trace, "engine", "end app {app}", app);
                    }
                    if round % 7 == 3 {
                        event!(tl, Priority::Info, "engine", "end nothing");
                        event!(tl, Priority::Info, "engine", "begin something");
                    }
                    event!(
                        tl,
                        Priority::Info,
                        "http",
                        "finish request {id}",
                        id = other
                    );
                    event!(tl, Priority::Info, "engine", "end breath {round}", round);
                }
            });
        }
    });
}

/// An archive of them.
fn archive(folder: &Path, rounds: u64) -> String {
    let name = Name::new("durations");
    let tl = name.create(1 << 15);
    log_spans(&tl, rounds);
    // Readers get it first.
    event!(important: true, tl, Priority::Error, "net", "down");
    let file = snapshot(&name, folder);
    let path = folder.join("flight.tla").display().to_string();
    succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
    std::fs::remove_file(file).unwrap();
    path
}

/// What `histogram` says of all durations of each span.
fn totals(path: &str, words: &[&str]) -> BTreeMap<String, Value> {
    let rows = succeed(&[&["histogram", path, "--json"], words].concat()).json();
    let totals = rows.into_iter().filter(|row| row["type"] == "total");
    let totals = totals.filter(|row| row["count"] != 0);
    totals
        .map(|row| (row["tag"].as_str().unwrap_or("").to_owned(), row))
        .collect()
}

/// Checks what is served against what `histogram` prints.
fn check(served: &Value, printed: &BTreeMap<String, Value>) {
    let series = served["series"].as_array().unwrap();
    assert_eq!(series.len(), printed.len(), "{printed:?}");
    for one in series {
        let name = one["name"].as_str().unwrap();
        let row = printed.get(name).or(printed.get("")).unwrap();
        for (field, printed) in [
            ("count", "count"),
            ("min", "min"),
            ("p50", "p50"),
            ("p90", "p90"),
            ("p99", "p99"),
            ("p99_9", "p99.9"),
            ("max", "max"),
        ] {
            let (served, printed) = (one[field].as_f64().unwrap(), row[printed].as_f64());
            let printed = printed.unwrap_or_else(|| panic!("{field} of {row}"));
            assert!(
                (served - printed).abs() <= printed * 0.001,
                "{name} {field}: {served}, not {printed}"
            );
        }
        check_parts(one);
    }
}

/// Each part of a picture has all durations.
fn check_parts(one: &Value) {
    let sum = |list: &str, at: usize| -> u64 {
        let list = one[list].as_array().unwrap().iter();
        list.map(|part| part[at].as_u64().unwrap()).sum()
    };
    let points = one["spectrum"].as_array().unwrap();
    let behind: u64 = points
        .iter()
        .map(|point| point["count"].as_u64().unwrap())
        .sum();
    let count = one["count"].as_u64().unwrap();
    assert_eq!(
        (sum("over_time", 1), sum("cells", 2), behind),
        (count, count, count)
    );
    let values = points.iter().map(|point| point["value"].as_u64().unwrap());
    assert!(values.clone().is_sorted() && values.clone().next_back() == one["max"].as_u64());
}

fn durations(listed: &Value) -> Vec<(u64, String)> {
    let listed = listed["durations"].as_array().unwrap().iter();
    let one = |one: &Value| {
        let begin = one["begin"]["unix_ns"].as_str().unwrap().to_owned();
        (one["duration"].as_u64().unwrap(), begin)
    };
    listed.map(one).collect()
}

/// What `outliers` prints.
fn slowest(path: &str, words: &[&str]) -> Vec<(u64, String)> {
    let words = [&["outliers", path, "--json", "--max-events", "0"], words].concat();
    let spans = succeed(&words).json().into_iter();
    let one = |span: Value| {
        let begin = span["begin_ns"].as_str().unwrap().to_owned();
        (span["duration"].as_u64().unwrap(), begin)
    };
    spans.map(one).collect()
}

/// The first and the last time of a log.
fn range(served: &Served, log: &str) -> (u64, u64) {
    let state = served.json(log);
    let time = |of: &str| state[of]["unix_ns"].as_str().unwrap().parse().unwrap();
    (time("first"), time("last"))
}

#[test]
fn durations_are_those_that_histogram_prints() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), 600);
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", quoted(&path));
    check(
        &served.json(&format!("{log}/durations")),
        &totals(&path, &[]),
    );
    for (asked, words) in [
        ("?what=engine.*&columns=7", &["--span", "engine.*"][..]),
        (
            "?what=every%20http.start_request",
            &["--every", "http.start_request"],
        ),
        (
            "?what=http.start_request..http.finish_request%20by%20id&columns=512",
            &[
                "--from",
                "http.start_request",
                "--to",
                "http.finish_request",
                "--key",
                "id",
            ],
        ),
        (
            "?event=engine.end_app&where=app==1",
            &["--event", "engine.end_app", "--where", "app==1"],
        ),
    ] {
        let answer = served.json(&format!("{log}/durations{asked}"));
        check(&answer, &totals(&path, words));
    }
    let losses = &served.json(&format!("{log}/durations"))["losses"];
    assert!(losses["ends"].as_u64() > Some(100) && losses["begins"].as_u64() > Some(100));
    let (first, last) = range(&served, &log);
    let mut random = Random(crate::queries::seed());
    for _ in 0..4 {
        let from = first + random.below((last - first) / 2);
        let to = from + 1 + random.below(last - from);
        let at = |time: u64| format!("@{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
        let words = ["--since", &at(from), "--until", &at(to)];
        let answer = served.json(&format!("{log}/durations?from={from}&to={to}"));
        check(&answer, &totals(&path, &words));
        let asked = format!("{log}/durations/list?from={from}&to={to}&limit=20");
        let printed = slowest(&path, &[&words[..], &["-n", "20"]].concat());
        assert_eq!(durations(&served.json(&asked)), printed, "{asked}");
    }
}

#[test]
fn behind_each_cell_and_bucket_are_its_durations() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), 60);
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", quoted(&path));
    let answer = served.json(&format!("{log}/durations?columns=5"));
    let number = |of: &str| answer[of].as_str().unwrap().parse::<u64>().unwrap();
    let (from, to) = (number("from"), number("to"));
    let start =
        |column: u64| from + (u128::from(to - from) * u128::from(column)).div_ceil(5) as u64;
    for one in answer["series"].as_array().unwrap() {
        let of = format!("series={}&limit=10000", quoted(one["id"].as_str().unwrap()));
        for cell in one["cells"].as_array().unwrap() {
            let [column, row, count] = [0, 1, 2].map(|at| cell[at].as_u64().unwrap());
            let [min, end] =
                [0, 1].map(|more| answer["rows"][row as usize + more].as_u64().unwrap());
            let times = format!("from={}&to={}", start(column), start(column + 1));
            let asked = format!(
                "{log}/durations/list?{of}&{times}&min={min}&max={}",
                end - 1
            );
            let listed = served.json(&asked);
            assert_eq!(listed["count"], count, "{asked}");
            let all = durations(&listed);
            assert_eq!(all.len() as u64, count, "{asked}");
            assert!(
                all.iter().all(|(value, _)| (min..end).contains(value)),
                "{asked}"
            );
            assert!(all.is_sorted_by_key(|(value, _)| std::cmp::Reverse(*value)));
        }
        let mut min = 0;
        for point in one["spectrum"].as_array().unwrap() {
            let max = point["value"].as_u64().unwrap();
            let asked = format!("{log}/durations/list?{of}&min={min}&max={max}");
            assert_eq!(served.json(&asked)["count"], point["count"], "{asked}");
            min = max + 1;
        }
    }
}

/// A span of a track: when it began and how long it is.
fn bars(answer: &Value, from: u64) -> Vec<(u64, u64)> {
    let rows = answer["rows"].as_array().unwrap().iter();
    let spans = rows.flat_map(|row| row["spans"].as_array().unwrap());
    let bar = |span: &Value| {
        let [begin, end] = [1, 2].map(|at| span[at].as_i64().unwrap());
        ((from as i64 + begin) as u64, (end - begin) as u64)
    };
    let mut all: Vec<_> = spans.map(bar).collect();
    all.sort_unstable();
    all
}

#[test]
fn spans_of_tracks_are_those_that_overlap_the_range() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), 200);
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", quoted(&path));
    let printed = slowest(&path, &["-n", "100000"]);
    let (first, last) = range(&served, &log);
    let mut random = Random(crate::queries::seed());
    for _ in 0..6 {
        let from = first + random.below(last - first);
        let to = from + 1 + random.below((last - from) / 4 + 1);
        for by in ["thread", "core"] {
            let asked = format!("{log}/spans?by={by}&from={from}&to={to}&limit=20000");
            let answer = served.json(&asked);
            let spans = printed
                .iter()
                .map(|(value, begin)| (begin.parse::<u64>().unwrap(), *value));
            let mut wanted: Vec<_> = spans
                .filter(|(begin, value)| *begin < to && begin + value >= from)
                .collect();
            wanted.sort_unstable();
            assert_eq!(bars(&answer, from), wanted, "{asked}");
            let min = wanted.get(wanted.len() / 2).map_or(0, |(_, value)| *value);
            let some = served.json(&format!("{asked}&min={min}"));
            let (long, short) = (bars(&some, from), some["short"].as_u64().unwrap() as usize);
            wanted.retain(|(_, value)| *value >= min);
            assert_eq!(
                (long.len() + short, long),
                (bars(&answer, from).len(), wanted)
            );
            let few = served.json(&format!("{log}/spans?by={by}&from={from}&to={to}&limit=3"));
            let all = bars(&answer, from).len();
            let kept = bars(&few, from).len();
            assert_eq!(kept + few["more"].as_u64().unwrap() as usize, all);
            assert!(kept <= 3);
        }
    }
}

#[test]
fn begins_are_found_in_blocks_before_the_range() {
    let (name, folder) = (Name::new("durations-long"), tempfile::tempdir().unwrap());
    let tl = name.create(1 << 16);
    event!(tl, Priority::Info, "engine", "begin day");
    // More than some blocks of an archive hold.
    for number in 0..40_000_u64 {
        event!(tl, Priority::Info, "net", "sent {number}", number);
    }
    event!(tl, Priority::Info, "engine", "end day");
    let file = snapshot(&name, folder.path());
    let path = folder.path().join("flight.tla").display().to_string();
    succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", quoted(&path));
    let (first, last) = range(&served, &log);
    let asked = format!("from={last}&to={}", last + 1);
    let answer = served.json(&format!("{log}/durations?{asked}"));
    let series = &answer["series"][0];
    assert_eq!(
        (&series["count"], &series["name"]),
        (&1.into(), &"engine.day".into())
    );
    let listed = served.json(&format!("{log}/durations/list?{asked}"));
    let all = durations(&listed);
    assert_eq!(all[0].0, last - all[0].1.parse::<u64>().unwrap());
    for from in [first + 1, first + (last - first) / 2, last - 1] {
        let answer = served.json(&format!("{log}/spans?from={from}&to={}", from + 1));
        assert_eq!(bars(&answer, from).len(), 1, "{from}: {answer}");
    }
}

#[test]
fn durations_of_a_live_timeline_grow() {
    let name = Name::new("durations-live");
    let tl = name.create(1 << 14);
    let served = Served::begin(&[name.path()]);
    let log = format!("/api/logs/{}", quoted(name.path()));
    for rounds in [3, 30] {
        let before = succeed(&["outliers", name.path(), "--json", "-n", "100000"]).json();
        log_spans(&tl, rounds);
        let after = succeed(&["outliers", name.path(), "--json", "-n", "100000"]).json();
        assert!(after.len() > before.len());
        eventually("the durations", || {
            let listed = served.json(&format!("{log}/durations/list"));
            listed["count"].as_u64() == Some(after.len() as u64)
        });
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), 20);
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", quoted(&path));
    for (asked, said) in [
        ("durations?what=two%20words", "expected a span"),
        ("durations?what=", "expected a span"),
        ("durations?from=5", "both from and to"),
        ("durations?from=5&to=5", "to be before"),
        ("durations?columns=x", "columns to be a number"),
        ("durations?series=x", "there is no parameter"),
        ("durations/list?min=-1", "min to be a number"),
        ("durations/list?where=((", ""),
        ("spans", "from and to"),
        ("spans?from=1&to=2&by=process", "thread or core"),
        ("spans?from=1&to=2&what=a", "there is no parameter"),
        ("spans?from=1&to=2&long=1", "long to be true or false"),
        ("spans?long=true", "from and to"),
    ] {
        let answer = served.get(&format!("{log}/{asked}"));
        let object: Value = serde_json::from_slice(&answer.body).unwrap();
        let error = object["error"].as_str().unwrap();
        assert!(
            answer.status == 400 && error.contains(said),
            "{asked}: {error}"
        );
    }
    let many = "what=a.b&".repeat(17);
    assert_eq!(served.get(&format!("{log}/durations?{many}")).status, 400);
    let none = served.json(&format!("{log}/durations?what=none.such"));
    assert_eq!(none["series"], Value::Array(Vec::new()));
    let none = served.json(&format!("{log}/durations?from=1&to=2"));
    assert_eq!(none["series"], Value::Array(Vec::new()));
}

#[test]
fn what_is_measured_and_is_nowhere_is_told_with_what_is_like_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), 10);
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", quoted(&path));
    for request in ["durations", "durations/list"] {
        let unknown = |what: &str| {
            let answer = served.json(&format!("{log}/{request}?what={}", quoted(what)));
            answer["unknown"].clone()
        };
        let told = "there is no span engine.breth; did you mean engine.breath?";
        assert_eq!(unknown("engine.breth"), serde_json::json!([told]));
        // Of others it is absent, also if they have no durations here.
        for what in ["engine.breath", "*", "engine.nothing"] {
            assert_eq!(unknown(what), Value::Null, "{what}");
        }
    }
}
