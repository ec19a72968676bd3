//! Each event exactly once: a hundred million of them, and those of writers of both kinds in one ring.

use std::sync::atomic::Ordering;

use crate::harness::{Name, Process, attach, define};
use crate::load::{CHILDREN, Counts, HANDLER, SLOTS, THREADS};
use crate::tally::{Expected, Ring};
use timeline::Timeline;

/// What is logged in how many rounds; one fits into the ring with what lanes hold besides.
struct Storm {
    entries: u64,
    rounds: u64,
    by_thread: u64,
    by_child: u64,
}

impl Storm {
    /// The processes log, with these settings of the C library, and after each round every event is looked for. What
    /// processes say of their restartable sequences.
    fn run(&self, name: &Name, tunables: &[&str]) -> Vec<String> {
        let timeline = Timeline::with_size(name.path(), self.entries, 4096).expect("created");
        let event = define(&timeline);
        let attached = attach(name.path());
        let ring = Ring::map(&name.file());
        let processes = tunables.len() as i64;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("counts");
        let counts = Counts::create(&file, processes);
        let file = file.to_str().expect("a plain name");
        let mut children: Vec<Process> = (0..)
            .zip(tunables)
            .map(|(process, tunables)| {
                let numbers = [process, self.rounds, self.by_thread, self.by_child];
                let numbers = numbers.map(|n| n.to_string());
                let mut given = vec![name.path(), file];
                given.extend(numbers.iter().map(String::as_str));
                Process::start_with("logs_in_rounds", &given, &[("GLIBC_TUNABLES", tunables)])
            })
            .collect();
        let said = children.iter_mut().map(Process::line).collect();
        let whos = 0..processes * SLOTS;
        let begun = |who| counts.begun(who).load(Ordering::Relaxed);
        let mut handled: Vec<u64> = whos.clone().map(begun).collect();
        let (mut logged, mut dropped) = (0, 0);
        for round in 0..self.rounds {
            children.iter_mut().for_each(Process::tell);
            children
                .iter_mut()
                .for_each(|c| assert_eq!(c.line(), "done"));

            let of = |count| round * count..(round + 1) * count;
            let before = std::mem::replace(&mut handled, whos.clone().map(begun).collect());
            let ranges = whos.clone().map(|who| match who % SLOTS {
                slot if slot < THREADS => of(self.by_thread),
                slot if slot < THREADS + CHILDREN => of(self.by_child),
                _ => before[who as usize]..handled[who as usize],
            });
            logged += ranges.clone().map(|r| r.end - r.start).sum::<u64>();
            let expected = Expected::new(event, ranges);
            ring.check(&expected);
            let info = attached.info();
            let mut not_found = 0;
            for who in whos.clone() {
                let lost = expected.lost(who);
                let may = who % SLOTS >= HANDLER;
                assert!(may || lost == 0, "round {round}: {who} lost {lost} events");
                not_found += lost;
            }
            // What handlers lost is counted, and nothing else was lost.
            dropped += not_found;
            assert_eq!(info.dropped.interrupted, dropped, "round {round}");
            assert_eq!(info.dropped.total(), dropped, "round {round}");
            assert_eq!(info.events_written + dropped, logged, "round {round}");
        }
        children.into_iter().for_each(Process::finish);
        let by_handlers: u64 = handled.iter().sum();
        assert!(by_handlers > dropped, "no handler has logged");
        eprintln!("{logged} events, {by_handlers} of handlers, {dropped} dropped");
        said
    }
}

#[test]
fn writers_with_and_without_restartable_sequences_share_one_ring() {
    let storm = Storm {
        entries: 1 << 18,
        rounds: 4,
        by_thread: 20_000,
        by_child: 2_000,
    };
    let off = "glibc.pthread.rseq=0";
    let said = storm.run(&Name::new("mixed"), &["", off]);
    assert_ne!(said[1], "Some(true)", "{off} is not heard");
}

#[test]
fn a_hundred_million_events_come_exactly_once() {
    // 256 MiB, of which a round takes 3.2 million entries: the lanes of threads that ended, 24 more in each round, keep
    // a chunk of 1,024 each.
    let storm = Storm {
        entries: 1 << 22,
        rounds: 31,
        by_thread: 200_000,
        by_child: 5_000,
    };
    storm.run(&Name::new("storm"), &[""; 4]);
}
