//! Tests many threads and processes on one ring.
//! Each event comes exactly once while nothing wraps, and whole and in order when it does.

use std::collections::HashMap;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;

use timeline::internal::layout::Header;
use timeline::{Attached, Event, Follow, FollowFrom, Order, Timeline};

use crate::support::{
    Name, Process, arguments, attach, checked, define, hear, in_process_without_rseq, rseq, say,
};

/// Joins the timeline `path` and logs `count` events from each of `threads` threads; count 0: until
/// told.
fn writer(given: &[String]) {
    let number = |i: usize| given[i].parse::<i64>().expect("a number");
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let (first, threads, count) = (number(1), number(2), number(3));
    say("ready");
    hear();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for who in first..first + threads {
            let (timeline, stop) = (&timeline, &stop);
            scope.spawn(move || {
                for i in 0.. {
                    let ended = match count {
                        0 => stop.load(std::sync::atomic::Ordering::Relaxed),
                        count => i == count,
                    };
                    if ended {
                        break;
                    }
                    timeline.log(event, arguments(who, i));
                }
            });
        }
        if count == 0 {
            hear();
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
}

/// Each thread's numbers, in the order the events came in; fails on a torn one.
fn by_thread(events: impl IntoIterator<Item = Event>) -> HashMap<i64, Vec<i64>> {
    let mut threads: HashMap<i64, Vec<i64>> = HashMap::new();
    for event in events {
        let (who, number) = checked(&event);
        threads.entry(who).or_default().push(number);
    }
    threads
}

fn assert_exactly_once(what: &str, events: Vec<Event>, threads: i64, count: i64) {
    let mut seen = by_thread(events);
    for who in 0..threads {
        let numbers = seen.remove(&who).unwrap_or_default();
        let wrong = (0..count).find(|&i| numbers.get(i as usize) != Some(&i));
        assert_eq!(wrong, None, "{what}: the first wrong event of thread {who}");
        assert_eq!(numbers.len() as i64, count, "{what}: thread {who}");
    }
    assert!(seen.is_empty(), "{what}: threads nobody started");
}

fn assert_rising(what: &str, events: impl IntoIterator<Item = Event>) {
    for (who, numbers) in by_thread(events) {
        for pair in numbers.windows(2) {
            assert!(
                pair[0] < pair[1],
                "{what}: thread {who}, {} then {}",
                pair[0],
                pair[1]
            );
        }
    }
}

fn all(attached: &Attached, order: Order) -> Vec<Event> {
    let mut events = attached.events(order);
    let all = events.by_ref().collect();
    assert_eq!(events.overwritten(), 0, "of a ring that nobody writes to");
    all
}

/// Polls until the writers are done and everything has come.
fn poll(mut follow: Follow, mut running: impl FnMut() -> bool) -> (Vec<Event>, u64) {
    let (mut events, mut missed) = (Vec::new(), 0);
    loop {
        let (more, before) = (running(), events.len());
        let lost = follow.poll(&mut events);
        missed += lost;
        let idle = lost == 0 && events.len() == before;
        if !more && idle {
            assert_eq!(missed, follow.missed());
            return (events, missed);
        }
    }
}

/// Logs `count` events from each of `threads` threads of this process, followed throughout.
fn from_threads(name: &Name, threads: i64, count: i64, entries: u64) -> (Vec<Event>, u64) {
    let timeline = Timeline::with_size(name.path(), entries, 4096).expect("created");
    let event = define(&timeline);
    let attached = attach(name.path());
    let begin = std::sync::Barrier::new(threads as usize + 1);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..threads)
            .map(|who| {
                let (timeline, begin) = (&timeline, &begin);
                scope.spawn(move || {
                    begin.wait();
                    for i in 0..count {
                        timeline.log(event, arguments(who, i));
                    }
                })
            })
            .collect();
        let follow = attached.follow(FollowFrom::Oldest);
        begin.wait();
        poll(follow, || writers.iter().any(|w| !w.is_finished()))
    })
}

/// The same from `processes` processes of `threads` threads each.
fn from_processes(
    name: &Name,
    processes: i64,
    threads: i64,
    count: i64,
    entries: u64,
) -> (Vec<Event>, u64) {
    let timeline = Timeline::with_size(name.path(), entries, 4096).expect("created");
    define(&timeline);
    let attached = attach(name.path());
    let mut children: Vec<Process> = (0..processes)
        .map(|p| {
            let first = (p * threads).to_string();
            let (threads, count) = (threads.to_string(), count.to_string());
            Process::start(writer, &[name.path(), &first, &threads, &count])
        })
        .collect();
    children
        .iter_mut()
        .for_each(|c| assert_eq!(c.line(), "ready"));
    let follow = attached.follow(FollowFrom::Oldest);
    children.iter_mut().for_each(Process::tell);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            children.into_iter().for_each(Process::finish);
            done.store(true, std::sync::atomic::Ordering::Release);
        });
        poll(follow, || !done.load(std::sync::atomic::Ordering::Acquire))
    })
}

#[test]
fn every_event_of_1_2_and_8_threads_comes_exactly_once_while_nothing_wraps() {
    for threads in [1, 2, 8] {
        let name = Name::new("threads");
        let count = 120_000 / threads;
        let (followed, missed) = from_threads(&name, threads, count, 131_072);
        assert_exactly_once(
            "dumped",
            all(&attach(name.path()), Order::OldestFirst),
            threads,
            count,
        );
        assert_eq!(
            missed, 0,
            "{threads} threads: followed while nothing was overwritten"
        );
        assert_exactly_once("followed", followed, threads, count);
    }
}

#[test]
fn every_event_of_4_processes_comes_exactly_once_while_nothing_wraps() {
    let name = Name::new("processes");
    let (followed, missed) = from_processes(&name, 4, 2, 15_000, 131_072);
    let attached = attach(name.path());
    assert_exactly_once("dumped", all(&attached, Order::OldestFirst), 8, 15_000);
    assert_eq!(missed, 0, "followed while nothing was overwritten");
    assert_exactly_once("followed", followed, 8, 15_000);
    assert_eq!(attached.info().entries_written, 8 * 15_000);
}

/// After many laps: what is there is whole, sorted and counted, and so is what was followed.
fn assert_settled(name: &Name, followed: Vec<Event>, missed: u64, threads: i64, count: i64) {
    let attached = attach(name.path());
    let info = attached.info();
    assert_eq!(info.entries_written, (threads * count) as u64);
    assert_eq!(info.dropped.total(), 0);

    let oldest_first = all(&attached, Order::OldestFirst);
    let mut newest_first = all(&attached, Order::NewestFirst);
    newest_first.reverse();
    assert_eq!(oldest_first, newest_first, "the two orders disagree");
    assert_eq!(oldest_first.len() as u64, info.entries_held);
    assert!(oldest_first.windows(2).all(|w| w[0].ticks <= w[1].ticks));
    assert_eq!(oldest_first.first().map(|e| e.ticks), info.oldest_ticks);
    assert_eq!(oldest_first.last().map(|e| e.ticks), info.newest_ticks);
    assert_rising("dumped", oldest_first.iter().cloned());
    // Each lane's newest is there: that of each thread with a lane of its own, and the last of all.
    let newest = oldest_first.last().map(|e| checked(e).0);
    let last = by_thread(oldest_first);
    for who in (0..threads).filter(|who| !rseq() || newest == Some(*who)) {
        let last = last.get(&who).and_then(|n| n.last().copied());
        assert_eq!(last, Some(count - 1), "the newest of thread {who} is gone");
    }

    let came = followed.len() as u64;
    assert_eq!(came + missed, (threads * count) as u64, "followed + missed");
    assert_rising("followed", followed);
}

#[test]
fn threads_that_wrap_the_ring_many_times_leave_it_whole_and_in_order() {
    for (threads, count) in [(1, 200_000), (2, 100_000), (8, 25_000)] {
        let name = Name::new("wrap");
        let (followed, missed) = from_threads(&name, threads, count, 1024);
        assert_settled(&name, followed, missed, threads, count);
    }
}

#[test]
fn processes_that_wrap_the_ring_many_times_leave_it_whole_and_in_order() {
    let name = Name::new("wraps");
    let (followed, missed) = from_processes(&name, 4, 2, 25_000, 1024);
    assert_settled(&name, followed, missed, 8, 25_000);
}

#[test]
fn a_follower_of_a_ring_too_large_to_wrap_never_reports_a_loss() {
    for round in 0..25 {
        let name = Name::new("follow");
        let (followed, missed) = from_threads(&name, 4, 12_000, 65_536);
        assert_eq!(missed, 0, "round {round}: nothing was overwritten");
        assert_exactly_once("followed", followed, 4, 12_000);
    }
}

#[test]
fn a_follower_polled_in_both_ways_gives_each_event_once() {
    let name = Name::new("ways");
    let timeline = Timeline::with_size(name.path(), 1024, 2048).expect("created");
    let event = define(&timeline);
    let attached = attach(name.path());
    let mut follow = attached.follow(FollowFrom::Start);
    let log = |numbers: std::ops::Range<i64>| {
        numbers.for_each(|number| timeline.log(event, arguments(0, number)));
    };
    log(0..10);
    assert_eq!((follow.poll_placed(), follow.has_placed()), (0, true));
    let first = follow.next_placed().expect("ten");
    assert_eq!(checked(&first.event), (0, 0));
    log(10..12);
    let mut events = Vec::new();
    assert_eq!(follow.poll(&mut events), 0);
    let numbers: Vec<i64> = events.iter().map(|event| checked(event).1).collect();
    assert_eq!(numbers, [10, 11]);
    // What it was not asked for is gone.
    assert_eq!((follow.has_placed(), follow.next_placed()), (false, None));
    log(12..13);
    assert_eq!((follow.poll_placed(), follow.has_placed()), (0, true));
    let last = follow.next_placed().expect("one");
    assert_eq!((checked(&last.event), last.number), ((0, 12), 12));
    assert_eq!(follow.next_placed(), None);
}

#[test]
fn a_follower_that_is_overtaken_far_behind_goes_on_with_the_oldest() {
    const SIZE: u64 = 16_384;
    let name = Name::new("behind");
    let timeline = Timeline::with_size(name.path(), SIZE, 2048).expect("created");
    let event = define(&timeline);
    let attached = attach(name.path());
    let mut follow = attached.follow(FollowFrom::Start);
    let (mut logged, mut given, mut missed, mut next) = (0, 0, 0, 0);
    // Each time it has read some of what is there, the ring is overwritten by a half.
    for _ in 0..6 {
        for number in logged..logged + SIZE as i64 / 2 {
            timeline.log(event, arguments(0, number));
        }
        logged += SIZE as i64 / 2;
        for _ in 0..2 {
            let mut events = Vec::new();
            missed += follow.poll(&mut events);
            assert!(!events.is_empty(), "{given} and {missed} of {logged}");
            for event in &events {
                let (_, number) = checked(event);
                assert!(number >= next, "{number} came behind {next}");
                next = number + 1;
            }
            given += events.len() as u64;
        }
    }
    assert!(missed > 0, "nothing was overwritten before it was read");
    loop {
        let mut events = Vec::new();
        missed += follow.poll(&mut events);
        if events.is_empty() {
            break;
        }
        given += events.len() as u64;
    }
    assert_eq!(given + missed, logged as u64);
}

#[test]
fn snapshots_taken_while_writers_run_hold_only_whole_events_in_order() {
    let name = Name::new("save");
    let timeline = Timeline::with_size(name.path(), 4096, 4096).expect("created");
    define(&timeline);
    let mut children: Vec<Process> = ["0", "2"]
        .iter()
        .map(|first| Process::start(writer, &[name.path(), first, "2", "0"]))
        .collect();
    children
        .iter_mut()
        .for_each(|c| assert_eq!(c.line(), "ready"));
    children.iter_mut().for_each(Process::tell);
    let attached = attach(name.path());
    while attached.info().entries_written < 20_000 {
        std::thread::yield_now();
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut saved_events = 0;
    for i in 0..20 {
        let file = folder.path().join(format!("{i}.timeline"));
        let saved = timeline.save(&file).expect("saved");
        let snapshot = Attached::open(&file).expect("it opens");
        assert!(snapshot.is_snapshot());
        let events = all(&snapshot, Order::OldestFirst);
        assert_eq!(events.len() as u64, saved.events);
        assert!(events.windows(2).all(|w| w[0].ticks <= w[1].ticks));
        assert_rising("saved", events.iter().cloned());
        for event in &events {
            let definition = snapshot
                .definition(event.id)
                .expect("its definition is there");
            assert_eq!(definition.category, "core");
            assert!(snapshot.thread(event).is_some_and(|t| t.tid == event.tid));
        }
        assert_eq!(std::fs::metadata(&file).expect("there").len(), saved.bytes);
        saved_events += saved.events;
    }
    children.iter_mut().for_each(Process::tell);
    children.into_iter().for_each(Process::finish);
    assert!(saved_events > 0);
    let names: Vec<_> = std::fs::read_dir(folder.path()).expect("listed").collect();
    assert_eq!(names.len(), 20, "temporary files are gone");
}

#[test]
fn of_several_that_save_to_one_file_each_leaves_it_whole() {
    let name = Name::new("savers");
    let timeline = Timeline::with_size(name.path(), 1024, 4096).expect("created");
    let event = define(&timeline);
    (0..700).for_each(|i| timeline.log(event, arguments(0, i)));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("same.timeline");
    timeline.save(&file).expect("saved");
    std::thread::scope(|scope| {
        let savers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| (0..25).try_for_each(|_| timeline.save(&file).map(drop))))
            .collect();
        while savers.iter().any(|s| !s.is_finished()) {
            let snapshot = Attached::open(&file).expect("whole at every moment");
            assert_eq!(snapshot.events(Order::OldestFirst).count(), 700);
        }
        for saver in savers {
            saver.join().expect("no panic").expect("saved");
        }
    });
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 1);
}

/// As few chunks as there can be, as many lanes, and every one of them always on its way to the
/// next chunk.
#[test]
fn lanes_that_all_refill_a_ring_of_sixteen_chunks_find_a_chunk_each_time() {
    if in_process_without_rseq(
        "concurrency::lanes_that_all_refill_a_ring_of_sixteen_chunks_find_a_chunk_each_time",
    ) {
        return;
    }
    let name = Name::new("sixteen");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let event = define(&timeline);
    let before = attach(name.path()).info();
    assert_eq!((before.chunks, before.thread_lanes), (16, 8));
    let each = 400_000;
    std::thread::scope(|scope| {
        for who in 0..i64::from(before.thread_lanes) {
            let timeline = &timeline;
            scope.spawn(move || (0..each).for_each(|i| timeline.log(event, arguments(who, i))));
        }
    });
    let info = attach(name.path()).info();
    assert_eq!(info.dropped.total(), 0, "{:?}", info.dropped);
    let lanes = u64::from(before.thread_lanes);
    assert_eq!(info.entries_written, lanes * each as u64);
}

#[test]
fn a_ring_that_has_used_up_its_tickets_counts_what_it_drops() {
    let name = Name::new("tickets");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let event = define(&timeline);
    timeline.log(event, arguments(0, 0));
    let file = std::fs::File::options().write(true).open(name.file());
    // Three are left of 2^48.
    let next = (1_u64 << 48) - 3;
    file.expect("opened")
        .write_all_at(&next.to_le_bytes(), offset_of!(Header, next_ticket) as u64)
        .expect("written");
    let count = 1000;
    (1..count).for_each(|i| timeline.log(event, arguments(0, i)));
    let attached = attach(name.path());
    let info = attached.info();
    assert_eq!(info.entries_held + info.dropped.no_chunk, count as u64);
    assert!(
        info.entries_held > 16 && info.dropped.no_chunk > 0,
        "{info:?}"
    );
    let numbers: Vec<i64> = attached
        .events(Order::OldestFirst)
        .map(|event| checked(&event).1)
        .collect();
    assert_eq!(numbers.len() as u64, info.entries_held);
    assert!(numbers.is_sorted(), "{numbers:?}");
}
