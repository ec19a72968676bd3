//! Tests that benches/search.py gives every figure, and leaves nothing behind.
//! It compares the counts of all peers itself. How large the figures are is not tested.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{assert_positive, assert_spread, bench, build_programs, printed};
use crate::support::toolchain::{library_dir, succeed};

/// Each of these was searched for; what was found and read, and the lines of the absent ones.
fn assert_needles(found: &Value, expected: &[&str]) {
    let found = found["needles"].as_object().unwrap();
    let mut names: Vec<_> = found.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, expected);
    for (name, needle) in found {
        let number = |key: &str| needle[key].as_u64().unwrap();
        let (lines, read, vain) = (number("lines"), number("read"), number("vain"));
        assert!(vain <= read && read - vain <= lines, "{needle}");
        assert_eq!(read == vain, lines == 0, "{needle}");
        assert_eq!(name.starts_with("an absent"), lines == 0, "{needle}");
        assert_spread(needle, "behind");
    }
}

#[test]
fn searches_are_measured_and_all_count_the_same() {
    build_programs();
    let folder = TempDir::new().unwrap();
    let (temporary, json) = (folder.path().join("tmp"), folder.path().join("search.json"));
    fs::create_dir(&temporary).unwrap();
    let mut command = bench("search.py", library_dir(), &temporary);
    command.args(["--quick", "--json"]).arg(&json);

    let said = succeed(&mut command, "python3");

    let found: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    for archive in ["demo", "log"] {
        let keys = ["seconds", "index", "text", "lines", "archive"];
        assert_positive(&found[archive], &keys);
    }
    assert_positive(&found["import"], &["seconds", "of_zstd"]);
    let (events, texts) = (&found["events"], &found["texts"]);
    let needles = [
        "a rare text",
        "an absent number",
        "an absent text",
        "an exact value",
    ];
    assert_needles(events, &needles);
    for name in needles {
        assert_spread(&events["needles"][name], "whole");
    }
    for name in [
        "a line in the middle",
        "the archive is opened",
        "values: bytes > 1500",
    ] {
        assert_spread(&events["others"], name);
    }
    let needles = [
        "a number of 12 digits",
        "an absent number",
        "an id",
        "words that are rare together",
    ];
    assert_needles(texts, &needles);
    for name in needles {
        let readers = &texts["needles"][name]["readers"];
        for reader in readers.as_object().unwrap().keys() {
            assert_spread(readers, reader);
        }
        for reader in ["timeline search", "rg", "zstd -dc | rg", "ugrep", "lnav"] {
            assert!(readers.get(reader).is_some(), "{reader} in {readers}");
        }
    }
    let tables = printed(said);
    for row in [
        "| an exact value: `position(12745)` |",
        "| timeline search |",
        "demo: ",
    ] {
        assert!(
            tables.lines().any(|line| line.starts_with(row)),
            "{row}: {tables}"
        );
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}
