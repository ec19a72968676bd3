//! `timeline search` and `timeline stats`: what they find, against grep and a naive count.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use timeline::{EventId, Priority, Timeline, event, lay_out};

use crate::command::*;
use crate::support::Name;

/// Messages with several lines, capitals, characters beyond ASCII, and none at all.
fn log_some(tl: &Timeline) {
    let none = timeline::Attributes::default();
    let at = ("main.c", 12);
    let lines = tl.define_printf("c", Priority::Warning, "first %d\nsecond line\n", at, &none);
    let empty = tl.define_printf("c", Priority::Info, "", ("main.c", 13), &none);
    let (lines, empty) = (lines.unwrap(), empty.unwrap());
    for number in 0..40_u32 {
        let name = ["eth0", "ETH1", "größe", "(a.c)"][number as usize % 4];
        event!(
            tl,
            Priority::Info,
            "net",
            "link {name} is {number}",
            name,
            number
        );
        if number % 5 == 0 {
            tl.log_payload(lines, &[number.into()], false);
        }
        if number % 7 == 0 {
            tl.log(empty, []);
        }
    }
    let (id, name) = (7, "eth0");
    event!(important: true, tl, Priority::Error, "net", "interface {id} is {name}", id, name);
}

/// The ring, a snapshot of it, and archives of both forms.
fn everywhere(name: &Name, directory: &std::path::Path) -> Vec<String> {
    let file = snapshot(name, directory);
    let mut all = vec![name.path().to_owned(), file.clone()];
    for form in ["plain", "blocks"] {
        let archive = directory.join(form).display().to_string() + ".tla";
        let mut words = vec!["record", &file, "-o", &archive, "--fsync", "never"];
        words.extend((form == "plain").then_some("--plain"));
        succeed(&words);
        all.push(archive);
    }
    all
}

/// The lines of all messages, oldest first: what a search has to look at.
fn lines(path: &str) -> Vec<String> {
    let dumped = succeed(&["dump", path, "--json"]).stdout;
    let events: Vec<Value> = dumped
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let important = |event: &&Value| event["important"] == json!(true);
    let (first, others): (Vec<_>, Vec<_>) = events.iter().partition(important);
    let mut lines = Vec::new();
    for event in first.iter().rev().chain(others.iter().rev()) {
        let message = event["message"].as_str().unwrap();
        match message {
            "" => lines.push(String::new()),
            _ => lines.extend(message.lines().map(str::to_owned)),
        }
    }
    lines
}

/// The numbers, from 0, of the lines that grep finds.
fn grep(options: &[&str], wanted: &str, lines: &[String]) -> Vec<usize> {
    let mut grep = Command::new("grep");
    grep.env("LC_ALL", "C.UTF-8")
        .arg("-n")
        .args(options)
        .arg("-e")
        .arg(wanted);
    let mut grep = grep
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = grep.stdin.take().unwrap();
    writeln!(input, "{}", lines.join("\n")).unwrap();
    drop(input);
    let found = String::from_utf8(grep.wait_with_output().unwrap().stdout).unwrap();
    let number = |line: &str| line.split_once(':').unwrap().0.parse::<usize>().unwrap() - 1;
    found.lines().map(number).collect()
}

#[test]
fn a_search_finds_what_grep_finds_in_rings_snapshots_and_archives() {
    let (name, directory) = (Name::new("search"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    log_some(&tl);
    for path in everywhere(&name, directory.path()) {
        let lines = lines(&path);
        assert_eq!(lines.len(), 40 + 16 + 6 + 1);
        assert_eq!(lines[0], "interface id(7) is name(eth0)");
        for (options, of_grep, wanted) in [
            (&[][..], &["-iF"][..], "eth"),
            (&[], &["-F"], "ETH"),
            (&["-s"], &["-F"], "eth"),
            (&["-i"], &["-iF"], "ETH"),
            (&[], &["-iF"], "größe"),
            (&[], &["-F"], "Größe"),
            (&[], &["-iF"], "(a.c)"),
            (&[], &["-iF"], "second"),
            (&[], &["-iF"], ""),
            (&["--regex"], &["-iE"], "number\\(.*5\\)$"),
            (&["-E"], &["-iE"], "^$"),
            (&["-E", "-s"], &["-E"], "^(first|link name\\(eth)"),
        ] {
            let expected = grep(of_grep, wanted, &lines);
            let count = [&["search", "-c", &path, wanted], options].concat();
            assert_eq!(
                run(&count).stdout,
                format!("{}\n", expected.len()),
                "{wanted}"
            );
            // Each event has the number of its first line, and is found once.
            for order in [&[][..], &["--reverse"]] {
                let words = [
                    &["search", &path, "--json", "--whole"],
                    options,
                    order,
                    &["--", wanted],
                ]
                .concat();
                let found = run(&words).stdout;
                let mut covered = Vec::new();
                for line in found.lines() {
                    let event: Value = serde_json::from_str(line).unwrap();
                    let number = |field: &str| event[field].as_u64().unwrap() as usize;
                    let (first, count) = (number("line"), number("lines"));
                    let message = event["message"].as_str().unwrap();
                    assert_eq!(
                        message.trim_end_matches('\n'),
                        lines[first..first + count].join("\n")
                    );
                    covered.extend(first..first + count);
                }
                covered.sort_unstable();
                let is_found = |number: &usize| expected.contains(number);
                assert!(
                    expected.iter().all(|number| covered.contains(number)),
                    "{wanted}"
                );
                let extra: Vec<_> = covered.iter().filter(|number| !is_found(number)).collect();
                let beside = |number: &&usize| {
                    lines[**number] == "second line" || lines[**number].starts_with("first")
                };
                assert!(extra.iter().all(beside), "{wanted}: {extra:?}");
                assert!(covered.windows(2).all(|two| two[0] < two[1]), "{wanted}");
            }
        }
    }
}

#[test]
fn nothing_found_and_mistakes_have_statuses_of_their_own() {
    let name = Name::new("search-status");
    let tl = name.create(256);
    log_some(&tl);
    let status = |words: &[&str]| {
        let ended = run(words);
        (ended.code, ended.stdout, ended.stderr)
    };
    assert_eq!(
        status(&["search", name.path(), "nowhere"]),
        (Some(1), String::new(), String::new())
    );
    assert_eq!(status(&["search", name.path(), "-c", "nowhere"]).0, Some(1));
    for (words, expected) in [
        (
            &["search", "/nowhere-at-all", "x"][..],
            "no timeline at /nowhere-at-all",
        ),
        (
            &["search", name.path(), "--regex", "a("],
            "is no regular expression: unclosed group",
        ),
        (
            &["search", name.path(), "x", "--where", "bytes >"],
            "--where",
        ),
        (
            &["search", name.path(), "x", "-i", "-s"],
            "cannot be used with",
        ),
        (&["search"], "required"),
    ] {
        let (code, stdout, stderr) = status(words);
        assert_eq!((code, &*stdout), (Some(2), ""), "{words:?}");
        assert!(stderr.contains(expected), "{words:?}: {stderr}");
    }
}

#[test]
fn context_limits_and_paths_are_those_of_grep() {
    let (name, directory) = (Name::new("search-context"), tempfile::tempdir().unwrap());
    let tl = name.create(256);
    for number in 0..20_u32 {
        event!(tl, Priority::Info, "c", "number {number} of twenty", number);
    }
    let file = snapshot(&name, directory.path());
    let found = |words: &[&str]| {
        let words = [&["search"], words].concat();
        let lines = succeed(&words).stdout;
        // Without the time of day.
        let short = |line: &str| match line.split_once("  ") {
            Some((head, tail)) => {
                let before = &head[..head.len() - "18:02:54.123456".len()];
                format!("{before}{}", tail.split(['(', ')']).nth(1).unwrap())
            }
            None => line.to_owned(),
        };
        lines.lines().map(short).collect::<Vec<_>>()
    };
    let path = file.as_str();
    assert_eq!(found(&[path, "number(3)"]), ["3"]);
    assert_eq!(found(&[path, "number(3)", "-n"]), ["3:3"]);
    assert_eq!(found(&[path, "number(3)", "-n", "-A1"]), ["3:3", "4-4"]);
    assert_eq!(
        found(&[path, "number(3)", "-n", "-B2"]),
        ["1-1", "2-2", "3:3"]
    );
    assert_eq!(
        found(&[path, "-E", "-n", "-C", "1", "number\\((3|5|9)\\)"]),
        [
            "2-2", "3:3", "4-4", "5:5", "6-6", "--", "8-8", "9:9", "10-10"
        ]
    );
    assert_eq!(
        found(&[path, "-m", "2", "-A1", "1", "-n"]),
        ["1:1", "2-2", "--", "10:10", "11-11"]
    );
    assert_eq!(
        found(&[path, "-m", "2", "-r", "-n", "number(1"]),
        ["19:19", "18:18"]
    );
    assert_eq!(
        found(&[path, "--where", "number >= 18", "twenty"]),
        ["18", "19"]
    );
    let both = found(&[path, name.path(), "number(7)"]);
    assert_eq!(both, [format!("{path}:7"), format!("{}:7", name.path())]);
    // Nothing is printed of the first if there is no second.
    let ran = run(&["search", path, "/nowhere-at-all", "number(7)"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(2), ""),
        "{}",
        ran.stderr
    );
    let counts = succeed(&["search", path, name.path(), "-c", "number(1"]).stdout;
    assert_eq!(counts, format!("{path}:11\n{}:11\n", name.path()));
}

/// The objects of those events, of which the first stands in this line, and the properties of the
/// one of two lines that has a text.
fn lines_as_json(line: u32) -> ([Value; 8], Value) {
    let of = |kind: &str, text: &str| json!({ "$type": kind, "$text": text });
    let (category, file) = (of("Channel", "c"), of("SourceFile", "a.c"));
    let three = of("LineNumber", "3");
    let four = of("LineNumber", "4");
    let template = json!({
        "level": "Trace", "priority": "packet", "id": 1, "message": "got len(5) of {} file(x{y})",
        "format": "got {len} of {{}} {file}",
        "properties": {
            "len": 5, "file": "x{y}", "category": of("Channel", "net"),
            "line": of("LineNumber", &line.to_string()),
            "file_2": of("SourceFile", file!()),
        },
        "lineIndex": 0, "lineCount": 1,
    });
    let first = json!({
        "level": "Error", "id": 2, "message": "1", "format": "{0}",
        "properties": {"0": 1, "1": 2, "category": category, "file": file, "line": three},
        "lineIndex": 0, "lineCount": 2,
    });
    let second = json!({
        "level": "Error", "id": 2, "message": "2", "format": "{1}",
        "properties": {"1": 2}, "lineIndex": 1, "lineCount": 2,
    });
    let properties = json!({
        "0": "one\ntwo", "1": 2.25, "category": category, "file": file, "line": four,
    });
    let split = |number: u64, message: &str, properties: Value| {
        json!({
            "level": "Debug", "priority": "app", "id": 3, "message": message,
            "properties": properties, "lineIndex": number, "lineCount": 2,
        })
    };
    let mut single = properties.clone();
    single["0"] = "eth0".into();
    let single = json!({
        "level": "Debug", "priority": "app", "id": 3, "message": "got eth0 {  2.2%}",
        "format": "got {0} {{{1}%}}", "properties": single, "lineIndex": 0, "lineCount": 1,
    });
    let with = |of: &Value, values: [u64; 2], message: &str| {
        let mut of = of.clone();
        for (place, value) in values.into_iter().enumerate() {
            if of["properties"][place.to_string()].is_u64() {
                of["properties"][place.to_string()] = value.into();
            }
        }
        of["message"] = message.into();
        of
    };
    let expected = [
        template,
        first.clone(),
        second.clone(),
        with(&first, [7, 8], "7"),
        with(&second, [7, 8], "8"),
        split(0, "got one", properties.clone()),
        split(1, "two {  2.2%}", json!({})),
        single,
    ];
    (expected, properties)
}

#[test]
fn an_event_as_json_has_the_fields_of_a_log_line() {
    let name = Name::new("search-json");
    let tl = name.create(256);
    let (len, file) = (5_u32, "x{y}");
    let line = line!() + 1;
    event!(
        tl,
        Priority::Packet,
        "net",
        "got {len} of {{}} {file}",
        len,
        file
    );
    let none = timeline::Attributes::default();
    let printf = tl
        .define_printf("c", Priority::Error, "%d\n%d", ("a.c", 3), &none)
        .unwrap();
    tl.log_payload(printf, &[1, 2], false);
    // A value with a line feed: no line of the message is one of the format.
    tl.log_payload(printf, &[7, 8], false);
    let text = tl
        .define_printf("c", Priority::App, "got %s {%5.1f%%}", ("a.c", 4), &none)
        .unwrap();
    for bytes in [&b"one\ntwo"[..], b"eth0"] {
        let said = timeline::Value::Text { bytes, cut: false };
        tl.log_payload(text, &lay_out(&[said, timeline::Value::Float(2.25)]), false);
    }
    let (expected, properties) = lines_as_json(line);
    let objects = |words: &[&str]| {
        let mut found = succeed(&[&["search", name.path(), "--json"], words].concat()).json();
        for event in &mut found {
            let time = event.as_object_mut().unwrap().remove("time").unwrap();
            assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
        }
        found
    };
    let found = objects(&[""]);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    // All lines of an event in which one has the text. As a whole, it is one object.
    assert_eq!(objects(&["two"]), expected[5..7]);
    let whole = json!({
        "level": "Debug", "priority": "app", "id": 3, "message": "got one\ntwo {  2.2%}",
        "format": "got {0} {{{1}%}}", "properties": properties, "line": 5, "lines": 2,
    });
    assert_eq!(objects(&["--whole", "two"]), [whole]);
    let refused = run(&["search", name.path(), "--whole", ""]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}

#[test]
fn stats_count_events_and_the_bytes_of_their_values() {
    let (name, directory) = (Name::new("stats"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    log_some(&tl);
    let idle: EventId = tl.define("idle", Priority::Info, "never logged").unwrap();
    assert!(tl.enabled(idle));
    for path in everywhere(&name, directory.path()) {
        let counted = |more: &[&str]| {
            let words = [&["stats", &path, "--json"], more].concat();
            let printed = succeed(&words).stdout;
            let lines = printed
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap());
            let short = |line: Value| {
                let rate = line["per_second"].as_f64().unwrap_or(0.0);
                assert!(rate > 0.0 || line["events"] == json!(1), "{line}");
                let text = |field: &str| line[field].as_str().unwrap_or("-").to_owned();
                let number = |field: &str| line[field].as_u64().unwrap();
                (
                    text("category"),
                    text("event"),
                    number("events"),
                    number("bytes"),
                )
            };
            lines.map(short).collect::<Vec<_>>()
        };
        let line = |category: &str, event: &str, events, bytes| {
            (category.to_owned(), event.to_owned(), events, bytes)
        };
        // Ten times each of "eth0", "ETH1", "größe" and "(a.c)", and a number.
        assert_eq!(
            counted(&[]),
            [
                line("net", "net.link", 40, 10 * (4 + 4 + 7 + 5) + 40 * 8),
                line("c", "c.first", 8, 64),
                line("c", "c._", 6, 0),
                line("net", "net.interface", 1, 8 + 4),
            ],
            "{path}"
        );
        assert_eq!(
            counted(&["--by", "category", "--where", "number < 10 || id == 7"]),
            [line(
                "net",
                "-",
                11,
                3 * 4 + 3 * 4 + 2 * 7 + 2 * 5 + 80 + 12
            )]
        );
    }
    let text = succeed(&["stats", name.path(), "--priority", "warning"]);
    assert_eq!(text.stdout.lines().count(), 2, "{}", text.stdout);
    assert!(
        text.stdout.contains("c.first") && text.stdout.contains("100%"),
        "{}",
        text.stdout
    );
    // However long that took: with a unit that fits it.
    let units = [" ns\n", " µs\n", " ms\n", " s\n", " min", " h"];
    assert!(
        text.stderr.contains("8 events in ") && units.iter().any(|unit| text.stderr.contains(unit)),
        "{}",
        text.stderr
    );
    let none = succeed(&["stats", name.path(), "--category", "nothing"]);
    let told = "timeline: 0 events\n\
                timeline: there is no category nothing; there are: c, idle, net\n";
    assert_eq!((&*none.stdout, &*none.stderr), ("", told));
    fs::remove_dir_all(directory.path()).unwrap();
}

#[test]
fn a_query_of_several_lines_is_refused() {
    let name = Name::new("query-lines");
    let _tl = name.create(256);
    let ran = run(&["search", name.path(), "link\nsecond"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("a single line"), "{}", ran.stderr);
}

#[test]
fn times_since_the_older_event_are_the_same_in_reverse() {
    let name = Name::new("search-delta");
    let tl = name.create(1024);
    log_some(&tl);
    for form in ["delta", "cycles"] {
        for options in [&["link"][..], &["link", "-n", "-C1"], &["is", "-c"]] {
            let words = [&["search", name.path(), "--time", form], options].concat();
            let groups = |text: &str| -> Vec<Vec<String>> {
                let lines: Vec<_> = text.lines().map(str::to_owned).collect();
                lines
                    .split(|line| line == "--")
                    .map(<[_]>::to_vec)
                    .collect()
            };
            let forward = groups(&succeed(&words).stdout).concat();
            let reverse = succeed(&[&words[..], &["--reverse"]].concat()).stdout;
            let mut reverse = groups(&reverse).concat();
            // The important events come first in either order.
            let important = |line: &String| line.contains("interface");
            let first = reverse.iter().take_while(|line| important(line)).count();
            reverse[..first].reverse();
            reverse[first..].reverse();
            assert_eq!(forward, reverse, "{words:?}");
        }
    }
}
