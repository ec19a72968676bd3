//! The modules of the page: folders use those below them, and no modules use one another.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::circles::{Module, circles_among};
use super::{MOST_COLUMNS, MOST_LINES};

/// The folders of the page from top to bottom; above them are the modules that are in none. A
/// module may use those of its folder and of folders below it.
const FOLDERS: [&str; 4] = ["views", "shell", "draw", "data"];

/// The texts of the modules, by their names without `.js`.
fn modules(folder: &Path, above: &[String], found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder of the page") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_str().expect("UTF-8");
        let name = [above, &[stem.to_owned()]].concat();
        if path.is_dir() {
            modules(&path, &name, found);
        } else if path.extension().is_some_and(|extension| extension == "js") {
            found.insert(name, fs::read_to_string(&path).expect("a module"));
        }
    }
}

/// The modules that a module imports, and if `types`, also those of which it names types in its
/// comments. `bundle.rs` refuses other ways to write that.
fn imports(name: &Module, text: &str, types: bool) -> BTreeSet<Module> {
    let counts = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("//") && (types || !line.starts_with(['*', '/']))
    };
    let code: String = text
        .lines()
        .filter(counts)
        .flat_map(|line| [line, "\n"])
        .collect();
    let ends = code.split("from \"").skip(1);
    let paths = ends.filter_map(|rest| rest.split_once(".js\"").map(|(path, _)| path));
    // Those beside the page are types that are made: crates/serve/types.
    let whole = |path: &str| {
        let mut whole = name[..name.len() - 1].to_vec();
        for step in path.split('/') {
            match step {
                "." => {}
                ".." => drop(whole.pop()?),
                _ => whole.push(step.to_owned()),
            }
        }
        Some(whole)
    };
    paths.filter_map(whole).collect()
}

/// The place of a module's folder: the greater, the lower. A folder that has none is an error.
fn height(name: &Module) -> Option<usize> {
    match &name[..] {
        [_] => Some(0),
        [folder, _] => Some(1 + FOLDERS.iter().position(|known| known == folder)?),
        _ => None,
    }
}

/// All that breaks a rule in modules with these texts.
fn violations(modules: &BTreeMap<Module, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in modules {
        let others = imports(name, text, true);
        let (path, own) = (name.join("/"), height(name));
        if own.is_none() {
            found.push(format!("{path}: its folder is none of {FOLDERS:?}"));
        }
        for other in others {
            if height(&other) < own {
                found.push(format!(
                    "{path} uses {}, which is above it",
                    other.join("/")
                ));
            }
            if !modules.contains_key(&other) {
                found.push(format!(
                    "{path} uses {}, which is not there",
                    other.join("/")
                ));
            }
        }
    }
    let there = |name: &Module, text: &str| {
        let others = imports(name, text, false);
        let known = others
            .iter()
            .filter_map(|other| modules.get_key_value(other));
        known.map(|(other, _)| other).collect()
    };
    let used = modules
        .iter()
        .map(|(name, text)| (name, there(name, text)))
        .collect();
    for circle in circles_among(&used) {
        let names: Vec<String> = circle.iter().map(|name| name.join("/")).collect();
        found.push(format!("a circle of {}", names.join(", ")));
    }
    found.extend(
        modules
            .iter()
            .flat_map(|(name, text)| misformed(&name.join("/"), text)),
    );
    found
}

/// As `misformed` of Rust files.
fn misformed(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (first, second) = text.split_once('\n').unwrap_or((text, ""));
    if !first.starts_with("// ") || !first.ends_with(['.', ':']) || !second.starts_with('\n') {
        found.push(format!(
            "{path}: expected one line (// …) that says what it is for"
        ));
    }
    if text.lines().count() > MOST_LINES {
        found.push(format!("{path}: more than {MOST_LINES} lines: divide it"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.chars().count() > MOST_COLUMNS {
            found.push(format!("{path}:{number}: more than {MOST_COLUMNS} columns"));
        }
    }
    found
}

#[test]
fn modules_of_the_page_use_those_below_them() {
    let mut found = BTreeMap::new();
    let folder = crate::support::root().join("crates/serve/page");
    modules(&folder, &[], &mut found);
    assert!(found.len() > 50, "only {} modules", found.len());
    for folder in FOLDERS {
        assert!(
            found
                .keys()
                .any(|name| name[0] == folder && name.len() == 2),
            "{folder}"
        );
    }
    let wrong = violations(&found);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn an_import_that_breaks_a_rule_is_found() {
    let said = |texts: &[(&str, &str)]| {
        let module = |(path, text): &(&str, &str)| {
            let name = path.split('/').map(str::to_owned).collect::<Module>();
            (name, format!("// What it is for.\n\n{text}\n"))
        };
        violations(&texts.iter().map(module).collect()).join("\n")
    };
    let draw = ("draw/a", "export const a = 1;");
    for (name, text, wrong) in [
        (
            "data/b",
            "import { a } from \"../draw/a.js\";",
            "data/b uses draw/a, which is above it",
        ),
        (
            "data/b",
            "import {\n  a,\n} from \"../draw/a.js\";",
            "data/b uses draw/a, which is above it",
        ),
        (
            "draw/b",
            "import { a } from \"../a.js\";",
            "draw/b uses a, which is above it",
        ),
        (
            "draw/b",
            "import { a } from \"./c.js\";",
            "draw/b uses draw/c, which is not there",
        ),
        ("draw/b", "import { a } from \"./a.js\";", ""),
        ("views/b", "import { a } from \"../draw/a.js\";", ""),
        ("b", "import { a } from \"./draw/a.js\";", ""),
        ("data/b", "// import { a } from \"../draw/a.js\";", ""),
        (
            "data/b",
            "/** @import { A } from \"../draw/a.js\" */",
            "data/b uses draw/a, which is above it",
        ),
        (
            "data/b",
            "/** @import { A } from \"../../types/a.js\" */",
            "",
        ),
        (
            "novel/b",
            "",
            "novel/b: its folder is none of [\"views\", \"shell\", \"draw\", \"data\"]",
        ),
    ] {
        assert_eq!(said(&[draw, ("a", ""), (name, text)]), wrong, "{text}");
    }
    let circle = [
        ("data/a", "import { b } from \"./b.js\";"),
        ("data/b", "import { c } from \"./c.js\";"),
        ("data/c", "import { a } from \"./a.js\";"),
    ];
    assert_eq!(said(&circle), "a circle of data/a, data/b, data/c");
    assert_ne!(said(&[("data/a", &"x".repeat(MOST_COLUMNS + 1))]), "");
    assert_ne!(said(&[("data/a", &"\n".repeat(MOST_LINES))]), "");
    for text in ["// No end\n\n", "const a = 1;\n", "// One.\n// Two.\n"] {
        assert_eq!(misformed("data/a", text).len(), 1, "{text}");
    }
}
