//! What somebody tries in the first hour gets what was meant, or a word about it.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use nix::sys::signal::Signal;

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
    // All that was given stands in the line, as a shell takes it.
    let ran = run(&["search", "two words", &ring, &archive]);
    let told = format!("did you mean `timeline search {ring} {archive} 'two words'`?");
    assert!(ran.code == Some(2) && ran.stderr.contains(&told), "{ran:?}");
    let ran = run(&["search", "--", "-x", &archive]);
    let told = format!("did you mean `timeline search -- {archive} -x`?");
    assert!(ran.code == Some(2) && ran.stderr.contains(&told), "{ran:?}");
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

#[test]
fn save_replaces_no_file_of_another_kind() {
    let (name, folder) = (Name::new("kinds"), tempfile::tempdir().unwrap());
    let [ring, archive] = files(&name, folder.path());
    let log = folder.path().join("app.log").display().to_string();
    fs::write(&log, "one line\n").unwrap();
    for (path, file, what) in [
        (name.path(), &archive, "it is an archive"),
        (name.path(), &log, "it is text"),
        (&archive, &ring, "it is a timeline"),
        (&archive, &log, "it is text"),
    ] {
        let before = fs::read(file).unwrap();
        let message = fail(&["save", path, file]);
        assert!(message.contains(what), "{message}");
        assert_eq!(fs::read(file).unwrap(), before);
    }
    // One that is empty holds nothing.
    fs::write(&log, "").unwrap();
    succeed(&["save", &archive, &log]);
    succeed(&["save", &archive, &log]);

    // Shared memory has timelines only.
    let other = Name::new("kinds-other");
    let message = fail(&["save", &archive, other.path()]);
    assert!(message.contains("is a name in shared memory"), "{message}");
    assert!(fail(&["info", other.path()]).contains("no timeline"));
}

#[test]
fn only_archives_are_indexed() {
    let ran = run(&["index"]);
    assert!(
        ran.code == Some(2) && ran.stderr.contains("<FILE|DIR>"),
        "{ran:?}"
    );
}

#[test]
fn a_recording_of_another_ring_is_told_by_the_name_that_was_given() {
    let (name, folder) = (Name::new("other-ring"), tempfile::tempdir().unwrap());
    let [_, archive] = files(&Name::new("other-ring-a"), folder.path());
    // With a former run, which is asked about first.
    drop(name.create(256));
    let _tl = name.create(256);
    let message = fail(&["record", "--once", name.path(), "-o", &archive]);
    let told = format!("something other than a recording of {},", name.path());
    assert!(message.contains(&told), "{message}");
}

#[test]
fn words_of_other_programs_get_those_of_this_one() {
    let refused = |words: &[&str]| {
        let ran = run(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(!ran.stderr.contains("as a value"), "{ran:?}");
        assert!(!ran.stderr.contains("\n\n\n"), "{ran:?}");
        assert!(!ran.stderr.contains("found in string"), "{ran:?}");
        ran.stderr
    };
    for (words, said) in [
        (&["follow", "/x"][..], "`timeline tail`"),
        (&["grep", "x"], "`timeline search`"),
        (&["ls"], "`timeline list`"),
        (&["dump", "-f", "/x"], "`timeline tail`"),
        (&["serve", "--port", "80"], "--listen 127.0.0.1:8000"),
        (&["serve", "--port=80"], "--listen 127.0.0.1:8000"),
        (&["dump", "--lines", "3"], "-n says how many"),
        (&["--json", "dump"], "'dump --json' exists"),
        (&["dump", "--jsn"], "'--json'"),
        (&["dump", "--nothing-like-it"], "unexpected argument"),
        (&["serve", "--listen", "4298"], "write 127.0.0.1:4298"),
        (&["tail", "-n", "-1"], "from 0 on, got -1"),
        (&["dump", "-n", "x"], "from 0 on, got x"),
        (&["dump", "--line", "-2"], "from 0 on, got -2"),
        (&["search", "-m", "x", "y"], "from 0 on, got x"),
        (&["search", "-C", "-1", "y"], "from 0 on, got -1"),
        (&["outliers", "-n", "1.5"], "from 0 on, got 1.5"),
        (
            &["watch", "-n", "0", "--when", "event x"],
            "from 1 on, got 0",
        ),
        (&["record", "-o", "x", "--cpu", "-1"], "from 0 on, got -1"),
        (&["demo", "--seconds", "0"], "from 1 to 86400, got 0"),
        (&["histogram", "--digits", "6"], "from 1 to 5, got 6"),
    ] {
        let told = refused(words);
        assert!(told.contains(said), "{words:?}: {told}");
    }
    // What is given already is not told as if it had to be.
    for (words, usage) in [
        (
            &["record", "/x"][..],
            "record [OPTIONS] <--output <FILE|DIR>|--to <HOST[:PORT]>> [PATH]\n",
        ),
        (
            &["watch", "/x"],
            "watch [OPTIONS] --when <CONDITION> [PATH]\n",
        ),
        (&["dump", "/x", "--x"], "dump [OPTIONS] [PATH]...\n"),
        (&["follow", "tail"], "[OPTIONS] <VERB>\n"),
    ] {
        let told = refused(words);
        assert!(told.contains(&format!("Usage: timeline {usage}")), "{told}");
    }
    // As tail of other programs.
    let name = Name::new("tail-f");
    drop(name.create(256));
    let folder = tempfile::tempdir().unwrap();
    let ring = snapshot(&name, folder.path());
    succeed(&["tail", "-f", &ring]);
}

#[test]
fn help_has_what_is_of_use_for_its_verb() {
    for verb in VERBS {
        let help = succeed(&[verb, "--help"]).stdout;
        let is_paged = ["dump", "search", "events", "outliers"].contains(&verb);
        assert_eq!(help.contains("--no-pager"), is_paged, "{verb}: {help}");
        // Options of all verbs stand behind those of the verb.
        let (_, options) = help.split_once("\nOptions:\n").unwrap();
        let (options, _) = options.split_once("\n\nExamples:").unwrap_or((options, ""));
        let (own, _) = options.split_once("--color").unwrap();
        assert!(!own.contains("--no-pager"), "{verb}: {help}");
    }
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().display().to_string();
    succeed(&["generate", "man", &pages]);
    for (verb, last) in [
        ("search", "[\\fIPATH\\fR...] \\fIQUERY\\fR"),
        ("dump", "[\\fB\\-\\-no\\-pager\\fR] [\\fIPATH\\fR...]"),
        ("histogram", "[\\fIPATH\\fR] [\\fILOG\\fR...]"),
    ] {
        let page = directory.path().join(format!("timeline-{verb}.1"));
        let page = fs::read_to_string(page).unwrap();
        let synopsis = page.split_once(".SH SYNOPSIS\n").unwrap().1.lines().next();
        assert!(synopsis.unwrap().ends_with(last), "{verb}: {synopsis:?}");
        assert!(!page.contains("WORD"), "{verb}");
    }
}

#[test]
fn a_directory_that_is_no_archive_says_what_it_has() {
    let (name, folder) = (Name::new("no-archive"), tempfile::tempdir().unwrap());
    let path = |of: &str| folder.path().join(of).display().to_string();
    let (snapshots, empty) = (path("snapshots"), path("empty"));
    fs::create_dir(&snapshots).unwrap();
    fs::create_dir(&empty).unwrap();
    drop(name.create(256));
    for time in ["1700", "1800"] {
        let file = format!("{snapshots}/app-{time}.timeline");
        succeed(&["save", name.path(), &file]);
    }
    for verb in [
        "dump",
        "info",
        "tail",
        "stats",
        "verify",
        "index",
        "export",
        "histogram",
    ] {
        let told = fail(&[verb, &snapshots]);
        let expected = format!("name one of them, such as {snapshots}/app-1800.timeline\n");
        assert!(told.ends_with(&expected), "{verb}: {told}");
        let told = fail(&[verb, &empty]);
        let expected = format!("no archive in the directory {empty}: expected files");
        assert!(told.contains(&expected), "{verb}: {told}");
    }
    assert!(fail(&["verify", &path("missing")]).contains("no archive at"));
}

#[test]
fn the_long_form_of_a_search_is_that_of_a_tail() {
    let (name, folder) = (Name::new("search-long"), tempfile::tempdir().unwrap());
    for path in files(&name, folder.path()) {
        let tail = succeed(&["tail", &path, "--long"]).stdout;
        let found = succeed(&["search", &path, "--long", "processed"]).stdout;
        assert_eq!(found.lines().count(), 2, "{found}");
        assert_eq!(found, tail, "{path}");
        let short = succeed(&["search", &path, "processed"]).stdout;
        // A date, where a short line begins with the hour.
        let is_dated = |lines: &str| lines.get(4..5) == Some("-");
        assert!(is_dated(&found) && !is_dated(&short), "{found}{short}");
        let ran = run(&["search", &path, "--long", "--json", "processed"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
}

#[test]
fn a_recorder_says_what_ends_it() {
    let (name, folder) = (Name::new("record-says"), tempfile::tempdir().unwrap());
    let [ring, _] = files(&name, folder.path());
    let path = |of: &str| folder.path().join(of).display().to_string();
    // What is over at once is told at its end alone.
    for from in [&*ring, name.path()] {
        let ran = succeed(&["record", from, "-o", &path("done.tla"), "--once"]);
        assert!(!ran.stderr.contains("recording"), "{ran:?}");
        fs::remove_file(path("done.tla")).unwrap();
    }
    let tl = name.create(256);
    let follow = path("follow.tla");
    let mut recorder = Running::start(&["record", name.path(), "-o", &follow]);
    let said = format!(
        "timeline: recording {} to {follow}; Ctrl-C stops",
        name.path()
    );
    recorder.stderr_until("its begin", |lines| lines == [said.as_str()]);
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    let once = path("once.tla");
    let mut recorder = Running::start(&["record", name.path(), "-o", &once, "--once"]);
    let until = "until its program ends; Ctrl-C stops";
    let said = format!("timeline: recording {} to {once} {until}", name.path());
    recorder.stderr_until("its begin", |lines| lines == [said.as_str()]);
    drop(tl);
    recorder.succeed();
}
