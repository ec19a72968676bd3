//! Tests that a name of a type means one thing in all crates, and that names are nouns.
//!
//! Types that anybody else can name are compared: those with `pub`, `pub(crate)` or `pub(super)`.
//! A private type is read beside its definition, so it may share a short name with another file.

use std::collections::{BTreeMap, BTreeSet};

use super::{CRATES, File, collect, identifier};

/// What each verb, crate or room has one of, by these names.
const OF_EACH: [&str; 3] = ["Args", "Error", "Result"];

/// What begins the definition of a type.
const KINDS: [&str; 5] = ["struct ", "enum ", "trait ", "type ", "union "];

/// Participles and adjectives: they say that something was done, and not what it is.
const NO_NOUNS: [&str; 44] = [
    "alike",
    "appended",
    "asked",
    "behind",
    "beneath",
    "chosen",
    "counted",
    "disabled",
    "dropped",
    "filtered",
    "fired",
    "found",
    "given",
    "gone",
    "held",
    "interned",
    "joined",
    "kept",
    "known",
    "laid",
    "left",
    "listed",
    "merged",
    "met",
    "missed",
    "missing",
    "overwritten",
    "pending",
    "reached",
    "recorded",
    "saved",
    "seen",
    "shown",
    "stored",
    "together",
    "told",
    "undefined",
    "unmatched",
    "unmet",
    "varying",
    "wanted",
    "watched",
    "woken",
    "written",
];

/// Types and files that have such a name for now, each by the path of its file. None is added.
const ACCEPTED: [(&str, &str); 1] = [
    // Programs name it around a text, as they name std's `Wrapping` around a number.
    ("Interned", "src/statement/argument.rs"),
];

/// The types that a file defines, and whether others can name them.
fn types(file: &File) -> impl Iterator<Item = (bool, &str)> {
    file.code().filter_map(|(_, line)| {
        let line = line.trim_start();
        let (is_shared, rest) = match line.strip_prefix("pub") {
            // `pub(crate) `, or ` `.
            Some(rest) if rest.starts_with([' ', '(']) => (true, rest.split_once(' ')?.1),
            _ => (false, line),
        };
        let name = KINDS.iter().find_map(|kind| rest.strip_prefix(kind))?;
        let name = identifier(name);
        name.starts_with(|c: char| c.is_ascii_uppercase())
            .then_some((is_shared, name))
    })
}

/// Names that two files give to types.
fn doubled(files: &[File]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        for (_, name) in types(file).filter(|(is_shared, _)| *is_shared) {
            places.entry(name).or_default().push(&file.path);
        }
    }
    places.retain(|name, places| places.len() > 1 && !OF_EACH.contains(name));
    let doubled = places.iter();
    doubled
        .map(|(name, places)| format!("{name}: {}", places.join(", ")))
        .collect()
}

/// Types, files and folders whose name is no noun, each with the path of its file.
fn no_nouns(files: &[File]) -> BTreeSet<(&str, &str)> {
    let mut found = BTreeSet::new();
    for file in files {
        let parts = file
            .path
            .split('/')
            .map(|part| part.trim_end_matches(".rs"));
        for name in types(file).map(|(_, name)| name).chain(parts) {
            if NO_NOUNS.contains(&name.to_ascii_lowercase().as_str()) {
                found.insert((name, file.path.as_str()));
            }
        }
    }
    found
}

/// The sources of all crates.
fn all_sources() -> Vec<File> {
    let top = crate::support::root();
    let mut files = Vec::new();
    let folders = CRATES.map(|(folder, _)| folder);
    for folder in folders.iter().chain(&["crates/derive/src"]) {
        collect(&top.join(folder), top, &mut files);
    }
    files
}

#[test]
fn a_name_of_a_type_means_one_thing_in_all_crates() {
    let files = all_sources();
    let shared = files.iter().flat_map(types).filter(|(shared, _)| *shared);
    assert!(shared.count() > 500, "the types were not found");
    let doubled = doubled(&files);
    assert!(
        doubled.is_empty(),
        "a word stays with the crate that it belongs to, and others say which they mean:\n{}",
        doubled.join("\n")
    );
}

#[test]
fn names_of_types_and_files_are_nouns() {
    let files = all_sources();
    let found = no_nouns(&files);
    let accepted = BTreeSet::from(ACCEPTED);
    let novel: Vec<_> = found.difference(&accepted).collect();
    assert!(novel.is_empty(), "expected nouns: {novel:?}");
    let former: Vec<_> = accepted.difference(&found).collect();
    assert!(former.is_empty(), "take them off the list: {former:?}");
}

/// Files of these paths with one line each.
fn sample(files: &[(&str, &str)]) -> Vec<File> {
    let file = |(path, text): &(&str, &str)| File {
        path: (*path).to_owned(),
        text: (*text).to_owned(),
    };
    files.iter().map(file).collect()
}

#[test]
fn a_second_type_of_a_name_is_seen_unless_it_is_private() {
    for (second, is_doubled) in [
        ("pub struct Page {", true),
        ("pub(crate) enum Page {", true),
        ("    pub(super) type Page = u64;", true),
        ("pub trait Page<'a>: Sized {", true),
        ("struct Page {", false),
        ("// pub struct Page {", false),
        ("pub struct Pages {", false),
        ("pub fn page() -> Page {", false),
        ("public! { struct Page }", false),
    ] {
        let files = sample(&[("src/a.rs", "pub struct Page;"), ("src/b.rs", second)]);
        assert_eq!(doubled(&files).len(), usize::from(is_doubled), "{second}");
    }
    let args = [
        ("src/a.rs", "pub struct Args;"),
        ("src/b.rs", "pub struct Args;"),
    ];
    assert!(doubled(&sample(&args)).is_empty());
}

#[test]
fn a_name_that_is_no_noun_is_seen_of_types_files_and_folders() {
    for (path, text, names) in [
        ("src/a.rs", "struct Found;", &["Found"][..]),
        ("src/a.rs", "pub(crate) enum Known {", &["Known"]),
        ("src/held.rs", "struct Lock;", &["held"]),
        ("src/kept/mod.rs", "struct Lock;", &["kept"]),
        ("src/a.rs", "struct FoundEvent;", &[]),
        ("src/not_found.rs", "fn found() {}", &[]),
    ] {
        let files = sample(&[(path, text)]);
        let found: Vec<&str> = no_nouns(&files).iter().map(|(name, _)| *name).collect();
        assert_eq!(found, names, "{path}: {text}");
    }
}
