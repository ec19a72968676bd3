//! Each event exactly once: ten million of them, and those of writers of both kinds in one ring.

use std::sync::atomic::Ordering;

use timeline::{ClockKind, Timeline};

use super::load::{Counts, HANDLER, MAIN, SLOTS, THREADS, logs_in_a_storm};
use super::tally::{Expected, Ring};
use crate::support::{NO_RSEQ, Name, Process, Way, attach, size};

/// What a process has in its environment.
type Environment<'a> = &'a [(&'a str, &'a str)];

/// How many events there were, how many of them handlers logged, and how many of theirs were
/// dropped; and which processes had restartable sequences.
struct Logged {
    all: u64,
    by_handlers: u64,
    dropped: u64,
    restartable: Vec<bool>,
}

/// What processes log to one ring, which is never full: a lane's current chunk may be old, and what
/// is written into it overwritten before a lap is over.
struct Storm {
    entries: u64,
    by_thread: u64,
    by_child: u64,
    /// Whether events have a text, and take one to three entries.
    typed: bool,
}

impl Storm {
    /// A process logs in each of these environments, and every event is looked for.
    fn run(&self, environments: &[Environment]) -> Logged {
        let name = Name::new("storm");
        let timeline = Timeline::with_size(name.path(), self.entries, 4096).expect("created");
        Way::define(self.typed, &timeline);
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("counts");
        let counts = Counts::create(&file, environments.len() as i64);
        let file = file.to_str().expect("a plain name");
        let start = |(number, environment): (i64, &Environment)| {
            let numbers = [number as u64, self.by_thread, self.by_child];
            let numbers = numbers.map(|n| n.to_string());
            let mut given = vec![name.path(), file];
            given.extend(numbers.iter().map(String::as_str));
            given.push(if self.typed { "typed" } else { "plain" });
            Process::start_with(logs_in_a_storm, &given, environment)
        };
        let mut processes: Vec<_> = (0..).zip(environments).map(start).collect();
        let restartable: Vec<_> = processes.iter_mut().map(|p| p.line() == "true").collect();
        processes.iter_mut().for_each(Process::tell);
        for process in &mut processes {
            assert_eq!(process.line(), "done");
        }

        let begun = |who| counts.begun(who).load(Ordering::Relaxed);
        let logged = |who| match who % SLOTS {
            member if member < THREADS => self.by_thread,
            member if member < MAIN => self.by_child,
            MAIN => 1,
            _ => begun(who),
        };
        let whos = 0..environments.len() as i64 * SLOTS;
        let expected = Expected::new(whos.clone().map(logged));
        Ring::map(&name.file()).check(&expected);
        let mut dropped = 0;
        for who in whos.clone() {
            let lost = expected.lost(who);
            assert!(
                lost == 0 || who % SLOTS >= HANDLER,
                "{who} lost {lost} events"
            );
            dropped += lost;
        }
        // What handlers lost is counted, and nothing else was lost.
        let info = attach(name.path()).info();
        assert_eq!(
            (info.dropped.interrupted, info.dropped.total()),
            (dropped, dropped)
        );
        let all: u64 = whos.clone().map(logged).sum();
        assert!(self.typed || info.entries_written + dropped == all);
        assert_eq!(
            info.entries_held, info.entries_written,
            "the ring was too small"
        );
        // The first thread of each process is still there, with the lane it logged through.
        let by_cpu = |has: &bool| *has && info.clock == ClockKind::Tsc;
        let (cpus, threads) = (info.cpu_lanes_in_use, info.thread_lanes_in_use);
        assert_eq!(cpus > 0, restartable.iter().any(by_cpu), "{cpus} in use");
        assert_eq!(
            threads > 0,
            !restartable.iter().all(by_cpu),
            "{threads} in use"
        );
        processes.iter_mut().for_each(Process::tell);
        processes.into_iter().for_each(Process::finish);
        let by_handlers = whos.filter(|who| who % SLOTS >= HANDLER).map(begun).sum();
        Logged {
            all,
            by_handlers,
            dropped,
            restartable,
        }
    }
}

#[test]
fn writers_with_and_without_restartable_sequences_share_one_ring() {
    let storm = Storm {
        entries: 1 << 19,
        by_thread: 50_000,
        by_child: 2_000,
        typed: false,
    };
    for _ in 0..4 {
        let logged = storm.run(&[&[], &[NO_RSEQ]]);
        assert!(!logged.restartable[1], "{NO_RSEQ:?} is not heard");
    }
}

#[test]
fn typed_events_come_exactly_once() {
    let storm = Storm {
        entries: 1 << 19,
        by_thread: 25_000,
        by_child: 2_000,
        typed: true,
    };
    let logged = storm.run(&[&[], &[NO_RSEQ]]);
    let by_handlers = logged.by_handlers - logged.dropped;
    assert!(by_handlers > 0, "no handler has logged");
}

#[test]
fn ten_million_events_come_exactly_once() {
    // 256 MiB each time, of which handlers, and lanes with a chunk that is not full, may take a
    // twelfth.
    let storm = Storm {
        entries: 1 << 22,
        by_thread: 240_000,
        by_child: 5_000,
        typed: false,
    };
    let (mut all, mut by_handlers) = (0, 0);
    while all < 10_000_000 * size() {
        let logged = storm.run(&[&[] as Environment; 4]);
        all += logged.all;
        by_handlers += logged.by_handlers - logged.dropped;
    }
    assert!(by_handlers > 0, "no handler has logged");
}
