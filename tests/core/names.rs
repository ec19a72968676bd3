//! Tests the names and the identities of threads: consistent whoever reads, and never another's.

use std::collections::HashSet;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use timeline::internal::layout::Geometry;
use timeline::internal::layout::records::Thread;
use timeline::{Attached, Event, Order, Timeline};

use crate::support::{Name, Process, arguments, attach, checked, define, hear, say};

/// Sets a number in all records of threads.
fn set_in_records(name: &Name, geometry: &Geometry, offset: usize, value: u32) {
    let file = std::fs::File::options().write(true).open(name.file());
    let file = file.expect("opened");
    for slot in 0..geometry.threads {
        let at = geometry.thread().at(slot) + offset as u64;
        file.write_all_at(&value.to_le_bytes(), at).expect("set");
    }
}

#[test]
fn identities_never_come_again_and_slots_that_are_used_up_stay_empty() {
    let name = Name::new("generations");
    let timeline = Timeline::with_size(name.path(), 4096, 2048).expect("created");
    let geometry = Geometry::new(4096, 2048);
    let event = define(&timeline);
    // Each slot has one generation left.
    let generation = std::mem::offset_of!(Thread, generation);
    set_in_records(&name, &geometry, generation, 0xfffe);
    let threads = i64::from(geometry.threads) + 20;
    for who in 0..threads {
        std::thread::scope(|scope| {
            scope.spawn(|| timeline.log(event, arguments(who, 0)));
        });
    }
    let attached = attach(name.path());
    let mut seen = HashSet::new();
    let mut without = Vec::new();
    for event in attached.events(Order::OldestFirst) {
        match (event.thread.0, attached.thread(&event)) {
            (0, None) => without.push(checked(&event).0),
            (identity, Some(thread)) => {
                assert_eq!((thread.identity, identity >> 16), (identity, 0xffff));
                assert!(seen.insert(identity), "{identity:#x} came again");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen.len(), geometry.threads as usize);
    let last: Vec<i64> = (i64::from(geometry.threads)..threads).collect();
    assert_eq!(without, last);
    let error = timeline.thread("name", None).expect_err("no record");
    assert!(error.to_string().contains("65,535 times"), "{error}");
}

#[test]
fn a_reader_never_sees_half_of_a_new_name() {
    let name = Name::new("halves");
    let timeline = Timeline::with_size(name.path(), 1024, 2048).expect("created");
    let event = define(&timeline);
    let (go_on, attached) = (AtomicBool::new(true), attach(name.path()));
    std::thread::scope(|scope| {
        let (ready, begin) = std::sync::mpsc::channel();
        let (go_on, timeline) = (&go_on, &timeline);
        scope.spawn(move || {
            timeline
                .thread("a".repeat(39).as_str(), "a".repeat(31).as_str())
                .expect("named");
            timeline.log(event, arguments(1, 0));
            ready.send(()).expect("heard");
            while go_on.load(Ordering::Relaxed) {
                for letter in ["b", "a"] {
                    let (name, group) = (letter.repeat(39), letter.repeat(31));
                    timeline
                        .thread(name.as_str(), group.as_str())
                        .expect("named");
                }
            }
        });
        begin.recv().expect("it logged");
        let logged = attached.events(Order::OldestFirst).next().expect("logged");
        let mut seen = HashSet::new();
        for turn in 0.. {
            // A name that changes all the time may be missing.
            let thread = attached.thread(&logged).expect("there");
            if let (Some(name), Some(group)) = (thread.name, thread.group) {
                let letter = &name[..1];
                assert_eq!(
                    (name.len(), name.trim_matches(|c| letter.starts_with(c))),
                    (39, "")
                );
                assert_eq!(group, letter.repeat(31));
                seen.insert(letter.to_string());
            }
            if turn >= 20_000 && seen.len() == 2 {
                break;
            }
        }
        go_on.store(false, Ordering::Relaxed);
    });
}

#[test]
fn a_thread_that_was_killed_while_it_changed_its_name_has_none() {
    let name = Name::new("half");
    let timeline = Timeline::with_size(name.path(), 1024, 2048).expect("created");
    let event = define(&timeline);
    timeline.log(event, arguments(1, 0));
    let geometry = Geometry::new(1024, 2048);
    set_in_records(&name, &geometry, std::mem::offset_of!(Thread, renames), 7);
    let copy = name.beside(".saved");
    timeline.save(&copy).expect("saved");
    for path in [name.path(), copy.as_str()] {
        let attached = attach(path);
        let logged = attached.events(Order::OldestFirst).next().expect("logged");
        let thread = attached.thread(&logged).expect("there");
        assert_eq!((thread.name, thread.group), (None, None));
        assert_eq!(thread.pid, std::process::id());
    }
    // It is whole again when it gets another name.
    timeline.thread("whole", "group").expect("named");
    let attached = attach(name.path());
    let logged = attached.events(Order::OldestFirst).next().expect("logged");
    let thread = attached.thread(&logged).expect("there");
    assert_eq!(thread.name.as_deref(), Some("whole"));
    assert_eq!(thread.group.as_deref(), Some("group"));
    timeline::unlink(&copy).expect("removed");
}

/// Gives the calling thread a name by the system, behind the back of the timeline.
fn set_system_name(name: &str) {
    std::fs::write("/proc/thread-self/comm", name).expect("named");
}

/// The oldest event, and the name of its thread.
fn first(attached: &Attached) -> (Event, Option<String>) {
    let event = attached.events(Order::OldestFirst).next().expect("logged");
    let thread = attached.thread(&event).expect("there");
    (event, thread.name)
}

#[test]
fn a_reader_follows_the_name_that_the_system_has_for_a_running_thread() {
    let name = Name::new("followed");
    let timeline = Timeline::with_size(name.path(), 1024, 2048).expect("created");
    let event = define(&timeline);
    let copy = name.beside(".saved");
    let named = |attached: &Attached, name: &str| {
        let (_, found) = first(attached);
        assert_eq!(found.as_deref(), Some(name));
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            set_system_name("before");
            timeline.log(event, arguments(1, 0));
            set_system_name("after\n");
            let attached = attach(name.path());
            named(&attached, "after\n");
            let renames = attached.renames();
            set_system_name("later");
            let start = Instant::now();
            while attached.renames() == renames {
                assert!(start.elapsed() < Duration::from_secs(60), "still the same");
                std::thread::yield_now();
            }
            named(&attached, "later");
            timeline.save(&copy).expect("saved");
            named(&attach(&copy), "later");
            // The program's own name counts more.
            timeline.thread("of the program", None).expect("named");
            set_system_name("ignored");
            named(&attach(name.path()), "of the program");
            named(&attached, "of the program");
            timeline.thread(None, None).expect("named");
            set_system_name("at its end");
        });
    });
    // Nothing else has this name, and the kernel may use the id of the thread again.
    named(&attach(name.path()), "at its end");
    named(&attach(&copy), "later");
    timeline::unlink(&copy).expect("removed");
}

/// Logs, and is killed at the end.
fn renamed(arguments: &[String]) {
    let timeline = Timeline::with_size(&arguments[0], 1024, 2048).expect("created");
    let event = define(&timeline);
    set_system_name("before");
    timeline.log(event, [1, 0, 0, 0]);
    set_system_name("stored");
    timeline
        .define("app", timeline::Priority::Info, "another event")
        .expect("defined");
    set_system_name("seen");
    say("named");
    hear();
}

#[test]
fn a_killed_thread_keeps_the_name_that_was_seen_or_stored_last() {
    let name = Name::new("killed");
    let mut child = Process::start(renamed, &[name.path()]);
    assert_eq!(child.line(), "named");
    let attached = attach(name.path());
    assert_eq!(first(&attached).1.as_deref(), Some("seen"));
    child.kill();
    assert_eq!(first(&attached).1.as_deref(), Some("seen"));
    assert_eq!(first(&attach(name.path())).1.as_deref(), Some("stored"));
}
