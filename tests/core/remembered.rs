//! Tests which threads a timeline remembers when more log than it has records for.

use std::os::fd::AsRawFd;

use timeline::internal::layout::Geometry;
use timeline::{Attached, EventId, Order, Timeline};

use crate::fork::{Fork, fork, reap};
use crate::important::define_important;
use crate::support::{Name, Process, arguments, attach, checked, define, hear, say};

const ENTRIES: u64 = 1024;

/// Logs one event in each of some threads that come one after the other.
fn short_threads(timeline: &Timeline, who: std::ops::Range<i64>) {
    short_threads_of(timeline, define(timeline), who);
}

fn short_threads_of(timeline: &Timeline, event: EventId, who: std::ops::Range<i64>) {
    for who in who {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| timeline.log(event, arguments(who, 0)));
            thread.join().expect("ended");
        });
    }
}

/// Who logged the events whose threads are known.
fn known(attached: &Attached) -> Vec<i64> {
    let events = attached.events(Order::OldestFirst);
    let known = events.filter(|event| attached.thread(event).is_some());
    known.map(|event| checked(&event).0).collect()
}

#[test]
fn the_last_threads_are_known_and_events_of_the_others_are_counted() {
    let name = Name::new("last");
    let timeline = name.create(ENTRIES);
    let records = i64::from(Geometry::new(ENTRIES, 2048).threads);
    short_threads(&timeline, 0..records);
    let attached = attach(name.path());
    assert_eq!(known(&attached), (0..records).collect::<Vec<_>>());
    assert_eq!(attached.forgotten(), 0);
    short_threads(&timeline, records..records + 100);
    assert_eq!(known(&attached), (100..records + 100).collect::<Vec<_>>());
    assert_eq!(attached.forgotten(), 100);
    let info = attached.info();
    let expected = (records as u64 + 100, records as u32);
    assert_eq!((info.threads, info.thread_capacity), expected);
    // A snapshot says the same.
    let copy = name.beside(".saved");
    timeline.save(&copy).expect("saved");
    assert_eq!(attach(&copy).forgotten(), 100);
    timeline::unlink(&copy).expect("removed");
}

#[test]
fn the_thread_that_ended_first_is_forgotten_first() {
    let name = Name::new("order");
    let timeline = name.create(ENTRIES);
    let records = i64::from(Geometry::new(ENTRIES, 2048).threads);
    let event = define(&timeline);
    std::thread::scope(|scope| {
        let (go_on, told) = std::sync::mpsc::channel();
        let timeline = &timeline;
        let (ready, is_ready) = std::sync::mpsc::channel();
        let long = scope.spawn(move || {
            timeline.log(event, arguments(-1, 0));
            ready.send(()).expect("heard");
            told.recv().expect("told");
            timeline.log(event, arguments(-1, 1));
        });
        is_ready.recv().expect("it logged");
        // Its record is the next in turn behind these.
        short_threads(timeline, 1..records);
        go_on.send(()).expect("heard");
        long.join().expect("ended");
    });
    short_threads(&timeline, records..records + 10);
    let known = known(&attach(name.path()));
    assert_eq!(
        known.iter().filter(|who| **who == -1).count(),
        2,
        "{known:?}"
    );
}

/// Logs one event, and is killed.
fn logs_once(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    timeline.log(event, arguments(-1, 0));
    say("logged");
    hear();
}

#[test]
fn a_killed_process_is_known_longer_than_threads_that_ended_before() {
    let name = Name::new("murdered");
    let timeline = name.create(ENTRIES);
    let records = i64::from(Geometry::new(ENTRIES, 2048).threads);
    let mut child = Process::start(logs_once, &[name.path()]);
    assert_eq!(child.line(), "logged");
    // Its record is the first in turn behind these.
    short_threads(&timeline, 1..records);
    child.kill();
    // Another process takes its place.
    let mut next = Process::start(logs_once, &[name.path()]);
    assert_eq!(next.line(), "logged");
    short_threads(&timeline, records..records + 10);
    let attached = attach(name.path());
    let known = known(&attached);
    assert_eq!(
        known.iter().filter(|who| **who == -1).count(),
        2,
        "{known:?}"
    );
    next.kill();
}

/// Forks children that log one event each, and end without leaving, more than there are records.
fn forks_many(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    timeline.log(event, arguments(-1, 0));
    let records = i64::from(Geometry::new(ENTRIES, 2048).threads);
    for who in 0..records + 10 {
        reap(fork(Fork::Library, || {
            timeline.log(event, arguments(who, 0))
        }));
    }
    let known = known(&attach(&given[0]));
    // And the parent, which still runs.
    let last = std::iter::once(-1).chain(11..records + 10);
    assert_eq!(known, last.collect::<Vec<_>>());
}

#[test]
fn the_first_children_are_forgotten_first() {
    let name = Name::new("children");
    let opener = name.create(ENTRIES);
    define(&opener);
    Process::start(forks_many, &[name.path()]).finish();
}

/// Logs one event in each of ten threads, one after the other, and is killed.
fn logs_in_threads(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    std::thread::scope(|scope| {
        for _ in 0..10 {
            let (ready, is_ready) = std::sync::mpsc::channel();
            let timeline = &timeline;
            scope.spawn(move || {
                timeline.log(event, arguments(-1, 0));
                say("logged");
                ready.send(()).expect("heard");
                loop {
                    std::thread::park();
                }
            });
            // So the one that began first has the first record.
            is_ready.recv().expect("it logged");
        }
    });
}

/// A timeline in which such a process was killed, after `before` threads had ended.
fn with_a_killed_process(name: &Name, before: i64) -> (Timeline, u32) {
    let timeline = name.create(ENTRIES);
    let mut child = Process::start(logs_in_threads, &[name.path()]);
    (0..10).for_each(|_| assert_eq!(child.line(), "logged"));
    short_threads(&timeline, 0..before);
    child.kill();
    wait_for_place(name, 1);
    (timeline, child.pid())
}

fn of_killed(attached: &Attached) -> usize {
    known(attached).iter().filter(|who| **who == -1).count()
}

#[test]
fn threads_of_a_killed_process_are_forgotten_between_those_that_ended_before_and_after() {
    let name = Name::new("between");
    let records = i64::from(Geometry::new(ENTRIES, 2048).threads);
    let (timeline, pid) = with_a_killed_process(&name, 20);
    // Here the death is noticed, at the latest.
    define(&timeline);
    let attached = attach(name.path());
    let is_it = |w: &timeline::WriterProcess| w.pid == pid && !w.alive;
    assert!(attached.info().writers.iter().any(is_it));
    short_threads(&timeline, 20..records - 10);
    assert_eq!(attached.forgotten(), 0);
    // In the place of those that ended before.
    short_threads(&timeline, records..records + 20);
    let of_threads = |attached: &Attached| {
        let known = known(attached).into_iter();
        known.filter(|who| *who >= 0).collect::<Vec<_>>()
    };
    assert_eq!(of_killed(&attached), 10);
    let left = (20..records - 10).chain(records..records + 20);
    assert_eq!(of_threads(&attached), left.collect::<Vec<_>>());
    // In the place of those that are killed, but for some whose turn is over for this time.
    short_threads(&timeline, records + 20..records + 26);
    assert_eq!(of_killed(&attached), 4);
    let left = (20..records - 10).chain(records..records + 26);
    assert_eq!(of_threads(&attached), left.collect::<Vec<_>>());
}

#[test]
fn a_death_that_nobody_noticed_is_noticed_when_records_are_short() {
    let name = Name::new("unnoticed");
    let records = i64::from(Geometry::new(ENTRIES, 2048).threads);
    let (timeline, _) = with_a_killed_process(&name, 20);
    let attached = attach(name.path());
    // Defined before, and not again: that would notice it.
    let event = EventId(1);
    short_threads_of(&timeline, event, 20..records + 20);
    assert_eq!(of_killed(&attached), 10);
    short_threads_of(&timeline, event, records + 20..3 * records);
    assert_eq!(of_killed(&attached), 0);
}

fn open(name: &Name) -> std::fs::File {
    let mut options = std::fs::File::options();
    let file = options.read(true).write(true).open(name.file());
    file.expect("opened")
}

/// The locks of the places of some processes, from the first one on.
fn places(first: i64, count: i64) -> libc::flock {
    // SAFETY: all zeros are a valid flock.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock.l_whence = libc::SEEK_SET as _;
    lock.l_start = (1 << 62) + 4096 + first;
    lock.l_len = count;
    lock
}

/// Waits until the kernel gives up the lock of a killed process. It may do so some time after that
/// is reaped.
fn wait_for_place(name: &Name, place: i64) {
    let file = open(name);
    loop {
        let mut lock = places(place, 1);
        // SAFETY: the descriptor is open, and the lock is valid.
        let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut lock) };
        assert_eq!(asked, 0, "{}", std::io::Error::last_os_error());
        if i32::from(lock.l_type) == libc::F_UNLCK {
            return;
        }
        std::thread::yield_now();
    }
}

/// Holds the places of all processes but this one, as living processes would.
fn hold_places(name: &Name) -> std::fs::File {
    let file = open(name);
    let count = i64::from(Geometry::new(ENTRIES, 2048).processes) - 1;
    let lock = places(1, count);
    // SAFETY: the descriptor is open, and the lock is valid.
    let locked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) };
    assert_eq!(locked, 0, "{}", std::io::Error::last_os_error());
    file
}

/// Forks a child that logs, while there is no place for it.
fn forks_once(given: &[String]) {
    let name = Name::chosen(given[0].clone());
    let timeline = name.create(ENTRIES);
    let event = define(&timeline);
    let important = define_important(&timeline);
    timeline.log(event, arguments(1, 0));
    let held = hold_places(&name);
    reap(fork(Fork::Library, || {
        (0..3).for_each(|i| timeline.log(event, arguments(2, i)));
        timeline.log(important, arguments(2, 3));
    }));
    let dropped = attach(name.path()).info().dropped;
    assert_eq!((dropped.not_joined, dropped.total()), (4, 4));
    drop(held);
    reap(fork(Fork::Library, || timeline.log(event, arguments(3, 0))));
    let attached = attach(name.path());
    assert_eq!(known(&attached), [1, 3]);
    assert_eq!(attached.info().dropped.total(), 4);
}

#[test]
fn a_full_process_table_is_not_reported_as_a_want_of_lanes() {
    let name = Name::new("places");
    Process::start(forks_once, &[name.path()]).finish();
}
