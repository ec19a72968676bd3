//! `make unit` runs all tests: it names the programs of tests, and cargo knows which there are.

use std::process::Command;

use serde_json::Value;

use crate::support::toolchain::{printed, root};

/// The words behind such targets of the Makefile.
fn words_of_unit() -> Vec<String> {
    let makefile = std::fs::read_to_string(root().join("Makefile")).expect("there");
    let (_, unit) = makefile.split_once("\nunit:\n").expect("unit");
    let (unit, _) = unit.split_once("\n\n").expect("its end");
    unit.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn make_unit_runs_every_program_of_tests() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.current_dir(root());
    metadata.args(["metadata", "--no-deps", "--offline", "--format-version=1"]);
    let metadata: Value = serde_json::from_str(&printed(&mut metadata, "cargo")).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let targets = packages
        .iter()
        .flat_map(|p| p["targets"].as_array().expect("targets"));
    let words = words_of_unit();
    let (mut programs, mut commands) = (0, Vec::new());
    for target in targets.filter(|target| target["test"] == true) {
        let name = target["name"].as_str().expect("a name");
        match target["kind"][0].as_str() {
            // Models are built apart: `make loom`.
            Some("test") if name == "loom" => {}
            Some("test") => {
                let program = format!("program-{name}");
                assert!(words.contains(&program), "no {program}: {words:?}");
                programs += 1;
            }
            Some("bin") => commands.push(name),
            // Those of libraries need no names.
            _ => {}
        }
    }
    assert_eq!(
        programs,
        words.iter().filter(|w| w.starts_with("program-")).count()
    );
    assert_eq!(
        commands,
        ["timeline"],
        "the target units runs that of this one"
    );
    assert!(
        ["units", "documented"]
            .iter()
            .all(|&target| words.iter().any(|w| w == target))
    );
}
