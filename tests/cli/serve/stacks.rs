//! A call stack has the same functions wherever it is shown.

use std::fs;

use serde_json::Value;
use timeline::Frame;
use timeline_archive::{Form, RawEvent, Writer};

use super::http::{Served, quoted};
use crate::command::succeed;

/// A name of C++, one of Rust, and one of neither.
const NAMES: [(&str, &str); 3] = [
    ("_ZN3net5queue4pushEi", "net::queue::push(int)"),
    (
        "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
        "core::fmt::Write::write_fmt",
    ),
    ("main", "main"),
];

fn functions(stack: &Value, member: &str) -> Vec<String> {
    let entries = stack.as_array().expect("a list").iter();
    let text = |entry: &Value| entry[member].as_str().expect("a function").to_owned();
    entries.map(text).collect()
}

#[test]
fn functions_have_the_names_of_their_source_everywhere() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    let mut event = RawEvent {
        ticks: Some(1),
        unix_nanos: Some(1),
        ..RawEvent::default()
    };
    event.definition.format = Some(writer.string("called"));
    for (address, (name, _)) in (0x1000..).step_by(0x100).zip(NAMES) {
        let frame = Frame {
            name: Some(name.into()),
            start: Some(address - 4),
            ..Frame::unknown(address)
        };
        writer.symbol(None, &frame);
        event.backtrace.push(address);
    }
    writer.event(&event).unwrap();
    writer.flush().unwrap();
    drop(writer);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stack.tla").display().to_string();
    fs::write(&path, file).unwrap();

    let expected = NAMES.map(|(_, shown)| shown.to_owned());
    let dumped = &succeed(&["dump", &path, "--json"]).json()[0];
    assert_eq!(functions(&dumped["backtrace"], "function"), expected);
    let served = Served::begin(&[&path]);
    let details = served.json(&format!("/api/logs/{}/lines/0", quoted(&path)));
    assert_eq!(functions(&details["backtrace"], "function"), expected);
    let with_offset = expected.map(|name| format!("{name}+0x4"));
    let found = &succeed(&["search", &path, "--json", ""]).json()[0];
    let stack = &found["properties"]["backtrace"];
    assert_eq!(functions(stack, "$text"), with_offset);
    let text = succeed(&["dump", &path]).stdout;
    for function in with_offset {
        assert!(text.contains(&format!("    at {function}\n")), "{text}");
    }
}
