//! Tests that one table knows the types of fields, and that languages and documents say the same.
//!
//! The table is timeline's `FIELD_TYPES`. Compilers of other languages read lists of their own,
//! which are compared with it here, as are the tables and sentences that people read.

use std::collections::BTreeSet;
use std::fs;

use timeline::internal::{FIELD_TYPES, FieldDescriptor, FieldStorage, JsonForm, Notation};
use timeline::{Element, FieldType};

use super::{CRATES, File, collect};
use crate::support::root;

/// Who names single types, and why.
const NAMES_TYPES: [(&str, &str); 7] = [
    ("src/event/values/field_table.rs", "the table"),
    (
        "src/event/values/field.rs",
        "puts names of numbers into a type",
    ),
    (
        "src/event/objects/object_value.rs",
        "JSON has types of its own, fewer than fields",
    ),
    (
        "src/statement/argument.rs",
        "Rust's types: each implementation has one",
    ),
    ("src/statement/named.rs", "Rust's types"),
    ("src/statement/others.rs", "Rust's types"),
    ("src/statement/wide.rs", "Rust's types"),
];

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The variant of a type, as code names it.
fn variant(row: &FieldDescriptor) -> String {
    let shown = format!("{:?}", row.kind);
    shown.split('(').next().unwrap_or_default().to_owned()
}

/// Whether code names a variant of `FieldType`, or could do so by its name alone.
fn names_a_type(code: &str) -> bool {
    let behind = |at: usize| &code[at + "FieldType::".len()..];
    let places = code.match_indices("FieldType::").map(|(at, _)| behind(at));
    let variants: Vec<String> = FIELD_TYPES.iter().map(variant).collect();
    places.into_iter().any(|behind| {
        let word = super::identifier(behind);
        behind.starts_with(['{', '*']) || variants.iter().any(|variant| variant == word)
    })
}

#[test]
fn only_the_table_names_single_types() {
    for (code, expected) in [
        ("kind == FieldType::Ptr", true),
        ("timeline::FieldType::Enum(labels) =>", true),
        ("use FieldType::{I8, I16};", true),
        ("use FieldType::*;", true),
        ("kind.map(FieldType::notation)", false),
        ("FieldType::UNTYPED", false),
        ("FieldType::parse(text)", false),
    ] {
        assert_eq!(names_a_type(code), expected, "{code}");
    }
    let mut files = Vec::new();
    for (folder, _) in CRATES {
        collect(&root().join(folder), root(), &mut files);
    }
    // Tests may name what they like.
    let is_test = |file: &File| {
        let mut words = file.path.split(['/', '.']);
        words.any(|word| word == "tests" || word.ends_with("_tests"))
    };
    let names = |file: &File| {
        let bare = file.bare();
        names_a_type(bare.split("#[cfg(test)]").next().unwrap_or_default())
    };
    let own = files.iter().filter(|file| !is_test(file) && names(file));
    let own: BTreeSet<&str> = own.map(|file| &*file.path).collect();
    let expected = BTreeSet::from(NAMES_TYPES.map(|(path, _)| path));
    assert_eq!(
        own, expected,
        "a file asks the table instead (FieldType::descriptor), or says in NAMES_TYPES why not"
    );
}

/// The types that a text names in backticks: `i8` to `i64` are all between, in the table's order,
/// and what stands in parentheses behind a name is left out.
fn named_types(text: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let mut pieces = text.split('`');
    while let (Some(before), Some(quoted)) = (pieces.next(), pieces.next()) {
        let is_range = before.trim() == "to";
        let word = quoted.split('(').next().unwrap_or_default();
        let word = if word.ends_with("[]") { "[]" } else { word };
        let place = FIELD_TYPES.iter().position(|row| row.name == word);
        let (Some(place), last) = (place, found.last()) else {
            continue;
        };
        let before = last.and_then(|last| FIELD_TYPES.iter().position(|row| row.name == *last));
        let from = before.filter(|_| is_range).map_or(place, |at| at + 1);
        found.extend(FIELD_TYPES[from..=place].iter().map(|row| row.name));
    }
    found
}

/// The cells of the table below this heading.
fn table<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, rows) = text
        .split_once(heading)
        .unwrap_or_else(|| panic!("no table {heading}"));
    let lines = rows.lines().map(|line| line.trim_start_matches("/// "));
    let rows = lines.skip(1).map_while(|line| line.strip_prefix("| "));
    let rows = rows.map(|row| row.trim_end_matches(" |").split(" | ").collect());
    let rows: Vec<Vec<&str>> = rows.collect();
    assert!(rows.len() > 5, "{heading}: {rows:?}");
    rows
}

/// All names but those of `without`.
fn all_names(without: impl Fn(&FieldDescriptor) -> bool) -> BTreeSet<&'static str> {
    let rows = FIELD_TYPES.iter().filter(|row| !without(row));
    rows.map(|row| row.name).collect()
}

fn list(types: &str) -> impl Iterator<Item = &str> {
    types.split(", ").filter(|one| !one.is_empty())
}

#[test]
fn the_format_has_each_type_with_its_bits_and_sign() {
    let text = page("docs/format.md");
    let mut seen = BTreeSet::new();
    for row in table(&text, "| in a message | bits | value | shown as |\n") {
        let mut names = named_types(row[0]);
        // In the row of arrays, the others are their elements.
        if names[0] == "[]" {
            assert_eq!(names.len(), 1 + Element::ALL.len());
            names.truncate(1);
        }
        let bits: Vec<&str> = row[1].split(", ").collect();
        for (place, name) in names.iter().enumerate() {
            let known = FIELD_TYPES
                .iter()
                .find(|known| known.name == *name)
                .unwrap();
            let bits = bits.get(place).unwrap_or(&bits[bits.len() - 1]);
            let expected = known
                .storage
                .bits()
                .map_or("–".into(), |bits| bits.to_string());
            assert_eq!(*bits, expected, "{row:?}");
            let says = |word: &str| row[2].starts_with(word);
            let is_signed = matches!(known.storage, FieldStorage::Signed(_));
            assert!(!says("signed") || is_signed, "{row:?}");
            assert!(!says("unsigned") || !is_signed, "{row:?}");
            assert!(!says("IEEE") || !known.storage.is_integer(), "{row:?}");
            assert!(seen.insert(*name), "{name} stands twice");
        }
    }
    assert_eq!(seen, all_names(|_| false));
}

#[test]
fn the_page_about_json_has_the_form_of_each_type() {
    let text = page("docs/json.md");
    let rows = table(&text, "| value | JSON | example |\n");
    for known in &FIELD_TYPES {
        let row = rows
            .iter()
            .find(|row| named_types(row[0]).contains(&known.name));
        let Some(row) = row else {
            // Plain numbers, texts and arrays stand there by these words.
            let is_plain = matches!(
                known.notation,
                Notation::Number | Notation::Text | Notation::List
            );
            assert!(is_plain, "docs/json.md has no `{}`", known.name);
            continue;
        };
        let form = match known.json {
            JsonForm::Number => "a number",
            JsonForm::Bool => "`true` or `false`",
            JsonForm::Text => "a text",
            JsonForm::Name => "its name",
            JsonForm::Names => "a list of names",
            JsonForm::List => "a list",
        };
        assert!(row[1].starts_with(form), "{}: {row:?}", known.name);
    }
}

#[test]
fn the_guides_name_all_types() {
    let has_word = |row: &FieldDescriptor| row.storage.bits().is_some();
    for (guide, words_only) in [
        ("docs/guide/c.md", false),
        ("docs/guide/lua.md", false),
        ("docs/guide/rust.md", true),
    ] {
        let text = page(guide).replace('\n', " ");
        let (_, sentence) = text
            .split_once("The [types](../format.md#types) are")
            .unwrap_or_else(|| panic!("{guide} has no sentence about types"));
        let sentence = sentence.split(". ").next().unwrap_or_default();
        let named = BTreeSet::from_iter(named_types(sentence));
        assert_eq!(
            named,
            all_names(|row| words_only && !has_word(row)),
            "{guide}"
        );
    }
}

#[test]
fn rust_has_the_types_that_its_page_says() {
    let text = page("src/statement/argument.rs");
    let rows = table(&text, "/// | of Rust | in the message |\n");
    for known in &FIELD_TYPES {
        for rust in list(known.rust) {
            let name = rust.split('<').next().unwrap_or_default();
            let is_there = rows.iter().any(|row| {
                let same = row[1] == "the same";
                let kinds = named_types(if same { row[0] } else { row[1] });
                let words: Vec<&str> = row[0].split(['`', '[', ']', '<']).collect();
                let has = words.contains(&name) || same || row[0].contains(&format!("`{rust}`"));
                kinds.contains(&known.name) && has
            });
            assert!(is_there, "{rust} is `{}`: no row says so", known.name);
        }
    }
}

/// `TIMELINE_I64` and so on.
fn constant(row: &FieldDescriptor) -> String {
    match row.storage {
        FieldStorage::Array => "TIMELINE_ARRAY_OF".to_owned(),
        _ => format!("TIMELINE_{}", row.name.to_uppercase()),
    }
}

#[test]
fn c_has_the_numbers_of_the_table() {
    let header = page("include/timeline.h");
    let check = page("ffi/inline/check.h");
    let message = page("include/timeline/message.hpp");
    let plain = FIELD_TYPES
        .iter()
        .filter(|row| row.kind.labels().is_none() && row.storage != FieldStorage::Array);
    let mut count = 0;
    for row in plain {
        let (name, constant) = (row.name, constant(row));
        let of_c = format!("m(\"{name}\", {}, {constant}, a, b)", name.len());
        assert!(check.contains(&of_c), "ffi/inline/check.h has no {of_c}");
        let of_cpp = format!("{{\"{name}\", {constant}}}");
        assert!(message.contains(&of_cpp), "message.hpp has no {of_cpp}");
        count += 1;
    }
    assert_eq!(check.matches(" a, b)").count(), count + 1, "and no others");
    assert_eq!(
        message.matches(", TIMELINE_").count(),
        count,
        "and no others"
    );
    for row in &FIELD_TYPES {
        let line = format!("\n#define {} {}\n", constant(row), row.number);
        assert!(header.contains(&line), "include/timeline.h has no {line}");
    }
}

#[test]
fn c_has_the_types_of_the_table() {
    let text = page("ffi/inline/value.h");
    let mut seen = BTreeSet::new();
    for name in ["TIMELINE_NUMBERS_(m)", "TIMELINE_POINTERS_(m)"] {
        let (_, lines) = text.split_once(&format!("#define {name}")).expect(name);
        let lines = lines.lines().skip(1).map(str::trim_start);
        for line in lines.map_while(|line| line.strip_prefix("m(")) {
            let mut words = line.split([',', ')']).map(str::trim).skip(1);
            let (c, number) = (words.next().unwrap(), words.next().unwrap());
            // Some are of printf, others mean something else in C++.
            let Some(row) = FIELD_TYPES.iter().find(|row| constant(row) == number) else {
                assert!(number.ends_with('_'), "{line}");
                continue;
            };
            assert!(list(row.c).any(|own| own == c), "{c} is {number}: {row:?}");
            seen.insert(c);
        }
    }
    for row in &FIELD_TYPES {
        for c in list(row.c).filter(|c| !seen.contains(c)) {
            // The structures have a macro that makes them.
            let sized = format!("{c}, TIMELINE_SIZED_TEXT_");
            let wide = format!("{c}, {}", constant(row));
            let of_macro = format!("#define {c}(");
            let is_there = [sized, wide, of_macro].iter().any(|one| text.contains(one));
            assert!(is_there, "ffi/inline/value.h has no {c} for {}", row.name);
        }
    }
}

#[test]
fn cpp_has_the_types_that_its_guide_says() {
    let text = page("docs/guide/c.md");
    let rows = table(&text, "| type of C++ | in the message |\n");
    let mut count = 0;
    for known in FIELD_TYPES.iter().filter(|known| !known.cpp.is_empty()) {
        let row = rows.iter().find(|row| named_types(row[1]) == [known.name]);
        let row = row.unwrap_or_else(|| panic!("no row of `{}`", known.name));
        let quoted: Vec<&str> = row[0].split('`').skip(1).step_by(2).collect();
        for cpp in list(known.cpp) {
            assert!(quoted.contains(&cpp), "{cpp} is `{}`: {row:?}", known.name);
        }
        assert!(list(known.cpp).any(|cpp| cpp == quoted[0]), "{row:?}");
        count += 1;
    }
    let of_types = rows.iter().filter(|row| !named_types(row[1]).is_empty());
    assert_eq!(of_types.count(), count);
}

#[test]
fn types_are_found_in_sentences() {
    assert_eq!(named_types("`u8`, `u16` or `x`"), ["u8", "u16"]);
    assert_eq!(named_types("`i8` to `i64`"), ["i8", "i16", "i32", "i64"]);
    assert_eq!(named_types("`enum(a=1)` and `u8[]`"), ["enum", "[]"]);
    let kind = FieldType::parse("u8[]").expect("a type").0;
    assert_eq!(kind.descriptor().name, "[]");
}
