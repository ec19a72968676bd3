//! Somebody removes, moves or cuts an archive while it is recorded.

use std::fs;

use nix::sys::signal::Signal;
use timeline_archive::Archive;

use crate::flight::{Flight, eventually, first_arguments};

const ANEW: &str = " was removed or moved; recording continues in a new file";

/// Has the archive disturbed after 1,000 events, and further ones logged. Returns those of them
/// that the archive holds at the end, and the number of events that it says were missed.
fn disturbed(
    flight: &mut Flight,
    more: &[&str],
    disturb: impl Fn(&Flight),
    says: &str,
) -> (Vec<i64>, u64) {
    flight.log(1_000);
    let recorder = flight.start(more);
    flight.until_recorded();
    let first = flight.logged;
    disturb(flight);
    // Not all at once: some before it is noticed, some behind it.
    flight.log(50);
    recorder.until_it_says(says);
    flight.log(50);
    flight.until_recorded();
    let (status, said) = recorder.stop(Signal::SIGINT);
    assert!(status.success(), "{said}");
    assert_eq!(said.matches(says).count(), 1, "{said}");
    // And it can be gone on with.
    flight.log(50);
    let events = first_arguments(&flight.land_disturbed(more));
    let events = events.into_iter().filter(|n| *n >= first).collect();
    (events, flight.missed())
}

/// Where the new file begins. A recorder that is in the middle of a step may write the first 50 to
/// the old file, which it then has checked already; the others are in the new one, each once.
fn begin_of_new_file((events, missed): (Vec<i64>, u64)) -> i64 {
    let begin = events[0];
    assert!((1_000..=1_050).contains(&begin), "{begin}");
    assert_eq!((events, missed), ((begin..1_150).collect(), 0));
    begin
}

#[test]
fn what_is_removed_is_begun_anew_and_nothing_is_lost_from_then_on() {
    for form in [&["--plain"][..], &[]] {
        let mut flight = Flight::new("removed-file", 1 << 12);
        let remove = |flight: &Flight| fs::remove_file(flight.file()).unwrap();
        begin_of_new_file(disturbed(&mut flight, form, remove, ANEW));

        let mut flight = Flight::of_files("removed-numbered", 1 << 12);
        let remove = |flight: &Flight| fs::remove_file(&flight.files()[0]).unwrap();
        begin_of_new_file(disturbed(&mut flight, form, remove, ANEW));

        let mut flight = Flight::of_files("removed-folder", 1 << 12);
        let remove = |flight: &Flight| fs::remove_dir_all(flight.file()).unwrap();
        begin_of_new_file(disturbed(&mut flight, form, remove, ANEW));
    }
}

#[test]
fn what_is_moved_is_whole_and_the_rest_is_at_the_name() {
    let mut flight = Flight::new("moved", 1 << 12);
    let aside = flight.folder.path().join("flight.tla.1");
    let shift = |flight: &Flight| fs::rename(flight.file(), &aside).unwrap();
    let begin = begin_of_new_file(disturbed(&mut flight, &[], shift, ANEW));
    let moved = Archive::open(&aside).unwrap();
    let moved: Vec<_> = moved.events().collect();
    assert_eq!(first_arguments(&moved), (0..begin).collect::<Vec<_>>());
}

#[test]
fn what_is_cut_is_gone_on_with_behind_what_is_left() {
    let says = " was truncated; recording continues at its end";
    for length in [0, 1, 700] {
        for form in [&["--plain"][..], &[]] {
            let mut flight = Flight::new("cut", 1 << 12);
            let cut = |flight: &Flight| {
                let file = fs::File::options().write(true).open(flight.file()).unwrap();
                file.set_len(length).unwrap();
            };
            let (after, missed) = disturbed(&mut flight, form, cut, says);
            // The recorder may have read the first 50 before it noticed. Then they are counted.
            let lost: Vec<_> = (1_000..1_150).filter(|n| !after.contains(n)).collect();
            let (kept, lost_at_most) = (Vec::from_iter(1_050..1_150), 50);
            assert!(after.is_sorted() && after.ends_with(&kept), "{after:?}");
            assert!(
                missed <= lost_at_most && missed == lost.len() as u64,
                "{missed} of {lost:?}"
            );
            // Of what was cut off, a beginning that is left tells.
            let archive = Archive::open(flight.file()).unwrap();
            let all = archive.events().count() as u64 + missed + archive.gone();
            assert_eq!(all == 1_150, length > 1, "{all}");
            assert_eq!(archive.gone() > 0, length > 1);
        }
    }
}

#[test]
fn what_took_the_name_is_left_alone_and_waited_for() {
    let mut flight = Flight::new("taken", 1 << 12);
    flight.log(100);
    let recorder = flight.start(&[]);
    flight.until_recorded();
    let diary = flight.folder.path().join("diary");
    fs::write(&diary, "my diary").unwrap();
    fs::rename(&diary, flight.file()).unwrap();
    recorder.until_it_says("cannot begin anew");
    flight.log(100);
    assert_eq!(fs::read(flight.file()).unwrap(), b"my diary");
    fs::remove_file(flight.file()).unwrap();
    recorder.until_it_says(ANEW);
    eventually("the rest", || flight.file().exists());
    flight.until_recorded();
    let (status, said) = recorder.stop(Signal::SIGINT);
    assert!(status.success(), "{said}");
    let events = first_arguments(&flight.events());
    assert_eq!(events, (100..200).collect::<Vec<_>>());
}
