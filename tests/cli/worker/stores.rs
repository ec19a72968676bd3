//! A worker sends to a store what a program logs.

use nix::sys::signal::Signal;
use timeline_net::StoreToken;
use timeline_worker::{Worker, WorkerOptions};

use super::{LONG, SHORT};
use crate::command::eventually;
use crate::store::place::{Place, Program, assert_same, events, traces};
use crate::store::{own_address, receiving};
use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, cc, limited, succeed};

#[test]
fn a_store_has_all_that_was_flushed_and_all_at_the_end() {
    let place = Place::new();
    let mut program = Program::new("worker-store", 1 << 14);
    program.log(100);
    let options = WorkerOptions::to_store(&place.address.to_string()).unwrap();
    let worker = Worker::start(&program.timeline, &options.label("service", "db")).unwrap();
    program.log(1000);
    assert!(worker.flush(LONG).unwrap());
    assert_same(&events(&place.trace()), &program.recorded_here(), "flushed");
    program.log(1000);
    program.keep(3);
    let totals = worker.stop().unwrap();
    assert_eq!((totals.events, totals.missed, totals.unsent), (2104, 0, 0));
    assert_same(&events(&place.trace()), &program.recorded_here(), "all");
    // The next one goes on behind it.
    program.log(10);
    let worker = Worker::start(&program.timeline, &options_to(&place)).unwrap();
    assert_eq!(worker.stop().unwrap().unsent, 0);
    assert_same(
        &events(&place.trace()),
        &program.recorded_here(),
        "and more",
    );
}

fn options_to(place: &Place) -> WorkerOptions {
    WorkerOptions::to_store(&place.address.to_string()).unwrap()
}

#[test]
fn a_worker_waits_for_a_store_and_outlives_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (first, address) = receiving(folder.path(), &own_address());
    first.signal(Signal::SIGTERM);
    first.succeed();
    let mut program = Program::new("worker-waits", 1 << 14);
    program.log(100);
    let options = WorkerOptions::to_store(&address).unwrap();
    let worker = Worker::start(&program.timeline, &options).unwrap();
    let trouble = || worker.trouble().unwrap();
    eventually("a complaint", || trouble().is_some());
    let told = trouble().unwrap();
    assert!(
        told.contains(&format!("cannot connect to {address}")),
        "{told}"
    );
    for round in 0..4 {
        let (store, _) = receiving(folder.path(), &address);
        program.log(100);
        eventually("all to arrive", || worker.flush(LONG).unwrap());
        assert_eq!(trouble(), None);
        let found = events(&traces(folder.path())[0]);
        assert_same(&found, &program.recorded_here(), &format!("round {round}"));
        store.signal(Signal::SIGKILL);
        store.finish();
    }
    let (store, _) = receiving(folder.path(), &address);
    program.log(100);
    eventually("all to arrive", || worker.flush(LONG).unwrap());
    assert_eq!(worker.stop().unwrap().unsent, 0);
    store.signal(Signal::SIGTERM);
    store.succeed();
    let trace = traces(folder.path());
    assert_eq!(trace.len(), 1);
    assert_same(&events(&trace[0]), &program.recorded_here(), "all");
}

/// Whoever flushes right behind the start is told why nothing arrives, and how much stays.
#[test]
fn a_worker_whose_store_refuses_it_says_why() {
    let place = Place::with(|store| {
        store.tokens = vec![StoreToken::parse("correct-horse-battery-staple").unwrap()];
    });
    let mut program = Program::new("worker-refused", 1 << 14);
    program.log(100);
    let options = WorkerOptions::to_store(&place.address.to_string()).unwrap();
    let worker = Worker::start(&program.timeline, &options).unwrap();
    eventually("a reason", || {
        let is_whole = worker.flush(SHORT).unwrap();
        assert!(!is_whole);
        let told = worker.trouble().unwrap();
        told.is_some_and(|told| told.contains("expected a token, got none"))
    });
    let totals = worker.stop().unwrap();
    assert_eq!((totals.events, totals.left), (0, 103), "{totals:?}");
}

/// The store is another one's: it asks for a token, and is known by its certificate. The worker is
/// stopped by the end of its program alone, and a second program sends to a run of its own.
#[test]
fn a_program_in_c_sends_to_the_store_that_its_environment_names() {
    let token = "correct-horse-battery-staple";
    let place = Place::with(|store| store.tokens = vec![StoreToken::parse(token).unwrap()]);
    let folder = tempfile::tempdir().unwrap();
    let known = format!("{} {}\n", place.address, place.fingerprint);
    std::fs::create_dir(folder.path().join("timeline")).unwrap();
    std::fs::write(folder.path().join("timeline/stores"), known).unwrap();
    let sources = ["tests/c/worker.c"];
    let program = compile(cc(), C99, &sources, Link::Worker, folder.path());
    for runs in 1..3 {
        let own = tempfile::tempdir().unwrap();
        let mut command = limited(&program);
        command.env("TIMELINE_TO", place.address.to_string());
        command
            .env("TIMELINE_TOKEN", token)
            .env("XDG_CONFIG_HOME", folder.path());
        succeed(command.arg(own.path()).arg("environment"), "coreutils");
        let traces = place.traces();
        assert_eq!(traces.len(), runs);
        for trace in traces {
            let numbers: Vec<_> = events(&trace).iter().map(|event| event.args[0]).collect();
            assert_eq!(numbers, (0..400).collect::<Vec<_>>(), "{}", trace.display());
        }
    }
}
