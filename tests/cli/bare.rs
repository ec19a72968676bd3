//! Tests what scripts/bare-debian.sh refuses, and that its commands are those of the first page.
//! What it makes takes root, packages and half an hour: a person runs that.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::support::toolchain::pages::blocks;
use crate::support::toolchain::root;
use crate::support::user::{NOBODY, are_root};

/// How the script ends that is given these words as an ordinary user, and what it complains of.
fn tried(words: &[&str]) -> (Option<i32>, String) {
    let script = std::fs::read_to_string(root().join("scripts/bare-debian.sh")).unwrap();
    let mut shell = Command::new("sh");
    // Not by its path, which another user may not be permitted to enter.
    shell.args(["-c", &script, "/bare-debian.sh"]).args(words);
    shell.current_dir("/");
    if are_root() {
        shell.uid(NOBODY).gid(NOBODY);
    }
    let output = shell.output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), complaint)
}

#[test]
fn who_may_not_make_a_system_is_told() {
    let (status, complaint) = tried(&["--user", "bookworm"]);
    let told = "bare-debian: only root may make another system and enter it\n";
    assert_eq!((status, complaint.as_str()), (Some(1), told));
}

#[test]
fn what_is_misspelt_makes_nothing() {
    for words in [&[][..], &["--dir"], &["--usr", "bookworm"], &["sid"]] {
        let (status, complaint) = tried(words);
        assert!(
            status == Some(2) && complaint.starts_with("usage: "),
            "{words:?}: {complaint}"
        );
    }
}

#[test]
fn its_commands_are_those_of_the_first_page() {
    let script = std::fs::read_to_string(root().join("scripts/bare-debian.sh")).unwrap();
    let blocks = blocks("README.md").into_iter();
    let block = blocks
        .map(|block| block.code)
        .find(|code| code.contains("make demo"));
    let shown = block.unwrap();
    let commands = shown.lines().filter_map(|line| line.strip_prefix("$ "));
    let commands = commands.map(|line| line.split_once('#').map_or(line, |parts| parts.0).trim());
    let commands: Vec<String> = commands.map(|command| format!("\"{command}\"")).collect();
    let given = format!("set -- {}\n", commands.join(" "));
    assert!(commands.len() == 2 && script.contains(&given), "{given}");
}
