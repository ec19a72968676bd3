//! Tests that rings, snapshots and archives agree, to the last entry, on what is missing and where.
//! They are compared with naive models.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;

use nix::unistd::{Pid, gettid};
use proptest::prelude::*;
use timeline::internal::Record;
use timeline::internal::layout::records::Lane;
use timeline::internal::layout::{Geometry, Header};
use timeline::{Attached, Event, EventId, FollowFrom, Order, Timeline};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, RecordedEvent, Recorder};

use crate::support::{
    Name, arguments, attach, checked, cpus, define, in_process_without_rseq, rseq, run_on, size,
};

/// The size of the rings that are overwritten here.
const ENTRIES: u64 = 512;

/// Has new threads log so many events, one thread after the other, and each through its lane.
fn in_turn(timeline: &Timeline, event: EventId, story: &[(usize, u64)]) {
    let mut number = 0;
    for (who, count) in story {
        let end = number + *count as i64;
        while !log_in_new_thread(timeline, event, *who, number..end) {}
        number = end;
    }
}

/// Has a new thread log these numbers, unless it would do so through another lane than that of
/// `who`.
fn log_in_new_thread(timeline: &Timeline, event: EventId, who: usize, numbers: Range<i64>) -> bool {
    scope(|scope| {
        let thread = scope.spawn(|| {
            let is_its = rseq() || lane_of_thread(gettid()) == lane_of(who);
            if is_its {
                run_on(who % cpus());
                numbers.for_each(|n| timeline.log(event, arguments(who as i64, n)));
            }
            is_its
        });
        // A scope ends before its threads do, and a thread gives its lane back at its end.
        thread.join().expect("logged")
    })
}

/// The lane that a thread takes if all lanes of threads are free.
fn lane_of_thread(tid: Pid) -> usize {
    let lanes = Geometry::new(ENTRIES, 4096).thread_lanes;
    tid.as_raw() as usize % lanes as usize
}

/// What is missing right before each event, by its number: a naive model that knows all that was
/// logged, and the lane of each.
fn missing(lanes: &[usize], there: &[i64]) -> HashMap<i64, u64> {
    let mut there = there.to_vec();
    there.sort_unstable();
    let mut missing = HashMap::new();
    for number in &there {
        let lane = lanes[*number as usize];
        let before = (0..*number).rev().filter(|n| lanes[*n as usize] == lane);
        let gone = before
            .take_while(|n| there.binary_search(n).is_err())
            .count();
        missing.insert(*number, gone as u64);
    }
    missing
}

fn numbers(events: &[Event]) -> Vec<i64> {
    events.iter().map(|event| checked(event).1).collect()
}

fn told(events: &[Event]) -> HashMap<i64, u64> {
    events
        .iter()
        .map(|event| (checked(event).1, event.missed))
        .collect()
}

/// What all readers say of a ring that nobody writes to.
fn assert_told(name: &Name, lanes: &[usize]) {
    let attached = attach(name.path());
    let events: Vec<Event> = attached.events(Order::OldestFirst).collect();
    let expected = missing(lanes, &numbers(&events));
    assert_eq!(told(&events), expected, "oldest first");
    let newest: Vec<Event> = attached.events(Order::NewestFirst).collect();
    assert_eq!(told(&newest), expected, "newest first");
    let mut followed = Vec::new();
    let mut follow = attached.follow(FollowFrom::Oldest);
    while {
        let before = followed.len();
        follow.poll(&mut followed);
        followed.len() > before
    } {}
    assert_eq!(told(&followed), expected, "followed");
    assert_eq!(follow.missed(), 0, "nothing since it began");
    let mut newest = attached.follow(FollowFrom::Newest(usize::MAX));
    followed.clear();
    newest.poll(&mut followed);
    assert_eq!(
        newest.missed(),
        0,
        "nothing since it began, from the newest on"
    );

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("snapshot.timeline");
    attached.save(&file).expect("saved");
    let snapshot = Attached::open(&file).expect("opened");
    let saved: Vec<Event> = snapshot.events(Order::NewestFirst).collect();
    assert_eq!(told(&saved), expected, "snapshot");
    for form in [Form::Plain, Form::Blocks] {
        let file = folder.path().join(format!("{form:?}.tla"));
        record(&attached, &file, form);
        let archive = Archive::open(&file).expect("an archive");
        let recorded: Vec<Event> = archive.events_by_time(Order::NewestFirst).collect();
        assert_eq!(told(&recorded), expected, "archive, {form:?}");
        assert_eq!(archive.missed(), 0, "nothing since the recording began");
    }

    for at in [&attached, &snapshot] {
        let info = at.info();
        // Of each lane, the first event behind its last gap; the latest of them.
        let behind = |lane| {
            let of_lane = events
                .iter()
                .filter(|event| lanes[checked(event).1 as usize] == lane);
            of_lane
                .filter(|event| event.missed > 0)
                .map(|event| event.ticks)
                .max()
        };
        let since = (0..=lanes.iter().copied().max().unwrap_or(0))
            .filter_map(behind)
            .max();
        assert_eq!(info.complete_since, since);
        let older = events
            .iter()
            .filter(|event| Some(event.ticks) < since)
            .count();
        assert_eq!(info.entries_older, older as u64);
        assert_eq!(info.entries_written, lanes.len() as u64);
        // From there on, each event is there.
        let complete: Vec<i64> = events
            .iter()
            .filter(|event| Some(event.ticks) >= since)
            .map(|e| checked(e).1)
            .collect();
        let first = complete.first().copied().unwrap_or(0);
        assert_eq!(
            complete,
            (first..lanes.len() as i64).collect::<Vec<_>>(),
            "complete since {since:?}"
        );
    }
}

fn record(at: &Attached, file: &std::path::Path, form: Form) -> timeline_archive::Totals {
    let mut output = ArchiveOutput::open(file, Keeping::default()).expect("opened");
    let mut recorder = Recorder::new(at, &mut output, form).expect("begun");
    while recorder.step() {}
    recorder.finish()
}

fn stragglers(cases: u32) {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    // Only so many CPUs have a lane in a ring of this size.
    let most = Geometry::new(ENTRIES, 4096).cpu_lanes as usize;
    let who = 0..cpus().clamp(2, most);
    let story = prop::collection::vec((who, prop_oneof![1..40u64, 1..900u64]), 1..9);
    runner
        .run(&story, |story| {
            let name = Name::new("stragglers");
            let timeline = Timeline::with_size(name.path(), ENTRIES, 4096).expect("created");
            let event = define(&timeline);
            in_turn(&timeline, event, &story);
            let mut lanes = Vec::new();
            for (who, count) in &story {
                lanes.extend(std::iter::repeat_n(lane_of(*who), *count as usize));
            }
            drop(timeline);
            assert_told(&name, &lanes);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// The lane of all threads that log as `who`: that of a CPU, or one that they take in turn.
fn lane_of(who: usize) -> usize {
    match rseq() {
        true => who % cpus(),
        false => who,
    }
}

#[test]
fn what_idle_cpus_leave_behind_is_told_apart_from_what_is_complete() {
    stragglers(60);
}

#[test]
fn a_lane_that_goes_from_thread_to_thread_has_one_count() {
    if !in_process_without_rseq("gaps::a_lane_that_goes_from_thread_to_thread_has_one_count") {
        stragglers(20);
    }
}

/// Of each lane, each number is recorded once or missing; the next numbers, and how many are
/// missing.
///
/// Only where a recorder was killed before it wrote the first event of a lane, the next one does
/// not say what was overwritten before they began.
fn assert_chained(what: &str, events: &[RecordedEvent]) -> (HashMap<u64, u64>, u64) {
    let mut lanes: HashMap<u64, Vec<&RecordedEvent>> = HashMap::new();
    for event in events {
        lanes
            .entry(event.lane.expect("a lane"))
            .or_default()
            .push(event);
    }
    let (mut next, mut missed) = (HashMap::new(), 0);
    for (lane, mut events) in lanes {
        events.sort_by_key(|event| event.number);
        let mut end = 0;
        for event in events {
            let number = event.number.expect("a number");
            if end == 0 {
                end = number - event.missed;
                missed += end;
            }
            assert_eq!(
                number,
                end + event.missed,
                "{what}, lane {lane}: what is missing before number {number}"
            );
            missed += event.missed;
            end = number + 1;
        }
        next.insert(lane, end);
    }
    (next, missed)
}

/// Where the frames of an archive end.
fn frame_ends(bytes: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (length, head) = match bytes[at + 7] {
            0xda => (
                usize::from(u16::from_be_bytes([bytes[at + 8], bytes[at + 9]])),
                10,
            ),
            0xdb => (
                u32::from_be_bytes(bytes[at + 8..at + 12].try_into().expect("four")) as usize,
                12,
            ),
            short => (usize::from(short - 0xa0), 8),
        };
        at += head + length;
        ends.push(at);
    }
    ends
}

/// Records a ring that two threads overwrite all the time; the file.
fn overrun(name: &Name, timeline: &Timeline, file: &std::path::Path, form: Form) -> Vec<u8> {
    let (event, attached) = (define(timeline), attach(name.path()));
    let stop = AtomicBool::new(false);
    scope(|scope| {
        for who in 0..2 {
            let stop = &stop;
            scope.spawn(move || {
                run_on(who % cpus());
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    timeline.log(event, arguments(who as i64, number));
                }
            });
        }
        let mut output = ArchiveOutput::open(file, Keeping::default()).expect("opened");
        let mut recorder = Recorder::new(&attached, &mut output, form).expect("begun");
        while recorder.totals().missed < 50_000 || recorder.totals().events < 3_000 {
            recorder.step();
        }
        stop.store(true, Ordering::Relaxed);
        while recorder.step() {}
        let totals = recorder.finish();
        assert!(totals.missed >= 50_000);
    });
    std::fs::read(file).expect("read")
}

#[test]
fn an_archive_that_ends_with_any_frame_is_continued_and_counts_each_entry_once() {
    for form in [Form::Plain, Form::Blocks] {
        let name = Name::new("ends");
        let timeline = Timeline::with_size(name.path(), 512, 4096).expect("created");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("flight.tla");
        let bytes = overrun(&name, &timeline, &file, form);
        let attached = attach(name.path());
        let ends = frame_ends(&bytes);
        let cuts = ends
            .iter()
            .copied()
            .step_by(1 + ends.len() / (100 * size() as usize));
        for cut in cuts.chain([bytes.len()]) {
            std::fs::write(&file, &bytes[..cut]).expect("cut");
            let what = format!("{form:?}, cut at {cut} of {}", bytes.len());
            let totals = record(&attached, &file, form);
            let archive = Archive::open(&file).expect("an archive");
            let events: Vec<RecordedEvent> = archive.events().collect();
            let (next, missed) = assert_chained(&what, &events);
            let written = attached.info().entries_written;
            assert_eq!(next.values().sum::<u64>(), written, "{what}: up to the end");
            assert_eq!(events.len() as u64 + missed, written, "{what}");
            // What was overwritten before the first recorder began is no fault of it.
            assert!(
                archive.missed() <= missed && archive.missed() >= totals.missed,
                "{what}"
            );
        }
    }
}

#[test]
fn a_gap_whose_event_was_not_written_belongs_to_the_event_that_the_next_recorder_writes() {
    let cpus = cpus();
    if cpus == 1 {
        println!("there is only one CPU here: nothing is tested");
        return;
    }
    let name = Name::new("behind");
    let timeline = Timeline::with_size(name.path(), 512, 4096).expect("created");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flight.tla");
    let (event, attached) = (define(&timeline), attach(name.path()));
    let log = |who: usize, numbers: Range<i64>| {
        run_on(who);
        numbers.for_each(|number| timeline.log(event, arguments(who as i64, number)));
    };
    scope(|scope| {
        let record = || record(&attached, &file, Form::Plain);
        log(0, 0..10);
        record();
        let other = scope.spawn(|| log(1, 0..1));
        other.join().expect("logged");
        log(0, 10..5_000);
        record();
        // Killed right behind the record of the gap, before it wrote the event of the other lane.
        let bytes = std::fs::read(&file).expect("read");
        let ends = frame_ends(&bytes);
        // A short record has a head of 8 bytes.
        let tag = |frame: usize| match bytes[ends[frame - 1] + 7] {
            0xa0..0xc0 => bytes[ends[frame - 1] + 8],
            _ => bytes[ends[frame - 1] + 10],
        };
        let gap = (1..ends.len()).rfind(|frame| tag(*frame) == 17);
        let gap = gap.expect("a gap");
        assert_eq!(tag(gap - 1), 127, "the event of the other lane");
        let kept = [&bytes[..ends[gap - 2]], &bytes[ends[gap - 1]..ends[gap]]];
        std::fs::write(&file, kept.concat()).expect("cut");
        record();
    });
    let archive = Archive::open(&file).expect("an archive");
    let events: Vec<RecordedEvent> = archive.events().collect();
    assert!(archive.missed() > 4_000);
    let (_, missed) = assert_chained("two lanes", &events);
    assert_eq!(events.len() as u64 + missed, 5_001);
}

#[test]
fn a_gap_is_told_in_the_file_of_its_event() {
    for form in [Form::Plain, Form::Blocks] {
        let name = Name::new("files");
        let timeline = Timeline::with_size(name.path(), 512, 4096).expect("created");
        let folder = tempfile::tempdir().expect("a folder");
        let (event, attached) = (define(&timeline), attach(name.path()));
        let keeping = Keeping {
            rotate_size: Some(8 << 10),
            ..Keeping::default()
        };
        let mut output =
            ArchiveOutput::open(folder.path().join("flights/"), keeping).expect("opened");
        let mut recorder = Recorder::new(&attached, &mut output, form).expect("begun");
        let mut number = 0;
        for round in 0..400 {
            // More than there is room for, now and then.
            for _ in 0..if round % 3 == 0 { 900 } else { 20 } {
                timeline.log(event, arguments(0, number));
                number += 1;
            }
            recorder.step();
            recorder.flush();
        }
        while recorder.step() {}
        let totals = recorder.finish();
        let archive = Archive::open(folder.path().join("flights")).expect("an archive");
        let events: Vec<RecordedEvent> = archive.events().collect();
        let (next, missed) = assert_chained(&format!("{form:?}, rotated"), &events);
        assert_eq!(
            (missed, next.values().sum::<u64>()),
            (totals.missed, number as u64)
        );
        let files = std::fs::read_dir(folder.path().join("flights")).expect("listed");
        assert!(files.count() > 3);
    }
}

#[test]
fn a_snapshot_that_lost_the_end_of_a_lane_says_so() {
    const LOST: u64 = 100;
    let name = Name::new("end");
    let timeline = Timeline::with_size(name.path(), 512, 4096).expect("created");
    let event = define(&timeline);
    in_turn(&timeline, event, &[(0, 10)]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("snapshot.timeline");
    timeline.save(&file).expect("saved");
    // As if the chunks behind those that are there had been overwritten before they were copied.
    let mut bytes = std::fs::read(&file).expect("read");
    let geometry = Geometry::load(&Header::of(&bytes)).expect("a header");
    let mut lanes = (0..geometry.lanes()).map(|lane| geometry.lane().at(lane) as usize);
    let used = lanes.find(|at| Lane::of(&bytes[*at..]).saved.into_inner() > 0);
    let used = &mut bytes[used.expect("a lane that was used")..];
    Lane::edit(used, |lane| *lane.saved.get_mut() += LOST);
    std::fs::write(&file, &bytes).expect("written");

    let snapshot = Attached::open(&file).expect("opened");
    let info = snapshot.info();
    assert_eq!(
        (info.entries_written, info.entries_held, info.entries_older),
        (10 + LOST, 10, 10)
    );
    assert!(
        info.complete_since > info.newest_ticks,
        "{:?}",
        info.complete_since
    );
    for (from, missed) in [
        (FollowFrom::Start, LOST),
        (FollowFrom::Oldest, 0),
        (FollowFrom::Newest(3), 0),
        (FollowFrom::Now, 0),
    ] {
        let mut follow = snapshot.follow(from);
        follow.poll(&mut Vec::new());
        assert_eq!(follow.missed(), missed, "{from:?}");
    }
    // A copy of the copy knows as much.
    let copy = folder.path().join("copy.timeline");
    snapshot.save(&copy).expect("saved");
    assert_eq!(
        Attached::open(&copy)
            .expect("opened")
            .info()
            .entries_written,
        10 + LOST
    );
}
