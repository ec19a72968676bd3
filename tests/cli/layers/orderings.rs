//! Orderings of atomics: each has words that say what it pairs with, or why it needs no partner.

use super::{CRATES, File};

const NAMES: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// How far above an ordering its words may stand, within its function and what is said of that.
const NEAR: usize = 16;

/// The orderings of a line of code, but not those of a path that is imported.
fn named(code: &str) -> Vec<&'static str> {
    let code = code.trim_start();
    if code.starts_with("use ") || code.starts_with("pub use ") {
        return vec![];
    }
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let name = |word: &str| NAMES.into_iter().find(|name| *name == word);
    words.by_ref().filter_map(name).collect()
}

/// What is said in a line.
fn comment(line: &str) -> &str {
    line.split_once("//").map_or("", |(_, comment)| comment)
}

/// The first line of those that may speak for a line: of its function's own comment, or later.
fn first_near(lines: &[&str], at: usize) -> usize {
    let starts = |line: &str, marks: &[&str]| {
        let line = line.trim_start();
        marks.iter().any(|mark| line.starts_with(mark))
    };
    let is_function = |line: &&str| {
        let code = line.split("//").next().unwrap_or("");
        code.trim_start()
            .split(' ')
            .take_while(|word| {
                word.chars().all(|c| !"=({.|".contains(c)) || word.starts_with("pub")
            })
            .any(|word| word == "fn")
    };
    let function = lines[..=at].iter().rposition(is_function).unwrap_or(0);
    let own = lines[..function].iter().rev();
    let said = own.take_while(|line| starts(line, &["//", "#["])).count();
    (function - said).max(at.saturating_sub(NEAR))
}

/// Orderings of a file without such words: near them, or, by their name, in the page at its top.
pub fn silent(file: &File) -> Vec<String> {
    let is_product = CRATES
        .iter()
        .any(|(folder, _)| file.path.starts_with(&format!("{folder}/")));
    let is_test = |part: &str| part == "tests" || part.trim_end_matches(".rs").ends_with("tests");
    if !is_product || file.path.split('/').any(is_test) {
        return vec![];
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let is_unit_test = |line: &&str| line.starts_with("#[cfg(") && line.contains("test");
    let page = lines.iter().map_while(|line| line.strip_prefix("//!"));
    let page: String = page.collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if is_unit_test(line) {
            break;
        }
        let orderings = named(line.split("//").next().unwrap_or(""));
        let near = &lines[first_near(&lines, at)..=at];
        let near = near.iter().filter(|line| !line.starts_with("//!"));
        let near: String = near.map(|line| comment(line)).collect();
        let says = |words: &[&str]| words.iter().any(|word| near.contains(word));
        let is_said = says(&["pair", "Pair", "order"]) || says(&NAMES);
        let is_on_page = orderings.iter().all(|name| page.contains(name));
        if !is_said && !is_on_page {
            found.push(format!(
                "{}:{}: say above, or in the page at the top, what this {} pairs with, or why it \
                 needs no partner",
                file.path,
                at + 1,
                orderings.join(" and ")
            ));
        }
    }
    found
}

#[test]
fn words_are_looked_for_near_an_ordering_and_in_the_page() {
    let lines_of = |path: &str, text: &str| {
        let file = File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        silent(&file).len()
    };
    let far = "\n".repeat(NEAR);
    for (text, count) in [
        ("fn f() {\n    a.load(Ordering::Relaxed);\n}\n", 1),
        ("fn f() {\n    a.load(Relaxed);\n}\n", 1),
        (
            "fn f() {\n    // Soon.\n    a.load(Ordering::Acquire);\n}\n",
            1,
        ),
        ("use sync::Ordering::Relaxed;\n", 0),
        (
            "fn f() {\n    // Pairs with g.\n    a.load(Ordering::Acquire);\n}\n",
            0,
        ),
        (
            "fn f() {\n    a.load(Ordering::Relaxed); // Relaxed: a count.\n}\n",
            0,
        ),
        (
            "/// Relaxed: a count.\n#[inline]\nfn f() {\n    a.load(Ordering::Relaxed);\n}\n",
            0,
        ),
        (
            "// Relaxed: a count.\nfn f() {}\n\nfn g() {\n    a.load(Ordering::Relaxed);\n}\n",
            1,
        ),
        (
            "//! All is Relaxed.\nfn f() {\n    a.load(Ordering::Relaxed);\n}\n",
            0,
        ),
        (
            "//! All is Relaxed.\nfn f() {\n    a.load(Ordering::Acquire);\n}\n",
            1,
        ),
        (
            "#[cfg(test)]\nmod tests {\n    fn f() { a.load(Ordering::Acquire); }\n}\n",
            0,
        ),
        (
            "#[cfg(all(test, not(loom)))]\nfn f() { a.load(Ordering::Acquire); }\n",
            0,
        ),
        (
            &format!("fn f() {{\n    // Pairs with g.\n{far}    a.load(Ordering::Acquire);\n}}\n"),
            1,
        ),
    ] {
        assert_eq!(lines_of("crates/serve/src/novel.rs", text), count, "{text}");
        assert_eq!(lines_of("src/ring/novel.rs", text), count, "{text}");
        assert_eq!(lines_of("tests/novel.rs", text), 0);
        assert_eq!(lines_of("src/ring/tests/novel.rs", text), 0);
    }
}
