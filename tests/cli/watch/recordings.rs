//! Snapshots, archives and runs that are over: tests when conditions would have been met in them.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{begin, end, finish, firings, tick, watch};
use crate::command::*;
use crate::support::Name;

#[test]
fn all_firings_of_a_snapshot_and_of_an_archive_are_told_alike() {
    let name = Name::new("watch-recorded");
    let tl = name.create(1024);
    for number in 0..4 {
        begin(&tl);
        tick(&tl, number);
        end(&tl);
    }
    // Never ended, and the clock goes on.
    begin(&tl);
    tick(&tl, 9);
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(&name, folder.path());
    let archive = folder.path().join("flight.tla").display().to_string();
    succeed(&["record", &snapshot, "-o", &archive]);
    for file in [&snapshot, &archive] {
        let ran = |condition: &str, args: &[&str]| {
            run(&[&["watch", file, "--json", "--when", condition], args].concat())
        };
        let all = ran("span engine.* >= 0s", &[]);
        assert_eq!(all.code, Some(0), "{all:?}");
        let found = all.json();
        assert_eq!(found.len(), 5);
        assert!(found[..4].iter().all(|one| one["open"] == false));
        assert_eq!(found[4]["open"], true);
        let times: Vec<_> = found
            .iter()
            .map(|one| crate::json::nanos(&one["unix_ns"]).unwrap())
            .collect();
        assert!(times[..4].is_sorted(), "{times:?}");
        assert_eq!(ran("span engine.* >= 0s", &["-n", "2"]).json().len(), 2);
        let cooled = ran("span engine.* >= 0s", &["--cooldown", "1h"]);
        assert_eq!(cooled.json().len(), 1);
        assert!(cooled.stderr.contains("1 firing, 4 ignored"), "{cooled:?}");
        assert_eq!(
            ran("event engine.tick where number > 2", &[]).json().len(),
            2
        );
        assert_eq!(
            ran("event engine.*", &["--where", "number == 9"])
                .json()
                .len(),
            1
        );
        let nothing = ran("span engine.* > 1h", &[]);
        assert_eq!(
            (nothing.code, nothing.stdout.as_str()),
            (Some(1), ""),
            "{nothing:?}"
        );
        for args in [&["--save", "x"][..], &["--then", "exec true"]] {
            let refused = ran("event *", args);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
            assert!(refused.stderr.contains("is a recording"), "{refused:?}");
        }
    }
}

#[test]
fn windows_at_the_end_of_a_recording_are_judged() {
    let name = Name::new("watch-burst");
    let tl = name.create(1024);
    begin(&tl);
    (0..100).for_each(|number| tick(&tl, number));
    end(&tl);
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(&name, folder.path());
    let archive = folder.path().join("flight.tla").display().to_string();
    succeed(&["record", &snapshot, "-o", &archive]);
    for file in [&snapshot, &archive] {
        // None of these windows is over before six minutes have passed.
        for (condition, count) in [
            ("rate(engine.tick, 60m) > 1/h", 1),
            ("max(engine.breath, 60m) >= 0s", 1),
            ("p100(engine.breath, 60m) >= 0s", 1),
            ("rate(engine.tick, 60m) > 100k/s", 0),
            // What came next, nobody knows.
            ("rate(engine.tick, 60m) < 100k/s", 0),
            ("missing engine.tick for 1h", 0),
        ] {
            let ran = run(&["watch", file, "--json", "--when", condition]);
            assert_eq!(ran.code, Some(i32::from(count == 0)), "{condition} {ran:?}");
            assert_eq!(ran.json().len(), count, "{condition}");
        }
    }
}

#[test]
fn what_is_open_at_the_end_of_a_recording_is_told_when_its_cooldown_is_over() {
    let name = Name::new("watch-open");
    let tl = name.create(1024);
    // Within the cooldown, unless the machine is busy.
    begin(&tl);
    begin(&tl);
    let (start, cooldown) = (Instant::now(), Duration::from_millis(10));
    while start.elapsed() <= cooldown {
        std::hint::spin_loop();
    }
    tick(&tl, 1);
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(&name, folder.path());
    let told = |cooldown: &str| {
        let when = "span engine.* >= 0s";
        let words = ["--json", "--cooldown", cooldown, "--when", when];
        succeed(&[&["watch", &snapshot], &words[..]].concat()).json()
    };
    assert_eq!(told("10ms").len(), 2);
    assert_eq!(told("1h").len(), 1);
}

#[test]
fn the_last_windows_of_a_run_are_judged_when_the_next_begins() {
    let name = Name::new("watch-runs");
    let tl = name.create(1024);
    let mut watch = watch(&name, &["rate(engine.tick, 60m) > 1/h"], &[]);
    (0..100).for_each(|number| tick(&tl, number));
    drop(tl);
    let _next = name.create(1024);
    let [found] = &firings(&mut watch, 1)[..] else {
        panic!("more than one");
    };
    assert_eq!(found["name"], "engine.tick");
    watch.signal(Signal::SIGINT);
    finish(watch, 0);
}
