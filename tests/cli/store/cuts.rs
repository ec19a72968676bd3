//! Connections that break: the session goes on at the byte.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use timeline_archive::{Archive, Form, Keeping};

use super::place::{
    Place, Program, assert_same, events, eventually, is_important, options, output_to, recorder,
    run, send, settle,
};
use super::proxy::Proxy;
use crate::support::{Random, size};

/// How many recordings are sent at a time: each waits for its connection.
const AT_ONCE: usize = 16;

#[test]
fn a_session_cut_at_any_byte_is_whole() {
    let mut program = Program::new("cut", 1024);
    program.log(40);
    let expected = program.recorded_here();
    for form in [Form::Plain, Form::Blocks] {
        let place = Place::new();
        let proxy = Proxy::new(place.address, |_| None);
        send(&program, &options(proxy.address), form);
        let bytes = proxy.bytes.load(Ordering::Relaxed);
        assert!(bytes > 500, "{bytes}");
        // Some bytes, from another one on in each run; TIMELINE_TEST_SIZE=41 tries each.
        let stride = (41 / size()).max(1);
        let first = u64::from(std::process::id()) % stride;
        let cuts = Mutex::new((first..bytes).step_by(stride as usize));
        let next = || cuts.lock().unwrap().next();
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some(cut) = next() {
                        let place = Place::new();
                        let proxy =
                            Proxy::new(place.address, move |number| (number == 0).then_some(cut));
                        let totals = send(&program, &options(proxy.address), form);
                        assert_eq!((totals.events, totals.missed), (43, 0), "cut at {cut}");
                        let trace = place.trace();
                        assert_same(&events(&trace), &expected, &format!("cut at {cut}"));
                        assert_eq!(std::fs::read_dir(&trace).unwrap().count(), 1, "{cut}");
                        assert!(proxy.connections.load(Ordering::Relaxed) >= 2, "{cut}");
                    }
                });
            }
        });
    }
}

/// Each connection carries some bytes only, so a long recording needs many.
#[test]
fn a_recording_over_many_connections_is_whole() {
    let mut program = Program::new("many", 1 << 17);
    let keeping = Keeping {
        rotate_size: Some(64 << 10),
        ..Keeping::default()
    };
    let place = Place::keeping(keeping);
    let seed = AtomicU64::new(u64::from(std::process::id()));
    let proxy = Proxy::new(place.address, move |_| {
        let mut random = Random(seed.fetch_add(0x9e37_79b9, Ordering::Relaxed));
        // More than the largest frame, which no connection could carry otherwise.
        Some(100_000 + random.below(60_000))
    });
    let (at, options) = (program.name.attach(), options(proxy.address));
    let mut output = output_to(&options);
    let mut recorder = recorder(&at, &mut output, Form::Blocks);
    for round in 0..30 {
        program.log(2500);
        program.keep(100 + round);
        while recorder.step() {}
        if round % 10 == 9 {
            settle(&mut recorder);
        }
    }
    settle(&mut recorder);
    let totals = recorder.finish();
    assert_eq!((totals.events, totals.missed), (75_033, 0));
    let trace = place.trace();
    assert_same(&events(&trace), &program.recorded_here(), "all connections");
    let connections = proxy.connections.load(Ordering::Relaxed);
    assert!(connections > 3, "{connections} connections");
    // Each file can be read by itself, and has the important events that were logged before.
    let mut files: Vec<_> = std::fs::read_dir(&trace).unwrap().collect();
    assert!(files.len() > 4, "{files:?}");
    files.sort_by_key(|file| file.as_ref().unwrap().path());
    let mut known = 0;
    for file in files {
        let archive = Archive::open(file.unwrap().path()).unwrap();
        let important = archive.events().filter(is_important).count();
        assert!(
            important >= known && important >= 3,
            "{important} of {known}"
        );
        known = important;
    }
    assert_eq!(known, 33);
}

/// Another sender of the run goes on where the store is, in another file.
#[test]
fn a_later_sender_repeats_nothing() {
    let mut program = Program::new("later", 1 << 12);
    let place = Place::new();
    for round in 1..=50 * size() {
        program.log(7);
        let totals = send(&program, &options(place.address), Form::Blocks);
        // The first one has the important events as well.
        let expected = if round == 1 { 10 } else { 7 };
        assert_eq!((totals.events, totals.missed), (expected, 0), "{round}");
    }
    let trace = place.trace();
    assert_same(&events(&trace), &program.recorded_here(), "all senders");
    let files = std::fs::read_dir(&trace).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len() as u64, 50 * size());
    for file in &files {
        let archive = Archive::open(file).unwrap();
        let important: Vec<_> = archive.events().filter(is_important).collect();
        let mut ids: Vec<_> = important.iter().map(|event| event.args[0]).collect();
        ids.sort_unstable();
        assert_eq!(ids, [0, 1, 2], "{}", file.display());
    }
    assert_eq!(run(&trace).timeline.as_deref(), Some(program.name.path()));
}

/// What came in during an outage longer than the ring is counted, where it is.
#[test]
fn an_outage_that_is_too_long_for_the_ring_is_a_gap_with_its_number() {
    let mut program = Program::new("outage", 1024);
    let place = Place::new();
    let is_cut = std::sync::Arc::new(AtomicU64::new(0));
    let is_cut_now = std::sync::Arc::clone(&is_cut);
    let proxy = Proxy::new(place.address, move |_| {
        (is_cut_now.load(Ordering::Relaxed) > 0).then_some(0)
    });
    let at = program.name.attach();
    // Less than the events that come take.
    let mut options = options(proxy.address);
    options.buffer = 4 << 10;
    let mut output = output_to(&options);
    let mut recorder = recorder(&at, &mut output, Form::Plain);
    program.log(100);
    settle(&mut recorder);
    is_cut.store(1, Ordering::Relaxed);
    let mut is_full = false;
    for _ in 0..40 {
        program.log(500);
        recorder.step();
        recorder.step();
        is_full |= recorder.is_full();
    }
    assert!(is_full, "the buffer has a limit");
    is_cut.store(0, Ordering::Relaxed);
    program.log(10);
    eventually("the store to come back", || {
        !recorder.step() && recorder.flush()
    });
    let totals = recorder.finish();
    let archive = Archive::open(place.trace()).unwrap();
    let found = archive.events().count() as u64;
    assert_eq!(totals.events, found);
    assert!(totals.missed > 1000, "{totals:?}");
    // Entries of the ends of chunks count as missed, too.
    assert!(
        found - 3 + totals.missed >= program.logged as u64,
        "{totals:?}"
    );
    assert_eq!(archive.missed(), totals.missed);
    let last = archive.events().map(|event| event.args[0]).max();
    assert_eq!(last, Some(program.logged - 1));
}
