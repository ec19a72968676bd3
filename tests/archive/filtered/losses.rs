//! Of what is overwritten, what counts as missed if a recorder has a filter.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use timeline::{Attached, Order, Priority};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, RecordedEvent, Recorder, Totals};

use super::{FORMS, Only, Program, numbers};
use crate::samples::frames;

#[test]
fn what_was_left_out_is_not_missed_when_it_is_overwritten_later() {
    const RING: i64 = 1 << 10;
    for form in FORMS {
        let program = Program::new("filtered-later", RING as u64).on_one_cpu();
        let at = program.name.attach();
        let file = program.path("flight.tla");
        let mut output = ArchiveOutput::open(&file, Keeping::default()).unwrap();
        let recorder = Recorder::new(&at, &mut output, form).unwrap();
        let mut recorder = recorder.only(program.is(Only::Wanted));
        for _ in 0..20 {
            program.log_others(RING / 4);
            while recorder.step() {}
        }
        let totals = recorder.totals();
        assert_eq!((totals.left_out, totals.missed), (20 * RING as u64 / 4, 0));
        // Not finished: as if it had been killed.
        drop(recorder);
        drop(output);
        // Less than the part of the ring that may be untold, and more than was left.
        program.log_others(RING / 2);
        let totals = program.record(&at, "flight.tla", form, Only::None);
        let behind = totals.left_out - RING as u64 / 2;
        assert!(totals.missed == 0 && behind < RING as u64 / 8, "{totals:?}");
        // At its end, a recorder tells how far it was, whatever comes then.
        program.log_others(3);
        program.record(&at, "flight.tla", form, Only::None);
        program.log_others(RING / 4);
        let totals = program.record(&at, "flight.tla", form, Only::Others);
        assert_eq!((totals.events, totals.missed), (RING as u64 / 4, 0));
        let archive = Archive::open(&file).unwrap();
        assert_eq!((archive.missed(), archive.count()), (0, RING as u64 / 4));
        assert!(archive.events().all(|event| event.missed == 0));
    }
}

#[test]
fn what_was_overwritten_unread_is_missed_whatever_the_filter() {
    for form in FORMS {
        let mut program = Program::new("filtered-gap", 512).on_one_cpu();
        let at = program.name.attach();
        let file = program.path("flight.tla");
        let mut output = ArchiveOutput::open(&file, Keeping::default()).unwrap();
        let recorder = Recorder::new(&at, &mut output, form).unwrap();
        let mut recorder = recorder.only(program.is(Only::Wanted));
        // Of each round, the first events that are there may be wanted or not.
        for _ in 0..30 {
            program.log(1_001);
            while recorder.step() {}
        }
        program.log_others(2_000);
        while recorder.step() {}
        let written = at.info().entries_written;
        let totals = recorder.finish();
        drop(output);
        assert!(totals.missed > 15_000 && totals.events > 200);
        assert_eq!(totals.events + totals.left_out + totals.missed, written);
        let archive = Archive::open(&file).unwrap();
        assert_eq!(
            (archive.missed(), archive.count()),
            (totals.missed, totals.events)
        );
        // Before an event stand the entries that are missing right before it.
        let events: Vec<RecordedEvent> = archive.events().collect();
        let mut end = 0;
        for event in &events {
            let number = event.number.unwrap();
            assert!(end + event.missed <= number, "{event:?}");
            end = number + 1;
        }
        let told: u64 = events.iter().map(|event| event.missed).sum();
        assert!(told > 0 && told < totals.missed);
        let unique: BTreeSet<_> = numbers(&events).into_iter().collect();
        assert_eq!(unique.len(), events.len());
        assert_eq!(followed(&file), (totals.events, totals.missed));
        // Whatever frame the file ends with, the next recorder goes on without a repetition.
        assert_goes_on(&program, &at, &file, form, totals);
    }
}

#[test]
fn what_was_left_out_before_a_run_goes_on_in_another_file_is_told() {
    for form in FORMS {
        let mut program = Program::new("filtered-back", 1 << 12).on_one_cpu();
        let former = program.name.attach();
        let folder = program.path("flights/");
        // Nothing has room behind what is there.
        let keeping = || Keeping {
            rotate_size: Some(64),
            ..Keeping::default()
        };
        program.log(70);
        program.record(&former, "flights/", form, Only::Wanted);
        // It goes on with events that nobody wants.
        program.log_others(20);
        program.log(70);
        let is_wanted = program.is(Only::Wanted);
        let Program {
            timeline,
            name,
            folder: _kept,
            ..
        } = program;
        drop(timeline);
        // Another run has a file of its own.
        let later = name.create(1 << 10);
        let event = later.define("later", Priority::Info, "$n").unwrap();
        later.log(event, [1]);
        let at = name.attach();
        let mut output = ArchiveOutput::open(&folder, keeping()).unwrap();
        let mut recorder = Recorder::new(&at, &mut output, form).unwrap();
        while recorder.step() {}
        recorder.finish();
        drop(output);
        let mut output = ArchiveOutput::open(&folder, keeping()).unwrap();
        let recorder = Recorder::new(&former, &mut output, form).unwrap();
        let mut recorder = recorder.only(is_wanted);
        while recorder.step() {}
        let totals = recorder.finish();
        drop(output);
        assert_eq!((totals.events, totals.left_out, totals.missed), (10, 80, 0));
        let archive = Archive::open(&folder).unwrap();
        assert_eq!(archive.count(), 21);
        assert_eq!((archive.gone(), archive.repeated()), (0, 0), "{form:?}");
    }
}

/// How many events a follower is given that comes when the file is begun, and how many it is told
/// that are missing.
fn followed(file: &Path) -> (u64, u64) {
    let bytes = fs::read(file).unwrap();
    let (preamble, _) = &frames(&bytes)[0];
    fs::write(file, &bytes[..preamble.end]).unwrap();
    let archive = Archive::open(file).unwrap();
    let mut follow = archive.follow().unwrap();
    fs::write(file, &bytes).unwrap();
    let (mut events, mut missed) = (Vec::new(), 0);
    loop {
        let before = events.len();
        let more = follow.poll(&mut events).unwrap();
        missed += more;
        if more == 0 && events.len() == before {
            return (events.len() as u64, missed);
        }
    }
}

/// Whatever frame a file ends with, the next recorder has what is wanted, each once.
fn assert_goes_on(program: &Program, at: &Attached, file: &Path, form: Form, whole: Totals) {
    let bytes = fs::read(file).unwrap();
    let is_wanted = program.is(Only::Wanted);
    let there: Vec<i64> = (at
        .events(Order::OldestFirst)
        .filter(|event| is_wanted(event)))
    .map(|event| event.args[0])
    .collect();
    let ends = frames(&bytes);
    for (place, _) in ends.iter().step_by(1 + ends.len() / 60) {
        fs::write(file, &bytes[..place.end]).unwrap();
        let totals = program.record(at, "flight.tla", form, Only::Wanted);
        let archive = Archive::open(file).unwrap();
        let found = numbers(&archive.events().collect::<Vec<_>>());
        let unique: BTreeSet<i64> = found.iter().copied().collect();
        assert_eq!(unique.len(), found.len(), "{form:?}, {place:?}");
        assert!(there.iter().all(|number| unique.contains(number)));
        assert!(archive.missed() >= totals.missed);
        if place.end == bytes.len() {
            assert_eq!((totals.left_out, totals.missed), (0, 0));
        }
        assert!(archive.count() <= whole.events);
    }
}
