//! Files of other languages: each opens with its purpose, and is neither long nor wide.

use std::fs;
use std::path::Path;

use crate::support::toolchain::root;

const MOST_LINES: usize = 500;
const MOST_COLUMNS: usize = 120;

/// Where they are, and how many at least.
const PLACES: [(&str, usize); 5] = [
    ("lua", 15),
    ("include", 15),
    ("ffi/inline", 15),
    ("examples", 6),
    ("crates/serve/page", 40),
];

/// Made of ffi/src, ffi/inline, ffi/worker/src and ffi/analysis/src, in which the rules hold.
const GENERATED: [&str; 3] = [
    "include/timeline.h",
    "include/timeline-worker.h",
    "include/timeline-analysis.h",
];

/// How a comment begins in a language, by the ends of its files' names.
const COMMENTS: [(&str, &str); 6] = [
    ("lua", "--"),
    ("hpp", "//"),
    ("cpp", "//"),
    ("js", "//"),
    ("h", "/*"),
    ("c", "/*"),
];

/// What a file of a language breaks.
fn violations(path: &str, mark: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !has_purpose(mark, text) {
        found.push(format!(
            "{path}:1: expected a comment ({mark} …) whose first sentence says what the file is \
             for, with . or : at the end of one of the first two lines"
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

/// Whether a text opens with a comment of a sentence, which may go on in the next line.
fn has_purpose(mark: &str, text: &str) -> bool {
    let is_end = |line: &str| {
        let words = line.trim_end_matches("*/").trim_end();
        words.ends_with(['.', ':']) && words.contains(' ')
    };
    let mut lines = text.lines();
    let first = lines.next().unwrap_or("");
    let Some(rest) = first.strip_prefix(mark) else {
        return false;
    };
    // Not of the documentation of what follows.
    if !rest.starts_with(' ') {
        return false;
    }
    let goes_on = !first.ends_with("*/");
    is_end(first) || goes_on && lines.next().is_some_and(is_end)
}

/// Calls a function with each file below a place, and the mark of its comments.
fn each(path: &Path, look: &mut impl FnMut(&Path, &str)) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap_or_else(|e| panic!("{path:?}: {e}")) {
            each(&entry.expect("an entry of a folder").path(), look);
        }
        return;
    }
    let kind = path.extension().and_then(|kind| kind.to_str());
    if let Some((_, mark)) = COMMENTS.iter().find(|(known, _)| Some(*known) == kind) {
        look(path, mark);
    }
}

#[test]
fn files_of_other_languages_keep_the_rules() {
    let mut found = Vec::new();
    for (place, least) in PLACES {
        let mut count = 0;
        each(&root().join(place), &mut |path, mark| {
            count += 1;
            let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
            let path = path.strip_prefix(root()).expect("below the top");
            let path = path.display().to_string();
            if !GENERATED.contains(&path.as_str()) {
                found.extend(violations(&path, mark, &text));
            }
        });
        assert!(count >= least, "only {count} files in {place}");
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn purpose_length_and_columns_are_looked_at() {
    for (mark, text, is_right) in [
        ("--", "-- What it is for.\nlocal a = 1\n", true),
        ("--", "-- What it is for:\n", true),
        (
            "//",
            "// What it is for, which takes\n// two lines.\n",
            true,
        ),
        ("/*", "/* What it is for. */\n", true),
        (
            "/*",
            "/* What it is for, which takes\n * two lines.\n",
            true,
        ),
        ("/*", "/* What it is for\n *\n * and more. */\n", false),
        ("/*", "/* What it is for */\nint x; // else.\n", false),
        ("/*", "/** What the function is for. */\n", false),
        ("--", "local a = 1 -- what it is for.\n", false),
        ("//", "#pragma once\n// What it is for.\n", false),
        ("//", "", false),
    ] {
        assert_eq!(violations("a", mark, text).is_empty(), is_right, "{text}");
    }
    let with = |more: &str| violations("a", "--", &format!("-- What it is for.\n{more}")).len();
    assert_eq!(with(&"\n".repeat(MOST_LINES - 1)), 0);
    assert_eq!(with(&"\n".repeat(MOST_LINES)), 1);
    assert_eq!(with(&"ä".repeat(MOST_COLUMNS)), 0);
    assert_eq!(with(&"ä".repeat(MOST_COLUMNS + 1)), 1);
}
