//! Recorders killed at 200 random moments, while programs come and go: nothing twice, nothing left out.

use std::fs;

use nix::sys::signal::Signal;
use timeline::archive::Archive;

use crate::flight::{Flight, eventually, first_arguments, size};

/// Recorders are killed 50 times, and the next one goes on. Now and then the program begins anew.
fn killed_again_and_again(mut flight: Flight, form: &[&str], most: u64) {
    let mut random = std::process::id() | 1;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        u64::from(random)
    };
    for round in 0..50 {
        if round % 16 == 15 {
            flight.restart();
        }
        let written = |flight: &Flight| flight.files().iter().map(|f| size(f)).sum::<u64>();
        let before = written(&flight);
        let recorder = flight.start(form);
        for _ in 0..next() % 20 {
            flight.log((next() % (most / 20)) as i64);
        }
        if round % 2 == 0 {
            // Killed while it writes, or just after; otherwise at whatever it was doing.
            flight.log(most as i64 / 2);
            eventually("the files to grow", || written(&flight) > before);
        }
        let (status, said) = recorder.stop(Signal::SIGKILL);
        assert_eq!(status.code(), None, "{said}");
        for file in flight.files() {
            let archive = Archive::from_bytes(fs::read(file).unwrap_or_default());
            let end = archive.bytes().len();
            let tail = archive.damage().iter().all(|d| d.end == end);
            assert!(tail, "only the tail is damaged by a kill");
        }
    }
    let events = flight.land(form);
    let found = first_arguments(&events);
    assert!(found == flight.expected(), "repeats or holes");
    assert_eq!(flight.missed(), 0);
}

#[test]
fn plain_recorders_killed_at_any_moment_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::new("kill-plain", 1 << 18);
    killed_again_and_again(flight, &["--plain"], 4_000);
}

#[test]
fn recorders_of_blocks_killed_at_any_moment_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::new("kill-blocks", 1 << 18);
    killed_again_and_again(flight, &[], 12_000);
}

#[test]
fn plain_recorders_of_many_files_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::of_files("kill-plain-files", 1 << 18);
    killed_again_and_again(flight, &["--plain", "--rotate-size", "32K"], 4_000);
}

#[test]
fn recorders_of_many_files_of_blocks_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::of_files("kill-files", 1 << 18);
    let form = ["--rotate-size", "32K", "--rotate-every", "20ms"];
    killed_again_and_again(flight, &form, 12_000);
}
