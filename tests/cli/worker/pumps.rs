//! A pump records without threads, a step at a time.

use std::time::Duration;

use timeline::Timeline;
use timeline_worker::{Pump, PumpStep, Worker, WorkerOptions};

use super::LONG;
use crate::store::place::{Place, Program, assert_same, events};
use crate::support::{Name, Process, cpus, say};

/// What a step takes at most, but for the lanes: see `Follow::poll`.
const STEP: u64 = 16 * 1024;

#[test]
fn a_call_without_time_makes_one_step_and_many_of_them_catch_up() {
    let mut program = Program::new("pump-bound", 1 << 18);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    let mut pump = Pump::start(&program.timeline, &WorkerOptions::to_file(&file)).unwrap();
    program.log(200_000);
    let most = STEP + (cpus() as u64 + 1) * 1024;
    let (mut calls, mut before) = (0, 0);
    while !pump.update(Duration::ZERO).unwrap() {
        let events = pump.totals().events;
        assert!(events - before <= most, "{events} after {before}");
        (calls, before) = (calls + 1, events);
    }
    assert!(calls as u64 >= 200_000 / most, "{calls}");
    assert_eq!(pump.totals().events, 200_003);
    // With time enough, one call does it.
    program.log(200_000);
    assert!(pump.update(LONG).unwrap());
    assert_eq!(pump.totals().events, 400_003);
    assert!(pump.flush(LONG).unwrap());
    assert_eq!(events(&file).len(), 400_003);
    assert!(matches!(pump.step().unwrap(), PumpStep::Idle));
    let totals = pump.end().unwrap();
    assert_eq!((totals.events, totals.missed), (400_003, 0));
    // Behind its end, it does nothing.
    program.log(10);
    assert!(pump.update(LONG).unwrap());
    assert_eq!(pump.end().unwrap(), totals);
}

/// A program of one thread, which says how many it has while it records.
fn alone(arguments: &[String]) {
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let timeline = Timeline::with_size(&arguments[0], 1024, 4096).unwrap();
    let event = timeline::Priority::Info;
    let event = timeline.define("test", event, "number $n").unwrap();
    let mut pump = Pump::start(&timeline, &WorkerOptions::to_file(&arguments[1])).unwrap();
    let mut most = 0;
    for number in 0..100 {
        timeline.log(event, [number]);
        pump.update(Duration::from_millis(1)).unwrap();
        most = most.max(threads());
    }
    say(most);
    drop(pump);
}

#[test]
fn a_pump_has_no_thread_and_dropping_it_writes_all() {
    let name = Name::new("pump-alone");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    let mut program = Process::start(alone, &[name.path(), file.to_str().unwrap()]);
    assert_eq!(program.line(), "1");
    program.finish();
    let numbers: Vec<_> = events(&file).iter().map(|event| event.args[0]).collect();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

#[test]
fn a_pump_sends_to_a_store_and_never_waits_for_it_in_an_update() {
    let place = Place::new();
    let mut program = Program::new("pump-store", 1 << 14);
    let options = WorkerOptions::to_store(&place.address.to_string()).unwrap();
    let mut pump = Pump::start(&program.timeline, &options).unwrap();
    let mut updates = 0;
    while !pump.update(LONG).unwrap() {
        // No answer yet: it has returned all the same.
        updates += 1;
        program.log(1);
    }
    assert!(updates > 0);
    program.log(100);
    assert!(pump.flush(LONG).unwrap());
    assert_same(&events(&place.trace()), &program.recorded_here(), "flushed");
    let totals = pump.end().unwrap();
    assert_eq!((totals.missed, totals.unsent), (0, 0));
}

#[test]
fn a_pump_may_go_from_one_thread_to_another() {
    const fn may_be_sent<T: Send>() {}
    const { may_be_sent::<Pump>() };
    const { may_be_sent::<Worker>() };
    let mut program = Program::new("pump-sent", 1024);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    let mut pump = Pump::start(&program.timeline, &WorkerOptions::to_file(&file)).unwrap();
    program.log(10);
    let ended = std::thread::spawn(move || pump.end().unwrap().events);
    assert_eq!(ended.join().unwrap(), 13);
}
