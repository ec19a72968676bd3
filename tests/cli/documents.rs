//! Tests that the documents are true about the source tree, and the source tree about itself.
//! Every link leads somewhere, and what is named exists: files, tests, layers, verbs, questions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::VERBS;
use crate::layers::{CRATES, LAYERS};
use crate::support::toolchain::{printed, root};

/// What ARCHITECTURE.md may have: whoever comes new reads it in one go.
const MOST_OF_ARCHITECTURE: usize = 12 * 1024;

/// The pages that people write and read, by their paths from the top of the tree.
fn pages() -> Vec<String> {
    let mut pages = vec!["tests/INVARIANTS.md".to_owned()];
    for folder in ["", "docs", "docs/guide"] {
        for entry in fs::read_dir(root().join(folder)).expect("a folder of pages") {
            let path = entry.expect("an entry of it").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let path = path.strip_prefix(root()).expect("below the top");
                pages.push(path.display().to_string());
            }
        }
    }
    pages
}

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The anchors of a page's headings, as web views of a repository make them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let anchor: String = heading.chars().filter(kept).collect();
        let anchor = anchor.replace(' ', "-");
        let before = anchors.iter().filter(|other| **other == anchor).count();
        anchors.push(match before {
            0 => anchor,
            n => format!("{anchor}-{n}"),
        });
    }
    anchors
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    for path in pages() {
        let text = page(&path);
        for target in text.split("](").skip(1) {
            let target = target.split(')').next().unwrap();
            // Code may have such characters, too.
            if target.starts_with("https://") || target.contains(' ') {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = Path::new(&path).parent().unwrap();
            let file = match file {
                "" => root().join(&path),
                file => root().join(folder).join(file),
            };
            assert!(file.exists(), "{path} links to {target}");
            if !anchor.is_empty() {
                let there = fs::read_to_string(&file).expect("a page");
                let found = anchors(&there).iter().any(|heading| heading == anchor);
                assert!(found, "{path} links to {target}: no such heading");
            }
            links += 1;
        }
    }
    assert!(links > 30, "only {links} links");
}

/// The words of a page that name something in the source tree.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let places = [
        "src/",
        "crates/",
        "ffi/",
        "tests/",
        "lua/",
        "include/",
        "examples/",
        "scripts/",
    ];
    text.split(|c: char| c.is_whitespace() || "`()[]|,;:*".contains(c))
        .filter(move |word| places.iter().any(|place| word.starts_with(place)))
        // The name of a file that is to be written.
        .filter(|word| !word.contains("NAME"))
        .map(|word| word.trim_end_matches('.'))
}

#[test]
fn every_file_that_is_named_exists() {
    let mut count = 0;
    for path in pages() {
        for name in named(&page(&path)) {
            assert!(root().join(name).exists(), "{path} names {name}");
            count += 1;
        }
    }
    assert!(count > 60, "only {count} files named");
}

/// The part of a page below a heading of the second level.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, section) = text
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("no section {heading}"));
    section.split("\n## ").next().unwrap()
}

/// The rows of the tables of a text, by their columns.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    rows.map(|row| row.trim_end_matches(" |").split(" | ").collect())
}

#[test]
fn the_maps_are_what_the_files_say() {
    let map = root().join("scripts/map.py");
    let made = |name| printed(Command::new("python3").arg(&map).arg(name), "python3");
    for name in ["docs/map.md", "tests/MAP.md"] {
        let (has, made) = (page(name), made(name));
        let difference = has.lines().zip(made.lines());
        let difference = difference.into_iter().find(|(has, made)| has != made);
        assert!(
            has == made,
            "{name} is not what the files say now; run `make map`\nhas and now: {difference:?}"
        );
    }
    // A file that is in no folder of the map would not be missed.
    let source = made("docs/map.md");
    for (folder, _) in CRATES {
        assert!(source.contains(&format!("\n## {folder}\n")), "{folder}");
    }
}

/// All folders below one, and itself.
pub fn folders(top: PathBuf) -> Vec<PathBuf> {
    let mut folders = vec![top];
    let mut next = 0;
    while let Some(folder) = folders.get(next) {
        let entries = fs::read_dir(folder).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry of it").path());
        let below: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
        folders.extend(below);
        next += 1;
    }
    folders
}

/// What of a folder its page does not name: files as `name.rs` or `name`, folders as `name/`.
fn unnamed(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    // The library's own page is for those who use it. Its rooms are the layers.
    if folder == root().join("src") {
        return vec![];
    }
    let pages = ["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name));
    let Some(page) = pages.iter().find(|page| page.exists()) else {
        return vec![];
    };
    let text = fs::read_to_string(page).expect("a page");
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let says = |word: &str| {
        let before = |at: usize| text[..at].chars().next_back();
        let mut places = text.match_indices(word).map(|(at, _)| at);
        places.any(|at| !before(at).is_some_and(|c| c.is_alphanumeric() || c == '_'))
    };
    let mut unnamed = vec![];
    for path in paths.iter().filter(|path| !pages.contains(path)) {
        let name = path.file_stem().expect("a name").to_str().expect("UTF-8");
        let is_test = name == "tests" || name.ends_with("_tests");
        let is_source = path.is_dir() || path.extension().is_some_and(|kind| kind == "rs");
        let forms = [
            format!("{name}.rs"),
            format!("`{name}`"),
            format!("{name}/"),
        ];
        if is_source && !is_test && !forms.iter().any(|form| says(form)) {
            unnamed.push(format!("{}: {name}", page.display()));
        }
    }
    unnamed
}

#[test]
fn every_room_says_what_its_files_are_for() {
    let (mut unnamed_files, mut rooms) = (vec![], 0);
    for (top, _) in CRATES {
        for folder in folders(root().join(top)) {
            unnamed_files.extend(unnamed(&folder));
            rooms += 1;
        }
    }
    assert!(rooms > 60, "only {rooms} rooms");
    assert!(
        unnamed_files.is_empty(),
        "the page (//!) at the top of each does not name the file or folder behind it:\n{}",
        unnamed_files.join("\n")
    );
}

#[test]
fn the_layers_are_documented_in_their_order() {
    let text = page("ARCHITECTURE.md");
    let (_, picture) = section(&text, "Layers")
        .split_once("```text\n")
        .expect("the list of layers");
    let (picture, _) = picture.split_once("```").expect("its end");
    let shown: Vec<&str> = picture.split_whitespace().collect();
    let layers: Vec<&str> = LAYERS.into_iter().chain(["sync"]).collect();
    assert_eq!(
        shown, layers,
        "ARCHITECTURE.md, then tests/cli/layers/mod.rs"
    );
}

/// The crates of this workspace that one uses, by the names that the picture has.
fn used_crates(manifest: &str) -> Vec<String> {
    let (_, needs) = manifest
        .split_once("\n[dependencies]\n")
        .unwrap_or_default();
    let needs = needs.split("\n[").next().unwrap();
    let names = needs
        .lines()
        .map(|line| line.split(['.', ' ']).next().unwrap());
    let own = names.filter_map(|name| match name {
        "timeline" => Some(name),
        _ => name.strip_prefix("timeline-"),
    });
    own.map(str::to_owned).collect()
}

#[test]
fn crates_use_those_below_them_in_the_picture() {
    let text = page("ARCHITECTURE.md");
    let (_, picture) = text
        .split_once("\nThe crates; each uses only those below it:\n\n```text\n")
        .expect("the picture of the crates");
    let (picture, _) = picture.split_once("\n```").expect("its end");
    let lines = picture.lines();
    let crates: Vec<&str> = lines.map(|line| line.split(' ').next().unwrap()).collect();
    let mut arrows = 0;
    for (above, name) in crates.iter().enumerate() {
        let manifest = match *name {
            "timeline" => page("Cargo.toml"),
            name => page(&format!("crates/{name}/Cargo.toml")),
        };
        for used in used_crates(&manifest) {
            let below = crates.iter().position(|other| *other == used);
            let below = below.unwrap_or_else(|| panic!("no {used}, which {name} uses"));
            assert!(above < below, "{name} uses {used}, which is not below it");
            arrows += 1;
        }
    }
    let folders = fs::read_dir(root().join("crates")).expect("crates").count();
    assert_eq!(crates.len(), 1 + folders);
    assert!(arrows > 15, "only {arrows} arrows");
}

#[test]
fn the_page_for_those_who_come_new_is_short() {
    let bytes = page("ARCHITECTURE.md").len();
    assert!(bytes <= MOST_OF_ARCHITECTURE, "{bytes} bytes");
}

#[test]
fn every_invariant_is_defended_by_tests_that_exist() {
    let text = page("tests/INVARIANTS.md");
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<&str> = rows.filter(|row| !row.starts_with("| #")).collect();
    assert!(rows.len() > 50, "only {} invariants", rows.len());
    for (number, row) in (1..).zip(rows) {
        assert!(row.starts_with(&format!("| {number} | ")), "{row}");
        let tests: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let tests: Vec<_> = tests.iter().filter_map(|t| t.split_once(": ")).collect();
        assert!(!tests.is_empty(), "nothing defends {row}");
        for (file, test) in tests {
            let found = page(file).contains(&format!("fn {test}()"));
            assert!(found, "{file} has no test {test}");
        }
    }
}

/// A file's comments as one line: without the marks at the beginnings of lines.
fn comments(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    let lines = lines.filter_map(|line| line.strip_prefix("//"));
    let words = lines.flat_map(|line| line.trim_start_matches(['/', '!']).split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_question_is_answered_where_the_page_says() {
    let text = page("ARCHITECTURE.md");
    let mut count = 0;
    for row in rows(section(&text, "Why")).filter(|row| row[0].contains('/')) {
        let [file, questions] = row[..] else {
            panic!("expected a file and questions: {row:?}");
        };
        let answers = comments(&page(file));
        for question in questions.split_inclusive('?').map(str::trim) {
            let is_there = answers.contains(&format!("**{question}**"));
            assert!(is_there, "{file} does not answer: {question}");
            count += 1;
        }
    }
    assert!(count > 40, "only {count} questions");
}

#[test]
fn a_word_has_one_meaning() {
    let text = page("ARCHITECTURE.md");
    let mut words = BTreeSet::new();
    for row in rows(section(&text, "Glossary")).filter(|row| row[0].starts_with("**")) {
        for word in row[0].split(", ") {
            assert!(words.insert(word.to_owned()), "{word} stands twice");
        }
    }
    assert!(words.len() > 25, "only {} words", words.len());
}

/// What CONTRIBUTING says about adding something: files, and the words that stand in them.
fn places(heading: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let text = page("CONTRIBUTING.md");
    let items = section(&text, heading).split("\n- ").skip(1);
    let of = |item: &str| {
        let item = item.split("\n\n").next().unwrap().replace("\n  ", " ");
        let (files, text) = item.split_once(": ").expect("files");
        let words = text.split('`').skip(1).step_by(2).map(str::to_owned);
        let files = files.split(", ").map(str::to_owned);
        (files.collect(), words.collect())
    };
    items.map(of).collect()
}

#[test]
fn what_is_added_goes_where_the_page_says() {
    let mut count = 0;
    for heading in [
        "Add a verb",
        "Add a type of fields",
        "Add a language",
        "Add a format of exports",
        "Add a condition of watch",
    ] {
        let items = places(heading);
        assert_eq!(items.len(), 5, "{heading}");
        for (files, words) in items.iter().filter(|(files, _)| !files[0].contains("NAME")) {
            let texts: String = files.iter().map(|file| page(file)).collect();
            for word in words.iter().filter(|word| !word.contains("NAME")) {
                assert!(
                    has_word(&texts, word),
                    "{heading}: {files:?} have no {word}"
                );
                count += 1;
            }
        }
    }
    assert!(count > 35, "only {count} words");
}

/// Whether a word stands in a text, and not only as a part of another one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |next: Option<char>| next.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let ends = word.ends_with(|c: char| c.is_alphanumeric());
        let begins = word.starts_with(|c: char| c.is_alphanumeric());
        let goes_on_before = begins && is_part(text[..at].chars().next_back());
        let goes_on_behind = ends && is_part(text[at + word.len()..].chars().next());
        !goes_on_before && !goes_on_behind
    })
}

/// A verb is not built here: a second command would take minutes. But each verb has what the page
/// says, and nothing else lists them.
#[test]
fn every_verb_is_where_a_new_one_goes() {
    let items = places("Add a verb");
    let source = |verb: &str| {
        let files = [
            format!("crates/cli/src/{verb}.rs"),
            format!("crates/cli/src/{verb}/mod.rs"),
        ];
        files.into_iter().find(|file| root().join(file).exists())
    };
    for verb in VERBS {
        // Two verbs are in the file of a third.
        let module = match verb {
            "enable" | "disable" => "priority",
            other => other,
        };
        let file = source(module).unwrap_or_else(|| panic!("no file of {verb}"));
        for (files, words) in &items {
            let place = files[0].replace("crates/cli/src/NAME.rs", &file);
            let text = page(&place);
            for word in words {
                let forms = [word.replace("NAME", verb), word.replace("NAME", module)];
                let has = forms.iter().any(|form| text.contains(form));
                assert!(has, "{verb}: {place} has no {}", forms[0]);
            }
        }
    }
    let places: Vec<&String> = items.iter().flat_map(|(files, _)| files).collect();
    for folder in folders(root().join("crates/cli/src")) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry of it").path();
            let text = fs::read_to_string(&path).unwrap_or_default();
            let names = |verb: &&&str| {
                text.contains(&format!("{verb}::")) || text.contains(&format!("\"{verb}\""))
            };
            let count = VERBS.iter().filter(names).count();
            let is_said = places.iter().any(|place| path.ends_with(place));
            assert!(count < 10 || is_said, "{} lists verbs, too", path.display());
        }
    }
}

#[test]
fn the_readme_groups_all_verbs() {
    let readme = page("README.md");
    let table = section(&readme, "The command");
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| `timeline "));
    let cells = rows.map(|row| row.split(" | ").next().unwrap());
    let verbs = cells.flat_map(|cell| cell.split("`timeline ").skip(1));
    let verbs: Vec<&str> = verbs
        .map(|verb| verb.split([' ', '`']).next().unwrap())
        .collect();
    assert_eq!(verbs.len(), VERBS.len(), "each stands once");
    assert_eq!(BTreeSet::from_iter(verbs), BTreeSet::from(VERBS));
    for group in ["Look", "Find", "Measure", "Keep", "Control"] {
        assert!(table.contains(&format!("\n| **{group}** | |\n")), "{group}");
    }
}
