//! Tests recorders where something else than an archive is in their way.
//! It is what a power cut leaves of a file, or what somebody put there. It is left alone, and
//! recording goes on.

use std::fs;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;

use crate::flight::{Flight, eventually, first_arguments, said};

impl Flight {
    /// Its file with this number.
    fn numbered(&self, number: u32) -> PathBuf {
        self.file().join(format!("timeline-{number:06}.tla"))
    }

    /// The events of the archives among its files, and what the recorder says that has just ended.
    fn land_in(&mut self, form: &[&str], files: &[u32]) -> (Vec<i64>, String) {
        self.timeline = None;
        let output = self
            .command(&[form, &["--once"]].concat())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let archive =
            |number: &u32| timeline_archive::Archive::open(self.numbered(*number)).unwrap();
        let events = files
            .iter()
            .flat_map(|number| archive(number).events().collect::<Vec<_>>());
        (first_arguments(&events.collect::<Vec<_>>()), said(&output))
    }
}

/// What may be in the place of an archive.
fn others() -> [(&'static str, Vec<u8>); 4] {
    [
        ("zeros", vec![0; 5_000]),
        ("many zeros", vec![0; 3 << 20]),
        ("text", b"my diary".to_vec()),
        (
            "noise",
            (0..100_000_u64).map(|n| ((n * n) >> 7) as u8).collect(),
        ),
    ]
}

#[test]
fn a_newest_file_that_is_no_archive_is_passed_over() {
    for (what, content) in others() {
        // The ring still has what was in it, or not.
        for (more, overwritten) in [(50, false), (5_000, true)] {
            let mut flight = Flight::of_files("foreign", 1 << 12);
            flight.log(100);
            let recorder = flight.start(&[]);
            flight.until_recorded();
            assert!(recorder.stop(Signal::SIGINT).0.success());
            fs::write(flight.numbered(1), &content).unwrap();
            flight.log(more);
            let (events, said) = flight.land_in(&[], &[2]);
            assert!(
                said.contains("timeline-000001.tla is not an archive"),
                "{what}: {said}"
            );
            assert!(
                said.contains("continues in") && said.contains("timeline-000002.tla"),
                "{said}"
            );
            assert_eq!(fs::read(flight.numbered(1)).unwrap(), content, "{what}");
            let missed = timeline_archive::Archive::open(flight.numbered(2))
                .unwrap()
                .missed();
            assert_eq!(missed > 0, overwritten, "{what}");
            assert_eq!(events.len() as u64 + missed, flight.logged as u64, "{what}");
            assert!(events.is_sorted() && events.last() == Some(&(flight.logged - 1)));
            // The next one has no more to say of it.
            let (again, said) = flight.land_in(&[], &[2]);
            assert!(
                again == events && !said.contains("not an archive"),
                "{what}: {said}"
            );
        }
    }
}

#[test]
fn behind_a_lost_file_each_lane_goes_on_where_the_file_before_it_ends() {
    let mut flight = Flight::of_files("foreign-behind", 1 << 14);
    flight.log(10_000);
    let form = ["--plain", "--rotate-size", "64K"];
    let all = first_arguments(&flight.land(&form));
    assert_eq!(all, flight.expected());
    let last = flight.files().len() as u32;
    assert!(last > 3);
    fs::write(flight.numbered(last), vec![0; 70_000]).unwrap();
    let files: Vec<u32> = (1..last).chain([last + 1]).collect();
    let recorder = flight.command(&[]).arg("--once").output().unwrap();
    assert_eq!(recorder.status.code(), Some(0), "{}", said(&recorder));
    let (events, _) = flight.land_in(&form, &files);
    assert_eq!(events, all);
}

#[test]
fn an_empty_or_torn_newest_file_is_written_to() {
    for cut in [0, 1, 7, 100, 9_999] {
        let mut flight = Flight::of_files("foreign-torn", 1 << 12);
        flight.log(100);
        flight.land(&["--plain"]);
        let content = fs::read(flight.numbered(1)).unwrap();
        fs::write(flight.numbered(1), &content[..cut.min(content.len() - 1)]).unwrap();
        let (events, said) = flight.land_in(&["--plain"], &[1]);
        assert_eq!(
            (events, said.contains("not an archive")),
            (flight.expected(), false),
            "{cut}"
        );
    }
}

#[test]
fn what_is_no_file_among_the_files_is_left_alone() {
    let mut flight = Flight::of_files("foreign-kinds", 1 << 14);
    fs::create_dir_all(flight.numbered(1)).unwrap();
    nix::unistd::mkfifo(&flight.numbered(3), Mode::S_IRWXU).unwrap();
    let elsewhere = flight.folder.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, flight.numbered(4)).unwrap();
    flight.log(5_000);
    let (events, said) = flight.land_in(&["--plain", "--rotate-size", "256K"], &[2, 5, 6]);
    assert_eq!(events, flight.expected(), "{said}");
    assert!(flight.numbered(1).is_dir() && !elsewhere.exists());
    assert!(
        fs::symlink_metadata(flight.numbered(4))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn a_recorder_whose_file_was_replaced_goes_on_in_the_next_one() {
    let mut flight = Flight::of_files("foreign-running", 1 << 12);
    flight.log(100);
    let recorder = flight.start(&[]);
    flight.until_recorded();
    let diary = flight.folder.path().join("diary");
    fs::write(&diary, "my diary").unwrap();
    fs::rename(&diary, flight.numbered(1)).unwrap();
    eventually("another file", || flight.numbered(2).exists());
    flight.log(100);
    eventually("the rest", || {
        let archive = timeline_archive::Archive::open(flight.numbered(2));
        archive.is_ok_and(|archive| archive.events().count() == 100)
    });
    let (status, said) = recorder.stop(Signal::SIGINT);
    assert!(
        status.success() && said.contains("continues in a new file"),
        "{said}"
    );
    assert_eq!(fs::read(flight.numbered(1)).unwrap(), b"my diary");
}

#[test]
fn a_single_file_that_is_no_archive_is_refused_and_stays() {
    for (what, content) in others() {
        let mut flight = Flight::new("foreign-single", 1 << 12);
        fs::write(flight.file(), &content).unwrap();
        flight.log(10);
        let output = flight.command(&["--once"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{what}");
        assert!(
            said(&output).contains("was not changed"),
            "{what}: {}",
            said(&output)
        );
        assert_eq!(fs::read(flight.file()).unwrap(), content, "{what}");
    }
}
