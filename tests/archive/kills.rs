//! Recorders killed at 200 random moments, while programs come and go: nothing twice, nothing left out.

use std::fs;
use std::time::Duration;

use nix::sys::signal::Signal;
use timeline::archive::Archive;

use crate::flight::{Flight, eventually, first_arguments, size};

/// Recorders are killed 50 times, and the next one goes on. Now and then the program begins anew. An event takes at
/// least `bytes`.
fn killed_again_and_again(mut flight: Flight, form: &[&str], most: u64, bytes: u64) {
    let mut random = std::process::id() | 1;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        u64::from(random) % below
    };
    let written = |flight: &Flight| flight.files().iter().map(|f| size(f)).sum::<u64>();
    for round in 0..50 {
        if round % 16 == 15 {
            // Of a run before the last one, nothing is there that could be recorded.
            flight.restart();
        }
        let before = written(&flight);
        let recorder = flight.start(form);
        for _ in 0..next(20) {
            flight.log(next(most / 20) as i64);
        }
        if round % 16 == 14 {
            flight.until_recorded();
        } else if round % 2 == 0 {
            // While it writes, or just after.
            flight.log(most as i64 / 2);
            let until = before + next(most / 2 * bytes);
            eventually("the files to grow", || written(&flight) > until);
        } else {
            // At whatever it is doing then.
            std::thread::sleep(Duration::from_micros(next(40_000)));
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
    let expected = flight.expected();
    let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
    let around = differs.map(|at| &found[at.saturating_sub(2)..(at + 3).min(found.len())]);
    assert!(
        found == expected,
        "repeats or holes: {around:?} at {differs:?}, {} of {}",
        found.len(),
        expected.len()
    );
    assert_eq!(flight.missed(), 0);
}

#[test]
fn plain_recorders_killed_at_any_moment_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::new("kill-plain", 1 << 18);
    killed_again_and_again(flight, &["--plain"], 4_000, 80);
}

#[test]
fn recorders_of_blocks_killed_at_any_moment_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::new("kill-blocks", 1 << 18);
    killed_again_and_again(flight, &[], 12_000, 1);
}

#[test]
fn plain_recorders_of_many_files_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::of_files("kill-plain-files", 1 << 18);
    killed_again_and_again(flight, &["--plain", "--rotate-size", "32K"], 4_000, 80);
}

#[test]
fn recorders_of_many_files_of_blocks_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::of_files("kill-files", 1 << 18);
    let form = ["--rotate-size", "32K", "--rotate-every", "20ms"];
    killed_again_and_again(flight, &form, 12_000, 1);
}

#[test]
fn recorders_of_payloads_and_call_stacks_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::of_files("kill-mixed", 1 << 18).mixed();
    killed_again_and_again(flight, &["--rotate-size", "32K"], 2_000, 200);
}
