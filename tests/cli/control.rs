//! priority, sample and rm.

use nix::sys::signal::Signal;
use timeline::{Attributes, Level, Priority};

use crate::command::*;
use crate::support::Name;

#[test]
fn priority_shows_and_sets_the_level_at_once() {
    let name = Name::new("priority");
    let tl = name.create(256);
    let events = Events::define(&tl);
    assert_eq!(succeed(&["priority", name.path()]).stdout, "all\n");
    let ran = succeed(&["priority", name.path(), "warning"]);
    assert_eq!(
        (
            ran.stdout.as_str(),
            ran.stderr.contains("level warning, was all")
        ),
        ("", true)
    );
    assert_eq!(tl.level(), Level::from(Priority::Warning));
    let enabled = |event| tl.enabled(event);
    assert_eq!(
        [events.sum, events.warn, events.fail].map(enabled),
        [false, true, true]
    );
    assert_eq!(succeed(&["priority", name.path()]).stdout, "warning\n");
    for level in Priority::ALL
        .map(Priority::name)
        .into_iter()
        .chain(["none", "all"])
    {
        succeed(&["priority", name.path(), level]);
        assert_eq!(tl.level().to_string(), level);
    }
    let ran = run(&["priority", name.path(), "loud"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("'loud'") && ran.stderr.contains("library, all or none"),
        "{ran:?}"
    );
    assert_eq!(tl.level(), Level::ALL);
}

#[test]
fn rules_by_category_and_by_name_are_set_shown_and_ended() {
    let name = Name::new("rules");
    let tl = name.create(256);
    let got = tl.define("net", Priority::Packet, "got packet $n").unwrap();
    let idle = tl.define("net", Priority::Error, "idle: $n").unwrap();
    let enabled = |expected: [bool; 2]| assert_eq!([got, idle].map(|e| tl.enabled(e)), expected);
    let shown = |expected: &str| {
        let printed = succeed(&["priority", name.path()]).stdout;
        assert_eq!(printed.trim_end(), expected);
    };
    succeed(&["priority", name.path(), "info"]);
    enabled([false, true]);
    let ran = succeed(&["priority", name.path(), "net=packet"]);
    assert!(
        ran.stderr.contains("level info,net=packet, was info"),
        "{ran:?}"
    );
    enabled([true, true]);
    succeed(&["disable", name.path(), "net.idle*", "other.*"]);
    enabled([true, false]);
    shown("info,net=packet,-net.idle*,-other.*");
    succeed(&["priority", name.path(), "-net.*"]);
    succeed(&["enable", name.path(), "net.idle"]);
    enabled([false, true]);
    let info = succeed(&["info", name.path()]).stdout;
    assert!(
        info.contains("info,net=packet,-net.idle*,-other.*,-net.*,+net.idle"),
        "{info}"
    );
    let info = succeed(&["info", name.path(), "--json"]).stdout;
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["level"], "info");
    assert_eq!(info["rules"][4], "+net.idle");
    // A rule may wait for its events.
    let ran = succeed(&["enable", name.path(), "later.*"]);
    assert!(ran.stderr.contains("none of the 2 events"), "{ran:?}");
    let later = tl.define("later", Priority::Library, "on").unwrap();
    assert!(tl.enabled(later));
    succeed(&["priority", name.path(), "error"]);
    shown("error");
    enabled([false, true]);
}

#[test]
fn words_that_are_no_rules_are_told_and_change_nothing() {
    let name = Name::new("no-rules");
    let _tl = name.create(256);
    for (arguments, told) in [
        (&["priority", "net=loud"][..], "unknown level \"loud\""),
        (&["priority", "net=info,error"], "\"error\" is no rule"),
        (&["enable", "a b"], "\"+a b\" is no rule"),
        (&["disable"], "the names of EVENTS are missing"),
        (
            &["enable", "net.idle", "info"],
            "and info is a level; `timeline priority info`",
        ),
        (&["disable", "all"], "and all is a level"),
    ] {
        let arguments = [&arguments[..1], &[name.path()], &arguments[1..]].concat();
        let ran = run(&arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
    for i in 0..24 {
        let events = format!("category.event_{i:08}");
        let ran = run(&["enable", name.path(), &events]);
        assert_eq!(ran.code, Some(i32::from(i >= 17)), "{i}: {ran:?}");
        assert!(
            i < 17 || ran.stderr.contains("there is room for 446; set a level"),
            "{ran:?}"
        );
    }
    succeed(&["priority", name.path(), "all"]);
    succeed(&["enable", name.path(), "category.*"]);
}

#[test]
fn channels_are_shown_and_switched() {
    let name = Name::new("channels");
    let tl = name.create(256);
    let ran = succeed(&["channel", name.path()]);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("no event has a channel"), "{ran:?}");
    // Before it is defined.
    let ran = succeed(&["channel", name.path(), "itv", "on"]);
    let waits = "no event is defined so far; it waits for events that are defined later. 1 of 64 \
                 channels is used";
    assert!(ran.stderr.contains(waits), "{ran:?}");
    let both = Attributes {
        channels: "itv|bbc",
        ..Attributes::default()
    };
    let news = tl
        .define_with("news", Priority::Info, "news", &both)
        .unwrap();
    let alone = Attributes {
        channels: "ard=on",
        ..Attributes::default()
    };
    tl.define_with("news", Priority::Info, "news", &alone)
        .unwrap();
    assert!(!tl.enabled(news));
    let ran = succeed(&["channel", name.path(), "bbc", "on"]);
    let told = &ran.stderr;
    assert!(
        told.contains("channel bbc is on") && !told.contains("none of"),
        "{told}"
    );
    assert!(tl.enabled(news));
    succeed(&["channel", name.path(), "itv", "off"]);
    assert!(!tl.enabled(news));
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    for of in [name.path(), &file] {
        assert_eq!(
            succeed(&["channel", of]).stdout,
            "CHANNEL  STATE  BY          EVENTS\n\
             itv      off    switched         1\n\
             bbc      on     switched         1\n\
             ard      on     definition       1\n"
        );
        let info = succeed(&["info", of]).stdout;
        assert!(info.contains("itv off, bbc on, ard on"), "{info}");
        let info = succeed(&["info", of, "--json"]).stdout;
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        assert_eq!(info["channels"][1]["on"], true);
    }
    let ran = run(&["channel", name.path(), "a b", "on"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("cannot name a channel"), "{ran:?}");
    assert_eq!(run(&["channel", name.path(), "itv"]).code, Some(2));
    assert!(fail(&["channel", &file, "itv", "on"]).contains("snapshot"));
}

#[test]
fn priority_of_a_snapshot_is_shown_and_cannot_be_set() {
    let name = Name::new("priority-snapshot");
    let tl = name.create(256);
    tl.priority(Level::from(Priority::App)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    assert_eq!(succeed(&["priority", &file]).stdout, "app\n");
    let message = fail(&["priority", &file, "info"]);
    assert!(message.contains("snapshot"), "{message}");
    assert_eq!(succeed(&["priority", &file]).stdout, "app\n");
}

#[test]
fn priority_works_on_a_timeline_whose_writers_are_gone() {
    let name = Name::new("priority-dead");
    drop(name.create(256));
    succeed(&["priority", name.path(), "error"]);
    assert_eq!(succeed(&["priority", name.path()]).stdout, "error\n");
}

#[test]
fn sample_raises_the_level_and_any_signal_restores_it() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let name = Name::new(&format!("sample-{signal}"));
        let tl = name.create(256);
        let events = Events::define(&tl);
        tl.switch(&"warning,disk=info".parse().unwrap()).unwrap();
        let sample = Running::start(&[
            "sample",
            name.path(),
            "--level",
            "all",
            "--for",
            "1ms",
            "--every",
            "3ms",
        ]);
        for (what, expected) in [("a burst", true), ("its end", false), ("the next", true)] {
            eventually(what, || tl.enabled(events.sum) == expected);
        }
        sample.signal(signal);
        let (stdout, stderr) = sample.succeed();
        assert!(stdout.is_empty());
        assert!(stderr[0].contains("all for 1 ms every 3 ms"), "{stderr:?}");
        assert!(
            stderr[1].ends_with("the level is warning,disk=info again"),
            "{stderr:?}"
        );
        assert_eq!(tl.level(), Level::from(Priority::Warning));
        assert!(!tl.enabled(events.sum) && tl.enabled(events.warn));
        assert_eq!(name.attach().info().boost, Level::NONE);
    }
}

#[test]
fn sample_stops_by_itself_after_its_duration() {
    let name = Name::new("sample-duration");
    let tl = name.create(256);
    tl.priority(Level::NONE).unwrap();
    let args = [
        "--level",
        "info",
        "--for",
        "1ms",
        "--every",
        "2ms",
        "--duration",
        "20ms",
    ];
    let ran = succeed(&[&["sample", name.path()], args.as_slice()].concat());
    assert!(ran.stderr.contains("info for 1 ms every 2 ms"), "{ran:?}");
    assert_eq!(tl.level(), Level::NONE);
    assert_eq!(name.attach().info().boost, Level::NONE);
}

#[test]
fn sample_says_so_when_the_program_is_gone() {
    let name = Name::new("sample-gone");
    let tl = name.create(256);
    let mut sample = Running::start(&[
        "sample",
        name.path(),
        "--level",
        "all",
        "--for",
        "1ms",
        "--every",
        "3ms",
    ]);
    sample.stderr_until("the start", |lines| lines.len() == 1);
    drop(tl);
    timeline::unlink(name.path()).unwrap();
    let (status, _, stderr) = sample.finish();
    assert_eq!(status.code(), Some(1));
    assert!(
        stderr[1].contains("was removed or created again"),
        "{stderr:?}"
    );
}

#[test]
fn sample_refuses_times_that_make_no_sense() {
    let name = Name::new("sample-usage");
    let tl = name.create(256);
    let cases = [
        (
            ["--for", "0s", "--every", "1ms"],
            "expected a time above zero, got 0s",
        ),
        (
            ["--for", "1ms", "--every", "0ms"],
            "expected a time above zero, got 0ms",
        ),
        (
            ["--for", "100", "--every", "1ms"],
            "expected a time with a unit",
        ),
        (
            ["--for", "10ms", "--every", "10ms"],
            "--for must be shorter than --every (10 ms), got 10 ms",
        ),
    ];
    for (times, expected) in cases {
        let args = [&["sample", name.path(), "--level", "all"], times.as_slice()].concat();
        let ran = run(&args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
    drop(tl);
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    let message = fail(&[
        "sample", &file, "--level", "all", "--for", "1ms", "--every", "2ms",
    ]);
    assert!(message.contains("snapshot"), "{message}");
}

#[test]
fn rm_refuses_what_is_in_use_and_names_who() {
    let name = Name::new("rm");
    let tl = name.create(256);
    let message = fail(&["rm", name.path()]);
    let (pid, hint) = (format!("({})", std::process::id()), "use --force");
    assert!(
        message.contains("in use by") && message.contains(&pid),
        "{message}"
    );
    assert!(message.contains(hint), "{message}");
    assert!(name.file().exists());
    succeed(&["rm", "--force", name.path()]);
    assert!(!name.file().exists());
    // The writer is none the worse for it.
    log_sums(&tl, &Events::define(&tl), 300);
    drop(tl);

    drop(name.create(256));
    let ran = succeed(&["rm", name.path()]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert!(!name.file().exists());
    assert!(fail(&["rm", name.path()]).contains("no timeline at"));
}

#[test]
fn rm_tries_every_name_and_tells_every_failure() {
    let (missing, first, second) = (Name::new("rm-none"), Name::new("rm-1"), Name::new("rm-2"));
    drop(first.create(256));
    let used = second.create(256);
    let ran = run(&["rm", missing.path(), first.path(), second.path()]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.stderr.lines().count(), 2);
    assert!(
        ran.stderr
            .lines()
            .all(|line| line.starts_with("timeline: ")),
        "{ran:?}"
    );
    assert!(!first.file().exists() && second.file().exists());
    drop(used);
}

#[test]
fn rm_spares_files_of_other_kinds() {
    let directory = tempfile::tempdir().unwrap();
    let letter = directory.path().join("letter.txt");
    std::fs::write(&letter, "Dear reader, ".repeat(500)).unwrap();
    let letter = letter.to_str().unwrap();
    for args in [vec!["rm", letter], vec!["rm", "--force", letter]] {
        let message = fail(&args);
        assert!(message.contains("not a timeline"), "{message}");
    }
    assert!(std::path::Path::new(letter).exists());

    let name = Name::new("rm-file");
    drop(name.create(256));
    let file = snapshot(&name, directory.path());
    succeed(&["rm", &file]);
    assert!(!std::path::Path::new(&file).exists());
}

#[test]
fn rm_asks_for_force_on_what_cannot_be_read() {
    let name = Name::new("rm-damaged");
    drop(name.create(256));
    let file = std::fs::OpenOptions::new().write(true).open(name.file());
    file.unwrap().set_len(8192).unwrap();
    let message = fail(&["rm", name.path()]);
    assert!(
        message.contains("truncated") && message.contains("use --force"),
        "{message}"
    );
    succeed(&["rm", "-f", name.path()]);
    assert!(!name.file().exists());
}

#[test]
fn what_a_killed_creator_left_is_listed_and_can_be_removed() {
    let name = Name::new("unfinished");
    let staging = format!("{}.creating-0123456789abcdef", name.path());
    let file = format!("/dev/shm{staging}");
    std::fs::write(&file, [0; 8192]).expect("written");
    let listed = succeed(&["list"]).stdout;
    let line = listed.lines().find(|line| line.contains(&staging));
    assert!(
        line.is_some_and(|line| line.contains("is not complete")),
        "{listed}"
    );
    for words in [vec!["rm", &staging], vec!["rm", "--force", &staging]] {
        // However far its creator came.
        for bytes in [0, 8192] {
            std::fs::write(&file, vec![0; bytes]).expect("written");
            succeed(&words);
            assert!(!std::path::Path::new(&file).exists(), "{words:?} {bytes}");
        }
    }
}
