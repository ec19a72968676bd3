//! Tests that the feature `off` removes what logs from the object code of Rust programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::guide::{crates, rlib};
use crate::support::toolchain::{cargo, library_dir, printed, root};

/// Builds the library as quickly as possible. What it depends on is there already; the library
/// goes to a folder of its own, so that no other test uses it.
fn library(features: &str, folder: &Path) -> Vec<String> {
    let target = library_dir().parent().expect("a target directory");
    let mut command = cargo();
    command.args(["rustc", "--quiet", "--lib", "-p", "timeline"]);
    command.args(["--no-default-features", "--features", features]);
    for option in [
        "profile.dev.package.timeline.opt-level=0",
        "profile.dev.debug=false",
        &format!("build.build-dir={:?}", target.display().to_string()),
    ] {
        command.args(["--config", option]);
    }
    command.args(["--message-format=json", "--target-dir"]);
    let made = rlib(&printed(command.arg(folder), "cargo itself"), "timeline");
    let built = library_dir().join("deps").display().to_string();
    let flags = [
        "--extern",
        &format!("timeline={made}"),
        "-L",
        &format!("dependency={built}"),
    ];
    flags.map(str::to_owned).to_vec()
}

/// The object file of tests/rust/off.rs.
fn object(library: &[String], level: &str, folder: &Path) -> PathBuf {
    let made = folder.join(format!("{level}.o"));
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "-D", "warnings", "--emit=obj"]);
    rustc.args(["-C", &format!("opt-level={level}"), "-C", "codegen-units=1"]);
    rustc.args(library);
    rustc
        .arg(root().join("tests/rust/off.rs"))
        .arg("-o")
        .arg(&made);
    printed(&mut rustc, "rustc");
    made
}

fn read(tool: &str, options: &[&str], file: &Path) -> String {
    printed(Command::new(tool).args(options).arg(file), "binutils")
}

fn function<'a>(code: &'a str, name: &str) -> &'a str {
    let (_, code) = code.split_once(&format!("<{name}>:\n")).expect(name);
    code.split("\n\n").next().expect("instructions").trim_end()
}

#[test]
fn nothing_of_statements_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let needs = ["find_timeline", "find_priority", "find_number", "find_text"];
    let texts = [
        "the numbers",
        "the text",
        "the struct",
        "begin the span",
        "finish the job",
    ];
    let has = |file: &Path, text: &str| {
        let bytes = fs::read(file).unwrap();
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    let file = object(crates(), "2", folder);
    let needed = read("nm", &["--undefined-only"], &file);
    assert!(needs.iter().all(|name| needed.contains(name)), "{needed}");
    assert!(texts.iter().all(|text| has(&file, text)));

    let off = library("off,derive", folder);
    for level in ["0", "2"] {
        let file = object(&off, level, folder);
        let needed = read("nm", &["--undefined-only"], &file);
        assert!(!needed.contains("find_"), "{level}: {needed}");
        let options = ["--disassemble", "--no-addresses", "--no-show-raw-insn"];
        let code = read("objdump", &options, &file);
        assert_eq!(function(&code, "statements"), function(&code, "empty"));
        // Not optimised, rustc keeps statics that nothing uses.
        if level != "0" {
            assert_eq!(function(&code, "structure"), function(&code, "empty"));
            assert_eq!(function(&code, "call"), function(&code, "empty"));
            assert_eq!(function(&code, "spans"), function(&code, "empty"));
            assert!(!needed.contains("timeline"), "{needed}");
            assert!(!texts.iter().any(|text| has(&file, text)));
        }
    }
}
