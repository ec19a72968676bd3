//! Puts the modules of the page into one file.
//!
//! A browser takes longer to ask for forty files than to read one. Each module becomes a function
//! that is called once and returns what the module exports, so names of different modules cannot
//! clash. A test holds that all modules are written so that this is possible: they import by
//! `import { a, b } from "./c.js";` (or `"../folder/c.js"`), and they export functions, classes and
//! constants where they declare them. No module needs itself, not even through others.

use std::collections::BTreeSet;
use std::fmt::Write;

/// What is wrong with a module.
type Wrong = String;

/// The module with this name and all that it needs, as one. `read` gives the text of a module.
///
/// # Errors
/// If a module is missing, needs itself, or is written in another way.
pub fn bundle(main: &str, read: &dyn Fn(&str) -> Option<String>) -> Result<String, Wrong> {
    let mut bundle = Bundle {
        read,
        text: String::new(),
        done: BTreeSet::new(),
        open: Vec::new(),
    };
    bundle.add(main)?;
    Ok(bundle.text)
}

struct Bundle<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    text: String,
    done: BTreeSet<String>,
    /// Those of which the modules that they need are being added.
    open: Vec<String>,
}

impl Bundle<'_> {
    /// Adds a module behind those that it needs, unless it is there.
    fn add(&mut self, name: &str) -> Result<(), Wrong> {
        if self.done.contains(name) {
            return Ok(());
        }
        if self.open.iter().any(|open| open == name) {
            return Err(format!("{name} needs itself: {:?}", self.open));
        }
        let source = (self.read)(name).ok_or_else(|| format!("there is no module {name}"))?;
        self.open.push(name.to_owned());
        let (mut body, mut rest) = (String::new(), &source[..]);
        while let Some((before, import, behind)) = next_import(rest) {
            let (names, path) = parse_import(import)
                .ok_or_else(|| format!("{name}: expected import {{ … }} from: {import}"))?;
            let module = resolved(name, path)
                .ok_or_else(|| format!("{name}: expected a file of the page: {import}"))?;
            self.add(&module)?;
            body += before;
            // A failure to write into a text cannot happen.
            let _ = write!(body, "const {{{names}}} = {};", identifier(&module));
            rest = behind;
        }
        body += rest;
        self.open.pop();
        self.done.insert(name.to_owned());
        let (body, exported) = without_exports(&body).map_err(|line| {
            format!("{name}: expected a function, a class or a constant: {line}")
        })?;
        let exported = exported.join(", ");
        let _ = write!(
            self.text,
            "const {} = (() => {{\n{body}return {{ {exported} }};\n}})();\n",
            identifier(name)
        );
        Ok(())
    }
}

/// The constant that has what a module exports.
pub fn identifier(module: &str) -> String {
    format!("of_{}", module.trim_end_matches(".js").replace('/', "_"))
}

/// The name of the module that a path leads to from another one.
fn resolved(from: &str, path: &str) -> Option<String> {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for step in path.split('/') {
        match step {
            "." => {}
            ".." => {
                folders.pop()?;
            }
            _ => folders.push(step),
        }
    }
    Some(folders.join("/"))
}

/// The next import of a text, with what stands before and behind it.
fn next_import(text: &str) -> Option<(&str, &str, &str)> {
    let starts = text.match_indices("import ").map(|(place, _)| place);
    let is_line = |place: &usize| *place == 0 || text[..*place].ends_with('\n');
    let start = starts.into_iter().find(is_line)?;
    let end = text[start..].find(";\n")? + start + 1;
    Some((&text[..start], &text[start..end], &text[end..]))
}

/// What an import names, and the path to the module that it is of.
fn parse_import(import: &str) -> Option<(&str, &str)> {
    let named = import.strip_prefix("import {")?;
    let (names, path) = named.split_once("} from \"")?;
    let path = path.strip_suffix("\";")?;
    let is_relative = path.starts_with("./") || path.starts_with("../");
    (is_relative && !names.contains(" as ") && !path.contains('"')).then_some((names, path))
}

/// A text without the word `export`, and what was exported. An error has a line that exports in
/// another way.
fn without_exports(text: &str) -> Result<(String, Vec<&str>), &str> {
    let (mut body, mut names) = (String::new(), Vec::new());
    for line in text.split_inclusive('\n') {
        let Some(declared) = line.strip_prefix("export ") else {
            body += line;
            continue;
        };
        let plain = declared.strip_prefix("async ").unwrap_or(declared);
        let kinds = ["function* ", "function ", "class ", "const "];
        let named = kinds.iter().find_map(|kind| plain.strip_prefix(kind));
        let named = named.ok_or(line)?;
        let end = named.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let name = &named[..end.unwrap_or(named.len())];
        if name.is_empty() {
            return Err(line);
        }
        names.push(name);
        body += declared;
    }
    Ok((body, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(modules: &[(&str, &str)]) -> Result<String, Wrong> {
        let read = |name: &str| {
            let found = modules.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| (*text).to_owned())
        };
        bundle("main.js", &read)
    }

    #[test]
    fn modules_become_functions_in_the_order_in_which_they_are_needed() {
        let main = "// Starts.\nimport { b } from \"./b.js\";\nimport {\n  a,\n} from \"./a.js\";\n\
                    a(b);\n";
        let b = "import { a } from \"./a.js\";\nexport const b = a;\nconst c = 1;\n";
        let a = "export async function* a() {}\nexport class A {}\n";
        let bundled = of(&[("main.js", main), ("a.js", a), ("b.js", b)]).unwrap();
        let expected = [
            "const of_a = (() => {\nasync function* a() {}\nclass A {}\nreturn { a, A };\n})();\n",
            "const of_b = (() => {\nconst { a } = of_a;\nconst b = a;\nconst c = 1;\n",
            "return { b };\n})();\nconst of_main = (() => {\n// Starts.\nconst { b } = of_b;\n",
            "const {\n  a,\n} = of_a;\na(b);\nreturn {  };\n})();\n",
        ];
        assert_eq!(bundled, expected.concat());
    }

    #[test]
    fn modules_of_folders_find_one_another() {
        let main = "import { a } from \"./one/a.js\";\n";
        let a = "import { c } from \"../two/a.js\";\nimport { b } from \"./b.js\";\n\
                 export const a = 1;\n";
        let bundled = of(&[
            ("main.js", main),
            ("one/a.js", a),
            ("two/a.js", "export const c = 1;\n"),
            ("one/b.js", "export const b = 2;\n"),
        ])
        .unwrap();
        let expected = [
            "const of_two_a = (() => {\nconst c = 1;\nreturn { c };\n})();\n",
            "const of_one_b = (() => {\nconst b = 2;\nreturn { b };\n})();\n",
            "const of_one_a = (() => {\nconst { c } = of_two_a;\nconst { b } = of_one_b;\n",
            "const a = 1;\nreturn { a };\n})();\n",
            "const of_main = (() => {\nconst { a } = of_one_a;\nreturn {  };\n})();\n",
        ];
        assert_eq!(bundled, expected.concat());
    }

    #[test]
    fn other_ways_to_write_modules_are_errors() {
        for (main, said) in [
            (
                "import { a } from \"./none.js\";\n",
                "there is no module none.js",
            ),
            ("import { a } from \"./main.js\";\n", "main.js needs itself"),
            ("import { a } from \"../a.js\";\n", "expected a file"),
            ("import { a } from \"a.js\";\n", "expected import"),
            ("import * as a from \"./a.js\";\n", "expected import"),
            ("import { a as b } from \"./a.js\";\n", "expected import"),
            ("import a from \"./a.js\";\n", "expected import"),
            ("export default 5;\n", "expected a function"),
            ("export let a = 5;\n", "expected a function"),
            ("export { a };\n", "expected a function"),
        ] {
            let wrong = of(&[("main.js", main), ("a.js", "export const a = 1;\n")]).unwrap_err();
            assert!(wrong.contains(said), "{main}: {wrong}");
        }
    }
}
