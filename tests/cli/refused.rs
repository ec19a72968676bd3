//! Tests that events with mistakes are refused where the mistake is, and that C needs no macros.

use std::fs;
use std::process::Command;

use crate::guide::crates;
use crate::support::toolchain::{printed, root, run};

#[test]
fn mistakes_are_shown_where_they_are() {
    let source = root().join("tests/rust/refused.rs");
    let folder = tempfile::tempdir().unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args([
        "--edition",
        "2024",
        "--error-format=short",
        "--emit=metadata",
    ]);
    rustc
        .args(crates())
        .arg(&source)
        .arg("--out-dir")
        .arg(folder.path());
    let said = run(&mut rustc, "rustc");
    let said = String::from_utf8(said.stderr).unwrap();
    let mut unexpected: Vec<&str> = said.lines().filter(|line| line.contains(".rs:")).collect();
    let text = fs::read_to_string(&source).unwrap();
    let mut expected = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, part)) = line.split_once("//~ ") else {
            continue;
        };
        let place = format!("refused.rs:{number}:");
        let is_it = |said: &&str| said.contains(&place) && said.contains(part);
        assert!(unexpected.iter().any(is_it), "{place} {part}:\n{said}");
        unexpected.retain(|said| !is_it(said));
        expected += 1;
    }
    assert!(expected > 15, "only {expected} mistakes");
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

#[test]
fn the_c_library_needs_neither_the_derive_macro_nor_symbols() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tree = Command::new(cargo);
    tree.current_dir(root());
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
    for other in ["timeline-derive", "cpp_demangle"] {
        assert!(!needed.contains(other), "{needed}");
    }
}
