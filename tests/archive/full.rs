//! Recording to a disk that is full for a time: what is there stays whole, the rest waits, and what cannot is counted.
//!
//! A limit on the size of files is like a full disk, and can be lifted, on every machine. Where this process may
//! mount, a small file system is filled as well.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use timeline::archive::Archive;

use crate::flight::{Flight, Running, eventually, first_arguments, size};

/// How a disk gets full.
enum Disk {
    /// No file gets larger than this.
    Limited,
    /// A file system of its own, mounted where the archive is to be.
    Small(Mounted),
}

struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

const LIMIT: u64 = 96 << 10;

impl Disk {
    /// All that this machine offers, for a flight each.
    fn all(purpose: &str, entries: u64, output: &'static str) -> Vec<(Disk, Flight)> {
        let mut all = vec![(
            Disk::Limited,
            Flight::not_there(&format!("{purpose}-limit"), entries, output),
        )];
        let flight = Flight::not_there(&format!("{purpose}-mount"), entries, output);
        let folder = flight.folder.path().to_path_buf();
        let mut mount = Command::new("mount");
        let size = format!("size={LIMIT},mode=0700");
        mount
            .args(["-t", "tmpfs", "-o", &size, "timeline-test"])
            .arg(&folder);
        if mount.output().is_ok_and(|done| done.status.success()) {
            all.push((Disk::Small(Mounted(folder)), flight));
        } else {
            println!("{purpose}: no file system can be mounted here");
        }
        for (_, flight) in &mut all {
            flight.restart();
        }
        all
    }

    /// A recorder on this disk, whose words go elsewhere.
    fn start(&self, flight: &Flight, words: &Path) -> Running {
        let program = env!("CARGO_BIN_EXE_timeline");
        let command = match self {
            Disk::Limited => {
                let mut command = Command::new("prlimit");
                command.args([&format!("--fsize={LIMIT}:unlimited"), "--", program]);
                command
            }
            Disk::Small(_) => Command::new(program),
        };
        Running::new(flight.command_of(command, &["--plain"]), words)
    }

    /// There is room again.
    fn make_room(&self, recorder: &Running) {
        let status = match self {
            Disk::Limited => Command::new("prlimit")
                .args(["--fsize=unlimited", "--pid", &recorder.pid().to_string()])
                .status(),
            Disk::Small(Mounted(folder)) => Command::new("mount")
                .args(["-o", "remount,size=64m"])
                .arg(folder)
                .status(),
        };
        assert!(status.unwrap().success());
    }
}

/// What a full archive holds: whole frames, and the first of the events.
fn whole(flight: &Flight) -> usize {
    let archive = Archive::open(flight.files()[0].clone()).unwrap();
    assert_eq!(archive.damage(), []);
    assert!(archive.bytes().len() as u64 <= LIMIT);
    let events: Vec<_> = archive.events().collect();
    let expected: Vec<i64> = (0..events.len() as i64).collect();
    assert_eq!(first_arguments(&events), expected);
    events.len()
}

#[test]
fn what_the_ring_still_holds_is_recorded_when_there_is_room() {
    let words = tempfile::tempdir().unwrap();
    for output in ["flight.tla", "flights/"] {
        for (disk, mut flight) in Disk::all("room", 1 << 14, output) {
            let recorder = disk.start(&flight, words.path());
            flight.log(3_000);
            recorder.until_it_says("cannot write");
            let held = whole(&flight);
            assert!((300..3_000).contains(&held), "{held}");
            flight.log(3_000);
            disk.make_room(&recorder);
            flight.until_recorded();
            flight.log(100);
            flight.until_recorded();
            let (status, said) = recorder.stop(Signal::SIGINT);
            assert!(status.success(), "{said}");
            assert_eq!(said.matches("cannot write").count(), 1, "{said}");
            assert_eq!(said.matches("recording goes on").count(), 1, "{said}");
            assert!(said.contains("recorded 6,100 events"), "{said}");
            assert_eq!(first_arguments(&flight.events()), flight.expected());
            assert_eq!(flight.missed(), 0);
        }
    }
}

#[test]
fn what_the_ring_overwrites_meanwhile_is_counted() {
    let words = tempfile::tempdir().unwrap();
    for (disk, mut flight) in Disk::all("count", 1 << 10, "flight.tla") {
        let recorder = disk.start(&flight, words.path());
        // What is overwritten before it begins does not count.
        eventually("the file to begin", || size(&flight.file()) > 0);
        while !recorder.said().contains("cannot write") {
            flight.log(100);
            std::thread::yield_now();
        }
        flight.log(50_000);
        disk.make_room(&recorder);
        recorder.until_it_says("recording goes on");
        flight.until_recorded();
        let (status, said) = recorder.stop(Signal::SIGTERM);
        assert!(status.success(), "{said}");
        let (events, missed) = (flight.events(), flight.missed());
        assert_eq!(events.len() as u64 + missed, flight.logged as u64);
        assert!(missed > 40_000, "{missed}");
        let mut numbers = first_arguments(&events);
        numbers.dedup();
        assert_eq!(numbers.len(), events.len());
        assert!(numbers.is_sorted());
        // Whoever goes on with it misses nothing more.
        flight.log(100);
        let events = flight.land(&["--plain"]);
        assert_eq!(events.len() as u64 + missed, flight.logged as u64);
        assert_eq!(flight.missed(), missed);
    }
}

#[test]
fn a_recorder_that_ends_on_a_full_disk_says_what_is_lost() {
    let words = tempfile::tempdir().unwrap();
    for (disk, mut flight) in Disk::all("end", 1 << 14, "flight.tla") {
        let recorder = disk.start(&flight, words.path());
        flight.log(3_000);
        recorder.until_it_says("cannot write");
        flight.log(1_000);
        let (status, said) = recorder.stop(Signal::SIGINT);
        assert_eq!(status.code(), Some(1), "{said}");
        let held = whole(&flight);
        let thousands = |n: usize| match n {
            0..1_000 => n.to_string(),
            _ => format!("{},{:03}", n / 1_000, n % 1_000),
        };
        let (events, missed) = (thousands(held), thousands(4_000 - held));
        assert!(
            said.contains(&format!("recorded {events} events")),
            "{said}"
        );
        assert!(said.contains(&format!("{missed} missed")), "{said}");
        // The ring still has them.
        if let Disk::Small(_) = disk {
            fs::remove_file(words.path().join("said")).unwrap();
            let recorder = disk.start(&flight, words.path());
            disk.make_room(&recorder);
            flight.until_recorded();
            assert!(recorder.stop(Signal::SIGINT).0.success());
        }
        assert_eq!(
            first_arguments(&flight.land(&["--plain"])),
            flight.expected()
        );
        assert_eq!(flight.missed(), 0);
    }
}
