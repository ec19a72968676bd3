//! Tests that `TIMELINE_DISABLED` removes the statements of C and C++ from the object code.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::toolchain::{cc, cxx, printed, root};

/// The symbols that the object file needs, its instructions by function, and its bytes.
struct Object {
    needed: String,
    code: String,
    bytes: Vec<u8>,
}

fn object(mut compiler: Command, options: &[&str], folder: &Path) -> Object {
    let file = folder.join("disabled.o");
    compiler.args([
        "-Wall",
        "-Wextra",
        "-Werror",
        "-ffunction-sections",
        "-c",
        "-I",
    ]);
    compiler.arg(root().join("include")).args(options).arg("-o");
    compiler.arg(&file);
    printed(&mut compiler, "a compiler");
    let read = |tool: &str, options: &[&str]| {
        let mut command = Command::new(tool);
        printed(command.args(options).arg(&file), "binutils")
    };
    Object {
        needed: read("nm", &["--undefined-only"]),
        code: read(
            "objdump",
            &["--disassemble", "--no-addresses", "--no-show-raw-insn"],
        ),
        bytes: fs::read(&file).unwrap(),
    }
}

impl Object {
    fn function(&self, name: &str) -> &str {
        let (_, code) = self.code.split_once(&format!("<{name}>:\n")).unwrap();
        code.split("\n\n").next().unwrap().trim_end()
    }

    fn has(&self, text: &str) -> bool {
        self.bytes
            .windows(text.len())
            .any(|found| found == text.as_bytes())
    }
}

/// Compiles tests/c/disabled.c in both ways.
fn removed(compiler: fn() -> Command, language: [&str; 3], folder: &Path) {
    let source = root().join("tests/c/disabled.c");
    let [standard, option, name] = language;
    let mut texts = vec![
        "the event",
        "the printf",
        "the backtrace",
        "the important",
        "begin the span",
        "end the span",
        "begin the numbers",
    ];
    let mut functions = vec!["statements", "spans"];
    if name == "c++" {
        texts.push("the declared");
        functions.push("objects");
    }
    for level in ["-O2", "-O0"] {
        let options = [standard, level, option, name, source.to_str().unwrap()];
        let kept = object(compiler(), &options, folder);
        for symbol in [
            "find_timeline",
            "find_level",
            "find_number",
            "find_text",
            "timeline_log",
        ] {
            assert!(kept.needed.contains(symbol), "{symbol}: {}", kept.needed);
        }
        assert!(texts.iter().all(|text| kept.has(text)));
        for function in &functions {
            assert_ne!(kept.function(function), kept.function("empty"));
        }

        let without = [&["-DTIMELINE_DISABLED"], &options[..]].concat();
        let gone = object(compiler(), &without, folder);
        assert!(!gone.needed.contains("find_"), "{level}: {}", gone.needed);
        // Not optimised, gcc keeps texts that nothing uses.
        if level != "-O0" {
            for function in &functions {
                assert_eq!(gone.function(function), gone.function("empty"));
            }
            assert!(!texts.iter().any(|text| gone.has(text)), "{level} {name}");
            assert!(!gone.needed.contains("timeline_"), "{}", gone.needed);
        }
    }
}

#[test]
fn nothing_of_disabled_statements_of_c_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    removed(cc, ["-std=c11", "-x", "c"], folder.path());
}

#[test]
fn nothing_of_disabled_statements_of_cpp_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    removed(cxx, ["-std=c++17", "-x", "c++"], folder.path());
}
