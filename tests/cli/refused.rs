//! Tests that events with mistakes are refused where the mistake is, and that C needs no macros.

use std::fs;
use std::process::Command;

use crate::guide::crates;
use crate::support::toolchain::{cargo, printed, root, run};

#[test]
fn mistakes_are_shown_where_they_are() {
    let said = compile("refused.rs", "metadata");
    let (expected, unexpected) = compare("refused.rs", &said, ".rs:");
    assert!(expected > 15, "only {expected} mistakes");
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

#[test]
fn a_message_that_is_too_long_with_the_types_of_its_arguments_is_refused() {
    let said = compile("too_long.rs", "obj");
    let (expected, unexpected) = compare("too_long.rs", &said, "too_long.rs:");
    let errors = said.matches("a message has more than 4,096 bytes with the types of");
    assert_eq!(errors.count(), expected, "{said}");
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

/// What the compiler says of a file in tests/rust/.
fn compile(file: &str, emit: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--error-format=short", "--emit", emit]);
    rustc
        .args(crates())
        .arg(root().join("tests/rust").join(file))
        .arg("--out-dir")
        .arg(folder.path());
    let said = run(&mut rustc, "rustc");
    String::from_utf8(said.stderr).unwrap()
}

/// How many mistakes the comments of a file name, all of which the compiler must have shown, and
/// what else it said of `places`.
fn compare<'a>(file: &str, said: &'a str, places: &str) -> (usize, Vec<&'a str>) {
    let mut unexpected: Vec<&str> = said.lines().filter(|line| line.contains(places)).collect();
    let text = fs::read_to_string(root().join("tests/rust").join(file)).unwrap();
    let mut expected = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, part)) = line.split_once("//~ ") else {
            continue;
        };
        let place = format!("{file}:{number}:");
        let is_it = |said: &&str| said.contains(&place) && said.contains(part);
        assert!(unexpected.iter().any(is_it), "{place} {part}:\n{said}");
        unexpected.retain(|said| !is_it(said));
        expected += 1;
    }
    (expected, unexpected)
}

#[test]
fn the_c_library_needs_neither_the_derive_macro_nor_symbols() {
    let mut tree = cargo();
    tree.args([
        "tree",
        "--offline",
        "-p",
        "timeline-ffi",
        "--edges",
        "normal",
    ]);
    let needed = printed(&mut tree, "cargo itself");
    assert!(needed.contains("crc32fast"), "{needed}");
    for other in ["timeline-derive", "cpp_demangle", "timeline-archive"] {
        assert!(!needed.contains(other), "{needed}");
    }
}
