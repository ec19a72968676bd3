//! Tests that the pieces of code in the documents run and print what is shown.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::support::Name;
use crate::support::toolchain::installed::with_another_installed;
use crate::support::toolchain::pages::{self, blocks, renamed, steady};
use crate::support::toolchain::programs::{Link, link};
use crate::support::toolchain::{
    C99, CPP17, cargo_build, cc, cxx, library_dir, limited, luajit, printed, root,
};

/// Runs each block of a language in a folder and with timelines of its own; how many there were.
/// `program` makes a program of a block, `command` the command that runs it.
fn run_all(
    page: &str,
    language: &str,
    program: impl Fn(&str) -> String,
    command: impl Fn(&str, &Path) -> Command,
) -> usize {
    let mut count = 0;
    for block in blocks(page).iter().filter(|b| b.language == language) {
        println!("{page}:{}", block.line);
        let names = [Name::new("guide"), Name::new("guide")];
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = renamed(&program(&block.code), names[0].path())
            .replace("\"/timeline-small\"", &format!("{:?}", names[1].path()));
        let mut command = command(&program, folder.path());
        let said = printed(command.current_dir(&folder), language);
        if let Some(shown) = &block.output {
            let (said, shown) = (steady(&said), steady(shown));
            assert_eq!(said, shown, "{page}:{}: output, then page", block.line);
        }
        count += 1;
    }
    count
}

/// Inserts a piece into a program that has made what the first one of the page made.
fn around<'a>(program: &'a str, marker: &'a str) -> impl Fn(&str) -> String + 'a {
    move |code| match code.contains(marker) {
        true => code.to_owned(),
        false => program.replace("PIECE", code),
    }
}

const LUA: &str = r#"
local timeline = require "timeline"
local tl = assert(timeline.new("/timeline", 1024, 16384))
local processed = timeline.define(tl, 'example', 'trace', "processed $tcp, $udp, and $other")
PIECE
"#;

const C: &str = r#"
#define _GNU_SOURCE
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <timeline-worker.h>
#include <timeline.h>
#include <unistd.h>
int main(void) {
  timeline_t *tl = NULL;
  uint32_t processed = 0;
  assert(timeline_new("/timeline", 1024, 16384, &tl) == TIMELINE_OK);
  const char *message = "processed $tcp, $udp, and $other";
  assert(timeline_define(tl, "example", TIMELINE_TRACE, message, &processed) == TIMELINE_OK);
  {
PIECE
  }
  timeline_free(tl);
  return 0;
}
"#;

const CPP: &str = r#"
#include <cassert>
#include <chrono>
#include <string>
#include <timeline.hpp>
int main() {
  timeline::ring tl("/timeline", 1024, 16384);
PIECE
}
"#;

const RUST: &str = r#"
use timeline::{Attached, Priority, Timeline};
#[allow(unused_variables)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tl = Timeline::new("/timeline")?;
    let processed = tl.define("example", Priority::Trace, "processed $tcp, $udp, and $other")?;
    {
PIECE
    }
    let _ = Attached::open("/timeline")?;
    Ok(())
}
"#;

/// LuaJIT, which runs the program.
fn lua(program: &str, folder: &Path) -> Command {
    let file = folder.join("piece.lua");
    fs::write(&file, program).expect("a file for the piece");
    let mut luajit = luajit();
    luajit.arg(file);
    luajit
}

/// Compiles a program and gives the command to run it.
fn compiled(mut compiler: Command, flags: &[&str], source: &Path, code: &str) -> Command {
    let program = source.with_extension("");
    fs::write(source, code).expect("a file for the piece");
    compiler
        .args(flags)
        .arg("-I")
        .arg(root().join("include"))
        .arg(source)
        .arg("-o")
        .arg(&program);
    let how = if code.contains("timeline_analysis_") {
        Link::Analysis
    } else if code.contains("worker") {
        Link::Worker
    } else {
        Link::Shared
    };
    link(&mut compiler, how);
    printed(&mut compiler, "gcc and g++");
    limited(program)
}

fn c(program: &str, folder: &Path) -> Command {
    compiled(cc(), C99, &folder.join("piece.c"), program)
}

fn cpp(program: &str, folder: &Path) -> Command {
    compiled(cxx(), CPP17, &folder.join("piece.cpp"), program)
}

/// The library of that name among what cargo says that it has built.
pub fn rlib(built: &str, name: &str) -> String {
    let messages = built
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let of_name = |message: &serde_json::Value| {
        message["target"]["name"] == name && message["target"]["kind"][0] == "lib"
    };
    let mut files = messages
        .filter(of_name)
        .map(|message| message["filenames"][0].clone());
    let file = files.next().expect("cargo has built it");
    file.as_str().expect("a path").to_owned()
}

/// The flags of rustc with which a program uses these crates of the workspace.
fn flags_of(packages: &[&str]) -> Vec<String> {
    let mut build = cargo_build(packages[0], "--lib", library_dir());
    for package in &packages[1..] {
        build.args(["-p", package]);
    }
    let built = printed(build.arg("--message-format=json"), "cargo itself");
    let mut flags = Vec::new();
    for package in packages {
        let name = package.replace('-', "_");
        let file = rlib(&built, &name);
        if name == "timeline" {
            let folder = Path::new(&file).parent().expect("a folder").join("deps");
            let folder = format!("dependency={}", folder.display());
            flags.extend(["-L".to_owned(), folder]);
        }
        flags.extend(["--extern".to_owned(), format!("{name}={file}")]);
    }
    flags
}

/// The flags of rustc with which a program uses the library and archives, and records itself.
pub fn crates() -> &'static [String] {
    static FLAGS: OnceLock<Vec<String>> = OnceLock::new();
    FLAGS.get_or_init(|| flags_of(&["timeline-worker", "timeline-archive", "timeline"]))
}

/// The same, with which it analyses logs as well.
pub fn crates_of_analysis() -> &'static [String] {
    static FLAGS: OnceLock<Vec<String>> = OnceLock::new();
    FLAGS.get_or_init(|| flags_of(&["timeline-analysis", "timeline-archive", "timeline"]))
}

/// Compiles a program with these flags and gives the command to run it.
pub fn rust(program: &str, folder: &Path, flags: &[String]) -> Command {
    let (source, made) = (folder.join("piece.rs"), folder.join("piece"));
    fs::write(&source, program).expect("a file for the piece");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc
        .args(["--edition", "2024", "-D", "warnings"])
        .args(flags);
    printed(rustc.arg(&source).arg("-o").arg(&made), "rustc");
    limited(made)
}

#[test]
fn the_pieces_of_the_guide_for_rust() {
    let small = |program: String| {
        program.replace(
            "Timeline::new(\"/timeline\")",
            "Timeline::with_size(\"/timeline\", 1024, 16384)",
        )
    };
    let program = around(RUST, "fn main(");
    assert!(
        run_all(
            "docs/guide/rust.md",
            "rust",
            |code| small(program(code)),
            |code, folder| rust(code, folder, crates())
        ) > 10
    );
}

#[test]
fn the_pieces_of_the_guide_to_analysis() {
    let run = |code: &str, folder: &Path| rust(code, folder, crates_of_analysis());
    let page = "docs/guide/analysis.md";
    assert_eq!(run_all(page, "rust", str::to_owned, run), 4);
    assert_eq!(run_all(page, "c", str::to_owned, c), 2);
    assert_eq!(run_all(page, "lua", str::to_owned, lua), 2);
}

#[test]
fn the_pieces_of_the_guide_for_lua() {
    let program = around(LUA, "require \"timeline\"");
    assert!(run_all("docs/guide/lua.md", "lua", program, lua) > 8);
}

#[test]
fn the_pieces_of_the_guide_for_c() {
    let program = around(C, "#include");
    assert!(run_all("docs/guide/c.md", "c", program, c) > 6);
}

#[test]
fn the_pieces_of_the_guide_for_cpp() {
    let program = around(CPP, "#include");
    assert!(run_all("docs/guide/c.md", "cpp", program, cpp) > 2);
}

/// A thread that made the ring would be ended by the program's end, before there is one.
#[test]
fn a_program_whose_thread_logs_until_its_end_has_its_events() {
    let blocks = blocks("docs/guide/c.md");
    let is_it = |b: &&pages::Block| b.language == "cpp" && b.code.contains(".detach()");
    let block = blocks.iter().find(is_it).expect("a detached thread");
    let (name, folder) = (Name::new("guide"), tempfile::tempdir().expect("a folder"));
    let program = renamed(&block.code, name.path());
    printed(&mut cpp(&program, folder.path()), "the program");
    let at = timeline::Attached::open(name.path()).expect("a ring");
    let begin = at
        .definitions()
        .find(|definition| definition.message.starts_with("begin"));
    let begin = begin.expect("main has opened the ring").id;
    let events: Vec<_> = at.events(timeline::Order::OldestFirst).collect();
    let begins = events.iter().take_while(|event| event.id == begin).count();
    let rounds = &events[begins..];
    assert!(rounds.iter().all(|event| event.id != begin));
    // While the program waits for a processor, its thread may fill the ring more than once.
    let is_full = events.len() as u64 > at.info().entries / 2;
    assert!(begins == 1 || is_full, "{} events", events.len());
    let round = |event: &timeline::Event| event.args[0];
    assert_eq!(
        rounds.first().is_some_and(|first| round(first) > 0),
        begins == 0
    );
    assert!(
        rounds
            .windows(2)
            .all(|two| round(&two[1]) == round(&two[0]) + 1)
    );
}

#[test]
fn the_pieces_of_the_readme_and_the_format() {
    for page in ["README.md", "docs/format.md"] {
        let program = around(LUA, "require \"timeline\"");
        assert!(run_all(page, "lua", program, lua) > 0, "{page}");
    }
}

#[test]
fn what_is_installed_is_not_what_is_tested() {
    with_another_installed(&[
        "guide::the_pieces_of_the_guide_for_lua",
        "guide::the_pieces_of_the_guide_for_c",
        "guide::the_pieces_of_the_guide_for_cpp",
    ]);
}
