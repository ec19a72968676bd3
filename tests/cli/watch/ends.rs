//! Ends: of the watch, of the program that is watched, and of its runs.

use std::path::Path;

use nix::sys::signal::Signal;

use super::{finish, firings, names, tick, watch};
use crate::command::*;
use crate::support::{Name, Process, hear, say};

#[test]
fn a_watch_that_saw_nothing_ends_with_status_1() {
    let name = Name::new("watch-nothing");
    let tl = name.create(1024);
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let watch = watch(&name, &["event engine.silence"], &[]);
        tick(&tl, 1);
        watch.signal(signal);
        let (found, stderr) = finish(watch, 1);
        assert!(found.is_empty());
        assert_eq!(
            stderr.last().unwrap(),
            "timeline: 0 firings, 0 ignored in the cooldown"
        );
    }
    let watch = watch(&name, &["event engine.silence"], &["--duration", "10ms"]);
    finish(watch, 1);
}

#[test]
fn a_watch_quits_quietly_when_its_reader_leaves() {
    let name = Name::new("watch-closed");
    let _tl = name.create(1024);
    let mut watch = Running::start_unread(&["watch", name.path(), "--when", "event engine.tick"]);
    watch.stderr_until("the beginning", |lines| lines.len() == 1);
    drop(watch.take_stdout());
    watch.succeed();
    // Nor does it wait for a program any longer.
    let none = Name::new("watch-closed-none");
    let mut watch = Running::start_unread(&["watch", none.path(), "--when", "event engine.tick"]);
    watch.stderr_until("waiting", |lines| lines.len() == 1);
    drop(watch.take_stdout());
    watch.succeed();
}

/// A program that logs ticks until it is killed.
fn program(arguments: &[String]) {
    let tl = timeline::Timeline::with_size(&arguments[0], 1024, 64 * 1024).expect("created");
    tick(&tl, 1);
    say("logged");
    hear();
    tick(&tl, 2);
    hear();
}

/// How many firings are logged.
fn triggers(file: impl AsRef<Path>) -> usize {
    let names = names(file).into_iter();
    names.filter(|name| name == "watch.trigger").count()
}

#[test]
fn a_killed_program_is_missed_and_its_next_run_is_watched() {
    let name = Name::new("watch-killed");
    let mut first = Process::start(program, &[name.path()]);
    first.line();
    // Long enough that the program is dead before ticks are missed again, also on a busy machine.
    let conditions = ["event engine.tick", "missing engine.tick for 300ms"];
    let mut watch = watch(&name, &conditions, &["--cooldown", "0s"]);
    let missing = &firings(&mut watch, 1)[0];
    assert_eq!(missing["condition"], conditions[1]);
    first.tell();
    firings(&mut watch, 2);
    // What fired is printed first, and then logged.
    eventually("both firings in the ring", || triggers(name.path()) >= 2);
    first.kill();
    let logged = triggers(name.path());
    // After the last tick, once more.
    let found = firings(&mut watch, 3);
    let told: Vec<_> = found
        .iter()
        .map(|one| one["condition"].as_str().unwrap())
        .collect();
    assert_eq!(told, [conditions[1], conditions[0], conditions[1]]);
    // The watch does not hold the name: the next run takes it.
    let mut next = Process::start(program, &[name.path()]);
    next.line();
    // On a slow machine, its first tick may be missed for a while.
    let is_tick = |line: &String| line.contains(&format!("\"condition\":\"{}\"", conditions[0]));
    watch.stdout_until("a tick of the next run", |lines| {
        lines.iter().skip(3).any(is_tick)
    });
    watch.signal(Signal::SIGINT);
    let (_, stderr) = finish(watch, 0);
    assert!(
        stderr
            .iter()
            .any(|line| line.contains("was created again by")),
        "{stderr:?}"
    );
    // Nobody logs into what a killed program left.
    assert_eq!(triggers(name.beside(".prev")), logged);
    next.tell();
    next.tell();
    next.finish();
}
