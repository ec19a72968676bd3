//! Texts of statements of Rust come back from their executables.

use std::process::Command;

use super::{Lost, without_durations};
use crate::command::succeed;
use crate::guide::crates;
use crate::support::toolchain::{printed, root};

#[test]
fn every_text_of_a_rust_program_comes_back() {
    for (level, options) in [("0", &[][..]), ("3", &["--plain"])] {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition", "2024", "-A", "dead_code", "-C"]);
        rustc.arg(format!("opt-level={level}")).args(crates());
        rustc.arg(root().join("tests/rust/recover.rs"));
        rustc.arg("-o").arg(&program);
        printed(&mut rustc, "rustc");
        let lost = Lost::logged_by(program, folder, options);
        let whole = succeed(&["dump", "--json", &lost.whole]).stdout;
        let dumped = lost.dumped(&[]);
        assert_eq!(without_durations(&dumped.stdout), without_durations(&whole));
    }
}
