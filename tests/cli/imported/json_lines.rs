//! Lines of JSON become events with named values, and come back as equal objects.

use serde_json::{Value, json};
use timeline::{Bytes, Nanoseconds, Priority, event};

use super::{Logs, export};
use crate::command::*;
use crate::support::Name;

/// What `export --format jsonl` writes of an archive.
fn objects(archive: &str) -> String {
    succeed(&["export", archive, "--format", "jsonl"]).stdout
}

fn parsed(lines: &str) -> Vec<Value> {
    (lines.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn what_export_writes_comes_back_as_the_same_lines() {
    let logs = Logs::new();
    let name = Name::new("again");
    let tl = name.create(4096);
    log_sums(&tl, &Events::define(&tl), 40);
    for number in 0..100_i64 {
        let (size, took) = (Bytes(1500 << (number % 40)), Nanoseconds(number * 12_345));
        let host = ["eth0", "größe", "a \"b\"\\\n\u{202e}{}%s"][number as usize % 3];
        let ratio = number as f64 / 7.0 * 10_f64.powi(number as i32 % 30 - 15);
        let is_late = number % 2 == 0;
        event!(
            tl,
            Priority::Warning,
            "net",
            "sent {size} to {host} {{in}} {took} at {ratio}, {is_late}; {number}",
            size,
            host,
            took,
            ratio,
            is_late,
            number
        );
    }
    let lines = objects(name.path());
    // A third of the hosts have a line feed, and their messages two lines.
    assert_eq!(lines.lines().count(), 140 + 33);
    let archive = logs.import(&lines);
    assert_eq!(objects(&archive), lines);
    assert_eq!(String::from_utf8(export(&archive)).unwrap(), lines);
    for (condition, count) in [
        ("number >= 90 && host == \"eth0\"", 4),
        ("is_late && number < 50", 25),
        ("tcp = 7 || tcp = 8", 2),
        ("ratio > 1e10", 30),
        ("size = 1500", 3),
    ] {
        let found = succeed(&["dump", &archive, "--json", "--where", condition]).json();
        let wanted = succeed(&["dump", name.path(), "--json", "--where", condition]).json();
        assert_eq!(found.len(), wanted.len(), "{condition}");
        if condition != "ratio > 1e10" {
            assert_eq!(found.len(), count, "{condition}");
        }
        let same = |of: &Value, other: &Value| of["message"] == other["message"];
        assert!(
            found.iter().zip(&wanted).all(|(a, b)| same(a, b)),
            "{condition}"
        );
    }
    let warnings = [
        "dump",
        &archive,
        "--json",
        "--priority",
        "warning",
        "--category",
        "net",
    ];
    assert_eq!(succeed(&warnings).json().len(), 100);
    // The same bytes come back of text as well.
    let (log, text) = (logs.path("a.log"), logs.path("text.tla"));
    succeed(&["import", &log, "-o", &text, "--format", "text"]);
    assert_eq!(export(&text), lines.as_bytes());
    assert_eq!(
        parsed(&objects(&text))[0]["message"],
        lines.lines().next().unwrap()
    );
}

/// A ring with events of templates and of printf, and with spans.
fn of_all_kinds(name: &Name) {
    let tl = name.create(4096);
    let attributes = timeline::Attributes::default();
    for (number, format) in ["%d of {\n%d", "%d: %d", "%d: lost %d\n", "100%% %d %d"]
        .iter()
        .enumerate()
    {
        let place = ("m.c", number as u32);
        let id = tl.define_printf("c", Priority::Info, format, place, &attributes);
        tl.log_payload(id.unwrap(), &[1, 2], false);
    }
    for message in [
        "handle $id",
        "new $id of $size",
        "$id bytes to $host",
        "got: $id",
        "{in} 100% $id\nIt has prose.",
        "ready",
        "start request $id",
        "finish request $id",
        "begin sort $id",
        "end sort $id",
    ] {
        let id = tl.define("http.v1", Priority::Info, message).unwrap();
        let count = timeline::internal::argument_names(message).count();
        tl.log_payload(id, &[7, 8][..count], false);
    }
}

#[test]
fn names_of_events_and_spans_come_back() {
    let (logs, name) = (Logs::new(), Name::new("names-again"));
    of_all_kinds(&name);
    let names = |path: &str| {
        let stats = succeed(&["stats", path, "--json"]).json();
        let names = stats.iter().map(|line| line["event"].to_string());
        let mut names: Vec<_> = names.collect();
        names.sort();
        let spans = succeed(&["histogram", path, "--json"]).json();
        let spans = spans.iter().filter(|line| line["type"] == "total");
        let spans = spans.map(|line| (line["tag"].to_string(), line["count"].clone()));
        (names, spans.collect::<Vec<_>>())
    };
    let of_ring = names(name.path());
    assert_eq!((of_ring.0.len(), of_ring.1.len()), (14, 2), "{of_ring:?}");
    for more in [None, Some("--whole")] {
        let export = ["export", name.path(), "--format", "jsonl"];
        let exported = succeed(&[&export[..], more.as_slice()].concat()).stdout;
        assert_eq!(names(&logs.import(exported)), of_ring, "{more:?}");
    }
}

#[test]
fn an_event_as_a_whole_is_the_same_after_each_import() {
    let (logs, name) = (Logs::new(), Name::new("whole-again"));
    of_all_kinds(&name);
    let whole = |path: &str| succeed(&["export", path, "--format", "jsonl", "--whole"]).stdout;
    let of_ring = whole(name.path());
    assert_eq!(of_ring.lines().count(), 14);
    let archive = logs.import(&of_ring);
    assert_eq!(whole(&archive), of_ring);
    assert_eq!(objects(&archive), of_ring);
    // A line feed at the end of a message is in no line of it: the line says it.
    let lines = objects(name.path());
    assert_eq!(lines.matches("\"lineFeed\":true").count(), 1);
    assert_eq!(whole(&logs.import(lines)), of_ring);
    // What has other members keeps them, with their types, and says its line once.
    let archive = logs.import(TYPED);
    let once = whole(&archive);
    let events = parsed(&once);
    let lines = events.iter().map(|event| event["line"].as_u64().unwrap());
    assert_eq!(lines.collect::<Vec<_>>(), [0, 1, 2, 3]);
    let first = parsed(TYPED.lines().next().unwrap());
    assert_eq!(events[0]["properties"], first[0]["properties"]);
    let two = &events[3];
    assert_eq!(
        (&two["lines"], &two["lineIndex"]),
        (&json!(2), &Value::Null)
    );
    let types = ["c", "d_2"].map(|one| &two["properties"][one]["$text"]);
    assert_eq!(types, ["Log*", "LogNet"]);
    let archive = logs.import(&once);
    assert_eq!(whole(&archive), once);
    // What has the name of a number of lines, and another meaning, is a property.
    for (line, other) in [
        (r#""line":12"#, r#""properties":{"line":12},"#),
        (r#""lines":3"#, r#""properties":{"lines":3},"#),
        (
            r#""line":"q","lines":3"#,
            r#""properties":{"line":"q","lines":3},"#,
        ),
        (
            r#""format":5,"lineIndex":0"#,
            r#""format":5,"lineIndex":0,"#,
        ),
        (r#""lineIndex":0,"lineCount":1"#, ""),
        (r#""line":0,"lineCount":1"#, ""),
    ] {
        let archive = logs.import(format!("{{\"message\":\"a\",{line}}}\n"));
        let expected = format!("{{\"message\":\"a\",{other}\"line\":0,\"lines\":1}}\n");
        assert_eq!(whole(&archive), expected, "{line}");
        assert_eq!(whole(&logs.import(&expected)), expected);
    }
}

/// A line of each kind that is of the schema or nearly.
const MIXED: &str = include_str!("../../data/mixed.jsonl");

#[test]
fn files_of_lines_of_json_and_of_text_are_in_order() {
    let logs = Logs::new();
    let archive = logs.import(MIXED);
    let lines = String::from_utf8(export(&archive)).unwrap();
    let expected = MIXED
        .replace("\": ", "\":")
        .replace(", \"", ",\"")
        .replace("\\u00e9", "é");
    assert_eq!(lines, expected);
    let events = succeed(&["dump", &archive, "--json", "--reverse"]).json();
    assert_eq!(events.len(), 6);
    let first = &events[0];
    assert_eq!(first["message"], "got 1500 bytes from eth0");
    assert_eq!(first["time"], "2026-11-23T14:03:07.100000000Z");
    assert_eq!(
        (
            &first["priority"],
            &first["category"],
            &first["file"],
            &first["line"]
        ),
        (&json!("info"), &json!("net"), &json!("a.c"), &json!(12))
    );
    assert_eq!(
        first["args"],
        json!({
            "bytes": 1500, "host": "eth0", "user": "bob", "user.user-id": 7,
            "time": "2026-11-23T14:03:07.1Z", "id": "Net",
            "category": "net", "file": "a.c", "line": "12",
        })
    );
    assert_eq!(events[2]["priority"], "error");
    assert_eq!(events[3]["priority"], Value::Null);
    assert_eq!(events[3]["message"], "café 1.20");
    let found = |condition: &str| {
        let found = succeed(&["dump", &archive, "--json", "--where", condition]).json();
        let number = |event: &Value| event["ticks"].as_u64().unwrap();
        found.iter().map(number).collect::<Vec<_>>()
    };
    assert_eq!(found("user == 'bob' && $\"user.user-id\" > 6"), [1]);
    assert_eq!(found("id == \"Net\""), [1]);
    assert_eq!(found("n == 1"), [3]);
    assert_eq!(found("bytes < 1500"), [0; 0]);
    let search = succeed(&["search", &archive, "--json", "eth0"]).json();
    assert_eq!(search, parsed(MIXED.lines().next().unwrap()));
    let names = succeed(&["events", &archive, "--json"]).json();
    let mut named = names.iter();
    let got = named.find(|event| event["event"] == "net.got").unwrap();
    assert_eq!(got["fields"][1], json!({"name": "host", "type": "str"}));
    // Both lines of the event at second 9 are searched, and are written as two objects.
    let found = succeed(&["search", &archive, "--json", "second"]).stdout;
    assert_eq!(
        found.lines().collect::<Vec<_>>(),
        MIXED.lines().collect::<Vec<_>>()[2..4]
    );
    let both = succeed(&["search", &archive, &archive, "--json", "second"]).json();
    assert_eq!(both.len(), 4);
    assert!(both.iter().all(|line| line["path"] == *archive));
}

#[test]
fn a_member_named_path_stands_beside_the_path_of_its_file() {
    let logs = Logs::new();
    let archive = logs.import(concat!(
        r#"{"message":"a b","path":"/own","path_2":1,"properties":{"path":2}}"#,
        "\n",
        r#"{"message":"a","properties":{"path":2}}"#,
        "\n",
    ));
    let found = |more: &[&str]| {
        let search = [&["search", &archive, &archive, "--json", "a"], more].concat();
        succeed(&search).stdout.replace(&archive, "A")
    };
    let first = r#"{"path":"A","message":"a b","path_3":"/own","path_2":1,"properties":{"path":2}"#;
    let next = r#"{"path":"A","message":"a","properties":{"path":2}"#;
    let twice = format!("{first}}}\n{next}}}\n").repeat(2);
    assert_eq!(found(&[]), twice);
    let end = |line: u32| format!(",\"line\":{line},\"lines\":1}}\n");
    let twice = format!("{first}{}{next}{}", end(0), end(1)).repeat(2);
    assert_eq!(found(&["--whole"]), twice);
}

#[test]
fn values_without_a_name_take_none_of_another() {
    let logs = Logs::new();
    let archive = logs.import(concat!(
        r#"{"message":"all","properties":{"0":5,"1":{"$type":"Asset","$text":"x"}}}"#,
        "\n",
        r#"{"message":"a","properties":{"b":{"c":{"$type":"A","$text":"x"}},"#,
        r#""b.c":{"$type":"B","$text":"y"}}}"#,
        "\n",
    ));
    let dumped = succeed(&["dump", &archive, "--json", "--reverse"]).json();
    let args = json!({"0_2": "all", "0": 5, "1": "x"});
    assert_eq!(dumped[0]["args"], args);
    assert_eq!(dumped[0]["types"], json!({"1": "Asset"}));
    assert_eq!(
        dumped[1]["args"],
        json!({"0": "a", "b.c": "x", "b.c_2": "y"})
    );
    assert_eq!(dumped[1]["types"], json!({"b.c": "A", "b.c_2": "B"}));
    let found = |condition: &str| {
        let found = succeed(&["dump", &archive, "--json", "--where", condition]).json();
        found.len()
    };
    assert_eq!((found("$0 == 5"), found("$\"0_2\" == \"all\"")), (1, 1));
}

#[test]
fn priorities_and_lines_come_back() {
    let logs = Logs::new();
    let name = Name::new("priorities");
    let tl = name.create(4096);
    let none = timeline::Attributes::default();
    for priority in Priority::ALL {
        let text = format!("{priority} %d of {{\n%d");
        let id = tl
            .define_printf("c", priority, &text, ("m.c", 7), &none)
            .unwrap();
        tl.log_payload(id, &[1, 2], false);
        tl.log(tl.define("net", priority, "one $line").unwrap(), [3]);
    }
    let lines = objects(name.path());
    assert_eq!(lines.lines().count(), 7 * 3);
    let archive = logs.import(&lines);
    assert_eq!(objects(&archive), lines);
    let dumped = |path: &str| {
        let dumped = succeed(&["dump", path, "--json", "--reverse"]).json();
        let of = dumped.into_iter().map(|event| {
            let fields = ["time", "priority", "category", "message"];
            fields.map(|field| event[field].clone())
        });
        of.collect::<Vec<_>>()
    };
    assert_eq!(dumped(&archive), dumped(name.path()));
    let app = [
        "search",
        &archive,
        "--priority",
        "app",
        "--whole",
        "--json",
        "",
    ];
    let app = succeed(&app).json();
    assert_eq!(app.len(), 2);
    assert_eq!(
        (&app[0]["message"], &app[0]["format"], &app[0]["lines"]),
        (
            &json!("app 1 of {\n2"),
            &json!("app {0} of {{\n{1}"),
            &json!(2)
        )
    );
    // What tells no more than the level is a value as any other.
    for (level, priority) in [("Error", "app"), ("Debug", "library"), ("Trace", "app")] {
        let line =
            format!("{{\"message\":\"a\",\"level\":\"{level}\",\"priority\":\"{priority}\"}}\n");
        let archive = logs.import(&line);
        let condition = format!("priority == \"{priority}\"");
        let found = succeed(&["dump", &archive, "--json", "--where", &condition]).json();
        assert_ne!(found[0]["priority"], priority);
    }
}

/// A line as the log service has it, with properties of each type.
const TYPED: &str = include_str!("../../data/typed.jsonl");

#[test]
fn types_say_what_properties_are() {
    let logs = Logs::new();
    let archive = logs.import(TYPED);
    let mut lines = TYPED.lines();
    let exported = String::from_utf8(export(&archive)).unwrap();
    assert!(exported.lines().all(|line| lines.next() == Some(line)));
    let dumped = succeed(&["dump", &archive, "--json", "--reverse"]).json();
    let [first, second, third, two] = &dumped[..] else {
        panic!("{dumped:?}");
    };
    // The first of two channels, in whichever line of a message.
    assert_eq!(
        (&two["category"], &two["args"]["d_2"]),
        (&json!("Log*"), &json!("LogNet"))
    );
    let field = |event: &Value, name: &str| event[name].clone();
    let place = ["category", "file", "line", "column", "depotPath"];
    assert_eq!(
        place.map(|name| field(first, name)),
        [
            json!("LogInit"),
            json!("/build/Engine/Foo.cpp"),
            json!(42),
            json!(7),
            json!("//UE5/Main/Engine/Foo.cpp"),
        ]
    );
    assert_eq!(
        first["types"],
        json!({
            "channel": "Channel", "where": "SourceFile", "what": "Asset", "fn": "Symbol",
            "how": "Severity", "row": "LineNumber", "at.col": "ColumnNumber", "by": "ToolName",
            "shot": "ScreenshotTest",
        })
    );
    for (name, value) in [
        ("where.depotPath", json!("//UE5/Main/Engine/Foo.cpp")),
        ("what.assetPath", json!("/Game/Foo")),
        ("fn", json!("_Z3foov")),
        ("row", json!("41")),
        ("shot", json!("Editor.Look")),
    ] {
        assert_eq!(first["args"][name], value, "{name}");
    }
    // Names say nothing: this category is a user, and this line a count.
    assert_eq!(
        place.map(|name| field(second, name)),
        [
            json!("net"),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null
        ]
    );
    // The text of a file and the number beside it, where there is no more.
    assert_eq!(
        place.map(|name| field(third, name)),
        [
            Value::Null,
            json!("b.c"),
            json!(5),
            Value::Null,
            Value::Null
        ]
    );
}

#[test]
fn what_properties_are_is_asked_for() {
    let logs = Logs::new();
    let archive = logs.import(TYPED);
    let dumped = succeed(&["dump", &archive, "--json", "--reverse"]).json();
    for (options, expected) in [
        (["--category", "LogInit"], 0),
        (["--where", "channel == \"LogInit\""], 0),
        (["--where", "where.line == 42"], 0),
        (["--where", "at.col == 7"], 0),
        (["--where", "category == \"bob\""], 1),
        (["--where", "row == \"5\" && f == \"b.c\""], 2),
    ] {
        let found = [&["dump", &archive, "--json"], &options[..]].concat();
        let found = succeed(&found).json();
        let messages: Vec<_> = found.iter().map(|event| &event["message"]).collect();
        let expected = &dumped[expected]["message"];
        assert_eq!(messages, [expected], "{options:?}");
    }
}

#[test]
fn places_in_sources_are_no_definitions() {
    let logs = Logs::new();
    let line = |n: usize| {
        let of = |kind: &str, text: String| json!({"$type": kind, "$text": text});
        let (file, row) = (format!("{n}.c"), n.to_string());
        let properties = json!({"f": of("SourceFile", file), "l": of("LineNumber", row)});
        format!("{}\n", json!({"message": "a", "properties": properties}))
    };
    let log: String = (0..5000).map(line).collect();
    let archive = logs.import(&log);
    assert_eq!(export(&archive), log.as_bytes());
    let dumped = succeed(&["dump", &archive, "--json", "--reverse"]).json();
    let is_right = |(n, event): (usize, &Value)| {
        event["file"] == format!("{n}.c") && event["line"] == n && event["message"] == "a"
    };
    assert!(dumped.len() == 5000 && dumped.iter().enumerate().all(is_right));
}

#[test]
fn an_index_finds_messages_of_lines_of_json() {
    let logs = Logs::new();
    let line = |n: usize| {
        format!(
            "{{\"time\":\"2026-11-23T14:03:07Z\",\"message\":\"needle{n} of {}\",\"format\":\
             \"needle{{n}} of {{x}}\",\"properties\":{{\"n\":{n},\"x\":\"{:x}\"}}}}\n",
            n * 7919 % 65_536,
            n * 104_729
        )
    };
    let archive = logs.import((0..100_000).map(line).collect::<String>());
    for needle in ["needle77777 of", "no such"] {
        let with = run(&["search", &archive, "--json", needle]).stdout;
        assert_eq!(
            with,
            run(&["search", &archive, "--json", "--no-index", needle]).stdout
        );
        assert_eq!(with.lines().count(), usize::from(needle != "no such"));
    }
}
