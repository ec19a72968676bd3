//! Levels: in force at once everywhere, raised in bursts, and never left raised.

use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use nix::sys::signal::Signal;
use timeline::internal::layout::Header;
use timeline::{Attached, Control, Error, EventId, Level, Priority, Timeline};

use super::foreign::{LOCKS, lock};
use crate::command::{Running, eventually, succeed};
use crate::support::{Name, Process, attach, hear, say};

const EVERY: Duration = Duration::from_millis(4);
const FOR: Duration = Duration::from_millis(2);

fn level(priority: Priority) -> Level {
    Level::from(priority)
}

fn one_of_each(timeline: &Timeline) -> Vec<(Priority, EventId)> {
    let define = |p: Priority| (p, timeline.define("level", p, p.name()).expect("defined"));
    Priority::ALL.into_iter().map(define).collect()
}

/// Does what it is told to a timeline: sets its level, or defines events for ever.
pub fn levels(given: &[String]) {
    if given[1] == "define" {
        let timeline = Timeline::open(&given[0]).expect("joined");
        say("ready");
        // Until it is killed; a few at a time, so that the table holds those of all rounds.
        for i in (0..60).cycle() {
            let message = format!("{} of {} whole", i, given[2]);
            let event = timeline.define("killed", Priority::Info, &message);
            event.expect("defined");
        }
    }
    let control = Control::open(&given[0]).expect("attached");
    for word in &given[1..] {
        control
            .priority(word.parse().expect("a level"))
            .expect("set");
        say(word);
        hear();
    }
}

#[test]
fn a_level_set_by_another_process_is_in_force_at_once() {
    let name = Name::new("level");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let events = one_of_each(&timeline);
    let attached = attach(name.path());
    assert_eq!(attached.level(), Level::ALL);
    let words = ["none", "error", "info", "packet", "all", "trace"];
    let mut child = Process::start(levels, &[&[name.path()], &words[..]].concat());
    for word in words {
        assert_eq!(child.line(), word);
        let level: Level = word.parse().expect("a level");
        assert_eq!((timeline.level(), attached.level()), (level, level));
        for (priority, event) in &events {
            let written = attached.info().entries_written;
            timeline.log(*event, [1]);
            let logged = attached.info().entries_written - written;
            assert_eq!(
                logged,
                u64::from(level.allows(*priority)),
                "{priority} at {word}"
            );
            assert_eq!(timeline.enabled(*event), level.allows(*priority));
        }
        child.tell();
    }
    child.finish();
    // It holds for what is defined from here on, too.
    let late = timeline
        .define("late", Priority::Packet, "late")
        .expect("defined");
    assert!(!timeline.enabled(late));
    // A `Control` was no writer of events.
    assert_eq!(attached.info().writers.len(), 1);
}

/// Waits until a burst is on; the sampler of these tests comes round every few milliseconds.
fn wait_for_boost(attached: &Attached) {
    while attached.info().boost == Level::NONE {
        std::thread::yield_now();
    }
}

#[test]
fn a_sampler_raises_the_level_in_bursts_and_restores_it() {
    let name = Name::new("sample");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let events = one_of_each(&timeline);
    let attached = attach(name.path());
    timeline.priority(level(Priority::Warning)).expect("set");
    let packet = events[Priority::Packet as usize - 1].1;
    let sampler = timeline.sample(Level::ALL, FOR, EVERY).expect("started");
    for _ in 0..3 {
        wait_for_boost(&attached);
        while !timeline.enabled(packet) {
            std::thread::yield_now();
        }
        while timeline.enabled(packet) {
            std::thread::yield_now();
        }
    }
    assert_eq!(
        timeline.level(),
        level(Priority::Warning),
        "the level asked for"
    );
    let busy = timeline
        .sample(Level::ALL, FOR, EVERY)
        .err()
        .expect("one at a time");
    let Error::SamplerBusy { pid, .. } = busy else {
        panic!("{busy}");
    };
    assert_eq!(pid, std::process::id());
    // A level set meanwhile stays when the sampler has gone.
    timeline.priority(level(Priority::Info)).expect("set");
    drop(sampler);
    assert_eq!(
        (attached.level(), attached.info().boost),
        (level(Priority::Info), Level::NONE)
    );
    for (priority, event) in &events {
        assert_eq!(
            timeline.enabled(*event),
            *priority <= Priority::Info,
            "{priority}"
        );
    }
    drop(
        timeline
            .sample(Level::ALL, FOR, EVERY)
            .expect("the former one has gone"),
    );
    for wrong in [Duration::ZERO, EVERY, 2 * EVERY] {
        let error = timeline.sample(Level::ALL, wrong, EVERY).err();
        assert!(matches!(error, Some(Error::BadSize { .. })), "{error:?}");
    }
}

/// Samples until it is killed; as a parent of a child that lives on, if asked to.
pub fn samples(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let sampler = timeline
        .sample(Level::ALL, Duration::from_secs(20), Duration::from_secs(40))
        .expect("started");
    wait_for_boost(&attach(&given[0]));
    if given.get(1).is_some_and(|word| word == "drop") {
        // SAFETY: the child has one thread, whose parent's others held no lock of the C library's.
        let child = unsafe { libc::fork() };
        if child == 0 {
            crate::support::deadline();
            drop(sampler);
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: `status` is a valid place for one.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child hung in dropping its parent's sampler");
        assert_ne!(
            attach(&given[0]).info().boost,
            Level::NONE,
            "it is the parent's"
        );
        return;
    }
    if given.len() > 1 {
        // SAFETY: the child calls only pause and _exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: waits for the alarm, or to be killed with the group.
            unsafe {
                libc::alarm(30);
                libc::pause();
                libc::_exit(0);
            }
        }
        say(child);
    }
    say("on");
    hear();
}

#[test]
fn what_a_killed_sampler_left_raised_is_cleared_by_the_next_change() {
    for change in ["priority", "define", "sample"] {
        let name = Name::new("killed");
        let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
        let events = one_of_each(&timeline);
        timeline.priority(level(Priority::Error)).expect("set");
        let mut child = Process::start(samples, &[name.path()]);
        assert_eq!(child.line(), "on");
        let busy = timeline.sample(Level::ALL, FOR, EVERY).err();
        assert!(matches!(busy, Some(Error::SamplerBusy { pid, .. }) if pid == child.pid()));
        let library = events[6].1;
        assert!(timeline.enabled(library));
        child.kill();
        match change {
            "priority" => timeline.priority(level(Priority::Error)).expect("set"),
            "define" => drop(
                timeline
                    .define("new", Priority::Info, "new")
                    .expect("defined"),
            ),
            _ => drop(
                timeline
                    .sample(Level::ALL, FOR, EVERY)
                    .expect("the lock is free"),
            ),
        }
        assert_eq!(attach(name.path()).info().boost, Level::NONE, "{change}");
        assert!(!timeline.enabled(library), "{change}");
        assert!(timeline.enabled(events[0].1));
    }
}

#[test]
fn a_forked_child_drops_its_parents_sampler_without_harm() {
    let name = Name::new("forked");
    let _timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    Process::start(samples, &[name.path(), "drop"]).finish();
    assert_eq!(attach(name.path()).info().boost, Level::NONE);
}

#[test]
fn a_killed_samplers_boost_goes_although_its_child_lives_on() {
    let name = Name::new("orphan");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let mut parent = Process::start(samples, &[name.path(), "fork"]);
    let orphan: i32 = parent.line().parse().expect("a pid");
    assert_eq!(parent.line(), "on");
    parent.kill();
    let set = timeline.priority(level(Priority::Error));
    let boost = attach(name.path()).info().boost;
    let alive: Vec<u32> = timeline::users(name.path())
        .expect("attached")
        .iter()
        .map(|w| w.pid)
        .collect();
    // SAFETY: ends the child of our child, whose pid nobody else can have while it runs.
    unsafe { libc::kill(orphan, libc::SIGKILL) };
    set.expect("set");
    assert_eq!(boost, Level::NONE, "raised by a sampler that was killed");
    assert_eq!(
        alive,
        [std::process::id()],
        "the killed parent does not write"
    );
}

#[test]
fn a_sampler_whose_number_another_process_has_by_now_is_gone() {
    let name = Name::new("number");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let mut child = Process::start(samples, &[name.path()]);
    assert_eq!(child.line(), "on");
    let file = File::options().read(true).write(true).open(name.file());
    let file = file.expect("opened");
    let add = |field: usize, number: u64| {
        let (mut word, field) = ([0; 8], field as u64);
        file.read_exact_at(&mut word, field).expect("read");
        let changed = u64::from_le_bytes(word).wrapping_add(number);
        file.write_all_at(&changed.to_le_bytes(), field)
            .expect("written");
        changed
    };
    let attached = attach(name.path());
    assert!(!attached.info().boost_is_stale);
    assert_ne!(
        add(offset_of!(Header, sampler_start), 1),
        1,
        "its start is known"
    );
    assert!(attached.info().boost_is_stale, "it started at another time");
    // As another time namespace would count it.
    add(offset_of!(Header, sampler_time_namespace), 1);
    assert!(!attached.info().boost_is_stale, "that cannot be compared");
    add(offset_of!(Header, sampler_time_namespace), u64::MAX);
    timeline.priority(level(Priority::Error)).expect("set");
    assert_eq!(attached.info().boost, Level::NONE);
    child.tell();
    child.finish();
}

/// Ends in the middle of a burst, by the way that runs exit handlers but drops nothing.
pub fn exits_in_a_burst(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let seconds = Duration::from_secs;
    let _sampler = timeline.sample(Level::ALL, seconds(20), seconds(40));
    let attached = attach(&given[0]);
    wait_for_boost(&attached);
    assert!(!attached.info().boost_is_stale, "the sampler lives");
    // Nobody can know which of the host's threads gets a signal: never the sampler's.
    let mut blocked = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").expect("listed") {
        let status = std::fs::read_to_string(task.expect("listed").path().join("status"));
        let status = status.expect("it runs");
        let field = |key: &str| {
            let line = status.lines().find_map(|l| l.strip_prefix(key));
            line.expect("in status").trim().to_owned()
        };
        if field("Name:") == "timeline-sample" {
            blocked.push(u64::from_str_radix(&field("SigBlk:"), 16).expect("a mask"));
        }
    }
    assert_eq!(blocked.len(), 1, "its thread");
    // SIGKILL and SIGSTOP cannot be blocked, and the C library keeps 32 and 33 for itself.
    let signals = (1..=64).filter(|s| ![libc::SIGKILL, libc::SIGSTOP, 32, 33].contains(s));
    let open: Vec<i32> = signals.filter(|s| blocked[0] >> (s - 1) & 1 == 0).collect();
    assert_eq!(open, [0; 0], "signals that the sampler's thread takes");
    std::process::exit(0);
}

#[test]
fn what_a_sampler_left_raised_at_exit_is_cleared_by_the_next_open() {
    let name = Name::new("exit");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let events = one_of_each(&timeline);
    timeline.priority(level(Priority::Error)).expect("set");
    Process::start(exits_in_a_burst, &[name.path()]).finish();
    let attached = attach(name.path());
    let info = attached.info();
    assert_eq!((info.boost, info.boost_is_stale), (Level::ALL, true));
    assert!(timeline.enabled(events[6].1));
    let joined = Timeline::open(name.path()).expect("joined");
    let info = attached.info();
    assert_eq!((info.boost, info.boost_is_stale), (Level::NONE, false));
    for handle in [&timeline, &joined] {
        assert_eq!(handle.level(), level(Priority::Error));
        assert!(handle.enabled(events[0].1) && !handle.enabled(events[6].1));
    }
}

#[test]
fn what_a_killed_sampler_left_raised_is_restored_by_the_next_reader() {
    for reader in ["dump", "info", "tail"] {
        let name = Name::new("read");
        let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
        let events = one_of_each(&timeline);
        timeline.priority(level(Priority::Error)).expect("set");
        let library = events[6].1;
        let mut child = Process::start(samples, &[name.path()]);
        assert_eq!(child.line(), "on");
        // While it lives, nobody touches it.
        succeed(&["info", name.path()]);
        assert!(timeline.enabled(library));
        // A reader that is there already, or one that comes.
        let mut follower = (reader == "tail").then(|| Running::start(&["tail", name.path()]));
        if let Some(follower) = &mut follower {
            timeline.log(events[0].1, [1]);
            let has_begun = |lines: &[String]| !lines.is_empty();
            follower.stdout_until("the first event", has_begun);
        }
        child.kill();
        match follower {
            None => {
                let said = succeed(&[reader, name.path()]).stderr;
                assert!(said.contains("a sampler was killed"), "{said}");
            }
            Some(_) => eventually("the level is restored", || !timeline.enabled(library)),
        }
        assert!(
            !timeline.enabled(library) && timeline.enabled(events[0].1),
            "{reader}"
        );
        assert_eq!(attach(name.path()).info().boost, Level::NONE, "{reader}");
    }
}

/// How often this thread has waited so far.
fn waits() -> i64 {
    // SAFETY: fills what it is given, for which zeros are valid.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
        usage.ru_nvcsw
    }
}

#[test]
fn who_restores_a_level_waits_for_a_moment_at_most_if_the_lock_is_taken() {
    let name = Name::new("busy");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let events = one_of_each(&timeline);
    timeline.priority(level(Priority::Error)).expect("set");
    let mut child = Process::start(samples, &[name.path()]);
    assert_eq!(child.line(), "on");
    assert!(!Control::restore_level(name.path()).expect("nothing to restore"));
    child.kill();
    // The lock for definitions, and the one for joining: a wait of seconds is some 500 waits.
    for byte in [0, 1] {
        let file = File::options().write(true).open(name.file());
        let file = file.expect("opened");
        lock(&file, libc::F_WRLCK, LOCKS + byte, 1).expect("free");
        let before = waits();
        let error = Control::restore_level(name.path()).expect_err("locked");
        assert!(matches!(error, Error::Locked { .. }), "{error}");
        assert!(waits() - before < 200, "{}", waits() - before);
        // A reader that comes is not stopped, either.
        succeed(&["dump", name.path()]);
        assert!(timeline.enabled(events[6].1));
    }
    assert!(Control::restore_level(name.path()).expect("restored"));
    assert!(!timeline.enabled(events[6].1));
    assert!(!Control::restore_level(name.path()).expect("nothing to restore"));
}

#[test]
fn a_raise_of_a_watch_that_was_killed_is_restored_by_the_next_reader() {
    let name = Name::new("raise");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let events = one_of_each(&timeline);
    timeline.priority(level(Priority::Error)).expect("set");
    let library = events[6].1;
    let watch = [
        "watch",
        name.path(),
        "--when",
        "event level.error",
        "--then",
        "priority all for 1h",
    ];
    let watch = Running::start(&watch);
    eventually("the level is raised", || {
        timeline.log(events[0].1, [1]);
        timeline.enabled(library)
    });
    watch.signal(Signal::SIGKILL);
    watch.finish();
    assert!(timeline.enabled(library));
    succeed(&["dump", name.path()]);
    assert!(!timeline.enabled(library));
    assert_eq!(attach(name.path()).info().boost, Level::NONE);
}
