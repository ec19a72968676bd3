//! Analyses in LuaJIT tell what those in Rust tell.

use std::fs::{self, File};
use std::path::PathBuf;

use timeline_analysis::{AnalysisInput, Extent, Log};

use crate::analysis_sample::{damaged, fields, logs, told, told_of};
use crate::support::toolchain::{luajit, printed, root};

/// What the program of tests/lua says.
fn said(how: &str, wanted: &str, paths: &[PathBuf]) -> String {
    let mut luajit = luajit();
    let luajit = luajit.arg(root().join("tests/lua/analysis.lua"));
    printed(luajit.args([how, wanted]).args(paths), "luajit")
}

/// A line as Lua has it, which reads numbers of any type: the number is in the message.
fn as_lua(line: &str) -> String {
    let number = line.rsplit("number(").next().expect("a part");
    let number = number.trim_end_matches(')');
    match line.split_once("(the field") {
        Some((begin, rest)) => {
            let (_, end) = rest.split_once(')').expect("the end of an error");
            format!("{begin}{number}{end}")
        }
        None => line.to_owned(),
    }
}

#[test]
fn run_and_next_tell_what_an_analysis_in_rust_tells() {
    let dir = tempfile::tempdir().unwrap();
    let paths = logs(dir.path());
    let open = |path: &PathBuf| Log::open(path, Extent::Whole).unwrap();
    for of in [&paths[..1], &paths[2..3], &paths[3..], &paths[..]] {
        let opened: Vec<Log> = of.iter().map(open).collect();
        for wanted in ["all", "some"] {
            let expected = told(&opened, wanted == "some");
            let expected: Vec<String> = expected.iter().map(|line| as_lua(line)).collect();
            for how in ["run", "next"] {
                let said = said(how, wanted, of);
                let lines: Vec<&str> = said.lines().collect();
                assert_eq!(lines, expected, "{how} {wanted} {of:?}");
            }
        }
    }
}

#[test]
fn bytes_of_a_descriptor_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let (file, bytes) = (dir.path().join("x.tla"), damaged().concat());
    fs::write(&file, &bytes).unwrap();
    let log = Log::incoming("-".as_ref());
    let follow = log.follow_bytes(&bytes[..]).unwrap();
    let expected = told_of(AnalysisInput::followed([(&log, follow)]), false);
    for how in ["run", "next"] {
        let mut luajit = luajit();
        let luajit = luajit.arg(root().join("tests/lua/analysis.lua"));
        let luajit = luajit.stdin(File::open(&file).unwrap());
        let said = printed(luajit.args([how, "all", "-"]), "luajit");
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{how}");
    }
}

#[test]
fn fields_of_all_kinds_ends_and_mistakes() {
    let dir = tempfile::tempdir().unwrap();
    for path in fields(dir.path()) {
        assert_eq!(said("fields", "all", &[path]), "analysis: ok\n");
    }
}
