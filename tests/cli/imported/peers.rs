//! Searches of imported logs find the lines that ripgrep, ugrep and lnav find in the logs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Logs, generated};
use crate::command::*;

/// The lines of standard output, of a command that may find nothing.
fn lines_of(command: &mut Command) -> Vec<String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output
        .unwrap_or_else(|error| panic!("{command:?}: {error}: install ripgrep, ugrep and lnav"));
    let found = output.status.code().is_some_and(|code| code < 2);
    assert!(found, "{command:?}: {output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

/// The messages that a search of the archive finds.
fn messages(archive: &str, case: &str, wanted: &str) -> Vec<String> {
    let found = run(&["search", archive, case, "--json", "--", wanted]).json();
    let message = |event: &serde_json::Value| event["message"].as_str().unwrap().to_owned();
    found.iter().map(message).collect()
}

/// What the compiler says about what it does.
fn build_output() -> Vec<u8> {
    let mut compiler = Command::new("cc");
    let words = ["-v", "-x", "c", "-fsyntax-only", "/dev/null"];
    compiler.args(words).output().unwrap().stderr
}

/// A text as a regular expression.
fn escaped(text: &str) -> String {
    let escaped = |c: char| {
        let is_special = c.is_ascii_punctuation();
        is_special.then_some('\\').into_iter().chain([c])
    };
    text.chars().flat_map(escaped).collect()
}

/// Compares what is found in a log, which has at least one of these texts.
fn compare(logs: &Logs, log: &[u8], texts: &[&str]) {
    let archive = logs.import(log);
    let log = logs.path("a.log");
    // From 0.12 on, it filters a text that it takes for none of a log only if it is told to.
    let version = lines_of(Command::new("lnav").arg("-V")).concat();
    let minor = version.strip_prefix("lnav 0.").unwrap_or("99");
    let minor = minor.split('.').next().unwrap_or_default();
    let renders = minor.parse::<u32>().expect("its version") >= 12;
    let mut found = 0;
    for wanted in texts.iter().chain(&["no such text"]) {
        for case in ["-i", "-s"] {
            let ours = messages(&archive, case, wanted);
            found += ours.len();
            for peer in ["rg", "ugrep"] {
                let mut command = Command::new(peer);
                command.args((case == "-i").then_some(case));
                let theirs = lines_of(command.args(["-F", "-e", wanted, &log]));
                assert_eq!(ours, theirs, "{peer} {case} {wanted}");
            }
        }
        // Its filters are regular expressions, and never ask about capitals.
        let filter = format!(":filter-in {}", escaped(wanted));
        let mut lnav = Command::new("lnav");
        lnav.env("HOME", logs.path("")).arg("-n");
        if renders {
            lnav.args(["-c", ":set-text-view-mode raw"]);
        }
        lnav.args(["-c", &filter, &log]);
        let ours = messages(&archive, "-i", wanted);
        assert_eq!(ours, lines_of(&mut lnav), "lnav {wanted}");
    }
    assert!(found > 0, "{log} has none of {texts:?}");
}

#[test]
fn others_find_the_same_lines() {
    let logs = Logs::new();
    compare(
        &logs,
        &generated(),
        &["error", "worker-3", "took 12", "10.0.", "[7] cache: miss"],
    );
    compare(
        &logs,
        &build_output(),
        &["/dev/null", "GCC", "-o", "version"],
    );
    let packages = Path::new("/var/log/dpkg.log");
    if let Ok(log) = fs::read(packages).map(|log| log[..log.len().min(200_000)].to_vec()) {
        let end = log
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        compare(
            &logs,
            &log[..end],
            &["installed", "lib", "all <none>", "status Half"],
        );
    }
}
