//! No living writer is taken for dead, in whatever namespace the writer and the observer are.

use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;

use Space::{Ahead, Behind, NoProc, Pids, Proc, SameNumber, Users};
use timeline::{Control, Error, Level, Order, Timeline};

use super::apart::{self, Space};
use crate::support::{
    Name, Process, arguments, attach, checked, define, hear, in_process_without_rseq, own_lanes,
    say,
};

fn small(path: &str) -> Result<Timeline, Error> {
    Timeline::with_size(path, 256, 2048)
}

const EVENTS: i64 = 10;

/// Takes every lane there is for threads, one with each thread, and logs on when told. With a
/// further word, as a daemon that has closed its descriptors meanwhile.
pub fn writes_through_all_lanes(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let lanes = i64::from(attach(&given[0]).info().thread_lanes);
    let (logged, told) = (
        &Barrier::new(lanes as usize + 1),
        &Barrier::new(lanes as usize + 1),
    );
    std::thread::scope(|scope| {
        for who in 0..lanes {
            let timeline = &timeline;
            scope.spawn(move || {
                timeline.log(event, arguments(who, 0));
                logged.wait();
                told.wait();
                (1..EVENTS).for_each(|i| timeline.log(event, arguments(who, i)));
            });
        }
        logged.wait();
        if given.len() > 1 {
            // SAFETY: nothing of this process uses a descriptor from 3 up, except the library under
            // test.
            let closed = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
            assert_eq!(closed, 0);
        }
        say("logged");
        hear();
        told.wait();
    });
    say("done");
    hear();
}

/// Tries everything that would need the writer to be dead: a lane, the name, a new timeline of that
/// name. Says how many events found no lane, and who is said to write.
pub fn looks(given: &[String]) {
    let path = given[0].as_str();
    let timeline = Timeline::open(path).expect("joined");
    // A thread's first event, which looks for a lane, and takes those of the dead if there is none.
    timeline.log(define(&timeline), arguments(-1, 0));
    let dropped = attach(path).info().dropped.no_lane;
    drop(timeline);
    let writers = timeline::users(path).expect("attached").len();
    let removed = Command::new(env!("CARGO_BIN_EXE_timeline"))
        .args(["rm", path])
        .output()
        .expect("it runs");
    let refused = String::from_utf8_lossy(&removed.stderr).contains("in use by");
    let in_use = matches!(small(path), Err(Error::InUse { by, .. }) if by.len() == 1);
    say(format!(
        "dropped {dropped}, writers {writers}, rm refused {refused}, new refused {in_use}"
    ));
    hear();
}

/// Has a child write, which is in the same pid namespace, and looks at it.
pub fn looks_at_its_child(given: &[String]) {
    let mut child = Process::start(writes_through_all_lanes, &[&given[0]]);
    assert_eq!(child.line(), "logged");
    looks(given);
    child.tell();
    assert_eq!(child.line(), "done");
    child.tell();
    child.finish();
}

/// Where the writer is, and where somebody looks at it from.
const PLACES: &[(&[Space], &[Space])] = &[
    // Each alone, from outside and from inside.
    (&[Ahead], &[]),
    (&[], &[Ahead]),
    (&[Pids], &[]),
    (&[], &[Pids]),
    (&[Pids, Proc], &[]),
    (&[], &[Pids, Proc]),
    (&[NoProc], &[]),
    (&[], &[NoProc]),
    (&[Pids, NoProc], &[Pids, Ahead, NoProc]),
    // In two of a kind, which know nothing of each other.
    (&[Ahead], &[Behind]),
    (&[Pids, Proc], &[Pids, Proc]),
    (&[Pids], &[Pids]),
    // As containers are.
    (&[Pids, Proc, Behind], &[Pids, Proc, Ahead]),
    (&[Users, Pids, Proc], &[]),
];

#[test]
fn no_writer_is_taken_for_dead_in_another_namespace() {
    if in_process_without_rseq(
        "namespaces::living::no_writer_is_taken_for_dead_in_another_namespace",
    ) {
        return;
    }
    for (writer, looker) in PLACES {
        for daemon in [&[][..], &["daemon"]] {
            // What has closed its descriptors is seen by its lock alone.
            one_writes_another_looks(writer, looker, daemon);
        }
    }
}

fn one_writes_another_looks(writer: &[Space], looker: &[Space], daemon: &[&str]) {
    let name = Name::new("apart");
    let opener = small(name.path()).expect("created");
    define(&opener);
    drop(opener);
    let told = [&[name.path()], daemon].concat();
    let Some(mut writes) = apart::start(writer, writes_through_all_lanes, &told) else {
        return;
    };
    assert_eq!(writes.line(), "logged");
    let Some(mut looks) = apart::start(looker, looks, &[name.path()]) else {
        return;
    };
    assert_eq!(looks.line(), ALIVE, "{writer:?} {daemon:?} from {looker:?}");
    looks.tell();
    looks.finish();
    finish(&name, writes);
}

/// What [`looks`] says if the writer lives.
const ALIVE: &str = "dropped 1, writers 1, rm refused true, new refused true";

#[test]
fn the_proc_of_another_pid_namespace_is_not_believed() {
    if in_process_without_rseq(
        "namespaces::living::the_proc_of_another_pid_namespace_is_not_believed",
    ) {
        return;
    }
    // Even if /proc/self has the number there that we have here.
    for spaces in [&[Pids][..], &[Pids, SameNumber], &[Pids, Proc], &[Ahead]] {
        let name = Name::new("family");
        let opener = small(name.path()).expect("created");
        define(&opener);
        drop(opener);
        let Some(mut looks) = apart::start(spaces, looks_at_its_child, &[name.path()]) else {
            continue;
        };
        assert_eq!(looks.line(), ALIVE, "{spaces:?}");
        looks.tell();
        looks.finish();
        everything_is_there(&name);
    }
}

#[test]
fn what_was_killed_in_another_namespace_is_dead() {
    for spaces in [&[Pids][..], &[Pids, Proc], &[Ahead], &[Pids, Behind]] {
        let name = Name::new("killed");
        let opener = small(name.path()).expect("created");
        define(&opener);
        let Some(mut writes) = apart::start(spaces, writes_through_all_lanes, &[name.path()])
        else {
            return;
        };
        assert_eq!(writes.line(), "logged");
        writes.kill();
        // It ends the writer with it, and nobody tells us when that is over.
        while timeline::users(name.path()).expect("attached").len() > 1 {
            std::thread::yield_now();
        }
        opener.log(define(&opener), arguments(-1, 0));
        let info = attach(name.path()).info();
        assert_eq!(info.dropped.total(), 0, "{spaces:?}");
        assert_eq!(info.thread_lanes_in_use, own_lanes(1), "{spaces:?}");
        drop(opener);
        small(name.path()).expect("nobody uses it");
    }
}

/// Has the writer log on and end: every event of each of its threads is there, and then nobody
/// writes any more.
fn finish(name: &Name, mut writes: Process) {
    writes.tell();
    assert_eq!(writes.line(), "done");
    everything_is_there(name);
    writes.tell();
    writes.finish();
    assert_eq!(timeline::users(name.path()).expect("attached"), []);
    small(name.path()).expect("nobody uses it");
}

/// Each event of each thread, and none of anybody else.
fn everything_is_there(name: &Name) {
    let attached = attach(name.path());
    let events = attached.events(Order::OldestFirst);
    let mut events: Vec<_> = events.map(|e| checked(&e)).collect();
    events.sort_unstable();
    let lanes = i64::from(attached.info().thread_lanes);
    let each = |who| (0..EVENTS).map(move |i| (who, i));
    assert_eq!(events, (0..lanes).flat_map(each).collect::<Vec<_>>());
}

/// Raises the level in bursts, of which the first lasts for as long as the test.
pub fn samples(given: &[String]) {
    let control = Control::open(&given[0]).expect("attached");
    let seconds = Duration::from_secs;
    let _sampler = control.sample(Level::ALL, seconds(100), seconds(200));
    while attach(&given[0]).info().boost == Level::NONE {
        std::thread::yield_now();
    }
    say("on");
    hear();
}

#[test]
fn what_a_sampler_in_another_namespace_raised_stays_until_it_ends() {
    for spaces in [&[Ahead][..], &[Pids], &[Pids, Proc, Behind], &[NoProc]] {
        let name = Name::new("samples");
        let timeline = small(name.path()).expect("created");
        timeline.priority(Level::NONE).expect("set");
        let Some(mut samples) = apart::start(spaces, samples, &[name.path()]) else {
            return;
        };
        assert_eq!(samples.line(), "on");
        // A change, which clears what the dead have left.
        define(&timeline);
        let info = attach(name.path()).info();
        let seen = (info.boost, info.boost_is_stale);
        assert_eq!(seen, (Level::ALL, false), "{spaces:?}");
        samples.tell();
        samples.finish();
        assert_eq!(attach(name.path()).info().boost, Level::NONE, "{spaces:?}");
    }
}

const ROUNDS: i64 = 40;
const THREADS: i64 = 8;
const LOGGED: i64 = 300;

/// Has threads come and go, of which each takes a lane or finds none; of as many as there are
/// lanes, at once.
pub fn storms(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    say("ready");
    hear();
    for _ in 0..ROUNDS {
        let together = &Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for who in 0..THREADS {
                let timeline = &timeline;
                scope.spawn(move || {
                    timeline.log(event, arguments(who, 0));
                    together.wait();
                    (1..LOGGED).for_each(|i| timeline.log(event, arguments(who, i)));
                });
            }
        });
    }
    say("done");
    hear();
}

#[test]
fn every_event_of_processes_in_different_namespaces_is_written_or_counted() {
    let test = concat!(
        "namespaces::living::",
        "every_event_of_processes_in_different_namespaces_is_written_or_counted"
    );
    if in_process_without_rseq(test) {
        return;
    }
    let name = Name::new("storm");
    let opener = small(name.path()).expect("created");
    // Of the lanes of as many threads, one is taken.
    opener.log(define(&opener), arguments(-1, 0));
    let places: [&[Space]; 6] = [
        &[],
        &[Ahead],
        &[Pids],
        &[Pids, Proc, Behind],
        &[NoProc],
        &[Users, Pids, Ahead],
    ];
    let start = |spaces: &&[Space]| apart::start(spaces, storms, &[name.path()]);
    let mut all: Vec<Process> = places.iter().filter_map(start).collect();
    all.iter_mut().for_each(|p| assert_eq!(p.line(), "ready"));
    all.iter_mut().for_each(Process::tell);
    all.iter_mut().for_each(|p| assert_eq!(p.line(), "done"));
    let info = attach(name.path()).info();
    assert_eq!(i64::from(info.thread_lanes), THREADS);
    let logged = 1 + all.len() as i64 * ROUNDS * THREADS * LOGGED;
    let counted = info.entries_written + info.dropped.total();
    assert_eq!(counted, logged as u64, "{:?}", info.dropped);
    assert!(info.dropped.no_lane > 0, "nobody looked for the dead");
    for mut process in all {
        process.tell();
        process.finish();
    }
}
