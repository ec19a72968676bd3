//! Tests that archives have the names that threads had, and take a renamed thread for one.

use std::time::{Duration, Instant};

use timeline::{Attached, EventId, Order, Source, Timeline};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};

use crate::support::{Name, arguments, attach, define};

fn log(timeline: &Timeline, event: EventId, numbers: std::ops::Range<i64>) {
    numbers.for_each(|number| timeline.log(event, arguments(0, number)));
}

#[test]
fn a_thread_that_is_renamed_while_it_is_recorded_stays_one_thread() {
    for form in [Form::Plain, Form::Blocks] {
        let name = Name::new("renamed");
        let timeline = Timeline::with_size(name.path(), 1024, 4096).expect("created");
        let event = define(&timeline);
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("flight.tla");
        let attached: Attached = attach(name.path());
        let mut output = ArchiveOutput::open(&file, Keeping::default()).expect("opened");
        let mut recorder = Recorder::new(&attached, &mut output, form).expect("begun");
        // Another thread, which has ended by then.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                timeline.thread("other", None).expect("named");
                log(&timeline, event, 0..1);
            });
        });
        timeline.thread("worker 3", "workers").expect("named");
        log(&timeline, event, 1..10);
        while recorder.step() {}
        timeline.thread("worker 4", "\u{2192} idle").expect("named");
        log(&timeline, event, 10..20);
        while recorder.step() {}
        timeline.thread("worker 3", "workers").expect("named");
        log(&timeline, event, 20..30);
        while recorder.step() {}
        recorder.finish();

        let archive = Archive::open(&file).expect("an archive");
        let named = |number: i64| match number {
            0 => ("other", None),
            10..20 => ("worker 4", Some("\u{2192} idle")),
            _ => ("worker 3", Some("workers")),
        };
        let mut identities = Vec::new();
        for event in archive.events() {
            let thread = &event.thread;
            let found = (
                thread.name.as_deref().expect("a name"),
                thread.group.as_deref(),
            );
            assert_eq!(found, named(event.args[1]), "{form:?} {}", event.args[1]);
            identities.push(thread.identity.expect("an identity"));
        }
        assert_eq!(identities.len(), 30);
        identities.dedup();
        assert_eq!(identities.len(), 2, "{form:?}: the two threads");
        // In the form of events of a ring as well.
        for event in archive.events_by_time(Order::OldestFirst) {
            let thread = archive.thread(&event).expect("known");
            let found = (
                thread.name.as_deref().expect("a name"),
                thread.group.as_deref(),
            );
            assert_eq!(found, named(event.args[1]));
            assert!(identities.contains(&thread.identity.into()));
        }
    }
}

#[test]
fn a_thread_that_the_system_renames_has_its_new_name_in_later_events() {
    let name = Name::new("renamed-by-the-system");
    let timeline = Timeline::with_size(name.path(), 1024, 4096).expect("created");
    let event = define(&timeline);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flight.tla");
    let attached: Attached = attach(name.path());
    let mut output = ArchiveOutput::open(&file, Keeping::default()).expect("opened");
    let mut recorder = Recorder::new(&attached, &mut output, Form::Plain).expect("begun");
    let rename = |name| std::fs::write("/proc/thread-self/comm", name).expect("named");
    rename("first name");
    log(&timeline, event, 0..10);
    while recorder.step() {}
    rename("second name");
    let start = Instant::now();
    let names = || {
        let archive = Archive::open(&file).expect("an archive");
        let names = archive
            .events()
            .map(|event| event.thread.name.as_deref().map(str::to_owned));
        let mut names: Vec<_> = names.flatten().collect();
        names.dedup();
        names
    };
    // The recorder asks the system from time to time.
    let mut count = 10;
    while names() == ["first name"] {
        assert!(start.elapsed() < Duration::from_secs(60), "not noticed");
        log(&timeline, event, count..count + 1);
        count += 1;
        while recorder.step() {}
    }
    assert_eq!(names(), ["first name", "second name"]);
    recorder.finish();
}

#[test]
fn a_recorder_that_reads_in_time_names_all_threads() {
    let name = Name::new("many-threads");
    let timeline = Timeline::with_size(name.path(), 1024, 4096).expect("created");
    let event = define(&timeline);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flight.tla");
    let attached: Attached = attach(name.path());
    let mut output = ArchiveOutput::open(&file, Keeping::default()).expect("opened");
    let mut recorder = Recorder::new(&attached, &mut output, Form::Blocks).expect("begun");
    let records = i64::from(attached.info().thread_capacity);
    let threads = 5 * records;
    for who in 0..threads {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                timeline
                    .thread(format!("worker {who}").as_str(), None)
                    .expect("named");
                log(&timeline, event, who..who + 1);
            });
            thread.join().expect("ended");
        });
        // As late as it may read.
        if who % records == records - 1 {
            while recorder.step() {}
        }
    }
    recorder.finish();
    assert_eq!(attached.forgotten(), (threads - records) as u64);
    let archive = Archive::open(&file).expect("an archive");
    let mut numbers = Vec::new();
    for event in archive.events() {
        let named = format!("worker {}", event.args[1]);
        assert_eq!(event.thread.name.as_deref(), Some(named.as_str()));
        assert_eq!(event.thread.pid, Some(std::process::id().into()));
        numbers.push(event.args[1]);
    }
    assert_eq!(numbers, (0..threads).collect::<Vec<_>>());
}
