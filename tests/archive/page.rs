//! Rules of docs/archive.md that are not about bytes: limits, and where a reader goes on.

use serde_json::json;
use timeline::internal::Format;
use timeline::{Definition, InlinedFunction, dump};
use timeline_archive::limits;

use crate::independent::agree;
use crate::samples::framed;
use crate::support::root;

/// The numbers in the tables of a section of the page, each with what it limits.
fn limits_of(page: &str) -> Vec<(String, usize)> {
    let section = page.split("\n## Limits\n").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its end");
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        Some((
            cells[0].to_string(),
            cells[1].replace(',', "").parse().ok()?,
        ))
    };
    let rows = section.lines().filter(|line| line.starts_with('|'));
    rows.filter_map(row).collect()
}

#[test]
fn the_limits_of_the_page_are_those_of_the_source() {
    let page = std::fs::read_to_string(root().join("docs/archive.md")).unwrap();
    let expected = [
        ("bytes of a record", limits::MAX_RECORD),
        ("bytes of an expanded block", limits::MAX_EXPANDED),
        (
            "bytes of an expanded block for each byte of its payload, and as many again",
            limits::MAX_EXPANSION,
        ),
        ("events in a block", limits::MAX_EVENTS),
        ("rows in a table of a block", limits::MAX_EVENTS),
        ("columns of a block", limits::MAX_COLUMNS),
        (
            "bytes that dictionaries and times of a block give",
            limits::MAX_REPEATED,
        ),
        (
            "integers as arguments of an event in a block",
            limits::MAX_ARGS,
        ),
        ("bytes of a string, or of a symbol's name", limits::MAX_TEXT),
        ("return addresses of an event", limits::MAX_ARGS),
        ("bytes of the payload of an event", limits::MAX_PAYLOAD),
        (
            "bytes of a string, and of a text in a preamble",
            Definition::LONGEST_TEXT,
        ),
        ("bytes of the values of an event", limits::SHOWN_PAYLOAD),
        ("bytes of a message with its values", Format::LONGEST_TEXT),
        ("return addresses of an event", limits::SHOWN_ADDRESSES),
        ("characters of a symbol", limits::SHOWN_SYMBOL),
        ("inlined functions of a symbol", InlinedFunction::MOST),
        (
            "bytes of the symbols of pointers in a message",
            dump::SYMBOLS,
        ),
        ("bytes of the names in a call stack", dump::STACK),
    ];
    let expected = expected.map(|(what, limit)| (what.to_string(), limit));
    assert_eq!(limits_of(&page), expected);
    // Where the text repeats them.
    for said in [
        "at most 16 MiB (16,777,216 bytes)",
        "at most 65,536",
        "at most 1,024",
        "1,033 at most",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn what_is_nested_to_any_depth_is_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nested.tla");
    // Arrays of one array each, and maps of one map each, in a field that nobody knows; then the
    // ticks.
    let arrays = vec![0x91; 200_000];
    let maps = [0x81, 0x05].repeat(100_000);
    let file = [arrays, maps]
        .map(|nested| framed(&[&[127, 0x82, 99], &nested[..], &[0xc0, 7, 5]].concat()));
    std::fs::write(&path, file.concat()).unwrap();
    let found = agree(&path);
    assert_eq!(found.len(), 3);
    assert!(found[1..].iter().all(|event| event["ticks"] == 5));
}

#[test]
fn the_search_goes_on_behind_a_whole_frame_that_is_no_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inside.tla");
    let event = |ticks| framed(&[127, 0x81, 7, ticks]);
    // A whole frame inside of one that is no record belongs to that one; inside of what is no
    // frame, it is found.
    let no_record = framed(&[&[1, 1], &event(9)[..]].concat());
    let mut no_frame = no_record.clone();
    no_frame[2] ^= 1;
    std::fs::write(
        &path,
        [event(1), no_record.clone(), event(2), no_frame, event(3)].concat(),
    )
    .unwrap();
    let found = agree(&path);
    let ticks: Vec<_> = found[1..]
        .iter()
        .map(|event| event["ticks"].as_u64())
        .collect();
    assert_eq!(ticks, [1, 2, 9, 3].map(Some));
    let (first, length) = (event(1).len(), no_record.len());
    let second = first + length + first;
    let head = length - event(9).len();
    assert_eq!(
        found[0]["damage"],
        json!([[first, first + length], [second, second + head]])
    );
}
