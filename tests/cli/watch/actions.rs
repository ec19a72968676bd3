//! What a firing does: a snapshot, an event, a raised level, a command.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use timeline::{Level, Priority, event};

use super::{begin, end, finish, firings, names, snapshots, tick, watch};
use crate::command::*;
use crate::support::Name;

#[test]
fn the_snapshot_has_what_came_before_what_fired_and_what_followed() {
    let name = Name::new("watch-save");
    let tl = name.create(16 * 1024);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("a/b");
    let save = [
        "--save",
        folder.to_str().unwrap(),
        "-n",
        "1",
        "--category",
        "engine",
    ];
    event!(tl, Priority::Info, "engine", "before");
    let mut watch = watch(&name, &["span engine.breath > 1us"], &save);
    // Only one that is long enough.
    eventually("a long breath", || {
        begin(&tl);
        end(&tl);
        event!(tl, Priority::Info, "engine", "after");
        !watch.stdout_now().is_empty()
    });
    let (found, stderr) = finish(watch, 0);
    let files = snapshots(&folder);
    let file = files[0].display().to_string();
    assert_eq!(
        (files.len(), found[0]["snapshot"].as_str()),
        (1, Some(file.as_str()))
    );
    let stem = name.path().trim_start_matches('/');
    let shown = files[0].file_name().unwrap().to_str().unwrap();
    assert!(
        shown.starts_with(stem) && shown.ends_with("Z-1.timeline"),
        "{shown}"
    );
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert!(
        stderr
            .iter()
            .any(|line| line.contains("saved ") && line.contains(&file)),
        "{stderr:?}"
    );

    let names = names(&file);
    let place = |wanted: &str| names.iter().position(|name| name == wanted).expect(wanted);
    assert_eq!(names[0], "engine.before");
    assert!(place("engine.end_breath") < place("watch.trigger"));
    let last = names
        .iter()
        .rposition(|name| name == "engine.after")
        .unwrap();
    assert!(place("engine.end_breath") < last);
    let dumped = succeed(&["dump", &file, "--event", "watch.*"]).stdout;
    assert!(
        dumped.contains("trigger condition(span engine.breath > 1us) saw value("),
        "{dumped}"
    );
}

#[test]
fn no_more_snapshots_wait_than_are_allowed_and_the_others_are_counted() {
    let name = Name::new("watch-many");
    let tl = name.create(256);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let args = ["--save", path, "--after", "1h", "--cooldown", "0s"];
    let mut watch = watch(&name, &["event engine.tick"], &args);
    for number in 0..104 {
        tick(&tl, number);
        firings(&mut watch, 1 + number as usize);
    }
    watch.signal(Signal::SIGINT);
    let (found, stderr) = finish(watch, 0);
    let told: Vec<_> = found.iter().map(|one| one["snapshot"].as_str()).collect();
    assert_eq!(told.len(), 104);
    assert!(told[..100].iter().all(Option::is_some), "{told:?}");
    assert_eq!(told[100..], [None; 4]);
    let files = snapshots(folder.path());
    let named: std::collections::BTreeSet<_> = told.into_iter().flatten().collect();
    let made = files.iter().map(|file| file.to_str().unwrap());
    assert!(made.eq(named.into_iter()), "{files:?}");
    let without = "4 firings without a snapshot: 100 others were still to be saved";
    assert!(
        stderr.iter().any(|line| line.contains(without)),
        "{stderr:?}"
    );
}

#[test]
fn no_file_is_replaced() {
    let name = Name::new("watch-again");
    let tl = name.create(1024);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let args = [
        "--save",
        path,
        "--after",
        "0s",
        "--cooldown",
        "0s",
        "-n",
        "3",
    ];
    let watch = watch(&name, &["event engine.tick"], &args);
    (0..3).for_each(|number| tick(&tl, number));
    let (found, _) = finish(watch, 0);
    let files = snapshots(folder.path());
    assert_eq!((files.len(), found.len()), (3, 3));
    let told: Vec<_> = found
        .iter()
        .map(|one| one["snapshot"].as_str().unwrap())
        .collect();
    let same = |file: &std::path::PathBuf| told.contains(&file.to_str().unwrap());
    assert!(files.iter().all(same), "{files:?} {told:?}");
    // Each of them is whole.
    files
        .iter()
        .for_each(|file| assert!(!names(file).is_empty()));
}

#[test]
fn a_signal_saves_at_once_what_was_to_be_saved_later() {
    let name = Name::new("watch-hurry");
    let tl = name.create(1024);
    let folder = tempfile::tempdir().unwrap();
    let args = ["--save", folder.path().to_str().unwrap(), "--after", "1h"];
    let mut watch = watch(&name, &["event engine.tick"], &args);
    tick(&tl, 1);
    firings(&mut watch, 1);
    assert!(snapshots(folder.path()).is_empty());
    watch.signal(Signal::SIGTERM);
    finish(watch, 0);
    let files = snapshots(folder.path());
    assert_eq!(names(&files[0]), ["engine.tick", "watch.trigger"]);
}

#[test]
fn firings_in_the_cooldown_are_counted() {
    let name = Name::new("watch-cooldown");
    let tl = name.create(1024);
    let watch = watch(&name, &["event engine.tick"], &["--cooldown", "1h"]);
    (0..5).for_each(|number| tick(&tl, number));
    watch.signal(Signal::SIGINT);
    let (found, stderr) = finish(watch, 0);
    assert_eq!((found.len(), found[0]["ignored"].as_u64()), (1, Some(0)));
    assert_eq!(
        stderr.last().unwrap(),
        "timeline: 1 firing, 4 ignored in the cooldown"
    );
}

#[test]
fn its_own_events_meet_no_condition_and_need_not_be_written() {
    let name = Name::new("watch-own");
    let tl = name.create(1024);
    for read_only in [true, false] {
        let mut args = vec!["--cooldown", "0s"];
        args.extend(read_only.then_some("--read-only"));
        let mut watch = watch(&name, &["event *", "rate(*, 10ms) > 1000000/s"], &args);
        tick(&tl, 1);
        firings(&mut watch, 1);
        tick(&tl, 2);
        firings(&mut watch, 2);
        watch.signal(Signal::SIGINT);
        let (found, _) = finish(watch, 0);
        assert_eq!(found.len(), 2);
        let held = names(name.path());
        let own = held.iter().filter(|name| *name == "watch.trigger").count();
        assert_eq!(
            (held.len() - own, own),
            if read_only { (2, 0) } else { (4, 2) }
        );
    }
}

#[test]
fn the_level_is_raised_and_restored_however_it_ends() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let name = Name::new(&format!("watch-raise-{signal}"));
        let tl = name.create(1024);
        let packet = tl.define("engine", Priority::Packet, "packet").unwrap();
        tl.priority(Level::from(Priority::Info)).unwrap();
        let then = ["--then", "priority packet for 1h", "--cooldown", "0s"];
        let watch = watch(&name, &["event engine.tick"], &then);
        assert!(!tl.enabled(packet));
        tick(&tl, 1);
        eventually("the raised level", || tl.enabled(packet));
        assert_eq!(tl.level(), Level::from(Priority::Info));
        watch.signal(signal);
        finish(watch, 0);
        assert!(!tl.enabled(packet));
        assert_eq!(name.attach().info().boost, Level::NONE);
    }
    // By itself, before it ends.
    let name = Name::new("watch-raise");
    let tl = name.create(1024);
    let packet = tl.define("engine", Priority::Packet, "packet").unwrap();
    tl.priority(Level::from(Priority::Info)).unwrap();
    let then = ["--then", "priority all for 1ms", "-n", "1"];
    let watch = watch(&name, &["event engine.tick"], &then);
    tick(&tl, 1);
    finish(watch, 0);
    assert!(!tl.enabled(packet));
}

#[test]
fn what_a_killed_watch_left_raised_is_cleared_by_the_next_change() {
    let name = Name::new("watch-raise-killed");
    let tl = name.create(1024);
    let packet = tl.define("engine", Priority::Packet, "packet").unwrap();
    tl.priority(Level::from(Priority::Info)).unwrap();
    let watch = watch(
        &name,
        &["event engine.tick"],
        &["--then", "priority all for 1h"],
    );
    tick(&tl, 1);
    eventually("the raised level", || tl.enabled(packet));
    watch.signal(Signal::SIGKILL);
    watch.finish();
    succeed(&["priority", name.path(), "info"]);
    assert!(!tl.enabled(packet));
}

#[test]
fn a_command_learns_what_fired_and_finds_the_snapshot() {
    let name = Name::new("watch-exec");
    let tl = name.create(1024);
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let out = folder.path().join("out");
    let exec = format!(
        "exec env >{} && test -s \"$TIMELINE_SNAPSHOT\" && echo done",
        out.display()
    );
    let condition = "span engine.breath < 1h";
    let args = [
        "--then",
        &exec,
        "--save",
        saved.to_str().unwrap(),
        "--after",
        "0s",
        "-n",
        "1",
    ];
    let watch = watch(&name, &[condition], &args);
    begin(&tl);
    end(&tl);
    let (found, stderr) = finish(watch, 0);
    let said = fs::read_to_string(&out).unwrap();
    let (one, file) = (&found[0], snapshots(&saved).remove(0));
    for (variable, expected) in [
        ("PATH", name.path().to_owned()),
        ("CONDITION", condition.to_owned()),
        ("NAME", "engine.breath".to_owned()),
        ("VALUE_NS", one["value"].to_string()),
        ("UNIX_NS", one["unix_ns"].as_str().unwrap().to_owned()),
        ("TIME", one["time"].as_str().unwrap().to_owned()),
        ("TID", gettid().to_string()),
        ("PID", std::process::id().to_string()),
        ("THREAD", thread_name()),
        ("SNAPSHOT", file.display().to_string()),
    ] {
        let line = format!("TIMELINE_{variable}={expected}");
        assert!(
            said.lines().any(|said| said == line),
            "{line} is not in {said}"
        );
    }
    // What it prints is no firing.
    assert!(stderr.iter().any(|line| line == "done"), "{stderr:?}");
}

#[test]
fn a_command_runs_once_at_a_time_and_its_failure_is_told() {
    let name = Name::new("watch-busy");
    let tl = name.create(1024);
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let exec = format!(
        "exec echo up; until test -e {}; do sleep 0.01; done; exit 3",
        go.display()
    );
    let args = ["--then", &exec, "--cooldown", "0s", "-n", "2"];
    let mut watch = watch(&name, &["event engine.tick"], &args);
    tick(&tl, 1);
    watch.stderr_until("the command", |lines| lines.iter().any(|line| line == "up"));
    tick(&tl, 2);
    watch.stderr_until("a word about it", |lines| {
        lines
            .iter()
            .any(|line| line.contains("still runs, and is not started again"))
    });
    fs::write(&go, "").unwrap();
    let (_, stderr) = finish(watch, 0);
    assert_eq!(stderr.iter().filter(|line| *line == "up").count(), 1);
    assert!(
        stderr
            .iter()
            .any(|line| line.contains("failed: exit status: 3")),
        "{stderr:?}"
    );
}
