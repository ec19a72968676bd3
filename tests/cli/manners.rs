//! Tests how the command helps its users.
//! Help comes by either way. A misspelt name gets a hint. If there is only one timeline, nobody has
//! to name it. Messages say in words, not in bytes, what a file is that is no timeline.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::command::*;
use crate::support::Name;

/// The verbs that `--help` has.
pub fn verbs() -> Vec<String> {
    let help = succeed(&["--help"]).stdout;
    let (_, verbs) = help.split_once("\nVerbs:\n").unwrap();
    let verbs = verbs.lines().take_while(|line| !line.is_empty());
    let verbs = verbs.filter(|line| !line.starts_with("   "));
    verbs
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

#[test]
fn help_of_a_verb_comes_either_way() {
    let verbs = verbs();
    assert!(verbs.len() > 12, "{verbs:?}");
    for verb in verbs.iter().filter(|verb| *verb != "help") {
        assert_eq!(
            succeed(&["help", verb]).stdout,
            succeed(&[verb, "--help"]).stdout
        );
    }
    assert_eq!(succeed(&["help"]).stdout, succeed(&["--help"]).stdout);
    for (words, told) in [
        (
            &["help", "frobnicate"][..],
            "unrecognized verb 'frobnicate'\n\nUsage",
        ),
        (&["help", "dmup"], "a similar verb exists: 'dump'"),
        (&["dmup"], "a similar verb exists: 'dump'"),
        (&["cat"], "`timeline dump` prints events"),
    ] {
        let ran = run(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(told), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("unrecognized verb"), "{}", ran.stderr);
    }
}

#[test]
fn a_name_that_was_mistyped_is_found() {
    let name = Name::new("manners-v3-live");
    let tl = name.create(256);
    let live = name.path();
    let hint = format!("; did you mean {live}?");
    for mistyped in [
        live[1..].to_string(),
        live.replace("live", "lvie"),
        live.replace("live", "li"),
        live.replace("live", "LIVE"),
        live[1..].replace("v3", "v2"),
    ] {
        for verb in ["dump", "info", "tail", "priority", "rm"] {
            let message = fail(&[verb, &mistyped]);
            assert!(
                message.ends_with(&format!("no timeline at {mistyped}{hint}\n")),
                "{message}"
            );
        }
    }
    // A recorder waits for what is not there, and says the same.
    let mistyped = live.replace("live", "lvie");
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("a.tla").display().to_string();
    let mut recorder = Running::start(&["record", &mistyped, "-o", &out]);
    recorder.stderr_until("the hint", |lines| {
        lines.iter().any(|line| line.ends_with(&hint))
    });
    for other in ["/nothing-like-it", "nothing-like-it", "./dir/v3-live", "x"] {
        let message = fail(&["dump", other]);
        assert!(!message.contains("did you mean"), "{message}");
    }
    drop(tl);
}

#[test]
fn what_is_no_timeline_is_said_in_words() {
    let directory = TempDir::new().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let name = Name::new("manners-words");
    drop(name.create(256));
    let ring = snapshot(&name, directory.path());
    let archive = directory.path().join("a.tla").display().to_string();
    succeed(&["record", &ring, "-o", &archive]);
    let elf = fs::read(env!("CARGO_BIN_EXE_timeline")).unwrap();
    for (path, what) in [
        (file("empty", b""), "empty"),
        (file("text", b"Dear reader,\n"), "text"),
        (
            file("gz", b"\x1f\x8b\x08\0rest of it"),
            "compressed by gzip; unpack it first (gunzip)",
        ),
        (
            file("elf", &elf[..4096]),
            "a program, a library or a core dump (ELF)",
        ),
        (file("data", &[0xfe; 100]), "data of another kind"),
    ] {
        for verb in ["dump", "info", "tail"] {
            let message = fail(&[verb, &path]);
            let words =
                format!("timeline: {path} is neither a timeline nor an archive: it is {what}\n");
            assert_eq!(message, words);
        }
        let message = fail(&["priority", &path, "info"]);
        assert!(
            message.starts_with(&format!(
                "timeline: {path} is not a timeline: it is {}",
                &what[..4]
            )),
            "{message}"
        );
        let message = fail(&["verify", &path]);
        assert_eq!(
            message,
            format!("timeline: {path} is not an archive: it is {what}\n")
        );
    }
    let lines = file("lines.log", b"one\ntwo\n");
    let indexed = directory.path().join("lines.tla").display().to_string();
    succeed(&["import", &lines, "-o", &indexed]);
    succeed(&["index", &indexed]);
    for verb in ["dump", "verify"] {
        let message = fail(&[verb, &format!("{indexed}.idx")]);
        assert!(
            message.contains("it is the index of an archive"),
            "{message}"
        );
    }
    let readers = "info, dump, tail, search, stats, events, histogram, outliers, watch, serve, \
                   save, index, export, verify and repair";
    let message = fail(&["priority", &archive]);
    assert!(
        message.ends_with(&format!(
            " is an archive, not a timeline; {readers} read archives\n"
        )),
        "{message}"
    );
    let message = fail(&["verify", &ring]);
    assert!(
        message.contains("a snapshot of one, not an archive"),
        "{message}"
    );
}

/// Runs a script where /dev/shm has nothing in it; `None` where the machine does not let us make
/// such a place.
fn alone(script: &str, directory: &Path) -> Option<Ran> {
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--mount", "--map-root-user", "sh", "-c"])
        .current_dir(directory);
    unshare.arg(format!("mount -t tmpfs none /dev/shm || exit 77\n{script}"));
    let path = Path::new(env!("CARGO_BIN_EXE_timeline"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    unshare.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap()));
    let output = unshare.output().unwrap();
    let refused = output.status.code() == Some(77)
        || String::from_utf8_lossy(&output.stderr).starts_with("unshare: ");
    if refused {
        assert!(std::env::var_os("CI").is_none(), "{output:?}");
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(Ran::new(output))
}

#[test]
fn the_only_timeline_need_not_be_named() {
    let directory = TempDir::new().unwrap();
    let only = "timeline: using /only, the only timeline in shared memory\n";
    let demo = "timeline demo /only --seconds 1 >/dev/null 2>&1\n";
    for (verb, out) in [
        ("dump -n 1", "numa core "),
        ("info", "/only  no writer\n"),
        ("priority", "packet\n"),
        ("save kept.timeline", ""),
        ("record --once -o kept.tla", ""),
        ("tail kept.timeline -n 1", ""),
    ] {
        let Some(ran) = alone(&format!("{demo}timeline {verb}"), directory.path()) else {
            return;
        };
        assert_eq!(ran.code, Some(0), "{verb}: {ran:?}");
        assert!(ran.stdout.starts_with(out), "{verb}: {ran:?}");
        let named = verb.starts_with("tail");
        assert_eq!(ran.stderr.starts_with(only), !named, "{verb}: {ran:?}");
    }
    // A level alone is no name.
    let ran = alone(&format!("{demo}timeline priority info"), directory.path()).unwrap();
    assert!(
        ran.stderr.ends_with("/only: level info, was packet\n"),
        "{ran:?}"
    );
    // Nor is a channel with its state.
    let script = format!("{demo}timeline channel itv on && timeline channel");
    let ran = alone(&script, directory.path()).unwrap();
    assert!(ran.stderr.contains("/only: channel itv is on\n"), "{ran:?}");
    assert!(ran.stdout.contains("itv      on     switched"), "{ran:?}");
    // What `new` moved aside does not count, and nothing of it is written to a live name.
    let notes = "echo notes >/dev/shm/only.prev\n";
    for (before, aside) in [("", "only.prev"), (notes, "only.prev-*")] {
        let twice = format!("{before}{demo}{demo}test -e /dev/shm/{aside} || exit 1\n");
        let ran = alone(&format!("{twice}timeline dump -n 1"), directory.path()).unwrap();
        assert_eq!(ran.code, Some(0), "{aside}: {ran:?}");
    }
    // A program that logs at such a name does.
    let other = "timeline demo /other.prev --seconds 60 >/dev/null 2>&1 & demo=$!\n\
                 until timeline info /other.prev 2>&1 | grep -q live; do :; done\n";
    let ends = "code=$?; kill $demo; wait $demo; exit $code";
    let several = format!("{demo}{other}timeline dump -n 1\n{ends}");
    let ran = alone(&several, directory.path()).unwrap();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("\n  /only\n  /other.prev\n"), "{ran:?}");
    let ran = alone(&format!("{demo}timeline save /only"), directory.path()).unwrap();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("the FILE to write is missing"),
        "{ran:?}"
    );
    // A word that may be the PATH is not written to.
    let kept = std::fs::read(directory.path().join("kept.tla")).unwrap();
    for verb in ["save kept.tla", "save kept.timeline"] {
        let ran = alone(&format!("{demo}timeline {verb}"), directory.path()).unwrap();
        let told = "exists already; write `timeline save PATH FILE`";
        assert!(
            ran.code == Some(2) && ran.stderr.contains(told),
            "{verb}: {ran:?}"
        );
    }
    assert_eq!(
        std::fs::read(directory.path().join("kept.tla")).unwrap(),
        kept
    );
    // Nor is it what is searched for.
    for (query, what) in [("/only", "a timeline"), ("kept.tla", "an archive")] {
        let ran = alone(&format!("{demo}timeline search {query}"), directory.path()).unwrap();
        let told = format!("the QUERY is missing: {query} is {what}");
        assert!(
            ran.code == Some(2) && ran.stderr.contains(&told),
            "{query}: {ran:?}"
        );
    }
}

#[test]
fn none_or_several_are_told_with_status_2() {
    let directory = TempDir::new().unwrap();
    let demos = "for n in a b; do timeline demo /$n --seconds 1 >/dev/null 2>&1; done\n";
    for verb in [
        "dump",
        "tail",
        "info",
        "save x",
        "record -o x",
        "priority",
        "sample --level all --for 1ms --every 2ms",
    ] {
        let Some(ran) = alone(&format!("timeline {verb}"), directory.path()) else {
            return;
        };
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(
            ran.stderr
                .starts_with("error: there is no timeline in shared memory; name a PATH"),
            "{ran:?}"
        );
    }
    let ran = alone(&format!("{demos}timeline dump"), directory.path()).unwrap();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(
        ran.stderr.starts_with(
            "error: there are several timelines in shared memory; name one:\n  /a\n  /b\n"
        ),
        "{ran:?}"
    );
    let ran = alone("timeline list", directory.path()).unwrap();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.stderr.lines().all(|line| line.len() <= 80), "{ran:?}");
}

#[test]
fn hints_fit_into_80_columns() {
    let wide = |text: &str| {
        let fits = |line: &&str| line.chars().count() > 80 && !line.starts_with("Usage: ");
        text.lines()
            .filter(fits)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for verb in verbs() {
        assert_eq!(wide(&succeed(&["help", &verb]).stdout), [""; 0]);
    }
    // With the name that it has by default, or one as long.
    let name = Name::new("d");
    let demo = succeed(&["demo", name.path(), "--seconds", "1"]).stdout;
    let (_, hints) = demo.split_once("\n\n").unwrap();
    assert!(hints.contains("timeline sample "), "{hints}");
    let hints = hints.replace(name.path(), "/timeline-demo");
    assert_eq!(wide(&hints), [""; 0]);
}

#[test]
fn one_of_a_kind_is_not_told_as_several() {
    let name = Name::new("manners-one");
    let tl = name.create(256);
    let events = Events::define(&tl);
    tl.log(events.sum, [1, 2, 3]);
    let directory = TempDir::new().unwrap();
    let file = snapshot(&name, directory.path());
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (archive, damaged) = (path("a.tla"), path("d.tla"));
    let mut told = String::new();
    let mut run = |args: &[&str]| {
        let ran = run(args);
        told += &(ran.stdout + &ran.stderr);
    };
    run(&["record", &file, "-o", &archive]);
    let mut bytes = fs::read(&archive).unwrap();
    bytes.push(0);
    fs::write(&damaged, bytes).unwrap();
    for of in [&file, &archive, &damaged] {
        run(&["info", of]);
        run(&["dump", of]);
        run(&["tail", of]);
    }
    run(&["info", name.path()]);
    run(&["save", &archive, &path("saved.tla")]);
    run(&["save", name.path(), &path("saved.timeline")]);
    run(&["verify", &damaged]);
    run(&["repair", &damaged, "-o", &path("repaired.tla")]);
    drop(tl);
    run(&["demo", name.path(), "--seconds", "1"]);
    assert!(
        told.contains("1 event ") && told.contains("1 byte "),
        "{told}"
    );
    let words: Vec<&str> = told
        .split(|c: char| c.is_whitespace() || c == '(')
        .collect();
    for pair in words.windows(2).filter(|pair| pair[0] == "1") {
        let word = pair[1].trim_end_matches(|c: char| !c.is_alphabetic());
        assert!(!word.ends_with('s') || word == "s", "1 {word}: {told}");
    }
    for wrong in ["1 byte are", "1 byte in 1 place belong ", "1 event are"] {
        assert!(!told.contains(wrong), "{wrong}: {told}");
    }
}

#[test]
fn the_demo_makes_no_file_that_nobody_asked_for() {
    let directory = TempDir::new().unwrap();
    let mut demo = command(&["demo", "mine", "--seconds", "1"]);
    let ran = Ran::new(demo.current_dir(directory.path()).output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(
        ran.stderr
            .contains("write /mine for a timeline in shared memory, or ./mine for the file"),
        "{ran:?}"
    );
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

    let mut demo = command(&["demo", "./mine", "--seconds", "1"]);
    let ran = Ran::new(demo.current_dir(directory.path()).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(directory.path().join("mine").exists());
}
