//! Threads log while a worker is started and stopped again and again.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;

use timeline::{EventId, Timeline};
use timeline_archive::{Archive, Keeping, RecordedEvent};
use timeline_worker::{Worker, WorkerOptions};

use super::files;
use crate::store::place::{Program, events, is_important};
use crate::support::size;

const THREADS: i64 = 3;

/// Logs numbers of a thread until it is told to end, as many as the worker has time for.
fn log(
    timeline: &Timeline,
    event: EventId,
    thread: i64,
    is_over: &AtomicBool,
    rounds: &AtomicI64,
) -> i64 {
    let mut logged = 0;
    // Relaxed: nothing else depends on either, and join orders the end.
    while !is_over.load(Ordering::Relaxed) {
        if logged / 200 > rounds.load(Ordering::Relaxed) {
            // More would be overwritten before somebody records it.
            thread::yield_now();
            continue;
        }
        timeline.log(event, [thread, logged]);
        logged += 1;
    }
    logged
}

/// The numbers of each thread in an archive.
fn numbers(events: &[RecordedEvent], thread: i64) -> Vec<i64> {
    let of_thread = events.iter().filter(|event| {
        event.definition.category.as_deref() == Some("threads") && event.args[0] == thread
    });
    let mut numbers: Vec<_> = of_thread.map(|event| event.args[1]).collect();
    numbers.sort();
    numbers
}

#[test]
fn each_event_is_recorded_once_however_often_a_worker_is_started() {
    let program = Program::new("worker-threads", 1 << 14);
    let timeline = &program.timeline;
    let priority = timeline::Priority::Info;
    let event = timeline
        .define("threads", priority, "thread $t, $n")
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let keeping = Keeping {
        rotate_size: Some(64 << 10),
        ..Keeping::default()
    };
    let flights = folder.path().join("flights");
    let options = WorkerOptions::to_file(flights.join("")).keeping(keeping);
    let (is_over, rounds) = (AtomicBool::new(false), AtomicI64::new(0));
    let all_rounds = 200 * size() as i64;
    let logged: Vec<i64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (is_over, rounds) = (&is_over, &rounds);
                scope.spawn(move || log(timeline, event, thread, is_over, rounds))
            })
            .collect();
        for round in 0..all_rounds {
            let worker = Worker::start(timeline, &options).unwrap();
            let totals = worker.stop().unwrap();
            assert_eq!((totals.missed, totals.left), (0, 0), "round {round}");
            rounds.store(round + 1, Ordering::Relaxed);
        }
        is_over.store(true, Ordering::Relaxed);
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    // What came after the last of them.
    Worker::start(timeline, &options).unwrap().stop().unwrap();
    let all = events(&flights);
    for (thread, logged) in (0..).zip(&logged) {
        assert!(*logged > all_rounds, "{logged}");
        let expected: Vec<_> = (0..*logged).collect();
        assert_eq!(numbers(&all, thread), expected, "thread {thread}");
    }
    assert_eq!(all.iter().filter(|event| is_important(event)).count(), 3);
    let found = files(&flights);
    assert!(found.len() > 2, "{found:?}");
    for file in found {
        let alone: Vec<_> = Archive::open(&file).unwrap().events().collect();
        let first = alone.iter().take_while(|event| is_important(event)).count();
        assert_eq!(first, 3, "{}", file.display());
    }
}
