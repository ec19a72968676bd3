//! What is served is what `dump` and `search` print of the same logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use timeline::{Priority, event};

use super::http::{Served, quoted};
use crate::command::*;
use crate::support::{Name, Random};

/// An archive of one run of a program, whose messages have several lines, text of all kinds, and
/// none; some events are important.
fn archive(random: &mut Random, folder: &Path, number: u64) -> String {
    let name = Name::new(&format!("same{number}"));
    let tl = name.create(16384);
    let none = timeline::Attributes::default();
    let lines = tl.define_printf(
        "c",
        Priority::Info,
        "first %d\nsecond %x",
        ("m.c", 1),
        &none,
    );
    let empty = tl.define_printf("c", Priority::Trace, "", ("m.c", 2), &none);
    let (lines, empty) = (lines.unwrap(), empty.unwrap());
    for i in 0..2_000 + random.below(3_000) {
        let any = random.next();
        let id = format!("{:08x}", any >> 32);
        match any % 16 {
            0 => tl.log_payload(lines, &[i, any], false),
            1 => tl.log(empty, []),
            2 => event!(important: true, tl, Priority::Error, "net", "part {i} begins", i),
            3 => event!(tl, Priority::Info, "größe", "<b>{id}</b> & {i}", id, i),
            _ => event!(tl, Priority::Info, "net", "request {i} of {id}", i, id),
        };
    }
    let file = snapshot(&name, folder);
    let path = folder.join(format!("{number}.tla")).display().to_string();
    succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
    fs::remove_file(file).unwrap();
    path
}

/// The events of a log by their numbers of lines, as `search` prints them: time, level, message.
fn printed(path: &str) -> BTreeMap<u64, (Value, String, u64)> {
    let found = readable(&["search", path, "--json", "--whole", "--no-index", ""]).json();
    let lines = found.into_iter().map(|line| {
        let message = line["message"].as_str().unwrap().to_owned();
        let count = line["lines"].as_u64().unwrap();
        (
            line["line"].as_u64().unwrap(),
            (line["time"].clone(), message, count),
        )
    });
    lines.collect()
}

/// The events whose lines are in a window.
fn expected(
    all: &BTreeMap<u64, (Value, String, u64)>,
    from: u64,
    count: u64,
) -> Vec<(u64, Value, String)> {
    let in_it = |(first, (_, _, lines)): &(&u64, &(Value, String, u64))| {
        **first < from + count && **first + lines > from
    };
    let of = |(first, (time, message, _)): (&u64, &(Value, String, u64))| {
        (*first, time.clone(), message.clone())
    };
    all.iter().filter(in_it).map(of).collect()
}

fn got(answer: &Value) -> Vec<(u64, Value, String)> {
    let lines = answer["lines"].as_array().unwrap().iter();
    let of = |line: &Value| {
        let message = line["message"].as_str().unwrap().to_owned();
        (
            line["line"].as_u64().unwrap(),
            line["time"].clone(),
            message,
        )
    };
    lines.map(of).collect()
}

/// What a command prints, which ends with another status if that is not all there was.
fn readable(args: &[&str]) -> Ran {
    let ran = run(args);
    let is_damaged = args[1].ends_with("damaged.tla");
    assert_eq!(ran.code != Some(0), is_damaged, "{args:?}: {ran:?}");
    ran
}

/// Archives: one run, several with clocks of their own, and one with damage.
fn archives(random: &mut Random, folder: &Path) -> Vec<String> {
    let mut all = vec![archive(random, folder, 0), archive(random, folder, 1)];
    let joined = [fs::read(&all[0]).unwrap(), fs::read(&all[1]).unwrap()].concat();
    let path = folder.join("joined.tla");
    fs::write(&path, &joined).unwrap();
    all.push(path.display().to_string());
    let mut damaged = joined;
    for _ in 0..6 {
        let at = random.below(damaged.len() as u64) as usize;
        damaged[at] ^= 1 << random.below(8);
    }
    let path = folder.join("damaged.tla");
    fs::write(&path, damaged).unwrap();
    all.push(path.display().to_string());
    all
}

#[test]
fn windows_of_lines_are_those_that_search_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(crate::queries::seed());
    let paths = archives(&mut random, folder.path());
    let served = Served::begin(&[&folder.path().display().to_string()]);
    for path in &paths {
        let all = printed(path);
        let log = format!("/api/logs/{}", path.rsplit('/').next().unwrap());
        let total = served.json(&log)["lines"].as_u64().unwrap();
        let (last, (_, _, count)) = all.last_key_value().unwrap();
        assert_eq!(total, last + count, "{path}");
        for _ in 0..25 {
            let (from, count) = (random.below(total + 10), 1 + random.below(200));
            let answer = served.json(&format!("{log}/lines?from={from}&count={count}"));
            assert_eq!(
                got(&answer),
                expected(&all, from, count),
                "{path} {from} {count}"
            );
            assert_eq!(answer["total"], total);
        }
        for _ in 0..5 {
            let mut at: Vec<u64> = (0..10).map(|_| random.below(total)).collect();
            at.sort_unstable();
            at.dedup();
            let mut wanted: Vec<_> = at
                .iter()
                .flat_map(|line| expected(&all, *line, 1))
                .collect();
            wanted.dedup();
            let at: Vec<String> = at.iter().map(u64::to_string).collect();
            let answer = served.json(&format!("{log}/lines?at={}", at.join(",")));
            assert_eq!(got(&answer), wanted, "{path} {at:?}");
        }
        for _ in 0..10 {
            let line = random.below(total);
            let details = served.json(&format!("{log}/lines/{line}"));
            let (first, _, message) = expected(&all, line, 1).remove(0);
            assert_eq!(
                (&details["line"], &details["message"]),
                (&first.into(), &message.into())
            );
        }
    }
}

/// The lines that a search says it found.
fn hits(events: &[(String, Value)]) -> Vec<u64> {
    let hits = events.iter().filter(|(name, _)| name == "hits");
    let lines = hits.flat_map(|(_, data)| data["lines"].as_array().unwrap());
    lines.map(|line| line.as_u64().unwrap()).collect()
}

fn found(served: &Served, path: &str) -> Vec<u64> {
    hits(&served.get(path).events())
}

fn all_lines(served: &Served, log: &str) -> u64 {
    served.json(log)["lines"].as_u64().unwrap()
}

/// Searches that go on where others ended find what one search finds.
fn check_parts(served: &Served, log: &str, random: &mut Random) {
    for query in [
        "",
        "q=request",
        "q=request%201&category=n*",
        "where=i%20%3E%20500",
    ] {
        let whole = &found(served, &format!("{log}/search?{query}"))[..];
        let (mut parts, mut from) = (Vec::new(), Some(0));
        while let Some(line) = from {
            let limit = 1 + random.below(whole.len() as u64 / 3 + 2);
            let path = format!("{log}/search?{query}&from={line}&limit={limit}");
            parts.extend(found(served, &path));
            let events = served.get(&path).events();
            let (_, end) = events.last().unwrap();
            from = (end["limited"] == true).then(|| end["next"].as_u64().unwrap());
        }
        assert_eq!(parts, whole, "{log} {query}");
        let from = random.below(all_lines(served, log));
        let behind = found(served, &format!("{log}/search?{query}&from={from}"));
        let expected = whole.iter().filter(|line| **line >= from);
        assert!(behind.iter().eq(expected), "{log} {query} {from}");
    }
}

#[test]
fn searches_find_the_lines_that_search_prints() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(crate::queries::seed());
    let paths = archives(&mut random, folder.path());
    let served = Served::begin(&[&folder.path().display().to_string()]);
    for path in &paths {
        let log = format!("/api/logs/{}", path.rsplit('/').next().unwrap());
        for (words, query) in [
            (vec!["request 1"], "q=request%201"),
            (vec!["second"], "q=second"),
            (vec!["-s", "PART"], "q=PART&case=sensitive"),
            (vec!["-i", "PART"], "q=PART&case=insensitive"),
            (
                vec!["-E", "^part .*7 begins$"],
                "q=%5Epart%20.*7%20begins%24&regex=true",
            ),
            (vec!["--category", "gr*", ""], "category=gr*"),
            (
                vec!["--where", "i > 1000 && i < 1050", ""],
                "where=i%20%3E%201000%20%26%26%20i%20%3C%201050",
            ),
            (
                vec!["--priority", "error", "part(3"],
                "q=part(3&priority=error",
            ),
            (vec!["nonesuch"], "q=nonesuch"),
        ] {
            let words = [vec!["search", path, "--json", "--whole"], words].concat();
            let output = run(&words);
            let lines = output.stdout.lines().map(|line| {
                let line: Value = serde_json::from_str(line).unwrap();
                line["line"].as_u64().unwrap()
            });
            let wanted: Vec<u64> = lines.collect();
            let answer = served.get(&format!("{log}/search?{query}"));
            assert_eq!(answer.status, 200, "{}", answer.text());
            let events = answer.events();
            assert_eq!(hits(&events), wanted, "{words:?}");
            let (name, end) = events.last().unwrap();
            assert_eq!(
                (name.as_str(), &end["found"]),
                ("end", &wanted.len().into())
            );
            let density = end["density"].as_array().unwrap().iter();
            let sum: u64 = density.map(|count| count.as_u64().unwrap()).sum();
            assert_eq!(sum, wanted.len() as u64, "{words:?}");
        }
        let limited = served.get(&format!("{log}/search?limit=3")).events();
        let (_, end) = limited.last().unwrap();
        assert_eq!((&end["found"], &end["limited"]), (&3.into(), &true.into()));
        check_parts(&served, &log, &mut random);
    }
}

/// The lines of the events that meet a filter, page by page.
fn paged(served: &Served, log: &str, filter: &str) -> Vec<u64> {
    let (mut lines, mut after) = (Vec::new(), String::new());
    loop {
        let page = served.json(&format!("{log}/events?limit=333&{filter}{after}"));
        let events = page["events"].as_array().unwrap().iter();
        lines.extend(events.map(|event| event["line"].as_u64().unwrap()));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={}", quoted(next)),
            None => return lines,
        }
    }
}

const BUCKETS: u128 = 37;

/// How many events the rows of tracks have; each cell must have its events where their times say.
fn counted(served: &Served, query: &str, (low, high): (u64, u64)) -> u64 {
    let tracks = served.json(query);
    assert_eq!(tracks["exact"], true);
    let rows = tracks["rows"].as_array().unwrap();
    for cell in rows.iter().flat_map(|row| row["cells"].as_array().unwrap()) {
        let number = |place: usize| u128::from(cell[place].as_u64().unwrap());
        let part = |passed: u128| passed * BUCKETS / u128::from(high - low);
        let (part, first, last) = (number(0), part(number(3)), part(number(4)));
        assert_eq!((first, last), (part, part), "{query}");
    }
    let counts = rows.iter().map(|row| row["count"].as_u64().unwrap());
    counts.sum()
}

fn time(event: &Value) -> u64 {
    crate::json::nanos(&event["unix_ns"]).unwrap()
}

#[test]
fn pages_by_time_and_tracks_have_the_events_that_dump_prints() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(crate::queries::seed());
    let paths = archives(&mut random, folder.path());
    let served = Served::begin(&[&folder.path().display().to_string()]);
    for path in &paths[..3] {
        let log = format!("/api/logs/{}", path.rsplit('/').next().unwrap());
        let dumped = readable(&["dump", path, "--json"]).json();
        let mut times: Vec<u64> = dumped.iter().map(time).collect();
        times.sort_unstable();
        let all = printed(path);
        assert!(paged(&served, &log, "").iter().eq(all.keys()), "{path}");
        let some = all
            .iter()
            .filter(|(_, (_, message, _))| message.contains("request 1"));
        let some: Vec<u64> = some.map(|(line, _)| *line).collect();
        assert_eq!(paged(&served, &log, "grep=request%201"), some, "{path}");
        for _ in 0..10 {
            let mut any = || random.below(times.len() as u64) as usize;
            let (one, other) = (any(), any());
            let (low, high) = (times[one.min(other)], times[one.max(other)] + 1);
            let inside = |time: &&u64| (low..high).contains(*time);
            let wanted = times.iter().filter(inside).count() as u64;
            for by in ["thread", "core"] {
                let query = format!("from={low}&to={high}&buckets={BUCKETS}&by={by}");
                let query = format!("{log}/tracks?{query}");
                assert_eq!(counted(&served, &query, (low, high)), wanted, "{query}");
            }
            let at = served.json(&format!("{log}/at?time={low}"));
            let line = at["line"].as_u64().unwrap();
            let found = served.json(&format!("{log}/lines?from={line}&count=1"));
            let first = found["lines"].as_array().unwrap().first();
            let plain = dumped.iter().filter(|event| event["important"] != true);
            let next = plain.map(time).filter(|time| *time >= low).min();
            let first = first.map(|event| event["unix_ns"].as_str().unwrap().parse().unwrap());
            assert_eq!(first, next, "{path} {low}");
        }
    }
}

#[test]
fn the_overview_counts_the_events_that_dump_prints() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(crate::queries::seed());
    let paths = archives(&mut random, folder.path());
    let served = Served::begin(&[&folder.path().display().to_string()]);
    for path in &paths {
        let log = format!("/api/logs/{}", path.rsplit('/').next().unwrap());
        let dumped = readable(&["dump", path, "--json"]).json();
        let overview = served.json(&format!("{log}/overview"));
        assert_eq!(overview["events"], dumped.len());
        for (key, field) in [("categories", "category"), ("priorities", "priority")] {
            let mut wanted: BTreeMap<Option<String>, u64> = BTreeMap::new();
            for event in &dumped {
                let name = event[field].as_str().map(str::to_owned);
                *wanted.entry(name).or_default() += 1;
            }
            let amounts = overview[key].as_array().unwrap().iter();
            let amount = |amount: &Value| {
                let name = amount["name"].as_str().map(str::to_owned);
                (name, amount["count"].as_u64().unwrap())
            };
            assert_eq!(amounts.map(amount).collect::<BTreeMap<_, _>>(), wanted);
        }
        let rate = overview["rate"]["counts"].as_array().unwrap().iter();
        let sum: f64 = rate.map(|count| count.as_f64().unwrap()).sum();
        let timed = dumped
            .iter()
            .filter(|event| !event["unix_ns"].is_null())
            .count();
        assert!((sum - timed as f64).abs() < 0.5, "{sum} {timed}");
    }
}

#[test]
fn the_file_itself_can_be_read_in_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(&mut Random(5), folder.path(), 0);
    let bytes = fs::read(&path).unwrap();
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}/file", quoted(&path));
    let whole = served.get(&log);
    assert!(whole.status == 200 && whole.body == bytes);
    let part = served.ask("GET", &log, &["Range: bytes=100-299"], "");
    assert!(part.status == 206 && part.body == bytes[100..300]);
    let beyond = format!("Range: bytes={}-", bytes.len());
    assert_eq!(served.ask("GET", &log, &[&beyond], "").status, 416);
}

#[test]
fn an_imported_object_has_its_properties() {
    let folder = tempfile::tempdir().unwrap();
    let (log, path) = (
        folder.path().join("log.jsonl"),
        folder.path().join("log.tla"),
    );
    let file =
        r#"{"$type":"SourceFile","$text":"a.c","file":"/b/a.c","depotPath":"//d/a.c","line":3}"#;
    let line = format!(r#"{{"message":"built x","properties":{{"file":{file},"n":7}}}}"#);
    let of = |index: u64, properties: Value| {
        let object = json!({
            "message": "a", "properties": properties, "lineIndex": index, "lineCount": 2,
        });
        object.to_string()
    };
    let two = [
        of(0, json!({"n": 1, "m": 5})),
        of(1, json!({"n": 2, "m": 5, "o": "x"})),
    ];
    fs::write(&log, format!("{line}\n{}\n", two.join("\n"))).unwrap();
    let path = path.display().to_string();
    succeed(&["import", &log.display().to_string(), "-o", &path]);
    let served = Served::begin(&[&path]);
    // Both lines of the second event.
    for line in 1..3 {
        let details = served.json(&format!("/api/logs/{}/lines/{line}", quoted(&path)));
        let expected = json!({"n": 1, "m": 5, "n_2": 2, "o": "x"});
        assert_eq!(details["properties"], expected);
    }
    let details = served.json(&format!("/api/logs/{}/lines/0", quoted(&path)));
    let expected: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(details["properties"], expected["properties"]);
    assert_eq!(details["message"], "built x");
    let place = ["file", "source_line", "depot_path"].map(|name| details[name].clone());
    assert_eq!(place, [json!("/b/a.c"), json!(3), json!("//d/a.c")]);
}

#[test]
fn an_index_can_be_removed_and_a_log_replaced_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(crate::queries::seed());
    let name = Name::new("removed");
    let tl = name.create(1 << 17);
    for number in 0..100_000_u64 {
        event!(
            tl,
            Priority::Info,
            "net",
            "request {number} of many",
            number
        );
    }
    let file = snapshot(&name, folder.path());
    let path = folder.path().join("flight.tla").display().to_string();
    succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
    succeed(&["index", &path]);
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", quoted(&path));
    let lines = |from: u64| {
        let answer = served.json(&format!("{log}/lines?from={from}&count=3"));
        let lines = answer["lines"].as_array().unwrap();
        lines
            .iter()
            .map(|line| line["line"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(70_000), [70_000, 70_001, 70_002]);
    fs::remove_file(format!("{path}.idx")).unwrap();
    assert_eq!(lines(70_000), [70_000, 70_001, 70_002]);
    fs::write(format!("{path}.idx"), "no index").unwrap();
    assert_eq!(lines(90_000), [90_000, 90_001, 90_002]);
    let before = served.json(&log)["version"].clone();
    let other = archive(&mut random, folder.path(), 3);
    fs::copy(other, &path).unwrap();
    eventually("the other log", || served.json(&log)["lines"] != 100_000);
    assert_ne!(served.json(&log)["version"], before);
}

#[test]
fn logs_of_several_directories_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(3);
    let path = archive(&mut random, folder.path(), 0);
    let folders = ["a", "b"].map(|name| {
        let folder = folder.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::copy(&path, folder.join("flight.tla")).unwrap();
        folder.display().to_string()
    });
    let served = Served::begin(&[&folders[0], &folders[1]]);
    let listed = served.json("/api/logs");
    let ids = listed["logs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|log| log["id"].as_str().unwrap());
    let ids: Vec<&str> = ids.collect();
    assert_eq!(ids.len(), 2);
    for id in ids {
        assert!(served.json(&format!("/api/logs/{}", quoted(id)))["lines"].as_u64() > Some(1_000));
    }
}
