//! The catalogue of a timeline, and catalogues in text files.

use serde_json::{Value, json};
use timeline::{Attributes, Priority};

use crate::command::*;
use crate::support::Name;

/// The objects that `events --json` prints.
fn objects(path: &str) -> Vec<Value> {
    let printed = succeed(&["events", path, "--json"]).stdout;
    let lines = printed.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn all_definitions_are_printed_of_rings_snapshots_and_archives() {
    let name = Name::new("events");
    let tl = name.create(256);
    assert_eq!(succeed(&["events", name.path()]).stdout, "");
    let message = "got $len:bytes of $kind:enum(a=1,b=2), $rest\nIt came.\r\n\tMore.";
    let attributes = Attributes {
        channels: "itv=on|bbc=on",
        ..Attributes::default()
    };
    let got = tl
        .define_with("net", Priority::Packet, message, &attributes)
        .unwrap();
    let idle = tl.define("net", Priority::Info, "idle").unwrap();
    let (format, at, none) = ("started: %d\nnow", ("main.c", 12), Attributes::default());
    let printf = tl.define_printf("engine", Priority::Trace, format, at, &none);
    let printf = printf.unwrap();
    for i in 0..3 {
        tl.log(got, [i, 1, 2]);
    }
    tl.log_payload(printf, &[7], false);
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    let archive = directory.path().join("a.tla").display().to_string();
    let folder = directory.path().join("all").display().to_string() + "/";
    succeed(&["record", &file, "-o", &archive, "--fsync", "never"]);
    succeed(&["record", &file, "-o", &folder, "--fsync", "never"]);
    let expected = [
        json!({
            "event": "net.got", "definition": 1, "category": "net", "priority": "packet",
            "important": false, "message": "got $len:bytes of $kind:enum(a=1,b=2), $rest",
            "fields": [
                { "name": "len", "type": "bytes" }, { "name": "kind", "type": "enum(a=1,b=2)" },
                { "name": "rest", "type": "i64" },
            ],
            "channels": ["itv", "bbc"], "file": null, "line": null,
            "prose": "It came.\r\n\tMore.", "held": 3,
        }),
        json!({
            "event": "net.idle", "definition": 2, "category": "net", "priority": "info",
            "important": false, "message": "idle", "fields": [], "channels": [],
            "file": null, "line": null, "prose": "", "held": 0,
        }),
        json!({
            "event": "engine.started", "definition": 3, "category": "engine", "priority": "trace",
            "important": false, "message": "started: %d", "fields": [], "channels": [],
            "file": "main.c", "line": 12, "prose": "", "held": 1,
        }),
    ];
    for ring in [name.path(), &file] {
        assert_eq!(objects(ring), expected);
    }
    // An archive has the definitions of the events that it holds.
    for archive in [archive, folder] {
        let mut found = objects(&archive);
        found.sort_by_key(|object| object["definition"].as_u64());
        assert_eq!(found, [expected[0].clone(), expected[2].clone()]);
    }
    let text = succeed(&["events", name.path()]).stdout;
    assert!(
        text.starts_with(
            "1 net.got  packet  3 held\n    got $len:bytes of $kind:enum(a=1,b=2), $rest\n    \
             arguments: len bytes, kind enum(a=1,b=2), rest i64\n    channels: itv|bbc\n    \
             It came.\n        More.\n\n2 net.idle  info  0 held\n"
        ),
        "{text}"
    );
    assert!(text.ends_with("    statement: main.c:12\n"), "{text}");
    drop((idle, tl));
}

#[test]
fn the_same_message_as_important_event_is_told_apart() {
    let name = Name::new("events-important");
    let tl = name.create(256);
    let attributes = Attributes {
        important: true,
        ..Attributes::default()
    };
    let plain = tl.define("net", Priority::Info, "up $n").unwrap();
    let kept = tl
        .define_with("net", Priority::Info, "up $n", &attributes)
        .unwrap();
    tl.log(plain, [1]);
    tl.log(kept, [2]);
    tl.log(kept, [3]);
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    let archive = directory.path().join("a.tla").display().to_string();
    succeed(&["record", &file, "-o", &archive, "--fsync", "never"]);
    for of in [name.path(), &file, &archive] {
        let mut text: Vec<_> = succeed(&["events", of])
            .stdout
            .lines()
            .map(str::to_owned)
            .collect();
        text.retain(|line| line.contains("held"));
        text.sort();
        assert_eq!(
            text,
            ["1 net.up  info  1 held", "2 net.up  info important  2 held"]
        );
        let mut important: Vec<_> = objects(of)
            .iter()
            .map(|object| (object["definition"].as_u64(), object["important"].as_bool()))
            .collect();
        important.sort();
        assert_eq!(important, [(Some(1), Some(false)), (Some(2), Some(true))]);
    }
}

/// What `--check` says and what `define_file` says of a file: each mistake, and the first one.
fn mistakes(path: &str, text: &[u8]) -> Vec<String> {
    std::fs::write(path, text).unwrap();
    let ran = run(&["events", "--check", path]);
    let name = Name::new("mistakes");
    let defined = name.create(256).define_file(path);
    assert_eq!(
        objects(name.path()).len(),
        defined.as_ref().map_or(0, Vec::len)
    );
    let mistakes: Vec<_> = ran.stdout.lines().map(str::to_owned).collect();
    assert_eq!(ran.code, Some(i32::from(!mistakes.is_empty())), "{ran:?}");
    let first = defined.err().map(|error| error.to_string());
    assert_eq!(first.as_ref(), mistakes.first());
    mistakes
}

#[test]
fn check_refuses_what_cannot_be_defined_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("b.events").display().to_string();
    let channels = |count| (0..count).map(|n| format!(" c{n}")).collect::<String>();
    let long = |length| "x".repeat(length);
    for (text, line) in [
        (format!("info{}|a", channels(65)), 1),
        (format!("info|a\n{}", long(5000)), 2),
        (format!("[{}]\ninfo|a", long(5000)), 1),
        ("info|a $x\n\ninfo|b\neror|lost $x packets".into(), 4),
        ("info|a $x:flags(r=1,r=2)".into(), 1),
        ("info important=on|a".into(), 1),
        ("info span|$x".into(), 1),
        ("info async_span|a".into(), 1),
        (format!("info span|{}", long(4091)), 1),
    ] {
        let told = mistakes(&path, text.as_bytes());
        let begins = format!("{path}:{line}: expected ");
        assert!(told.len() == 1 && told[0].starts_with(&begins), "{told:?}");
    }
    let told = mistakes(&path, b"info|caf\xe9\nprose\n\ninfo|b\n\xff\xfe\n");
    let of = |line, byte, at| {
        format!("{path}:{line}: expected a text in UTF-8, found {byte} as byte {at} of the line")
    };
    assert_eq!(told, [of(1, "0xe9", 9), of(5, "0xff", 1)]);
    for text in [
        format!("info{}|a", channels(64)),
        format!("info|a\n{}", long(4094)),
        format!("[{}]\ninfo|a", long(4096)),
        format!(
            "info span|{}\n\ninfo c0 async_span important|a $x",
            long(4090)
        ),
        "\u{feff}info important c0|a\n eror|is misspelt\n".into(),
    ] {
        assert_eq!(mistakes(&path, text.as_bytes()), [""; 0], "{text}");
    }
}

#[test]
fn catalogues_are_checked_and_define_their_events() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("engine.events");
    let path = file.display().to_string();
    std::fs::write(
        &file,
        "packet itv important|got $len\nIt came.\n\ninfo|idle\ninfo span|breath $n\nA turn.\n",
    )
    .unwrap();
    let ran = succeed(&["events", "--check", &path]);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("4 events, no mistake"), "{ran:?}");
    let name = Name::new("catalogue");
    let tl = name.create(256);
    let defined = tl.define_file(&file).unwrap();
    let names: Vec<_> = defined
        .iter()
        .map(|(event, _)| event.name.as_str())
        .collect();
    let span = ["engine.begin_breath", "engine.end_breath"];
    assert_eq!(names, ["engine.got", "engine.idle", span[0], span[1]]);
    let found = objects(name.path());
    for (event, name) in found[2..].iter().zip(span) {
        assert_eq!(
            (&event["event"], &event["prose"]),
            (&json!(name), &json!("A turn."))
        );
        assert_eq!(event["fields"][0]["name"], "n");
    }
    assert_eq!(
        (&found[0]["prose"], &found[0]["channels"]),
        (&json!("It came."), &json!(["itv"]))
    );
    let important = |event: &Value| event["important"].as_bool();
    assert_eq!(
        [important(&found[0]), important(&found[1])],
        [Some(true), Some(false)]
    );
    // Nothing of a file with mistakes is defined.
    std::fs::write(&file, "info|new\n\nloud|x\n\ninfo|$a:u128\n").unwrap();
    let ran = run(&["events", "--check", &path]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let lines: Vec<_> = ran.stdout.lines().collect();
    let begins = |line: &str, number| line.starts_with(&format!("{path}:{number}: expected "));
    assert!(
        lines.len() == 2 && begins(lines[0], 3) && begins(lines[1], 5),
        "{ran:?}"
    );
    assert!(lines[0].ends_with("found \"loud\""), "{ran:?}");
    assert!(ran.stderr.contains("2 mistakes"), "{ran:?}");
    let error = tl.define_file(&file).unwrap_err().to_string();
    assert_eq!(error, lines[0]);
    assert_eq!(objects(name.path()).len(), 4);
    let ran = run(&["events", "--check", "/no/such/file"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("cannot read /no/such/file"), "{ran:?}");
    assert_eq!(
        run(&["events", name.path(), "--check", &path]).code,
        Some(2)
    );
}
