//! The page without a browser: its types are those of the server, and its modules do what they say.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use super::http::Served;
use crate::support::root;
use crate::support::toolchain::printed;

/// What there is in crates/serve/types. `PAGE_TYPES=write` makes it anew.
#[test]
fn types_of_the_page_are_made_of_the_description_and_of_the_elements() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::begin(&[&folder.path().display().to_string()]);
    let description = folder.path().join("openapi.json");
    fs::write(&description, served.get("/api/openapi.json").body).unwrap();
    let mut types = Command::new("node");
    types
        .arg(root().join("tests/page/types.mjs"))
        .arg(&description)
        .arg(root().join("crates/serve/page/index.html"));
    let made: BTreeMap<String, String> =
        serde_json::from_str(&printed(&mut types, "node")).expect("texts of files");
    assert_eq!(made.len(), 2);
    for (name, text) in made {
        let path = root().join("crates/serve/types").join(&name);
        if std::env::var("PAGE_TYPES").is_ok_and(|word| word == "write") {
            fs::write(&path, &text).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "{name} is out of date: PAGE_TYPES=write cargo test --test cli serve::page"
        );
    }
}

/// Modules that need no browser, and those that can be told that there is one.
#[test]
fn modules_of_the_page_work_without_a_browser() {
    let files = fs::read_dir(root().join("tests/page/modules")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let files: Vec<_> = files
        .filter(|path| path.display().to_string().ends_with(".test.mjs"))
        .collect();
    let mut tests = Command::new("node");
    tests.args(["--test", "--test-reporter=tap"]).args(&files);
    tests.env("TZ", "UTC");
    tests.env("SEED", std::process::id().to_string());
    let said = tests.output().expect("node");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{text}");
    let passed = text.lines().find_map(|line| line.strip_prefix("# pass "));
    let passed: usize = passed.expect("how many passed").parse().unwrap();
    assert!(passed > files.len(), "{text}");
}
