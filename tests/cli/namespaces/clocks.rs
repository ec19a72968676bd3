//! Dates, rates and orders are right, whatever time namespaces the writers and the readers are in.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use Space::{Ahead, Behind, NoCounter, NoProc};
use timeline::internal::Record;
use timeline::internal::layout::Header;
use timeline::internal::layout::header::Anchor;
use timeline::{Attached, ClockKind, Order, Source, Timeline};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};

use super::apart::{self, Space};
use crate::support::{Name, Process, Role, arguments, attach, checked, define, hear, say};

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_nanos() as u64
}

/// Creates the timeline.
pub fn creates(given: &[String]) {
    let timeline = Timeline::with_size(&given[0], 256, 2048).expect("created");
    define(&timeline);
    say("created");
    hear();
}

/// Logs an event each time it is told to, and says when that was.
pub fn logs_when_told(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    say("ready");
    loop {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).expect("a word");
        let Ok(number) = line.trim().parse() else {
            return;
        };
        let before = now();
        timeline.log(event, arguments(1, number));
        say(format!("{before} {}", now()));
    }
}

/// Saves and records what it reads, and says how fast the clock is and when the events were.
pub fn reads(given: &[String]) {
    let [path, snapshot, archive] = given else {
        panic!("{given:?}");
    };
    let attached = attach(path);
    attached.save(snapshot).expect("saved");
    let mut output = ArchiveOutput::open(archive, Keeping::default()).expect("opened");
    let mut recorder = Recorder::new(&attached, &mut output, Form::Blocks).expect("begun");
    while recorder.step() {}
    recorder.finish();
    say(told(&attached));
    hear();
}

/// The rate, and the number and the time of each event.
fn told(attached: &Attached) -> String {
    let rate = attached.ticks_per_second().expect("a rate");
    let mut text = format!("{rate}");
    for event in attached.events(Order::OldestFirst) {
        let time = attached.unix_nanos(event.ticks).expect("a time");
        text += &format!(" {} {time}", checked(&event).1);
    }
    text
}

const PLACES: &[[&[Space]; 3]] = &[
    // Who creates, who writes, who reads.
    [&[], &[Ahead], &[]],
    [&[], &[Behind], &[]],
    [&[Ahead], &[], &[]],
    [&[Behind], &[], &[]],
    [&[], &[], &[Ahead]],
    [&[Ahead], &[Behind], &[]],
    [&[Behind], &[Ahead], &[Behind]],
    [&[Ahead], &[Ahead], &[Ahead]],
    // Who cannot tell where he is.
    [&[], &[NoProc], &[]],
    [&[NoProc], &[], &[NoProc]],
    [&[Ahead, NoProc], &[Behind, NoProc], &[NoProc]],
    [&[], &[Behind, NoProc], &[Ahead]],
    // Where ticks are nanoseconds of the clock that is shifted.
    [&[NoCounter], &[Ahead], &[]],
    [&[NoCounter, Ahead], &[], &[Behind]],
];

#[test]
fn dates_and_rates_are_right_whoever_looked_at_the_clocks() {
    let here = Name::new("here");
    let _here = Timeline::with_size(here.path(), 256, 2048).expect("created");
    for [creator, writer, reader] in PLACES {
        let name = Name::new("clocks");
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name| {
            folder
                .path()
                .join(name)
                .to_str()
                .expect("a plain name")
                .to_owned()
        };
        let (snapshot, archive) = (file("saved.timeline"), file("saved.tla"));
        let place = format!("{creator:?} {writer:?} {reader:?}");
        let given = [name.path(), snapshot.as_str(), archive.as_str()];
        let started = [
            (*creator, creates as Role),
            (*writer, logs_when_told),
            (*reader, reads),
        ];

        let Some(mut creates) = apart::start(started[0].0, started[0].1, &given[..1]) else {
            continue;
        };
        assert_eq!(creates.line(), "created");
        let Some(mut logs) = apart::start(started[1].0, started[1].1, &given[..1]) else {
            continue;
        };
        assert_eq!(logs.line(), "ready");
        let times: Vec<(u64, u64)> = (0..3).map(|number| log(&mut logs, number)).collect();
        let Some(mut reads) = apart::start(started[2].0, started[2].1, &given) else {
            continue;
        };
        let said = reads.line();
        // What follows the last anchor is told by the rate.
        let late = log(&mut logs, 3);
        for process in [&mut creates, &mut reads, &mut logs] {
            process.tell();
        }
        [creates, reads, logs].into_iter().for_each(Process::finish);

        check(&said, &times, &here, &format!("{place}, live"));
        let saved = attach(&snapshot);
        assert!(saved.is_snapshot());
        check(&told(&saved), &times, &here, &format!("{place}, snapshot"));
        let recorded = Archive::open(&archive).expect("whole");
        let events: Vec<_> = recorded.events_by_time(Order::OldestFirst).collect();
        assert_eq!(events.len(), times.len());
        for (event, time) in events.iter().zip(&times) {
            is_between(recorded.time(event).expect("a time"), time, &place);
        }
        let all = [&times[..], &[late]].concat();
        let attached = attach(name.path());
        check(&told(&attached), &all, &here, &format!("{place}, later"));
        anchors_agree(
            &name.file(),
            attached.ticks_per_second().expect("a rate"),
            &place,
        );
    }
}

fn log(process: &mut Process, number: u64) -> (u64, u64) {
    process.write(&number.to_string());
    said_times(process)
}

/// When it logged an event: not before the one, and not after the other.
fn said_times(process: &mut Process) -> (u64, u64) {
    let line = process.line();
    let (before, after) = line.split_once(' ').expect("two times");
    (
        before.parse().expect("a number"),
        after.parse().expect("a number"),
    )
}

fn is_between(time: u64, (before, after): &(u64, u64), place: &str) {
    let slack = Duration::from_millis(20).as_nanos() as u64;
    let is = (before - slack..after + slack).contains(&time);
    assert!(is, "{place}: {time} is not between {before} and {after}");
}

/// What was `told` of events logged at these `times`. The rate is that of a timeline that nobody
/// shifts.
fn check(told: &str, times: &[(u64, u64)], here: &Name, place: &str) {
    let mut words = told.split(' ');
    let rate: f64 = words.next().and_then(|w| w.parse().ok()).expect("a rate");
    let right = attach(here.path()).ticks_per_second().expect("a rate");
    let is_right = (rate / right - 1.0).abs() < 0.01 || rate == 1e9;
    assert!(is_right, "{place}: {rate} and not {right} ticks per second");
    let words: Vec<u64> = words.map(|w| w.parse().expect("a number")).collect();
    assert_eq!(words.len(), 2 * times.len(), "{place}: {told}");
    for ((number, event), time) in (0..).zip(words.chunks(2)).zip(times) {
        assert_eq!(event[0], number, "{place}");
        is_between(event[1], time, place);
    }
}

/// Ticks and the monotonic time of each anchor of a timeline, 0 where that is not known.
fn anchors(file: &Path) -> Vec<(u64, u64)> {
    let bytes = std::fs::read(file).expect("read");
    let anchors = Header::of(&bytes).anchors.into_iter();
    let taken = anchors.filter_map(|mut anchor: Anchor| {
        let is_there = *anchor.serial.get_mut() != 0;
        is_there.then(|| (anchor.ticks.into_inner(), anchor.monotonic.into_inner()))
    });
    taken.collect()
}

/// Whoever took them, they are of one clock.
fn anchors_agree(file: &Path, rate: f64, place: &str) {
    let mut anchors = anchors(file);
    anchors.retain(|(_, monotonic)| *monotonic != 0);
    let (first, start) = anchors.first().copied().unwrap_or_default();
    for (ticks, monotonic) in &anchors {
        let by_ticks = (*ticks as f64 - first as f64) * 1e3 / rate;
        let by_clock = (*monotonic as f64 - start as f64) / 1e6;
        let apart = (by_ticks - by_clock).abs();
        assert!(
            apart < 1.0,
            "{place}: {by_ticks} ms by ticks, {by_clock} by the clock"
        );
    }
}

/// Logs, has a child in a time namespace of its own log, and logs again.
pub fn forks_into_another_time(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    timeline.log(event, arguments(1, 0));
    let status = apart::in_another_time(&mut || {
        timeline.log(event, arguments(1, 1));
        0
    });
    assert_eq!(status, 0);
    timeline.log(event, arguments(1, 2));
    say("done");
    hear();
}

#[test]
fn ticks_of_a_clock_that_namespaces_shift_keep_their_order() {
    let name = Name::new("order");
    let Some(mut creates) = apart::start(&[NoCounter], creates, &[name.path()]) else {
        return;
    };
    assert_eq!(creates.line(), "created");
    assert_eq!(attach(name.path()).info().clock, ClockKind::Monotonic);
    let Some(mut forks) = apart::start(&[Ahead], forks_into_another_time, &[name.path()]) else {
        return;
    };
    assert_eq!(forks.line(), "done");
    let places: [&[Space]; 3] = [&[], &[Ahead], &[Behind]];
    let start = |space: &&[Space]| apart::start(space, logs_when_told, &[name.path()]);
    let mut writers: Vec<Process> = places.iter().filter_map(start).collect();
    writers
        .iter_mut()
        .for_each(|w| assert_eq!(w.line(), "ready"));
    let mut next = 3;
    for _ in 0..5 {
        for writer in &mut writers {
            log(writer, next);
            next += 1;
        }
    }
    let events: Vec<_> = attach(name.path()).events(Order::OldestFirst).collect();
    let numbers: Vec<_> = events.iter().map(|e| checked(e).1 as u64).collect();
    assert_eq!(numbers, (0..next).collect::<Vec<_>>());
    for mut process in writers.into_iter().chain([creates, forks]) {
        process.tell();
        process.finish();
    }
}

/// Has events logged so long after each other that a wrong anchor between them would put them at
/// other times.
fn log_slowly(process: &mut Process, next: &mut u64) -> Vec<(u64, u64)> {
    let mut times = Vec::new();
    for _ in 0..2 {
        let begin = now();
        while now() - begin < 100_000_000 {
            std::thread::yield_now();
        }
        times.push(log(process, *next));
        *next += 1;
    }
    times
}

/// Of what a process read live, saved and recorded: the numbers and times of the events.
fn told_by(reader: &[Space], path: &str) -> Option<[String; 3]> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name| folder.path().join(name).to_str().map(str::to_owned);
    let files = ["saved.timeline", "saved.tla"].map(|name| file(name).expect("a plain name"));
    let mut reads = apart::start(reader, reads, &[path, &files[0], &files[1]])?;
    let live = reads.line();
    reads.tell();
    reads.finish();
    let recorded = Archive::open(&files[1]).expect("whole");
    let mut archive = String::from("1000000000");
    for event in recorded.events_by_time(Order::OldestFirst) {
        let time = recorded.time(&event).expect("a time");
        archive += &format!(" {} {time}", checked(&event).1);
    }
    Some([live, told(&attach(&files[0])), archive])
}

#[test]
fn who_cannot_know_his_shift_spoils_no_dates_of_others() {
    let here = Name::new("here");
    let _here = Timeline::with_size(here.path(), 256, 2048).expect("created");
    for stranger in [&[Ahead, NoProc][..], &[Behind, NoProc], &[NoProc]] {
        let name = Name::new("stranger");
        let Some(mut creates) = apart::start(&[NoCounter], creates, &[name.path()]) else {
            return;
        };
        assert_eq!(creates.line(), "created");
        let Some(mut logs) = apart::start(&[], logs_when_told, &[name.path()]) else {
            return;
        };
        assert_eq!(logs.line(), "ready");
        let mut next = 0;
        let mut times = log_slowly(&mut logs, &mut next);
        // It joins, and defines: an anchor each time, if it took any.
        let before = anchors(&name.file());
        let Some(mut joins) = apart::start(stranger, logs_when_told, &[name.path()]) else {
            return;
        };
        assert_eq!(joins.line(), "ready");
        assert_eq!(anchors(&name.file()), before, "{stranger:?}");
        times.extend(log_slowly(&mut logs, &mut next));
        // As a reader, it does not believe itself either.
        for reader in [stranger, &[]] {
            let Some(told) = told_by(reader, name.path()) else {
                return;
            };
            for told in told {
                check(&told, &times, &here, &format!("{stranger:?} {reader:?}"));
            }
        }
        for mut process in [creates, logs, joins] {
            process.tell();
            process.finish();
        }
    }
}

#[test]
fn where_nobody_knows_a_shift_times_are_told_as_well_as_can_be() {
    let here = Name::new("here");
    let _here = Timeline::with_size(here.path(), 256, 2048).expect("created");
    let name = Name::new("alone");
    let Some(mut creates) = apart::start(&[NoCounter, NoProc], creates, &[name.path()]) else {
        return;
    };
    assert_eq!(creates.line(), "created");
    let Some(mut logs) = apart::start(&[NoProc], logs_when_told, &[name.path()]) else {
        return;
    };
    assert_eq!(logs.line(), "ready");
    let times = log_slowly(&mut logs, &mut 0);
    assert!(
        anchors(&name.file())
            .iter()
            .all(|(_, monotonic)| *monotonic == 0)
    );
    let Some(told) = told_by(&[NoProc], name.path()) else {
        return;
    };
    for told in told {
        check(&told, &times, &here, "nobody knows");
    }
    for mut process in [creates, logs] {
        process.tell();
        process.finish();
    }
}

/// Logs, moves to another time namespace, and notices that by the anchor of what it defines next.
pub fn moves_into_another_time(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    for number in 0..3 {
        if number == 1 {
            apart::move_into_another_time();
            let other = timeline.define("moved", timeline::Priority::Info, "there");
            other.expect("defined");
        }
        let before = now();
        timeline.log(event, arguments(1, number));
        say(format!("{before} {}", now()));
    }
    hear();
}

#[test]
fn who_moves_into_another_time_notices_that_with_the_next_anchor() {
    let here = Name::new("here");
    let _here = Timeline::with_size(here.path(), 256, 2048).expect("created");
    let name = Name::new("moves");
    let Some(mut creates) = apart::start(&[NoCounter], creates, &[name.path()]) else {
        return;
    };
    assert_eq!(creates.line(), "created");
    let Some(mut moves) = apart::start(&[Ahead], moves_into_another_time, &[name.path()]) else {
        return;
    };
    let times: Vec<(u64, u64)> = (0..3).map(|_| said_times(&mut moves)).collect();
    let attached = attach(name.path());
    check(&told(&attached), &times, &here, "moved");
    anchors_agree(&name.file(), 1e9, "moved");
    for mut process in [creates, moves] {
        process.tell();
        process.finish();
    }
}
