//! Tests what scripts/fuzz.sh runs. The compiler and cargo are fake ones; nothing is fuzzed.

use std::fs;
use std::process::Command;

use crate::support::toolchain::root;
use crate::support::write_script;

/// What a run ended with, what it asked cargo for, and what it said.
struct Run {
    code: Option<i32>,
    asked: Vec<String>,
    said: String,
}

/// Runs the script for these targets, with a cargo that fails where it is asked for `failing`.
fn run(failing: &str, targets: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let cargo = r#"echo "$*" >>"$ASKED"
        case "$*" in *" $FAILING"*) exit 7 ;; esac
        case "$*" in *"fuzz list") printf 'archive\nring\nresume\n' ;; esac"#;
    for (program, script) in [("cargo", cargo), ("rustc", ""), ("nice", r#"exec "$@""#)] {
        let path = folder.path().join(program);
        write_script(&path, script);
    }
    let asked = folder.path().join("asked");
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let output = Command::new("/bin/sh")
        .arg(root().join("scripts/fuzz.sh"))
        .args(targets)
        .env_clear()
        .env("PATH", path)
        .env("ASKED", &asked)
        .env("FAILING", failing)
        .env("CARGO_TARGET_DIR", folder.path())
        .output()
        .unwrap();
    let asked = fs::read_to_string(asked).unwrap();
    let asked = asked.lines().filter_map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let at = words.iter().position(|word| *word == "--sanitizer")?;
        Some([words[2], words[at + 1], words[at + 4]].join(" "))
    });
    Run {
        code: output.status.code(),
        asked: asked.collect(),
        said: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn each_target_is_built_and_run_and_only_what_maps_files_with_a_sanitizer() {
    let all = run("nothing", &[]);
    assert_eq!(all.code, Some(0), "{}", all.said);
    let expected = [
        "build none archive",
        "run none archive",
        "build address ring",
        "run address ring",
        "build address resume",
        "run address resume",
    ];
    assert_eq!(all.asked, expected);
    assert_eq!(run("nothing", &["ring"]).asked, expected[2..4]);
}

#[test]
fn no_failure_passes_for_success_or_for_another() {
    let unknown = run("nothing", &["archive", "rign"]);
    assert_eq!((unknown.code, unknown.asked.len()), (Some(1), 0));
    let said = "expected some of these targets, got rign: archive ring resume";
    assert!(unknown.said.contains(said), "{}", unknown.said);
    // Without a list, nothing would be fuzzed.
    assert_eq!(run("fuzz list", &[]).code, Some(7));
    let broken = run("fuzz build", &["ring"]);
    assert_eq!(broken.code, Some(7));
    assert!(!broken.said.contains("what broke"), "{}", broken.said);
    let found = run("fuzz run", &["ring"]);
    assert_eq!(found.code, Some(1));
    assert!(found.said.contains("what broke ring"), "{}", found.said);
}
