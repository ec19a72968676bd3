//! Tests which processes count as alive.
//! A program that executed itself is its own successor. A process whose first thread has ended is
//! alive.

use std::os::unix::process::CommandExt;
use std::sync::{Barrier, atomic::AtomicU32, atomic::Ordering};

use timeline::{Error, Order, Timeline};

use crate::support::{
    Name, Process, arguments, attach, checked, define, hear, in_process_without_rseq, own_lanes,
    say,
};

fn small(path: &str) -> Result<Timeline, Error> {
    Timeline::with_size(path, 256, 2048)
}

/// What `path` holds, as (who, number), oldest first.
fn held(path: &str) -> Vec<(i64, i64)> {
    let attached = attach(path);
    let events = attached.events(Order::OldestFirst);
    events.map(|e| checked(&e)).collect()
}

/// Logs its round and executes itself for the next, until all are done. With the handle open: an
/// exec does not drop it.
pub fn executes_itself(given: &[String]) {
    let [path, how, round, last] = given else {
        panic!("{given:?}");
    };
    let round: u32 = round.parse().expect("a number");
    let timeline = match how.as_str() {
        "new" => small(path),
        _ => Timeline::open(path),
    };
    let timeline = timeline.unwrap_or_else(|e| panic!("round {round}: {e}"));
    let event = define(&timeline);
    timeline.log(event, arguments(1, round.into()));
    // A second thread, and so a second lane, which the exec ends without a word.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            timeline.log(event, arguments(2, round.into()));
            let info = attach(path).info();
            assert_eq!(info.thread_lanes_in_use, own_lanes(2), "round {round}");
            let me = std::process::id();
            let mine = info.writers.iter().filter(|w| w.pid == me);
            let alive: Vec<bool> = mine.map(|w| w.alive).collect();
            assert_eq!(alive, [true], "round {round}: {:?}", info.writers);
            if round.to_string() == *last {
                return;
            }
            let next = (round + 1).to_string();
            let error = std::process::Command::new("/proc/self/exe")
                .args([path, how, &next, last])
                .exec();
            panic!("{error}");
        });
    });
}

#[test]
fn a_program_that_executes_itself_creates_its_timeline_anew() {
    let name = Name::new("reexec-new");
    Process::start(executes_itself, &[name.path(), "new", "0", "3"]).finish();
    assert_eq!(held(name.path()), [(1, 3), (2, 3)]);
    assert_eq!(held(&name.beside(".prev")), [(1, 2), (2, 2)]);
    assert!(name.staged().is_empty());
}

#[test]
fn a_program_that_executes_itself_uses_up_no_places_and_no_lanes() {
    let name = Name::new("reexec-open");
    let opener = small(name.path()).expect("created");
    define(&opener);
    Process::start(executes_itself, &[name.path(), "open", "0", "15"]).finish();
    let expected: Vec<_> = (0..16).flat_map(|i| [(1, i), (2, i)]).collect();
    assert_eq!(held(name.path()), expected);
    let info = attach(name.path()).info();
    assert_eq!((info.dropped.total(), info.thread_lanes_in_use), (0, 0));
    let writers: Vec<u32> = info.writers.iter().map(|w| w.pid).collect();
    assert_eq!(writers, [std::process::id()]);
}

/// Takes as many lanes as it is told, one with each thread, and loses its first thread.
pub fn loses_its_first_thread(given: &[String]) {
    let timeline: &Timeline = Box::leak(Box::new(Timeline::open(&given[0]).expect("joined")));
    let event = define(timeline);
    let lanes: usize = given[1].parse().expect("a number");
    let (logged, told): (&Barrier, &Barrier) = (
        Box::leak(Box::new(Barrier::new(lanes + 1))),
        Box::leak(Box::new(Barrier::new(lanes))),
    );
    let done: &AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
    for who in 0..lanes as i64 {
        std::thread::spawn(move || {
            timeline.log(event, arguments(who, 0));
            logged.wait();
            if who == 0 {
                hear();
            }
            told.wait();
            (1..10).for_each(|i| timeline.log(event, arguments(who, i)));
            if done.fetch_add(1, Ordering::SeqCst) + 1 == lanes as u32 {
                std::process::exit(0);
            }
        });
    }
    logged.wait();
    say("logged");
    // What pthread_exit comes to, without unwinding a stack that is not Rust's alone.
    // SAFETY: ends this thread, whose stack holds nothing that the others use.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
}

#[test]
fn a_process_whose_first_thread_has_ended_is_alive() {
    if in_process_without_rseq("lifecycle::alive::a_process_whose_first_thread_has_ended_is_alive")
    {
        return;
    }
    let name = Name::new("headless");
    let opener = small(name.path()).expect("created");
    let event = define(&opener);
    let lanes = attach(name.path()).info().thread_lanes;
    let mut process = Process::start(loses_its_first_thread, &[name.path(), &lanes.to_string()]);
    assert_eq!(process.line(), "logged");
    let state = format!("/proc/{}/stat", process.pid());
    while !std::fs::read_to_string(&state)
        .expect("it is there")
        .contains(") Z ")
    {
        std::thread::yield_now();
    }
    let writers = attach(name.path()).info().writers;
    let alive: Vec<u32> = writers.iter().filter(|w| w.alive).map(|w| w.pid).collect();
    assert!(alive.contains(&process.pid()), "{writers:?}");
    // There is no lane left for us, and none is taken from it.
    opener.log(event, arguments(-1, 0));
    let info = attach(name.path()).info();
    assert_eq!((info.dropped.no_lane, info.thread_lanes_in_use), (1, lanes));
    drop(opener);
    let error = small(name.path()).err();
    let Some(Error::InUse { by, .. }) = error else {
        panic!("expected InUse, got {error:?}");
    };
    assert_eq!(
        by.iter().map(|u| u.pid).collect::<Vec<_>>(),
        [process.pid()]
    );
    process.tell();
    process.finish();
    let mut events = held(name.path());
    events.sort_unstable();
    let each = |who| (0..10).map(move |i| (who, i));
    let expected: Vec<_> = (0..i64::from(lanes)).flat_map(each).collect();
    assert_eq!(events, expected);
    small(name.path()).expect("now it has ended");
}
