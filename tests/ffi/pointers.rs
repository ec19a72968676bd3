//! Tests the names of what pointers among the values of events lead to.

use std::path::Path;

use serde_json::{Value as Json, json};
use tempfile::TempDir;
use timeline::{Attached, Event, Source as _};

use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{C99, cc, limited, succeed};

fn timeline(arguments: &[&str]) -> String {
    let mut command = limited(env!("CARGO_BIN_EXE_timeline"));
    let output = succeed(command.args(arguments), "nothing");
    String::from_utf8(output.stdout).unwrap()
}

/// The messages, the oldest first, and the pointer of each.
fn messages(path: &Path) -> Vec<(String, u64)> {
    let text = timeline(&["dump", "--json", path.to_str().unwrap()]);
    let rows = text.lines().rev();
    let rows = rows.map(|line| serde_json::from_str::<Json>(line).unwrap());
    let row = |row: Json| {
        let message = row["message"].as_str().unwrap().to_owned();
        (message, row["args"]["a"].as_u64().unwrap())
    };
    rows.map(row).collect()
}

/// The pointer `a` of each event in lines of a log, the oldest first: its name, if it has one, and
/// its address.
fn logged(path: &Path) -> Vec<(String, u64)> {
    let text = timeline(&["export", "--format", "jsonl", path.to_str().unwrap()]);
    let rows = text.lines();
    let rows = rows.map(|line| serde_json::from_str::<Json>(line).unwrap());
    let row = |row: Json| match &row["properties"]["a"] {
        Json::Object(object) => {
            assert_eq!(object["$type"], "Symbol");
            let name = object["$text"].as_str().unwrap().to_owned();
            (name, object["address"].as_u64().unwrap())
        }
        number => (String::new(), number.as_u64().unwrap()),
    };
    rows.map(row).collect()
}

/// The call stacks in lines of a log.
pub fn logged_stacks(ring: &Path) -> Vec<Json> {
    let mut command = limited(env!("CARGO_BIN_EXE_timeline"));
    let output = succeed(
        command.args(["export", "--format", "jsonl"]).arg(ring),
        "nothing",
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap());
    rows.map(|row| row["properties"]["backtrace"].clone())
        .collect()
}

/// The same as the library names their addresses.
pub fn stacks(at: &Attached, events: &[Event]) -> Vec<Json> {
    let frame = |event: &Event, address: u64| {
        let frame = at.frame(event, address);
        match frame.name {
            Some(_) => {
                json!({"$type": "Symbol", "$text": frame.to_string(), "address": address})
            }
            None => json!(address),
        }
    };
    let stack = |event: &Event| {
        let addresses = event.backtrace().iter();
        addresses.map(|address| frame(event, *address)).collect()
    };
    events.iter().map(stack).collect()
}

#[test]
fn a_pointer_is_shown_with_the_symbol_that_it_leads_to() {
    let folder = TempDir::new().unwrap();
    let program = compile(
        cc(),
        C99,
        &["tests/c/pointers.c"],
        Link::Shared,
        folder.path(),
    );
    let ring = folder.path().join("ring");
    execute(&program, &ring, &[]);

    let found = messages(&ring);
    let names = [" <exported_handler>", " <exported_counter+0x5>", "", ""];
    let wanted: Vec<String> = names
        .iter()
        .zip(found.chunks(3))
        .enumerate()
        .flat_map(|(i, (name, of_each))| {
            assert!(of_each.iter().all(|(_, pointer)| *pointer == of_each[0].1));
            let value = format!("({:#x}{name})", of_each[0].1);
            [
                format!("plain a{value}"),
                format!("event a{value} n({i}) b(text)"),
                format!("many a{value} b{value} c{value} d{value} e{value}"),
            ]
        })
        .collect();
    let shown: Vec<&String> = found.iter().map(|(message, _)| message).collect();
    assert_eq!(shown, wanted.iter().collect::<Vec<_>>());
    assert_eq!(found[9].1, 0);
    let names = ["exported_handler", "exported_counter+0x5", "", ""];
    let pointers =
        |(place, (_, pointer)): (usize, &(String, u64))| (names[place / 3].to_owned(), *pointer);
    let wanted: Vec<_> = found.iter().enumerate().map(pointers).collect();
    assert_eq!(logged(&ring), wanted);

    // An archive needs the program no more.
    for (file, options) in [("blocks.tla", &[][..]), ("plain.tla", &["--plain"])] {
        let archive = folder.path().join(file);
        let [from, to] = [&ring, &archive].map(|path| path.to_str().unwrap());
        timeline(&[&["record", from, "-o", to, "--once"], options].concat());
    }
    std::fs::remove_file(&program).unwrap();
    for file in ["blocks.tla", "plain.tla"] {
        assert_eq!(messages(&folder.path().join(file)), found, "{file}");
        assert_eq!(logged(&folder.path().join(file)), wanted, "{file}");
    }
}
