//! Tests that cuts are consistent: no reader is given an effect without its cause.
//! Threads hand a token to each other meanwhile.
//!
//! Each holder of the token logs its number before it passes it on, so whoever is given number n
//! must have been given 0 to n - 1 as well, by then.

use std::sync::Barrier;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{ScopedJoinHandle, scope, yield_now};

use timeline::{Attached, Event, Follow, FollowFrom, Order, Timeline};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};

use crate::support::{
    Name, Random, arguments, attach, checked, define, in_process_without_rseq, naive, size,
};

/// Tokens at most, in a ring that they do not fill.
const TOKENS: i64 = 400_000;
const ENTRIES: u64 = 1 << 19;
/// Looks of a follower and of a recorder: without a consistent cut, some tens of them are wrong.
fn looks() -> u64 {
    1000 * size()
}
/// Looks of those that read everything each time.
fn whole_looks() -> u64 {
    100 * size()
}

/// Looks at a token after which a thread that waits for it gives up its CPU.
const PATIENCE: u32 = 500;

/// A token that threads pass round until it has come to its end.
struct Token {
    number: AtomicI64,
    end: AtomicI64,
}

impl Token {
    /// Whether the holder of `number` may log; not if that is beyond the end.
    fn comes_to(&self, number: i64) -> bool {
        let mut looks = 0;
        loop {
            match self.number.load(Ordering::Acquire) {
                _ if number >= self.end.load(Ordering::Relaxed) => return false,
                found if found == number => return true,
                _ => looks += 1,
            }
            if looks % PATIENCE == 0 {
                yield_now();
            }
        }
    }
}

/// The threads that pass a token round, and log each of its numbers before they pass it on.
struct Round<'a> {
    token: &'a Token,
    holders: Vec<ScopedJoinHandle<'a, ()>>,
}

impl Round<'_> {
    fn goes_on(&self) -> bool {
        self.holders.iter().any(|holder| !holder.is_finished())
    }

    /// Ends it; how many tokens were logged.
    fn stop(mut self) -> i64 {
        self.token.end.store(0, Ordering::Relaxed);
        let holders = std::mem::take(&mut self.holders);
        holders
            .into_iter()
            .for_each(|holder| holder.join().expect("no panic"));
        self.token.number.load(Ordering::Acquire)
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        // When an assertion failed, too: nobody would end them.
        self.token.end.store(0, Ordering::Relaxed);
    }
}

fn hand_over(threads: i64, entries: u64, read: impl FnOnce(&Timeline, &Attached, Round)) {
    let name = Name::new("token");
    let timeline = Timeline::with_size(name.path(), entries, 4096).expect("created");
    let event = define(&timeline);
    let attached = attach(name.path());
    let token = Token {
        number: AtomicI64::new(0),
        end: AtomicI64::new(TOKENS.min(entries as i64 * 3 / 4)),
    };
    let (timeline, token) = (&timeline, &token);
    scope(|scope| {
        let hold = |who| {
            scope.spawn(move || {
                crate::support::run_on(who as usize % crate::support::cpus());
                for number in (who..).step_by(threads as usize) {
                    if !token.comes_to(number) {
                        break;
                    }
                    timeline.log(event, arguments(0, number));
                    token.number.store(number + 1, Ordering::Release);
                }
            })
        };
        let holders = (0..threads).map(hold).collect();
        read(timeline, &attached, Round { token, holders });
    });
}

/// A cut allows for stamps that are this much too early, in ticks.
const EARLY: u64 = 2048;

#[test]
fn stamps_are_less_early_than_a_cut_allows_for() {
    let (mut events, mut early, mut most) = (0, 0, 0);
    for _ in 0..5 {
        hand_over(2, ENTRIES, |_, attached, round| {
            while round.goes_on() {
                yield_now();
            }
            round.stop();
            let mut given: Vec<Event> = attached.events(Order::OldestFirst).collect();
            given.sort_by_key(|event| checked(event).1);
            for pair in given.windows(2) {
                let too_early = pair[0].ticks.saturating_sub(pair[1].ticks);
                early += u64::from(too_early > 0);
                most = too_early.max(most);
            }
            events += given.len();
        });
    }
    println!("{early} of {events} events are stamped before their cause, by {most} ticks at most");
    assert!(most < EARLY, "{most} ticks");
}

/// What was given so far: so many tokens, and the greatest number.
#[derive(Default)]
struct Given {
    count: i64,
    greatest: i64,
    effects_without_cause: u64,
    looks: u64,
}

impl Given {
    /// By one look; whether anything was.
    fn events(&mut self, events: impl IntoIterator<Item = Event>) -> bool {
        let before = self.count;
        for event in events {
            self.count += 1;
            self.greatest = self.greatest.max(checked(&event).1);
        }
        self.looks += 1;
        self.effects_without_cause += u64::from(self.count > 0 && self.count != self.greatest + 1);
        self.count > before
    }

    fn assert_consistent(&self, what: &str, threads: i64) {
        assert_eq!(
            self.effects_without_cause, 0,
            "{what}, {threads} threads: of {} looks, those with an effect without its cause",
            self.looks
        );
    }
}

fn follow(threads: i64) {
    hand_over(threads, ENTRIES, |_, attached, round| {
        let (mut follow, mut given) = (attached.follow(FollowFrom::Start), Given::default());
        let mut poll = |given: &mut Given| {
            let mut events = Vec::new();
            assert_eq!(follow.poll(&mut events), 0, "nothing is overwritten");
            given.events(events)
        };
        while given.looks < looks() && round.goes_on() {
            poll(&mut given);
        }
        let logged = round.stop();
        while poll(&mut given) {}
        assert_eq!(given.count, logged);
        given.assert_consistent("follower", threads);
    });
}

/// Reads all that is there again and again.
fn look(what: &str, threads: i64, all: impl Fn(&Timeline, &Attached) -> Vec<Event>) {
    let mut sum = Given::default();
    while sum.looks < whole_looks() {
        hand_over(threads, 1 << 14, |timeline, attached, round| {
            let look = || {
                let mut given = Given::default();
                given.events(all(timeline, attached));
                given
            };
            while sum.looks < whole_looks() && round.goes_on() {
                sum.effects_without_cause += look().effects_without_cause;
                sum.looks += 1;
            }
            let logged = round.stop();
            let last = look();
            assert_eq!(last.count, logged, "{what}: all that was logged before");
            sum.looks += 1;
        });
    }
    sum.assert_consistent(what, threads);
}

/// Has threads log each the numbers that fall to it at random, as if they had handed a token on,
/// and then changes when each event says that it was: by `between` ticks after the one before it.
/// Where another thread had logged that one, mostly `early` ticks before it: as a processor may
/// that reads its clock too early.
fn as_if_handed_over_at_random(name: &Name, count: i64, between: u64, early: u64) {
    let timeline = Timeline::with_size(name.path(), ENTRIES >> 2, 4096).expect("created");
    let event = define(&timeline);
    let mut random = Random(1);
    let whose: Vec<u64> = (0..count).map(|_| random.below(3)).collect();
    // Nobody waits for a number: what is read is the order in each lane, and the stamps.
    let all_have_lanes = Barrier::new(3);
    scope(|scope| {
        for who in 0..3 {
            let (timeline, whose, all_have_lanes) = (&timeline, &whose, &all_have_lanes);
            scope.spawn(move || {
                for number in (0..count).filter(|number| whose[*number as usize] == who) {
                    timeline.log(event, arguments(0, number));
                }
                // Or else the next thread would go on in this lane.
                all_have_lanes.wait();
            });
        }
    });
    let mut stamps = vec![between];
    for pair in whose.windows(2) {
        let last = stamps.len() as u64 * between;
        stamps.push(match pair[0] == pair[1] || random.below(4) == 0 {
            true => last + between,
            false => last - early,
        });
    }
    naive::change_ticks(&name.file(), |_, ticks, number| match ticks {
        0 => 0,
        _ => stamps[number as usize],
    });
}

/// Each poll ends somewhere in what is there, and never between a cause and an effect that is
/// stamped before it.
#[test]
fn a_follower_that_is_behind_is_given_causes_first() {
    if in_process_without_rseq("consistency::a_follower_that_is_behind_is_given_causes_first") {
        return;
    }
    const COUNT: i64 = 1 << 16;
    let name = Name::new("behind");
    as_if_handed_over_at_random(&name, COUNT, 4 * EARLY, EARLY / 2);
    let attached = attach(name.path());
    let (mut follow, mut given) = (attached.follow(FollowFrom::Start), Given::default());
    let poll = |follow: &mut Follow| {
        let mut events = Vec::new();
        assert_eq!(follow.poll(&mut events), 0, "nothing is overwritten");
        events
    };
    while given.events(poll(&mut follow)) {}
    assert_eq!(given.count, COUNT);
    assert!(given.looks > 20, "{} polls", given.looks);
    given.assert_consistent("follower that is behind", 3);
}

fn dump(threads: i64) {
    for order in [Order::OldestFirst, Order::NewestFirst] {
        look("dump", threads, |_, attached| {
            attached.events(order).collect()
        });
    }
}

fn snapshot(threads: i64) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("snapshot.timeline");
    look("snapshot", threads, |timeline, _| {
        timeline.save(&file).expect("saved");
        let snapshot = Attached::open(&file).expect("opened");
        snapshot.events(Order::OldestFirst).collect()
    });
}

fn record(threads: i64, form: Form) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flight.tla");
    hand_over(threads, ENTRIES, |_, attached, round| {
        let mut output = ArchiveOutput::open(&file, Keeping::default()).expect("opened");
        let mut recorder = Recorder::new(attached, &mut output, form).expect("begun");
        assert!(recorder.flush(), "there is room");
        let archive = Archive::open(&file).expect("an archive");
        let mut growth = archive.follow().expect("followed");
        let mut given = Given::default();
        given.events(archive.events_by_time(Order::OldestFirst));
        // What a reader of the archive finds after each step.
        let mut step = |given: &mut Given| {
            let new = recorder.step();
            assert!(recorder.flush(), "there is room");
            let mut events = Vec::new();
            while {
                let before = events.len();
                growth.poll(&mut events).expect("read");
                events.len() > before
            } {}
            given.events(events);
            new
        };
        while given.looks < looks() && round.goes_on() {
            step(&mut given);
        }
        let logged = round.stop();
        while step(&mut given) {}
        assert_eq!((recorder.finish().missed, given.count), (0, logged));
        given.assert_consistent("recorder", threads);
    });
}

#[test]
fn a_follower_is_given_causes_first() {
    [2, 4].into_iter().for_each(follow);
}

#[test]
fn a_dump_holds_the_cause_of_each_effect() {
    [2, 4].into_iter().for_each(dump);
}

#[test]
fn a_snapshot_holds_the_cause_of_each_effect() {
    [2, 4].into_iter().for_each(snapshot);
}

#[test]
fn a_recorder_writes_causes_first() {
    record(2, Form::Blocks);
    record(4, Form::Plain);
}

/// Each of these again, where each thread has a lane of its own.
#[test]
fn the_same_without_restartable_sequences() {
    if !in_process_without_rseq("consistency::the_same_without_restartable_sequences") {
        a_follower_is_given_causes_first();
        a_dump_holds_the_cause_of_each_effect();
        a_snapshot_holds_the_cause_of_each_effect();
        a_recorder_writes_causes_first();
    }
}
