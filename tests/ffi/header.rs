//! Tests when scripts/check-header.sh blames the header.
//! It does so if building the header changed it, and never for what git says.

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs the script in a tree without git's knowledge, where building does this.
fn check(build: &str) -> Output {
    check_around(build, &[])
}

/// The same, where the header is compared around that command.
fn check_around(build: &str, command: &[&str]) -> Output {
    let tree = TempDir::new().unwrap();
    let root = crate::support::root();
    for file in [
        "scripts/check-header.sh",
        "include/timeline.h",
        "include/timeline-worker.h",
        "include/timeline-analysis.h",
    ] {
        let copy = tree.path().join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(root.join(file), copy).unwrap();
    }
    let cargo = tree.path().join("cargo.sh");
    fs::write(&cargo, build).unwrap();
    // Read by a shell and not executed: another test's child may still hold the copy open for
    // writing.
    Command::new("sh")
        .arg(tree.path().join("scripts/check-header.sh"))
        .args(command)
        .env("CARGO", format!("sh {}", cargo.display()))
        .env("GIT_CEILING_DIRECTORIES", tree.path())
        .output()
        .unwrap()
}

#[test]
fn a_header_that_the_build_leaves_alone_is_right() {
    let packages = "-p timeline-ffi -p timeline-worker-ffi -p timeline-analysis-ffi";
    let output = check(&format!("test \"$*\" = 'build --quiet {packages}'"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn a_header_that_the_build_changes_is_blamed() {
    for header in ["timeline.h", "timeline-worker.h", "timeline-analysis.h"] {
        let output = check(&format!("echo '/* new */' >>include/{header}"));
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("commit it with the change"), "{said}");
        assert!(
            said.contains(&format!("include/{header} was not")),
            "{said}"
        );
        let difference = String::from_utf8_lossy(&output.stdout);
        assert!(difference.contains("+/* new */"), "{difference}");
    }
}

#[test]
fn the_header_is_compared_around_the_command_that_is_named() {
    let change = "echo '/* new */' >>include/timeline.h";
    let output = check_around("exit 101", &["sh", "-c", change]);
    assert_eq!(output.status.code(), Some(1));
    let difference = String::from_utf8_lossy(&output.stdout);
    assert!(difference.contains("+/* new */"), "{difference}");
}

#[test]
fn a_build_that_fails_is_not_the_headers_fault() {
    let output = check("echo 'no space left' >&2; exit 101");
    assert_eq!(output.status.code(), Some(101));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("no space left") && !said.contains("timeline.h"),
        "{said}"
    );
}
