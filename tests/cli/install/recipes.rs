//! Tests the recipes, and the samples of durations, exactly as they are printed on their pages.
//! Each block of commands runs in shared memory of its own, with the programs of the page.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::readme::{comparable, in_shared_memory, is_root, transcript, words};
use crate::support::toolchain::pages::{Block, blocks};
use crate::support::toolchain::root;

/// Lines without their numbers, which differ from run to run, and without what is printed only
/// where a command has to wait.
fn without_numbers(transcript: &str) -> Vec<String> {
    let is_number = |c: char| c.is_ascii_digit() || ".,".contains(c);
    let lines = comparable(transcript).into_iter();
    let is_waiting = |line: &String| {
        line.starts_with("timeline: waiting for") || line.starts_with("timeline: recording ")
    };
    let lines = lines.filter(|line| !is_waiting(line));
    let line = |line: String| {
        // A machine may not say which node a CPU is of.
        let line = line.replace(" - ", " 0 ");
        let parts: Vec<&str> = line
            .split(is_number)
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("#")
    };
    lines.map(line).collect()
}

/// What a command in the background has done before the next one is typed.
fn until_it_runs(command: &str) -> &'static str {
    match command.starts_with("timeline demo ") {
        true => "until timeline info >/dev/null 2>&1; do sleep 0.01; done",
        false => "",
    }
}

/// Likewise, without units, and without the bars of spark lines.
fn without_durations(transcript: &str) -> Vec<String> {
    let is_bar = |word: &&str| word.chars().all(|c| ('▁'..='█').contains(&c));
    let line = |line: &str| {
        let words = words(line);
        let words = words.split(' ').filter(|word| !is_bar(word));
        words.collect::<Vec<_>>().join(" ")
    };
    transcript.lines().map(line).collect()
}

/// Runs the commands of a page, and compares what they print with the page, without what differs
/// from run to run. Returns how many there are.
fn run(page: &str, comparable: fn(&str) -> Vec<String>) -> usize {
    let dir = TempDir::new().unwrap();
    // For other users, as which some of them run.
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    symlink(root().join("examples"), dir.path().join("examples")).unwrap();
    let blocks = blocks(page);
    let of = |language: &'static str| {
        blocks
            .iter()
            .filter(move |b: &&Block| b.language == language)
    };
    for program in of("lua") {
        let first = program.code.lines().next();
        let name = first.and_then(|line| line.strip_prefix("-- "));
        let name = name.expect("its name in the first line");
        fs::write(dir.path().join(name), &program.code).unwrap();
    }
    let mut commands = 0;
    for block in of("console") {
        println!("{page}:{}", block.line);
        let lines = block.code.lines();
        commands += lines.filter(|line| line.starts_with("$ ")).count();
        if block.code.contains("setpriv ") && !is_root() {
            eprintln!("skipped: only root can act as another user");
            continue;
        }
        let script = transcript(&block.code, until_it_runs);
        let Some(output) = in_shared_memory("64m", &script, dir.path()) else {
            continue;
        };
        let said = String::from_utf8(output.stdout).unwrap();
        let (compared, shown) = (comparable(&said), comparable(&block.code));
        assert_eq!(
            compared, shown,
            "output, then {page}:{}: {said}",
            block.line
        );
    }
    commands
}

#[test]
fn the_commands_of_the_recipes_print_what_is_shown() {
    let commands = run("docs/recipes.md", without_numbers);
    assert!(commands > 15, "only {commands} commands");
}

#[test]
fn the_commands_of_the_page_about_latency_print_what_is_shown() {
    assert_eq!(run("docs/latency.md", without_durations), 6);
}
