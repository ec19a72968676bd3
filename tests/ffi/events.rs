//! Tests `TIMELINE_EVENT` of C and C++, and what every reader says of its events.

use std::path::Path;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::json::same;
use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{C99, CPP17, cc, cxx, limited, root, succeed};

fn timeline(arguments: &[&str]) -> String {
    let mut command = limited(env!("CARGO_BIN_EXE_timeline"));
    let output = succeed(command.args(arguments), "nothing");
    String::from_utf8(output.stdout).unwrap()
}

fn lines(text: &str) -> Vec<Json> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}")))
        .collect()
}

/// Message, template, arguments, file, line and channels of each event, the oldest first.
fn rows(path: &Path) -> Vec<[Json; 6]> {
    let mut rows = lines(&timeline(&["dump", "--json", path.to_str().unwrap()]));
    rows.reverse();
    rows.iter().map(columns).collect()
}

fn columns(row: &Json) -> [Json; 6] {
    let names = ["message", "template", "args", "file", "line", "channels"];
    names.map(|column| row[column].clone())
}

/// Every verb and every kind of file says the same of the events of a ring, and an independent
/// reader as well.
fn read_alike(folder: &Path) {
    let ring = folder.join("ring");
    let expected = rows(&ring);
    assert!(expected.len() > 10);
    let path = |name: &str| folder.join(name).display().to_string();
    let ring = ring.to_str().unwrap();
    let info = lines(&timeline(&["info", "--json", ring]));
    let interned = &info[0]["interned"];
    assert!(interned["strings"].as_u64() > Some(1) && interned["copied"] == 0);
    assert!(interned["most_strings"].as_u64() > interned["strings"].as_u64());
    timeline(&["save", ring, &path("saved.timeline")]);
    timeline(&["record", ring, "-o", &path("blocks.tla"), "--once"]);
    timeline(&[
        "record",
        ring,
        "-o",
        &path("plain.tla"),
        "--once",
        "--plain",
    ]);
    for file in ["saved.timeline", "blocks.tla", "plain.tla"] {
        let found = rows(&folder.join(file));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{file}");
        }
        assert_eq!(found.len(), expected.len(), "{file}");
    }
    let mut python = limited("python3");
    python.env("PYTHONUTF8", "1");
    python.arg(root().join("tests/python/read_timeline.py"));
    let read = succeed(python.arg(folder.join("saved.timeline")), "python3");
    let mut read = lines(&String::from_utf8(read.stdout).unwrap());
    read.reverse();
    assert_eq!(read.len(), expected.len());
    for (found, expected) in read.iter().map(columns).zip(&expected) {
        let [_, template, args, ..] = expected;
        assert!(same(&found[2], args), "{template}: {}\n{args}", found[2]);
        assert_eq!((&found[1], &found[3..]), (template, &expected[3..]));
    }
    let of_channels = |row: &&[Json; 6]| row[5].is_array();
    assert!(expected.iter().any(|row| of_channels(&row)) && expected[0][4].is_u64());
}

#[test]
fn events_of_c_are_read_alike_everywhere() {
    for (number, how) in ["-O0", "-O2", "-O3"].into_iter().enumerate() {
        let dir = TempDir::new().unwrap();
        let flags = [C99, &[how, "-Wconversion", "-Wshadow"]].concat();
        let program = compile(cc(), &flags, &["tests/c/event.c"], Link::Shared, dir.path());
        let said = execute(&program, dir.path(), &[]);
        assert_eq!(said, "tests/c/event.c: ok\n", "{how}");
        if number == 0 {
            read_alike(dir.path());
        }
    }
}

#[test]
fn spans_of_c_end_where_their_scopes_are_left() {
    for how in ["-O0", "-O2", "-O3"] {
        let dir = TempDir::new().unwrap();
        let flags = [C99, &[how, "-Wconversion", "-Wshadow"]].concat();
        let program = compile(cc(), &flags, &["tests/c/span.c"], Link::Shared, dir.path());
        assert_eq!(execute(&program, dir.path(), &[]), "span: ok\n", "{how}");
    }
}

#[test]
fn a_program_measures_its_own_spans() {
    let dir = tempfile::tempdir().unwrap();
    let sources = ["tests/c/histogram.c"];
    let program = compile(cc(), &["-std=c99"], &sources, Link::Shared, dir.path());
    assert_eq!(execute(&program, dir.path(), &[]), "histogram: ok\n");
}

#[test]
fn spans_of_cpp_end_where_their_scopes_are_left() {
    for (standard, how) in [
        ("-std=c++17", "-O0"),
        ("-std=c++17", "-O2"),
        ("-std=c++20", "-O2"),
    ] {
        let dir = TempDir::new().unwrap();
        let flags = [CPP17, &[standard, how]].concat();
        let sources = ["tests/cpp/span.cpp"];
        let program = compile(cxx(), &flags, &sources, Link::Shared, dir.path());
        assert_eq!(
            execute(&program, dir.path(), &[]),
            "span: ok\n",
            "{standard} {how}"
        );
    }
}

#[test]
fn events_of_cpp_are_read_alike_everywhere() {
    for (number, standard) in ["-std=c++17", "-std=c++20"].into_iter().enumerate() {
        let dir = TempDir::new().unwrap();
        let flags = [CPP17, &[standard, "-O2"]].concat();
        let program = compile(
            cxx(),
            &flags,
            &["tests/cpp/event.cpp"],
            Link::Shared,
            dir.path(),
        );
        let said = execute(&program, dir.path(), &[]);
        assert_eq!(said, "event: ok\n", "{standard}");
        if number == 0 {
            read_alike(dir.path());
        }
    }
}

/// What a message and its arguments have wrong is refused when it is compiled, as far as a compiler
/// sees it. The rest is refused late, and not in silence.
#[test]
fn what_no_compiler_sees_is_counted_and_told_once() {
    for how in ["-O0", "-O2"] {
        let dir = TempDir::new().unwrap();
        let flags = [C99, &[how]].concat();
        let sources = ["tests/c/refused_late.c"];
        let program = compile(cc(), &flags, &sources, Link::Shared, dir.path());
        assert_eq!(execute(&program, dir.path(), &[]), "refused_late: ok\n");
        let ring = dir.path().join("ring");
        let info = lines(&timeline(&["info", "--json", ring.to_str().unwrap()]));
        let dropped = &info[0]["dropped"];
        // Of six statements that ran three times, and of a span, which has two events.
        assert_eq!(
            (&dropped["refused"], &dropped["total"]),
            (&24.into(), &24.into())
        );
    }
}
