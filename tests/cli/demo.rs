//! demo.

use nix::sys::signal::Signal;

use crate::command::*;
use crate::support::Name;

#[test]
fn demo_leaves_a_timeline_and_says_what_to_try() {
    let name = Name::new("demo");
    // Twice: the second run finds the first one's timeline in place, and keeps it.
    for run in 1..=2 {
        let ran = succeed(&["demo", name.path(), "--seconds", "1"]);
        assert_eq!(ran.stderr, "");
        assert!(
            ran.stdout.contains(&format!("{}: ", name.path())),
            "{}",
            ran.stdout
        );
        let tries: Vec<_> = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("  timeline "))
            .collect();
        assert!(tries.len() >= 6, "{}", ran.stdout);
        assert_eq!(
            timeline::Attached::open(name.beside(".prev")).is_ok(),
            run == 2
        );
    }
    let objects = succeed(&["dump", "--json", name.path()]).json();
    let threads: std::collections::BTreeSet<_> = objects
        .iter()
        .map(|object| object["thread"].as_str().unwrap())
        .collect();
    for thread in ["producer", "worker-1", "worker-2", "worker-3"] {
        assert!(threads.contains(thread), "{thread} is not in {threads:?}");
    }
    let categories: std::collections::BTreeSet<_> = objects
        .iter()
        .map(|object| object["category"].as_str().unwrap())
        .collect();
    assert!(
        categories.contains("worker") && categories.contains("queue"),
        "{categories:?}"
    );
    assert_eq!(objects[0]["priority"], "info");
    assert!(
        objects[0]["message"]
            .as_str()
            .unwrap()
            .starts_with("stopped after blocks(")
    );
}

#[test]
fn demo_stops_early_on_a_signal() {
    let name = Name::new("demo-signal");
    let mut demo = Running::start(&["demo", name.path(), "--seconds", "600"]);
    demo.stdout_until("the first line", |lines| !lines.is_empty());
    demo.signal(Signal::SIGINT);
    let (stdout, stderr) = demo.succeed();
    assert!(
        stdout.iter().any(|line| line.contains("timeline rm ")),
        "{stdout:?}"
    );
    assert!(stderr.is_empty(), "{stderr:?}");
    // Not all of the ten minutes in a hurry either: a line a second until then.
    let status = format!("{}: ", name.path());
    let drawn = stdout
        .iter()
        .filter(|line| line.starts_with(&status))
        .count();
    assert!((1..100).contains(&drawn), "{drawn}");
    assert!(name.attach().info().entries_held > 0);
}

#[test]
fn demo_does_not_take_a_name_that_is_in_use() {
    let name = Name::new("demo-used");
    let tl = name.create(256);
    let message = fail(&["demo", name.path()]);
    assert!(message.contains("in use"), "{message}");
    drop(tl);
}
