//! Kills recorders at 200 random moments, while programs come and go.
//! Nothing is recorded twice, and nothing is left out.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::Signal;
use timeline_archive::Archive;

use crate::flight::{Flight, eventually, first_arguments, said, size};
use crate::support::size as test_size;

/// Recorders are killed 40 times, and the next one goes on. Now and then the program begins anew.
/// Two events take at least `bytes`.
fn killed_again_and_again(mut flight: Flight, form: &[&str], most: u64, bytes: u64) {
    let mut random = std::process::id() | 1;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        u64::from(random) % below
    };
    let written = |flight: &Flight| flight.files().iter().map(|f| size(f)).sum::<u64>();
    let mut whole = HashMap::new();
    for round in 0..40 {
        if round % 16 == 15 {
            // Of a run before the last one, nothing is there that could be recorded.
            flight.restart();
        }
        // Without the torn end, which the recorder cuts off.
        let before = whole.values().sum::<usize>() as u64;
        let recorder = flight.start(form);
        for _ in 0..next(20) {
            flight.log(next(most / 20) as i64);
        }
        if round % 16 == 14 {
            flight.until_recorded();
        } else if round % 2 == 0 {
            // While it writes, or just after.
            flight.log(most as i64 / 2);
            let until = before + next(most / 4 * bytes);
            eventually("the files to grow", || written(&flight) > until);
        } else {
            // At whatever it is doing then.
            std::thread::sleep(Duration::from_micros(next(40_000)));
        }
        let (status, said) = recorder.stop(Signal::SIGKILL);
        assert_eq!(status.code(), None, "{said}");
        check(&flight, &mut whole);
    }
    let events = flight.land(form);
    let mut found = first_arguments(&events);
    // Those of two CPUs, as the thread moves, may stand in another order.
    found.sort_unstable();
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

/// Fails if anything but the tails of files is damaged. What was whole before is not read again.
fn check(flight: &Flight, whole: &mut HashMap<PathBuf, usize>) {
    for file in flight.files() {
        let bytes = fs::read(&file).unwrap_or_default();
        let whole = whole.entry(file).or_default();
        let new = Archive::from_bytes(&bytes[*whole..]);
        let end = new.bytes().len();
        let torn = new.damage().first().map_or(end, |damage| damage.start);
        assert!(
            new.damage().iter().all(|damage| damage.end == end),
            "only the tail is damaged by a kill"
        );
        *whole += torn;
    }
}

#[test]
fn plain_recorders_killed_at_any_moment_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::new("kill-plain", 1 << 18);
    killed_again_and_again(flight, &["--plain"], 2_000, 80);
}

#[test]
fn recorders_of_blocks_killed_at_any_moment_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::new("kill-blocks", 1 << 18);
    killed_again_and_again(flight, &[], 6_000, 1);
}

#[test]
fn plain_recorders_of_many_files_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::of_files("kill-plain-files", 1 << 18);
    killed_again_and_again(flight, &["--plain", "--rotate-size", "64K"], 2_000, 80);
}

#[test]
fn recorders_of_many_files_of_blocks_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::of_files("kill-files", 1 << 18);
    let form = ["--rotate-size", "64K", "--rotate-every", "20ms"];
    killed_again_and_again(flight, &form, 6_000, 1);
}

#[test]
fn recorders_of_payloads_and_call_stacks_repeat_nothing_and_leave_nothing_out() {
    let flight = Flight::of_files("kill-mixed", 1 << 18).mixed();
    killed_again_and_again(flight, &["--rotate-size", "64K"], 1_000, 200);
}

/// While recorders are killed, files that they have finished are removed, and frames are cut out of
/// others: all that was logged is there or counted.
fn killed_and_robbed(purpose: &str, form: &[&str], most: u64) {
    let mut flight = Flight::of_files(purpose, 1 << 16);
    let mut random = std::process::id() | 1;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random as usize % below
    };
    let form = [form, &["--rotate-size", "64K"]].concat();
    let mut removed = 0;
    for round in 0..12 * test_size() {
        let recorder = flight.start(&form);
        flight.log(next(most as usize) as i64);
        match round % 3 {
            0 => flight.until_recorded(),
            _ => std::thread::sleep(Duration::from_micros(next(40_000) as u64)),
        }
        // Finished ones, which have others on both sides.
        let files = flight.files();
        if files.len() > 5 {
            let file = &files[1 + next(files.len() - 4)];
            match next(3) {
                0 => {
                    fs::remove_file(file).unwrap();
                    removed += 1;
                }
                1 => {
                    let bytes = fs::read(file).unwrap();
                    let from = next(bytes.len());
                    let to = from + next(bytes.len() - from);
                    fs::write(file, [&bytes[..from], &bytes[to..]].concat()).unwrap();
                }
                _ => {}
            }
        }
        let (status, said) = recorder.stop(Signal::SIGKILL);
        assert_eq!(status.code(), None, "{said}");
    }
    flight.timeline = None;
    let output = flight.command(&form).arg("--once").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let archive = Archive::open(flight.file()).unwrap();
    let mut numbers = first_arguments(&archive.events().collect::<Vec<_>>());
    let shown = numbers.len() as u64;
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((numbers.len() as u64, archive.repeated()), (shown, 0));
    let told = (shown, archive.missed(), archive.gone());
    assert_eq!(
        told.0 + told.1 + told.2,
        flight.logged as u64,
        "{told:?}, {removed} removed"
    );
    assert_eq!(archive.missing_files(), removed);
}

#[test]
fn what_is_removed_between_kills_of_plain_recorders_is_counted() {
    killed_and_robbed("robbed-plain", &["--plain"], 3_000);
}

#[test]
fn what_is_removed_between_kills_of_recorders_of_blocks_is_counted() {
    killed_and_robbed("robbed-blocks", &[], 30_000);
}
