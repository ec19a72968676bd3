//! Tests threads that end while other threads take their places.
//! No lane is lost, and no event gets another thread's name.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use timeline::{EventId, Order, Timeline};

use crate::support::{
    Name, Process, arguments, attach, checked, define, hear, in_process_without_rseq, rseq, run_on,
    say,
};

fn own_tid() -> u32 {
    // SAFETY: gettid takes nothing and cannot fail.
    (unsafe { libc::syscall(libc::SYS_gettid) }) as u32
}

fn named(name: String, f: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(name);
        thread.spawn_scoped(scope, f).expect("started");
    });
}

/// Runs `during` while `count` other threads have logged one event each and have not ended. They
/// log as 0 to `count` - 1, and have ended when it returns.
fn while_threads_stay(timeline: &Timeline, event: EventId, count: u32, during: impl FnOnce()) {
    let waiting = || std::sync::Barrier::new(count as usize + 1);
    let (logged, leave) = (&waiting(), &waiting());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..i64::from(count))
            .map(|who| {
                scope.spawn(move || {
                    timeline.log(event, arguments(who, 0));
                    logged.wait();
                    leave.wait();
                })
            })
            .collect();
        logged.wait();
        // What fails there must not leave them waiting.
        let done = catch_unwind(AssertUnwindSafe(during));
        leave.wait();
        // The scope alone would not wait for what threads do at their end.
        threads
            .into_iter()
            .for_each(|thread| thread.join().expect("it logged"));
        if let Err(failure) = done {
            resume_unwind(failure);
        }
    });
}

#[test]
fn ten_thousand_short_threads_are_each_known_by_their_own_name() {
    let name = Name::new("short");
    let timeline = Timeline::with_size(name.path(), 1 << 15, 2048).expect("created");
    let event = define(&timeline);
    let tids = std::sync::Mutex::new(Vec::new());
    // Four at a time, so that slots and lanes are given back and taken in any order.
    std::thread::scope(|scope| {
        for group in 0..4 {
            let (timeline, tids) = (&timeline, &tids);
            scope.spawn(move || {
                for i in 0..2500 {
                    let who = group * 2500 + i;
                    named(format!("short-{who}"), || {
                        timeline.log(event, arguments(who, 0));
                        timeline.log(event, arguments(who, 1));
                        tids.lock().expect("sound").push((who, own_tid()));
                    });
                }
            });
        }
    });
    let tids: HashMap<i64, u32> = tids.into_inner().expect("sound").into_iter().collect();
    let attached = attach(name.path());
    let mut seen: HashMap<i64, Vec<i64>> = HashMap::new();
    let mut known = 0;
    for event in attached.events(Order::OldestFirst) {
        let (who, number) = checked(&event);
        seen.entry(who).or_default().push(number);
        assert_eq!(event.tid, tids[&who], "thread {who}");
        if let Some(thread) = attached.thread(&event) {
            assert_eq!(thread.name, Some(format!("short-{who}")));
            assert_eq!((thread.tid, thread.pid), (event.tid, std::process::id()));
            known += 1;
        }
    }
    assert_eq!(seen.len(), 10_000);
    assert!(seen.values().all(|numbers| numbers == &[0, 1]));
    // The table holds 2,048 threads, of which the main one did not log.
    let info = attached.info();
    assert_eq!((info.threads, info.thread_capacity), (10_000, 2_048));
    assert_eq!(
        known,
        2 * 2_048,
        "events whose thread is still in the table"
    );
    assert_eq!(attached.forgotten(), 2 * (10_000 - 2_048));
    assert_eq!((info.dropped.total(), info.thread_lanes_in_use), (0, 0));
    assert_eq!(info.entries_written, 20_000);
}

/// Logs once from each of so many threads, all of which stay.
pub fn logs_from_many_threads(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let threads: usize = given[1].parse().expect("a number");
    let logged = std::sync::Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        for who in 0..threads {
            let (timeline, logged) = (&timeline, &logged);
            scope.spawn(move || {
                timeline.log(event, arguments(-(who as i64) - 1, 0));
                logged.wait();
                logged.wait();
            });
        }
        logged.wait();
        say("logged");
        hear();
        logged.wait();
    });
}

#[test]
fn threads_are_known_by_name_after_a_process_with_many_was_killed() {
    let name = Name::new("killed");
    let timeline = Timeline::with_size(name.path(), 1 << 12, 2048).expect("created");
    let event = define(&timeline);
    // More than the 64 that the thread table holds.
    let mut process = Process::start(logs_from_many_threads, &[name.path(), "80"]);
    process.line();
    process.kill();
    for who in 0..64 {
        named(format!("after-{who}"), || {
            timeline.log(event, arguments(who, 0));
        });
    }
    let attached = attach(name.path());
    assert_eq!(attached.info().dropped.total(), 0);
    let known: Vec<_> = attached
        .events(Order::OldestFirst)
        .filter(|e| e.args[0] >= 0)
        .map(|e| attached.thread(&e)?.name)
        .collect();
    let all: Vec<_> = (0..64).map(|who| Some(format!("after-{who}"))).collect();
    assert_eq!(known, all);
}

#[test]
fn threads_beyond_the_records_have_no_name_until_others_have_ended() {
    // Without restartable sequences, lanes are fewer than records.
    if !rseq() {
        return;
    }
    let name = Name::new("nameless");
    // Records for 64 threads, chunks of 16 events.
    let timeline = Timeline::with_size(name.path(), 1 << 10, 2048).expect("created");
    let event = define(&timeline);
    let attached = attach(name.path());
    let newest = |by| {
        let event = attached.events(Order::NewestFirst).next().expect("events");
        assert_eq!((checked(&event).0, event.tid), (by, own_tid()));
        attached.thread(&event)?.name
    };
    named("late".into(), || {
        run_on(0);
        while_threads_stay(&timeline, event, 64, || {
            // Two chunks: with the second it looks for a record once more, and finds none.
            for i in 0..32 {
                timeline.log(event, arguments(-1, i));
                assert_eq!(newest(-1), None);
            }
        });
        named("new".into(), || {
            timeline.log(event, arguments(-2, 0));
            assert_eq!(newest(-2).as_deref(), Some("new"));
        });
        // It looks again at one in 1,024 of the chunks that it finds full.
        for i in 32..32 + 1024 * 16 {
            timeline.log(event, arguments(-1, i));
        }
        assert_eq!(newest(-1).as_deref(), Some("late"));
    });
    assert_eq!(attached.info().dropped.total(), 0);
}

#[test]
fn more_threads_than_lanes_are_counted_and_log_again_once_there_is_room() {
    if in_process_without_rseq(
        "fork::threads::more_threads_than_lanes_are_counted_and_log_again_once_there_is_room",
    ) {
        return;
    }
    let name = Name::new("lanes");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let event = define(&timeline);
    let attached = attach(name.path());
    let lanes = attached.info().thread_lanes;
    while_threads_stay(&timeline, event, lanes, || {
        assert_eq!(attached.info().thread_lanes_in_use, lanes);
        for i in 0..1500 {
            timeline.log(event, arguments(-1, i));
            assert_eq!(attached.info().dropped.no_lane, i as u64 + 1);
        }
    });
    assert_eq!(attached.info().thread_lanes_in_use, 0);
    for i in 1500..4000 {
        timeline.log(event, arguments(-1, i));
    }
    let mine: Vec<i64> = attached
        .events(Order::OldestFirst)
        .map(|e| checked(&e))
        .filter(|(who, _)| *who == -1)
        .map(|(_, number)| number)
        .collect();
    let dropped = attached.info().dropped;
    assert!(dropped.no_lane < 1500 + 1024, "it asked for a lane in time");
    assert_eq!(mine.last(), Some(&3999));
    assert_eq!(dropped.total(), dropped.no_lane);
    let written = attached.info().entries_written - u64::from(lanes);
    assert_eq!(
        written + dropped.no_lane,
        4000,
        "each event is written or counted"
    );
}

#[test]
fn a_thread_that_found_no_lane_in_one_timeline_has_one_in_the_next() {
    if in_process_without_rseq(
        "fork::threads::a_thread_that_found_no_lane_in_one_timeline_has_one_in_the_next",
    ) {
        return;
    }
    let name = Name::new("first");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let event = define(&timeline);
    let lanes = attach(name.path()).info().thread_lanes;
    while_threads_stay(&timeline, event, lanes, || {
        timeline.log(event, arguments(-1, 0));
    });
    assert_eq!(attach(name.path()).info().dropped.no_lane, 1);
    drop(timeline);
    let other = Name::new("second");
    // Several, so that one of them takes the place in the process that the first had.
    let timelines: Vec<_> = (0..8)
        .map(|i| {
            let path = other.beside(&i.to_string());
            let timeline = Timeline::with_size(&path, 256, 2048).expect("created");
            (Removed(path), timeline)
        })
        .collect();
    for (path, timeline) in &timelines {
        let event = define(timeline);
        timeline.log(event, arguments(1, 1));
        let info = attach(&path.0).info();
        assert_eq!((info.entries_written, info.dropped.total()), (1, 0));
    }
}

/// A name that goes away with the test.
struct Removed(String);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = timeline::unlink(&self.0);
    }
}

#[test]
fn handles_come_and_go_while_threads_that_used_them_end() {
    let name = Name::new("handles");
    let opener = Timeline::with_size(name.path(), 1 << 15, 2048).expect("created");
    let event = define(&opener);
    for round in 0..200 {
        let timeline = Timeline::open(name.path()).expect("joined");
        let (logged, gone) = (std::sync::Barrier::new(5), std::sync::Barrier::new(5));
        std::thread::scope(|scope| {
            for who in 0..4 {
                let (timeline, logged) = (&timeline, &logged);
                scope.spawn(move || {
                    timeline.log(event, arguments(who, round));
                    logged.wait();
                    // Ends while the handle is being dropped below.
                });
            }
            logged.wait();
        });
        // The same once more, with the handle gone before the threads are.
        let shared = std::sync::Arc::new(timeline);
        std::thread::scope(|scope| {
            for who in 0..4 {
                let (shared, gone) = (shared.clone(), &gone);
                scope.spawn(move || {
                    shared.log(event, arguments(who + 4, round));
                    drop(shared);
                    gone.wait();
                });
            }
            drop(shared);
            gone.wait();
        });
    }
    let attached = attach(name.path());
    let info = attached.info();
    assert_eq!((info.dropped.total(), info.thread_lanes_in_use), (0, 0));
    let mut seen: HashMap<i64, Vec<i64>> = HashMap::new();
    for event in attached.events(Order::OldestFirst) {
        let (who, number) = checked(&event);
        seen.entry(who).or_default().push(number);
    }
    let rounds: Vec<i64> = (0..200).collect();
    assert!((0..8).all(|who| seen.get(&who) == Some(&rounds)));
    assert_eq!(info.writers.iter().filter(|w| w.alive).count(), 1);
}
