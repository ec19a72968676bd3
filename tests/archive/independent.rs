//! Tests that the format of archives is what docs/archive.md says.
//! A reader that has no code of ours agrees, and so do bytes made by hand.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use timeline_archive::{Archive, Form, PRINTF, Preamble, RawEvent, RecordedEvent, Writer};
use timeline_import::Importer;

use crate::inlined::{has_symbols_by_hand, inlined};
use crate::records;
use crate::samples::{all_values, archive, frames};
use crate::support::root;

/// The first Python of PATH that has the module msgpack: without it, our programs would only agree
/// with themselves.
fn interpreter() -> Command {
    let path = std::env::var_os("PATH").expect("PATH");
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    let found = found.find(|python| {
        let tried = Command::new(python).args(["-c", "import msgpack"]).output();
        tried.is_ok_and(|output| output.status.success())
    });
    Command::new(found.expect("a Python with msgpack; install the package python3-msgpack"))
}

/// What a program in tests/python prints.
fn run(program: &str, arguments: &[&str], file: &Path) -> String {
    let output = interpreter()
        .arg(root().join("tests/python").join(program))
        .args(arguments)
        .arg(file)
        .output()
        .expect("it was there just now");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// What tests/python/read_archive.py makes of a file: a line for the damage, and one for each
/// event.
fn python(file: &Path, arguments: &[&str]) -> Vec<Value> {
    let text = run("read_archive.py", arguments, file);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn object(event: &RecordedEvent) -> Value {
    let (definition, thread) = (&event.definition, &event.thread);
    let mut object = json!({
        "magic": definition.magic,
        "category": definition.category.as_deref(),
        "format": definition.message.as_deref(),
        "level": definition.priority.map(|p| p as u8),
        "file": definition.file.as_deref(),
        "line": definition.line,
        "event": definition.event,
        "thread": thread.name.as_deref(),
        "tid": thread.tid,
        "pid": thread.pid,
        "process": thread.process.as_deref(),
        "ticks": event.ticks,
        "time": event.unix_nanos,
        "core": event.core,
        "lane": event.lane,
        "number": event.number,
        "backtrace": event.backtrace,
    });
    if let Some(group) = &thread.group {
        object["group"] = json!(**group);
    }
    if let Some(identity) = thread.identity {
        object["identity"] = json!(identity);
    }
    if let Some(syntax) = definition.syntax {
        object["syntax"] = json!(syntax);
    }
    if let Some(channels) = definition.channels.as_deref() {
        object["channels"] = json!(channels);
    }
    match event.payload.is_empty() {
        true => object["arguments"] = json!(event.args),
        false => object["payload"] = json!(hex(&event.payload)),
    }
    object
}

fn ours(archive: &Archive) -> Vec<Value> {
    let damage: Vec<_> = archive.damage().iter().map(|d| (d.start, d.end)).collect();
    let head = json!({ "damage": damage, "missed": archive.missed(), "gone": archive.gone() });
    std::iter::once(head)
        .chain(archive.events().map(|e| object(&e)))
        .collect()
}

/// Reads a file as we do and as Python does: each field of each record must be the same. What both
/// found.
pub fn agree(file: &Path) -> Vec<Value> {
    let archive = Archive::open(file).unwrap();
    let mut theirs = python(file, &["--names"]);
    let mut programs = Vec::new();
    theirs.retain(|line| {
        if let Some(program) = line.get("program") {
            programs.push(program.clone());
        } else if let Some(symbol) = line.get("symbol") {
            let number = |name: &str| symbol[name].as_u64();
            let found = archive.symbol(
                number("magic").unwrap_or(0),
                number("pid"),
                number("address").expect("an address"),
            );
            let found = found.map(|s| {
                json!({
                    "magic": s.magic, "address": s.address, "file": s.file, "base": s.base,
                    "name": s.name, "start": s.start, "pid": s.pid, "source": s.source,
                    "line": s.line, "recovered": s.recovered.then_some(1), "inlined": inlined(s),
                })
            });
            assert_eq!(found.as_ref(), Some(symbol));
        } else if let Some(module) = line.get("module") {
            let known = archive.modules(module[0].as_u64().unwrap_or(0));
            let text = module[1].as_str().expect("a text");
            let parsed = timeline::Module::parse(text);
            assert!(
                parsed.is_none_or(|parsed| known.contains(&parsed)),
                "{text}"
            );
        } else if let Some(clock) = line.get("clock") {
            let known = archive.clocks(clock["magic"].as_u64().unwrap_or(0));
            let known: Vec<_> = known.iter().map(records::clock).collect();
            assert!(known.contains(clock), "{clock} is not among {known:?}");
        } else if let Some(process) = line.get("process").filter(|process| process.is_object()) {
            let known = archive.processes(process["magic"].as_u64().unwrap_or(0));
            let known: Vec<_> = known.iter().map(records::process).collect();
            assert!(known.contains(process), "{process} is not among {known:?}");
        } else {
            return line.get("string").is_none();
        }
        false
    });
    let preambles: Vec<_> = archive
        .preambles()
        .into_iter()
        .map(records::program)
        .collect();
    assert_eq!(programs, preambles);
    let ours = ours(&archive);
    assert_eq!(theirs.len(), ours.len());
    for (theirs, ours) in theirs.iter_mut().zip(&ours) {
        // The values of a payload are compared as bytes here.
        if theirs.get("payload").is_some() {
            theirs.as_object_mut().unwrap().remove("arguments");
        }
        assert_eq!(theirs, ours);
    }
    ours
}

#[test]
fn an_independent_reader_agrees_field_by_field() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("archive.tla");
    let plain = archive(1, Form::Plain, 200);
    let blocks = archive(u64::MAX, Form::Blocks, 2_000);
    let more = archive(3, Form::Blocks, 100);
    let mut file = [plain, blocks, more].concat();
    for damaged in [false, true] {
        if damaged {
            for (place, _) in frames(&file).iter().step_by(17) {
                file[place.end - 1] ^= 0x10;
            }
            file.truncate(file.len() - 3);
        }
        std::fs::write(&path, &file).unwrap();
        let found = agree(&path);
        assert!(found.len() > 1_000);
        assert!(found.iter().any(|event| event.get("payload").is_some()));
        assert_eq!(found[0]["damage"] != json!([]), damaged);
    }
}

/// Lines with times of several forms, and with numbers and texts that are stored in several ways.
fn log() -> String {
    let mut log = String::new();
    for i in 0_u64..3_000 {
        let (minute, second) = (i / 60 % 60, i % 60);
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let host = ["eth0", "eth1", "größe"][(mixed >> 62) as usize % 3];
        let (low, high) = (mixed >> 48, mixed >> 20);
        log += &match i % 5 {
            0 => format!(
                "2026-11-23T14:{minute:02}:{second:02}.{:03}+01:00 INFO {high} to {host}\n",
                i % 1_000
            ),
            1 => format!(
                "Nov  3 14:{minute:02}:{second:02} {host} sshd[{low}]: session {high:x} of -{i}\n"
            ),
            2 => format!("{}.{:06} {host} took {low}.5 s\n", 1_790_000_000 + i, i),
            3 => format!("<6>[{:5}.{:06}] usb {}-{low}: {host}\n", i / 9, i, i % 4),
            _ => format!(
                "10.0.{}.1 - [23/Nov/2026:14:{minute:02}:{second:02} +0000] \"GET /{host}\" 200\n",
                i % 256
            ),
        };
    }
    log
}

#[test]
fn an_independent_reader_agrees_on_imported_lines() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.tla");
    let (log, mut file) = (log(), Vec::new());
    let mut importer = Importer::new(&mut file, Preamble::default(), TimeZone::UTC).unwrap();
    let mut lines = importer.begin("server.log", SystemTime::now());
    let mut bytes = log.as_bytes();
    while importer.read(&mut lines, &mut bytes).unwrap() > 0 {}
    importer.end(&mut lines).unwrap();
    importer.flush().unwrap();
    drop(importer);
    std::fs::write(&path, &file).unwrap();
    let found = agree(&path);
    assert_eq!(found.len(), 1 + 3_000);
    let is_timed = |event: &&Value| event["time"].is_u64();
    assert!(found.iter().filter(is_timed).count() > 2_000);
}

#[test]
fn an_independent_reader_agrees_on_archives_of_three_programs_without_the_first_preamble() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("archive.tla");
    let parts = [
        archive(1, Form::Plain, 30),
        archive(2, Form::Blocks, 30),
        archive(3, Form::Plain, 30),
    ];
    for order in [&[0, 1, 2][..], &[2, 0, 1], &[1, 0, 2, 1, 1]] {
        let parts: Vec<_> = order.iter().map(|i| parts[*i].as_slice()).collect();
        let mut file = parts.concat();
        // The preamble, and a string.
        let string = frames(&file).into_iter().find(|(_, tag)| *tag == 1);
        let (string, _) = string.expect("a string");
        file[20] ^= 1;
        file[string.end - 1] ^= 1;
        std::fs::write(&path, &file).unwrap();
        let found = agree(&path);
        assert_eq!(found.len(), 1 + 30 * order.len());
        assert_eq!(found[0]["damage"].as_array().map(Vec::len), Some(2));
        let lost = found[1]["file"].as_str().expect("a file");
        let again = order[1..].contains(&order[0]);
        assert_eq!(lost.starts_with("<string 0x"), !again, "{lost}");
    }
}

/// What each of `VALUES` is.
fn expected_values() -> Vec<Value> {
    let double = |name: &str| json!({ "double": name });
    let extension = |kind: u8, bytes: &str| json!({ "extension": kind, "bytes": bytes });
    vec![
        json!(-2),
        json!(i32::MIN),
        json!(u32::MAX - 1),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(0x7fff_0000_00c1_u64),
        json!(1.5),
        json!(-0.0),
        double("inf"),
        double("-inf"),
        double("nan"),
        json!(5e-324),
        extension(2, "0100000000000080ff3f000000000000"),
        json!("aä"),
        json!(""),
        json!({ "bytes": "ffc1" }),
        json!("%s\0\u{1b}\""),
        extension(1, "63"),
        extension(1, ""),
        json!(null),
        json!(99),
    ]
}

#[test]
fn an_independent_reader_finds_the_arguments_of_printf() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("printf.tla");
    for form in [Form::Plain, Form::Blocks] {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, form);
        let mut event = RawEvent::default();
        event.definition.syntax = Some(PRINTF);
        event.definition.channels = Some(writer.string("itv|bbc"));
        // The last promises more than there is.
        let payloads = [
            &all_values()[..],
            &[5, 6],
            &[],
            &[5, 0xd9, 9, b'a'],
            &[0xd9],
        ];
        for payload in payloads {
            event.payload = payload.to_vec();
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
        std::fs::write(&path, &file).unwrap();
        agree(&path);
        let found = python(&path, &[]);
        assert_eq!(found.len(), 6);
        assert!(
            found[1..]
                .iter()
                .all(|event| event["channels"] == "itv|bbc")
        );
        assert_eq!(found[1]["arguments"], json!(expected_values()), "{form:?}");
        assert_eq!(found[2]["arguments"], json!([5, 6]));
        assert_eq!(found[3]["arguments"], json!([]));
        assert_eq!(found[4]["arguments"], json!([5]));
        assert_eq!(found[5]["arguments"], json!([]));
        assert!(found[1..].iter().all(|event| event["syntax"] == 2));
    }
}

/// What tests/python/write_archive.py writes first.
fn preamble_by_hand() -> Preamble {
    Preamble {
        magic: Some(7),
        path: Some("/bin/\u{fffd}".into()),
        size: Some(1 << 63),
        sha1: Some(vec![1; 20]),
        host: Some("host".into()),
        boot_id: Some("boot".into()),
        pid: Some(5),
        timeline: Some("/ring".into()),
        anchors: vec![(1, 2), (3, 4)],
        clock: Some("tsc".into()),
        writer: Some("w".into()),
        created: Some(u64::MAX),
        nodes: vec![0, 0, 255],
        ..Preamble::default()
    }
}

#[test]
fn a_file_made_by_hand_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hand.tla");
    run("write_archive.py", &[], &path);
    let found = agree(&path);
    let archive = Archive::open(&path).unwrap();
    assert_eq!((archive.frames(), archive.unknown()), (18, 2));
    assert_eq!((archive.count(), archive.recoverable()), (8, (8, 0)));
    assert_eq!((archive.missed(), archive.damage().len()), (5, 1));

    assert_eq!(archive.preambles(), [&preamble_by_hand()]);
    has_symbols_by_hand(&archive);
    assert_eq!(archive.clocks(7), [records::clock_by_hand()]);

    let (printf, long) = ("%d \u{fffd} %s", "x".repeat(70_000));
    let nothing = json!({
        "magic": 7, "category": null, "format": null, "level": null, "file": null, "line": null,
        "event": null,
        "thread": null, "tid": null, "pid": null, "process": null, "ticks": null, "time": null,
        "core": null,
        "lane": null, "number": null, "backtrace": [],
    });
    let with = |fields: Value| {
        let mut event = nothing.clone();
        let all = event.as_object_mut().unwrap();
        all.extend(fields.as_object().unwrap().clone());
        event
    };
    let expected = [
        with(json!({
            "file": "a.c", "line": 33, "backtrace": [u64::MAX, 0, 3], "thread": "a.c", "level": 7,
            "ticks": 7,
            "time": 8, "format": printf, "category": printf, "core": 4, "tid": 11, "pid": 12,
            "process": printf,
            "lane": 1, "number": 1_u64 << 40, "event": 3, "syntax": 2,
            "payload": "d3ffffffffffffffffd901ffc0",
        })),
        with(json!({ "magic": 0, "arguments": [] })),
        with(json!({ "thread": "<string 0x9?>", "arguments": [-1, i64::MIN, -1] })),
        with(json!({ "magic": 8, "thread": "<string 0x1?>", "payload": "01c3" })),
        with(json!({
            "file": "a.c", "line": 77, "backtrace": [u64::MAX, u64::MAX - 1], "thread": printf,
            "level": 2,
            "ticks": 1_000, "time": 5_000, "format": printf, "category": "a.c", "core": 4,
            "tid": 11, "pid": 12,
            "process": long, "lane": 6, "number": 100, "event": 300, "syntax": 9,
            "arguments": [-5, i64::MIN],
        })),
        with(json!({ "format": printf, "syntax": 2, "payload": "d200000005d902ff21" })),
        with(json!({
            "file": "a.c", "line": 77, "backtrace": [0, 0], "level": 2, "ticks": 1_010,
            "time": 5_005,
            "format": printf, "category": "a.c", "core": 1, "lane": 6, "number": 101,
            "event": 300, "syntax": 9,
            "arguments": [1, i64::MAX],
        })),
        with(json!({
            "thread": printf, "tid": 11, "pid": 12, "process": long,
            "ticks": (1_u64 << 63) + 1_010, "number": 7,
            "arguments": [],
        })),
    ];
    assert_eq!(found.len(), 9);
    for (found, expected) in found[1..].iter().zip(expected) {
        assert_eq!(*found, expected);
    }
}

#[test]
fn the_golden_files_are_read_as_ever() {
    // Written by early writers of version 1: the first without payloads and symbols, the second
    // with them, the third with a symbol that has places in the source.
    for (name, count) in [("v1", 60), ("v1-printf", 102), ("v1-lines", 1)] {
        let golden = root().join(format!("tests/data/{name}.tla"));
        let archive = Archive::open(&golden).unwrap();
        assert!(archive.damage().is_empty());
        assert_eq!(archive.events().count(), count);
        let expected = std::fs::read_to_string(root().join(format!("tests/data/{name}.tla.json")));
        let expected: Vec<Value> = expected
            .unwrap()
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        assert_eq!(agree(&golden), ours(&archive));
        assert_eq!(python(&golden, &[]), expected);
    }
    // A payload is told as bytes and as values; the values are those of the test above.
    let golden = root().join("tests/data/v1-printf.tla");
    let printf = python(&golden, &[]);
    let printf = printf.iter().filter(|event| event.get("payload").is_some());
    let last = printf.map(|event| event["arguments"][2].clone());
    let values = expected_values();
    let expected = [&values[..3], &values].concat();
    assert_eq!(last.collect::<Vec<_>>(), expected);
    let archive = Archive::open(&golden).unwrap();
    let address = 0x7fff_0000 + 4;
    let symbol = archive.symbol(5, Some(100), address).expect("a symbol");
    assert_eq!(symbol.name.as_deref(), Some("at_7fff0004"));
}

#[test]
fn the_examples_of_the_page_are_read() {
    let page = std::fs::read_to_string(root().join("docs/archive.md")).unwrap();
    let examples = page.split("```hexdump\n").skip(1);
    let bytes: Vec<u8> = examples
        .filter_map(|rest| rest.split("```").next())
        .flat_map(str::split_whitespace)
        .map(|byte| u8::from_str_radix(byte, 16).expect("bytes"))
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("example.tla");
    std::fs::write(&path, bytes).unwrap();
    agree(&path);
    let archive = Archive::open(&path).unwrap();
    assert!(archive.damage().is_empty());
    let events: Vec<_> = archive
        .events()
        .map(|e| {
            let said = e.definition.message.as_deref().map(str::to_owned);
            (said, e.ticks, e.thread.tid, e.args, e.payload)
        })
        .collect();
    let (hi, of) = (Some("hi!".to_owned()), Some("%d of them".to_owned()));
    let expected = [
        (hi.clone(), Some(1_000), None, vec![5, -1], vec![]),
        (hi, Some(1_000), Some(5), vec![7], vec![]),
        (of, Some(1_005), Some(5), vec![], vec![0xd2, 0, 0, 0, 5]),
    ];
    assert_eq!(events, expected);
    assert_eq!(archive.magics().collect::<Vec<_>>(), [7]);
}
