//! Circles: files of a crate that use one another, directly or by way of others.

use std::collections::{BTreeMap, BTreeSet};

/// A module by the words of its path: `[ring, writer]` for src/ring/writer.rs, none for the crate.
pub type Module = Vec<String>;

/// The module that a file of a crate is; the crate's sources are in `folder`.
pub fn module_of(folder: &str, path: &str) -> Option<Module> {
    let inside = path.strip_prefix(folder)?.strip_prefix('/')?;
    let mut words: Module = inside
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    if words
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        words.pop();
    }
    Some(words)
}

/// The files of each circle: `files` has the code of a crate, without comments and unit tests, by
/// module.
pub fn circles(files: &BTreeMap<Module, String>) -> Vec<Vec<Module>> {
    let used: BTreeMap<&Module, BTreeSet<&Module>> = files
        .iter()
        .map(|(module, code)| (module, used_by(module, code, files)))
        .collect();
    circles_among(&used)
}

/// The modules of each circle, by those that each uses.
pub fn circles_among(used: &BTreeMap<&Module, BTreeSet<&Module>>) -> Vec<Vec<Module>> {
    let mut found: Vec<Vec<Module>> = Vec::new();
    for &module in used.keys() {
        if found.iter().flatten().any(|known| known == module) {
            continue;
        }
        let reached = reached_from(module, used);
        let circle: Vec<Module> = reached
            .iter()
            .filter(|other| reached_from(other, used).contains(module))
            .map(|other| (*other).clone())
            .collect();
        if !circle.is_empty() {
            found.push(circle);
        }
    }
    found
}

fn reached_from<'a>(
    module: &Module,
    used: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = used[module].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(&used[next]);
        }
    }
    reached
}

/// The other modules that code names, through `crate::` or `super::`.
pub fn used_by<'a>(
    module: &Module,
    code: &str,
    files: &'a BTreeMap<Module, String>,
) -> BTreeSet<&'a Module> {
    let mut used = BTreeSet::new();
    for (root, start) in [("crate::", true), ("super::", false)] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let mut rest = &code[at + root.len()..];
            let mut base: Module = match start {
                true => Vec::new(),
                false => module[..module.len().saturating_sub(1)].to_vec(),
            };
            while let Some(further) = rest.strip_prefix("super::") {
                base.pop();
                rest = further;
            }
            named(&base, rest, files, &mut used);
        }
    }
    used.remove(module);
    used
}

/// Collects the modules at the ends of a path, which may end in a list in braces.
fn named<'a>(
    base: &Module,
    path: &str,
    files: &'a BTreeMap<Module, String>,
    used: &mut BTreeSet<&'a Module>,
) {
    let path = path.trim_start();
    if let Some(list) = path.strip_prefix('{') {
        for item in super::first_level(list) {
            named(base, item, files, used);
        }
        return;
    }
    let word = super::identifier(path);
    let mut deeper = base.clone();
    deeper.push(word.to_owned());
    if files.contains_key(&deeper) {
        let rest = path[word.len()..].trim_start();
        return named(&deeper, rest.strip_prefix("::").unwrap_or(""), files, used);
    }
    if let Some((module, _)) = files.get_key_value(base) {
        used.insert(module);
    }
}

#[test]
fn a_circle_is_found_however_it_is_written() {
    let crate_of = |files: &[(&str, &str)]| -> BTreeMap<Module, String> {
        let file = |(path, code): &(&str, &str)| {
            (
                module_of("src", path).expect("a file of src"),
                (*code).to_owned(),
            )
        };
        files.iter().map(file).collect()
    };
    for (one, other) in [
        ("use crate::b::c::C;", "use crate::a::A;"),
        ("use crate::{b::{c::C, D}, e};", "fn f() { crate::a::g() }"),
        ("fn f() { super::b::c::g() }", "use super::super::a::A;"),
    ] {
        let files = crate_of(&[
            ("src/lib.rs", "mod a; mod b;"),
            ("src/a.rs", one),
            ("src/b/mod.rs", "mod c;"),
            ("src/b/c.rs", other),
        ]);
        let words = |words: &[&str]| words.iter().map(|w| w.to_string()).collect::<Module>();
        assert_eq!(
            circles(&files),
            [[words(&["a"]), words(&["b", "c"])]],
            "{one}"
        );
    }
    let files = crate_of(&[
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "use crate::b::c::C;"),
        ("src/b/mod.rs", "mod c; pub use c::C;"),
        ("src/b/c.rs", "use super::D;"),
    ]);
    assert!(circles(&files).is_empty());
}
