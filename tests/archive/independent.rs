//! The format is what docs/archive.md says: a reader that has no code of ours agrees, and so do bytes made by hand.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use timeline::archive::{Archive, Data, Form, PRINTF, Recorded, Writer};

use crate::support::{archive, frames};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What tests/python/read_archive.py makes of a file: a line for the damage, and one for each event.
fn python(file: &Path) -> Vec<Value> {
    let output = Command::new("python3")
        .arg(root().join("tests/python/read_archive.py"))
        .arg(file)
        .output()
        .expect("python3");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn object(event: &Recorded) -> Value {
    let (statement, author) = (&event.statement, &event.author);
    json!({
        "magic": statement.magic,
        "category": statement.category.as_deref(),
        "format": statement.message.as_deref(),
        "level": statement.priority.map(|p| p as u8),
        "file": statement.file.as_deref(),
        "line": statement.line,
        "event": statement.event,
        "thread": author.thread.as_deref(),
        "tid": author.tid,
        "pid": author.pid,
        "process": author.process.as_deref(),
        "ticks": event.ticks,
        "time": event.unix_nanos,
        "core": event.core,
        "lane": event.lane,
        "number": event.number,
        "arguments": event.args,
        "backtrace": event.backtrace,
    })
}

fn ours(archive: &Archive) -> Vec<Value> {
    let damage: Vec<_> = archive.damage().iter().map(|d| (d.start, d.end)).collect();
    let head = json!({ "damage": damage, "missed": archive.missed() });
    std::iter::once(head)
        .chain(archive.events().map(|e| object(&e)))
        .collect()
}

#[test]
fn an_independent_reader_agrees_field_by_field() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("archive.tla");
    let plain = archive(1, Form::Plain, 200);
    let blocks = archive(u64::MAX, Form::Blocks, 2_000);
    let mut file = [plain, blocks].concat();
    for damaged in [false, true] {
        if damaged {
            for (place, _) in frames(&file).iter().step_by(17) {
                file[place.end - 1] ^= 0x10;
            }
            file.truncate(file.len() - 3);
        }
        std::fs::write(&path, &file).unwrap();
        let (theirs, ours) = (python(&path), ours(&Archive::open(&path).unwrap()));
        assert_eq!(theirs.len(), ours.len());
        for (theirs, ours) in theirs.iter().zip(&ours) {
            assert_eq!(theirs, ours);
        }
        assert!(theirs.len() > 1_000);
        assert_eq!(theirs[0]["damage"] != json!([]), damaged);
    }
}

#[test]
fn an_independent_reader_finds_the_arguments_of_printf() {
    let values: [(&[u8], Value); 11] = [
        (&[0xd2, 0xff, 0xff, 0xff, 0xfe], json!(-2)),
        (&[0xce, 0xff, 0xff, 0xff, 0xfe], json!(4_294_967_294_u32)),
        (&[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0], json!(i64::MIN)),
        (
            &[0xcf, 0xff, 0, 0, 0, 0, 0, 0, 1],
            json!(0xff << 56 | 1_u64),
        ),
        (&[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], json!(1.5)),
        (
            &[
                0xd8, 2, 1, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0,
            ],
            json!({ "extension": 2, "bytes": "0100000000000080ff3f000000000000" }),
        ),
        (&[0xd9, 3, b'a', 0xc3, 0xa4], json!("aä")),
        (&[0xda, 0, 1, 0xff], json!({ "bytes": "ff" })),
        (
            &[0xc8, 0, 1, 1, b'c'],
            json!({ "extension": 1, "bytes": "63" }),
        ),
        (&[0xc0], json!(null)),
        // Promises more than there is.
        (&[0xd9, 9, b'a'], json!("not there")),
    ];
    let payload: Vec<u8> = values
        .iter()
        .flat_map(|(bytes, _)| bytes.to_vec())
        .collect();
    let expected: Vec<_> = values[..10].iter().map(|(_, value)| value).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("printf.tla");
    for form in [Form::Plain, Form::Blocks] {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, form);
        let mut event = Data {
            payload: payload.clone(),
            ..Data::default()
        };
        event.kind.syntax = Some(PRINTF);
        writer.event(&event).unwrap();
        event.payload = vec![5, 6];
        writer.event(&event).unwrap();
        event.payload.clear();
        writer.event(&event).unwrap();
        writer.flush().unwrap();
        std::fs::write(&path, &file).unwrap();
        let found = python(&path);
        assert_eq!(found.len(), 4);
        assert_eq!(found[1]["arguments"], json!(expected), "{form:?}");
        assert_eq!(found[2]["arguments"], json!([5, 6]));
        assert_eq!(found[3]["arguments"], json!([]));
        assert!(found[1..].iter().all(|event| event["syntax"] == 2));
    }
}

#[test]
fn the_golden_file_is_read_as_ever() {
    let golden = root().join("tests/data/v1.tla");
    let archive = Archive::open(&golden).unwrap();
    assert!(archive.damage().is_empty());
    assert_eq!(archive.events().count(), 60);
    let expected = std::fs::read_to_string(root().join("tests/data/v1.tla.json")).unwrap();
    let expected: Vec<Value> = expected
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(ours(&archive), expected);
    assert_eq!(python(&golden), expected);
}

#[test]
fn the_example_of_the_page_is_read() {
    let page = std::fs::read_to_string(root().join("docs/archive.md")).unwrap();
    let example = page
        .split("```hexdump\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let bytes: Vec<u8> = example
        .expect("an example")
        .split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).expect("bytes"))
        .collect();
    let archive = Archive::from_bytes(bytes);
    assert!(archive.damage().is_empty());
    let events: Vec<_> = archive.events().collect();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].statement.magic, 7);
    assert_eq!(events[0].statement.message.as_deref(), Some("hi!"));
    assert_eq!(
        (events[0].ticks, &events[0].args),
        (Some(1000), &vec![5, -1])
    );
}
