//! What a cooldown holds back, what is waited for, and what cannot be saved.

use std::fs;

use nix::sys::signal::Signal;
use timeline::{Priority, event};

use super::{begin, end, finish, firings, tick, watch};
use crate::command::*;
use crate::support::Name;

#[test]
fn a_condition_is_not_held_back_by_another() {
    let name = Name::new("watch-own-cooldown");
    let tl = name.create(1024);
    let conditions = [
        "event engine.tick",
        "event disk.error",
        "missing net.beat for 1ms",
    ];
    let mut watch = watch(&name, &conditions, &["--cooldown", "1h"]);
    event!(tl, Priority::Info, "net", "beat");
    (0..5).for_each(|number| tick(&tl, number));
    event!(tl, Priority::Error, "disk", "error");
    let found = firings(&mut watch, 3);
    let mut met: Vec<_> = found.iter().map(|one| one["condition"].as_str()).collect();
    met.sort();
    assert_eq!(met, [conditions[1], conditions[0], conditions[2]].map(Some));
    watch.signal(Signal::SIGINT);
    let (_, stderr) = finish(watch, 0);
    // Whether ticks were missed twice is a question of time.
    let last = stderr.last().unwrap();
    assert!(last.starts_with("timeline: 3 firings, "), "{last}");
    assert!(
        last.contains(" ignored in the cooldown: 4 of 'event engine.tick'"),
        "{last}"
    );
}

#[test]
fn what_still_holds_at_the_end_of_its_cooldown_is_told_then() {
    let name = Name::new("watch-held");
    let tl = name.create(1024);
    let conditions = ["span engine.breath > 1us", "missing engine.tick for 10ms"];
    // So long that what comes next is held back, on any machine.
    let mut watch = watch(&name, &conditions, &["--cooldown", "2s"]);
    tick(&tl, 1);
    begin(&tl);
    let of = |found: &[serde_json::Value], condition: &str| {
        let of_it = found.iter().filter(|one| one["condition"] == condition);
        of_it.cloned().collect::<Vec<_>>()
    };
    let found = firings(&mut watch, 2);
    assert_eq!(of(&found, conditions[0])[0]["open"], true);
    assert_eq!(of(&found, conditions[1]).len(), 1);
    // One that is over by then, one that hangs, and no more ticks.
    end(&tl);
    begin(&tl);
    end(&tl);
    begin(&tl);
    tick(&tl, 2);
    let found = firings(&mut watch, 4);
    let (spans, missing) = (of(&found, conditions[0]), of(&found, conditions[1]));
    assert_eq!((spans.len(), missing.len()), (2, 2), "{found:?}");
    let value = |one: &serde_json::Value| one["value"].as_u64().unwrap();
    // How long it has been, when it is told.
    assert_eq!(spans[1]["open"], true, "{found:?}");
    assert!(
        value(&spans[1]) > 1_000_000_000 && value(&missing[1]) > 1_000_000_000,
        "{found:?}"
    );
    watch.signal(Signal::SIGINT);
    finish(watch, 0);
}

#[test]
fn a_recording_tells_what_held_at_the_end_of_a_cooldown() {
    let name = Name::new("watch-held-recording");
    let tl = name.create(1024);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.timeline").display().to_string();
    // The first is over at once; the second lasts until something else comes, long after it.
    for breath in 0..2 {
        begin(&tl);
        if breath == 0 {
            end(&tl);
        }
    }
    succeed(&["save", name.path(), &file]);
    let conditions = [
        "--when",
        "span engine.breath >= 0s",
        "--cooldown",
        "1ns",
        "--json",
    ];
    let found = succeed(&[&["watch", &file], &conditions[..]].concat()).json();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1]["open"], true);
}

#[test]
fn a_snapshot_that_cannot_be_saved_is_a_failure() {
    let name = Name::new("watch-unsaved");
    let tl = name.create(1024);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("snapshots");
    let save = ["--save", folder.to_str().unwrap(), "--after", "1h"];
    let mut watch = watch(&name, &["event engine.tick"], &save);
    tick(&tl, 1);
    firings(&mut watch, 1);
    fs::remove_dir_all(&folder).unwrap();
    watch.signal(Signal::SIGINT);
    let (_, stderr) = finish(watch, 2);
    let last = stderr.last().unwrap();
    assert_eq!(last, "timeline: 1 snapshot could not be saved");
}

#[test]
fn a_watch_waits_for_its_program() {
    let name = Name::new("watch-waits");
    let mut args = vec![
        "watch",
        name.path(),
        "--json",
        "--when",
        "event engine.tick",
    ];
    let mut watch = Running::start(&args);
    let waits = format!("waiting for {}", name.path());
    watch.stderr_until("waiting", |lines| {
        lines.iter().any(|line| line.contains(&waits))
    });
    // Of the first run, even the first events matter.
    let tl = name.create(1024);
    tick(&tl, 7);
    assert_eq!(firings(&mut watch, 1)[0]["name"], "engine.tick");
    watch.signal(Signal::SIGINT);
    finish(watch, 0);
    drop(tl);

    let other = Name::new("watch-waits-in-vain");
    args[1] = other.path();
    let ran = run(&[&args[..], &["--duration", "10ms"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    // What can never be saved is refused before that.
    let ran = run(&[&args[..], &["--save", "/proc/self"]].concat());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("cannot write to /proc/self"), "{ran:?}");
    // Nobody makes an archive that was meant.
    args[1] = "/tmp/no-such-archive.tla";
    assert_eq!(run(&args).code, Some(2));
}
