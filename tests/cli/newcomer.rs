//! What somebody tries in the first hour gets what was meant, or a word about it.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::command::*;
use crate::support::Name;

/// A snapshot of a timeline with two events, and an archive of it.
fn files(name: &Name, folder: &std::path::Path) -> [String; 2] {
    let tl = name.create(256);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 2);
    let ring = snapshot(name, folder);
    let archive = folder.join("flight.tla").display().to_string();
    succeed(&["record", &ring, "-o", &archive, "--once"]);
    [ring, archive]
}

#[test]
fn the_help_of_help_says_what_each_verb_does() {
    let help = succeed(&["help", "help"]).stdout;
    for line in [
        "Show the help of a verb",
        "Usage: timeline help [VERB]",
        "Verbs:",
    ] {
        assert!(help.contains(line), "{line}: {help}");
    }
    let is_verb = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let verbs: Vec<&str> = help.lines().filter(is_verb).collect();
    assert!(verbs.len() > 20, "{help}");
    for verb in verbs {
        assert!(verb.split_whitespace().count() > 2, "{verb:?}: {help}");
    }
    assert!(
        help.contains("Remove timelines") && !help.contains("generate"),
        "{help}"
    );
}

#[test]
fn a_search_in_the_order_of_grep_is_told_the_other_one() {
    let (name, folder) = (Name::new("grep-order"), tempfile::tempdir().unwrap());
    let [ring, archive] = files(&name, folder.path());
    for path in [name.path(), &ring, &archive] {
        let ran = run(&["search", "bytes", path]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let told = format!("did you mean `timeline search {path} bytes`?");
        assert!(
            ran.stderr.contains("no timeline at bytes") && ran.stderr.contains(&told),
            "{ran:?}"
        );
    }
    // Nothing of the kind, where the last word names nothing.
    let ran = run(&["search", "bytes", "tcp"]);
    assert!(
        ran.code == Some(2) && !ran.stderr.contains("timeline search"),
        "{ran:?}"
    );
}

#[test]
fn a_dash_is_standard_output_or_refused_and_never_a_file() {
    let (name, folder) = (Name::new("dash"), tempfile::tempdir().unwrap());
    let [ring, archive] = files(&name, folder.path());
    let at = |words: &[&str]| {
        let mut command = command(words);
        command.current_dir(folder.path());
        command
    };
    for path in [name.path(), &ring, &archive] {
        for filters in [&[][..], &["--category", "example"]] {
            let saved = at(&[&["save", path, "-"], filters].concat())
                .output()
                .unwrap();
            let said = String::from_utf8(saved.stderr).unwrap();
            assert!(saved.status.success(), "{said}");
            assert!(
                said.contains("saved 2 events of") && said.contains("to standard output"),
                "{said}"
            );
            let mut dump = at(&["dump", "-", "--json"]);
            let dump = dump.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut dump = dump.unwrap();
            dump.stdin.take().unwrap().write_all(&saved.stdout).unwrap();
            let lines = dump.wait_with_output().unwrap().stdout;
            assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 2);
        }
    }
    // Half of it would be of no use.
    for path in [name.path(), &archive] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let saved = at(&["save", path, "-"]).stdout(writer).output().unwrap();
        let ran = Ran::new(saved);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("was closed before all"), "{ran:?}");
        assert!(!ran.stderr.contains("saved 2"), "{ran:?}");
    }
    for words in [
        &["record", name.path(), "--once", "-o", "-"][..],
        &["repair", &archive, "-o", "-"],
        &["import", "some.log", "-o", "-"],
    ] {
        let ran = Ran::new(at(words).output().unwrap());
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("got -"), "{words:?}: {ran:?}");
    }
    assert!(!fs::exists(folder.path().join("-")).unwrap());
}

#[test]
fn a_file_that_exists_already_is_the_same_failure_for_all() {
    let (name, folder) = (Name::new("exists"), tempfile::tempdir().unwrap());
    let [ring, archive] = files(&name, folder.path());
    let log = folder.path().join("a.log").display().to_string();
    fs::write(&log, "one line\n").unwrap();
    for words in [
        &["import", &log, "-o", &ring][..],
        &["import", &log, "--follow", "-o", &ring],
        &["repair", &archive, "-o", &ring],
    ] {
        let ran = run(words);
        assert_eq!(ran.code, Some(1), "{words:?}: {ran:?}");
        assert!(
            ran.stderr.contains("exists already; choose another file"),
            "{ran:?}"
        );
    }
}
