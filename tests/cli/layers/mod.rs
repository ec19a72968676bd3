//! Tests the rules of the source tree.
//! Dependencies point down only, unsafe code and atomics stay in their folders, and files say what
//! they are for and stay short: those of Rust here, of other languages in foreign.rs. circles.rs
//! finds files that use one another, face.rs compares what the library shows with its guide,
//! field_types.rs has the rules of the table of types, which it compares with other languages,
//! names.rs finds names with two meanings, orderings.rs orderings of atomics that say nothing of a
//! partner, page.rs has the rules of the page of `serve`, programs.rs tests that make runs, and
//! rooms.rs has the layers inside a crate.

mod circles;
mod face;
mod field_types;
mod foreign;
mod names;
mod orderings;
mod page;
mod programs;
mod rooms;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The library's modules from top to bottom. A module may use those below it.
pub const LAYERS: [&str; 24] = [
    "internal",
    "derives",
    "dump",
    "list",
    "attached",
    "statement",
    "timeline",
    "control",
    "save",
    "files",
    "info",
    "source",
    "lifecycle",
    "segment",
    "executable",
    "ring",
    "symbols",
    "event",
    "clock",
    "shm",
    "error",
    "access",
    "msgpack",
    "layout",
];

/// What every module may use.
const BOTTOM: &str = "sync";

/// Where unsafe code may be.
const UNSAFE: [&str; 5] = ["src/ring.rs", "src/ring/", "src/shm/", "src/clock/", "ffi/"];

/// What runs in other people's programs, whose descriptors must not have the numbers of standard
/// streams.
const HIGH_DESCRIPTORS: [&str; 2] = ["src/", "crates/archive/src/"];

/// Where descriptors are made, which must not have the numbers of standard streams.
const DESCRIPTORS: &str = "src/shm/descriptor.rs";

/// What makes one otherwise. (A copy that `try_clone` makes has a number above those.)
const MAKES_DESCRIPTORS: [&str; 13] = [
    "File::open(",
    "File::create",
    "fs::copy(",
    "fs::read(",
    "fs::read_dir(",
    "fs::read_to_string(",
    "fs::write(",
    "options.open(",
    "libc::open",
    "libc::dup",
    "libc::pipe",
    "libc::socket",
    "libc::memfd",
];

const MOST_LINES: usize = 500;
const MOST_COLUMNS: usize = 100;

/// Where all Rust files are.
const PLACES: [&str; 8] = [
    "build.rs",
    "src",
    "crates",
    "ffi",
    "tests",
    "benches",
    "fuzz/bin",
    "fuzz/targets",
];

/// Where the sources of crates are, and how many files there are at least.
pub const CRATES: [(&str, usize); 17] = [
    ("src", 70),
    ("ffi/src", 10),
    ("ffi/analysis/src", 5),
    ("ffi/worker/src", 5),
    ("crates/archive/src", 30),
    ("crates/import/src", 10),
    ("crates/search/src", 10),
    ("crates/latency/src", 20),
    ("crates/reading/src", 5),
    ("crates/analysis/src", 10),
    ("crates/net/src", 5),
    ("crates/client/src", 4),
    ("crates/agent/src", 5),
    ("crates/worker/src", 5),
    ("crates/store/src", 5),
    ("crates/serve/src", 10),
    ("crates/cli/src", 30),
];

/// A Rust file by its path from the top of the tree.
struct File {
    path: String,
    text: String,
}

impl File {
    /// The lines without comments, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines.map(|(index, line)| (index + 1, line.split("//").next().unwrap_or("")))
    }

    /// The code without comments, line for line.
    fn bare(&self) -> String {
        self.code()
            .map(|(_, line)| line.to_owned() + "\n")
            .collect()
    }

    /// The module of the library this file belongs to: `ring` for src/ring/writer.rs.
    fn module(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("src/")?;
        let module = inside.split('/').next()?.trim_end_matches(".rs");
        (module != "lib").then_some(module)
    }
}

fn layer(module: &str) -> Option<usize> {
    if module == BOTTOM {
        return Some(LAYERS.len());
    }
    LAYERS.iter().position(|layer| *layer == module)
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The items of a list in braces, from behind the opening brace on.
fn first_level(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let end = list.find(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth < 0
    });
    let mut depth = 0;
    list[..end.unwrap_or(list.len())].split(move |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0 && c == ','
    })
}

/// Modules of the library that code names, through `crate::` or `super::`, each with its line.
fn named_modules(code: &str) -> Vec<(usize, String)> {
    let mut modules = crate_paths(code);
    for (at, path) in code.match_indices("super::") {
        let module = identifier(&code[at + path.len()..]);
        if layer(module).is_some() {
            modules.push((line_of(code, at), module.to_owned()));
        }
    }
    modules
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].lines().count().max(1)
}

/// The first words of the paths that begin with `crate::`, each with its line.
fn crate_paths(code: &str) -> Vec<(usize, String)> {
    let mut modules = Vec::new();
    let mut name = |at: usize, name: &str| {
        if !name.is_empty() {
            modules.push((line_of(code, at), name.to_owned()));
        }
    };
    for (at, path) in code.match_indices("crate::") {
        let rest = &code[at + path.len()..];
        match rest.strip_prefix('{') {
            // `use crate::{a::B, c::D}`: each name at the first level of the braces.
            Some(list) => first_level(list).for_each(|item| name(at, identifier(item.trim()))),
            None => name(at, identifier(rest)),
        }
    }
    modules
}

/// Everything in one file that breaks a rule.
fn violations(file: &File) -> Vec<String> {
    let mut found = misformed(file);
    found.extend(out_of_place(file));
    found.extend(upward(file));
    found.extend(orderings::silent(file));
    found
}

/// A first line that does not state the purpose of the file, too many lines, and lines that are too
/// long. Clippy checks the length of functions.
fn misformed(File { path, text }: &File) -> Vec<String> {
    let mut found = Vec::new();
    let first = text.lines().next().unwrap_or("");
    if !first.starts_with("//! ") || !first.ends_with(['.', ':']) {
        found.push(format!(
            "{path}:1: expected one line (//! …) that says what the file is for, with . or : at \
             its end"
        ));
    }
    let lines = text.lines().count();
    if lines > MOST_LINES {
        found.push(format!(
            "{path}: {lines} lines; expected at most {MOST_LINES}: divide it"
        ));
    }
    for (number, line) in (1..).zip(text.lines()) {
        let columns = line.chars().count();
        if columns > MOST_COLUMNS {
            found.push(format!(
                "{path}:{number}: {columns} columns; expected at most {MOST_COLUMNS}"
            ));
        }
    }
    found
}

/// Unsafe code, atomics and descriptors outside of their places.
fn out_of_place(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    let path = &file.path;
    for (number, line) in file.code() {
        let at_home = UNSAFE.iter().any(|place| path.starts_with(place));
        let says_unsafe = line
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == "unsafe");
        let ships = !path.starts_with("tests/") && !path.starts_with("benches/");
        if says_unsafe && !at_home && ships {
            found.push(format!(
                "{path}:{number}: unsafe code; its places are {}",
                UNSAFE.join(" ")
            ));
        }
        let atomics = line.contains("sync::atomic") || line.contains("loom::");
        if atomics && file.module().is_some_and(|module| module != BOTTOM) {
            found.push(format!(
                "{path}:{number}: atomics come from crate::sync, which loom can replace"
            ));
        }
    }
    // Unit tests at the end of a file are no library.
    let shipped = file.code().take_while(|(_, line)| *line != "#[cfg(test)]");
    let is_library = HIGH_DESCRIPTORS.iter().any(|place| path.starts_with(place));
    for (number, line) in shipped.filter(|_| is_library && path != DESCRIPTORS) {
        if MAKES_DESCRIPTORS.iter().any(|call| line.contains(call)) {
            found.push(format!(
                "{path}:{number}: a descriptor that may be a standard stream's; {DESCRIPTORS} \
                 makes those of the library"
            ));
        }
    }
    found
}

/// Modules that a module uses although they are above it.
fn upward(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    let path = &file.path;
    let Some(own) = file.module() else {
        return found;
    };
    let Some(from) = layer(own) else {
        found.push(format!(
            "{path}: {own} has no place in LAYERS (tests/cli/layers/mod.rs); give it one"
        ));
        return found;
    };
    for (number, module) in named_modules(&file.bare()) {
        match layer(&module) {
            Some(to) if to >= from => {}
            Some(_) => found.push(format!(
                "{path}:{number}: {own} uses {module}, which is above it"
            )),
            None => found.push(format!(
                "{path}:{number}: crate::{module} is no layer; name its module"
            )),
        }
    }
    found
}

/// Reads a Rust file, or all of a folder.
fn collect(path: &Path, top: &Path, files: &mut Vec<File>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap_or_else(|e| panic!("{path:?}: {e}")) {
            collect(&entry.expect("an entry of a folder").path(), top, files);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let path = path.strip_prefix(top).expect("below the top");
        files.push(File {
            path: path.display().to_string(),
            text,
        });
    }
}

#[test]
fn the_tree_keeps_its_rules() {
    let top = crate::support::root();
    let mut files = Vec::new();
    for place in PLACES {
        collect(&top.join(place), top, &mut files);
    }
    assert!(files.len() > 40, "only {} files found", files.len());
    for layer in LAYERS {
        assert!(
            files.iter().any(|file| file.module() == Some(layer)),
            "there is no module {layer}"
        );
    }

    let mut found: Vec<String> = files.iter().flat_map(violations).collect();
    for (folder, least) in CRATES {
        let sources = sources(&files, folder);
        assert!(
            sources.len() >= least,
            "only {} files in {folder}",
            sources.len()
        );
        for circle in circles::circles(&sources) {
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            found.push(format!("{folder}: a circle of {}", names.join(", ")));
        }
    }

    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The code of a crate by module, without comments and unit tests.
fn sources(files: &[File], folder: &str) -> BTreeMap<Vec<String>, String> {
    let code = |file: &File| {
        let lines = file.code().map(|(_, line)| line);
        let shipped = lines.take_while(|line| *line != "#[cfg(test)]");
        shipped.flat_map(|line| [line, "\n"]).collect()
    };
    let of = |file: &File| Some((circles::module_of(folder, &file.path)?, code(file)));
    files.iter().filter_map(of).collect()
}

/// What `violations` says about a file with this code below a proper first line.
fn said(path: &str, code: &str) -> String {
    let file = File {
        path: path.to_owned(),
        text: format!("//! What it is for.\n{code}\n"),
    };
    violations(&file).join("\n")
}

#[test]
fn a_purpose_is_one_line() {
    for (first, is_right) in [
        ("//! Writes archives.", true),
        ("//! Writes archives:", true),
        ("//! Writes archives, and reads", false),
        ("/// Writes archives.", false),
        ("use std::fs;", false),
        ("", false),
    ] {
        let file = File {
            path: "tests/novel.rs".to_owned(),
            text: format!("{first}\n//! them again.\n"),
        };
        assert_eq!(violations(&file).is_empty(), is_right, "{first}");
    }
}

#[test]
fn an_arrow_up_is_found_however_it_is_written() {
    for code in [
        "use crate::timeline::Timeline;",
        "use crate::{layout, timeline::Timeline};",
        "use crate::{layout::{self, words}, timeline::Timeline};",
        "fn f() { crate::timeline::g() }",
        "fn f() { layout(); crate::timeline::g() }",
        "use super::super::timeline::Timeline;",
        "use crate::{\n    layout::words::{self, Cursor},\n    timeline::Timeline,\n};",
    ] {
        assert_eq!(
            said("src/ring/writer.rs", code),
            "src/ring/writer.rs:2: ring uses timeline, which is above it"
        );
    }
    assert_ne!(said("src/sync.rs", "use crate::layout::Geometry;"), "");
    assert_ne!(said("src/ring/writer.rs", "use crate::Timeline;"), "");
    assert_ne!(said("src/novel.rs", ""), "");
}

#[test]
fn an_arrow_down_or_inside_is_fine() {
    for code in [
        "use crate::layout::words::Cursor;",
        "use crate::{layout, sync::{Ordering, fence}};",
        "use super::memory::Shared;",
        "use crate::ring::reader;",
        "// as crate::timeline does",
        "use crate::{sync, layout::{\n    self,\n    words,\n}}; fn f() { timeline() }",
    ] {
        assert_eq!(said("src/ring/writer.rs", code), "");
    }
    assert_eq!(
        said(
            "crates/cli/src/tail/mod.rs",
            "use crate::json::Row;\nuse timeline::Attached;"
        ),
        ""
    );
}

#[test]
fn unsafe_code_atomics_and_form_are_looked_at() {
    assert_ne!(said("src/timeline.rs", "fn f() { unsafe { g() } }"), "");
    assert_eq!(
        said(
            "src/timeline.rs",
            "// nothing unsafe\n#![deny(unsafe_op_in_unsafe_fn)]"
        ),
        ""
    );
    assert_eq!(said("ffi/src/writer.rs", "unsafe { g() }"), "");
    for path in [
        "src/timeline/mod.rs",
        "crates/archive/src/read/file/bytes.rs",
    ] {
        assert_ne!(said(path, "let file = File::open(path)?;"), "");
    }
    assert_ne!(
        said("src/timeline.rs", "use std::sync::atomic::AtomicU64;"),
        ""
    );
    assert_eq!(
        said("src/sync.rs", "pub use core::sync::atomic::AtomicU64;"),
        ""
    );
    assert_ne!(said("src/ring/mod.rs", "use loom::sync::Arc;"), "");
    assert_ne!(said("src/timeline.rs", &"\n".repeat(MOST_LINES)), "");
    assert_eq!(said("src/timeline.rs", &"x".repeat(MOST_COLUMNS)), "");
    assert_ne!(said("src/timeline.rs", &"x".repeat(MOST_COLUMNS + 1)), "");
    let bare = File {
        path: "src/timeline.rs".into(),
        text: "use std::fs;\n".into(),
    };
    assert_eq!(violations(&bare).len(), 1);
}
