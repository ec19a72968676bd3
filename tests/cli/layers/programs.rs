//! `make unit` runs all tests: it names the programs of tests, and cargo knows which there are.

use serde_json::Value;

use crate::support::toolchain::{cargo, cargo_build, own_dir, printed, root};

/// The words behind such targets of the Makefile.
fn words_of_unit() -> Vec<String> {
    let makefile = std::fs::read_to_string(root().join("Makefile")).expect("there");
    let (_, unit) = makefile.split_once("\nunit:\n").expect("unit");
    let (unit, _) = unit.split_once("\n\n").expect("its end");
    unit.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn make_unit_runs_every_program_of_tests() {
    let mut metadata = cargo();
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

/// If it did, it would do so again and again, and take files away from tests that use them.
#[test]
fn what_a_test_builds_compiles_no_dependency_anew() {
    let mut build = cargo_build("timeline-worker", "--lib", &own_dir());
    let built = printed(build.arg("--message-format=json"), "cargo itself");
    let messages = built
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let made: Vec<Value> = messages
        .filter(|one: &Value| one["fresh"].is_boolean())
        .collect();
    let is_dependency = |one: &&Value| {
        one["package_id"]
            .as_str()
            .is_some_and(|id| id.starts_with("registry"))
    };
    let dependencies: Vec<_> = made.iter().filter(is_dependency).collect();
    assert!(
        dependencies
            .iter()
            .any(|one| one["target"]["name"] == "rustls"),
        "{built}"
    );
    let anew = dependencies.iter().filter(|one| one["fresh"] == false);
    let anew: Vec<_> = anew.map(|one| &one["target"]["name"]).collect();
    assert!(anew.is_empty(), "{anew:?}");
}
