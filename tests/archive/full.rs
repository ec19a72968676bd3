//! Tests recording to a disk that is full for a time.
//! What is on the disk stays whole, the rest waits, and what cannot wait is counted.
//!
//! A limit on the size of files is like a full disk, and can be lifted, on every machine. Where
//! this process may mount, a small file system is filled as well.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use timeline_archive::Archive;

use crate::flight::{Flight, Running, eventually, first_arguments, said, size};

/// How a disk gets full.
enum Disk {
    /// No file gets larger than this.
    Limited,
    /// A file system of its own, mounted where the archive is to be.
    Small(Mounted),
}

struct Mounted(std::path::PathBuf);

impl Mounted {
    /// A file system of so many bytes, where this process may mount.
    fn on(folder: &Path, bytes: u64) -> Option<Mounted> {
        let mut mount = Command::new("mount");
        let size = format!("size={bytes},mode=0700");
        mount
            .args(["-t", "tmpfs", "-o", &size, "timeline-test"])
            .arg(folder);
        let done = mount.output().is_ok_and(|done| done.status.success());
        if !done {
            println!("no file system can be mounted here: less is tested");
        }
        done.then(|| Mounted(folder.to_path_buf()))
    }

    fn enlarge(&self) {
        let mut mount = Command::new("mount");
        mount.args(["-o", "remount,size=64m"]).arg(&self.0);
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

const LIMIT: u64 = 96 << 10;

impl Disk {
    /// All that this machine offers, for a flight each.
    fn all(purpose: &str, entries: u64, output: &'static str) -> Vec<(Disk, Flight)> {
        Disk::all_of(purpose, entries, output, LIMIT)
    }

    /// The same, with a file system of so many bytes.
    fn all_of(
        purpose: &str,
        entries: u64,
        output: &'static str,
        bytes: u64,
    ) -> Vec<(Disk, Flight)> {
        let mut all = vec![(
            Disk::Limited,
            Flight::not_there(&format!("{purpose}-limit"), entries, output),
        )];
        let flight = Flight::not_there(&format!("{purpose}-mount"), entries, output);
        let folder = flight.folder.path();
        if let Some(mounted) = Mounted::on(folder, bytes) {
            all.push((Disk::Small(mounted), flight));
        }
        for (_, flight) in &mut all {
            flight.restart();
        }
        all
    }

    /// A recorder on this disk, whose words go elsewhere.
    fn start(&self, flight: &Flight, form: &[&str], words: &Path) -> Running {
        match self {
            Disk::Limited => limited(flight, LIMIT, form, words),
            Disk::Small(_) => Running::new(flight.command(form), words),
        }
    }

    /// There is room again, for this recorder or for the next one.
    fn make_room(&self, recorder: Option<&Running>) {
        match (self, recorder) {
            (Disk::Small(mounted), _) => mounted.enlarge(),
            (Disk::Limited, Some(recorder)) => limit(recorder, "--fsize=unlimited"),
            (Disk::Limited, None) => {}
        }
    }
}

/// A recorder none of whose files gets larger than this.
fn limited(flight: &Flight, most: u64, form: &[&str], words: &Path) -> Running {
    let mut command = Command::new("prlimit");
    command.args([
        &format!("--fsize={most}:unlimited"),
        "--",
        env!("CARGO_BIN_EXE_timeline"),
    ]);
    Running::new(flight.command_of(command, form), words)
}

/// Another limit for a recorder.
fn limit(recorder: &Running, limit: &str) {
    let mut command = Command::new("prlimit");
    command.args([limit, "--pid", &recorder.pid().to_string()]);
    assert!(command.status().unwrap().success());
}

/// What a full archive holds: whole frames, and the first of the events.
fn whole(flight: &Flight) -> usize {
    let archive = Archive::open(flight.files()[0].clone()).unwrap();
    assert!(archive.damage().is_empty(), "{:?}", archive.damage());
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
            let recorder = disk.start(&flight, &["--plain"], words.path());
            flight.log(3_000);
            recorder.until_it_says("cannot write");
            let held = whole(&flight);
            assert!((300..3_000).contains(&held), "{held}");
            flight.log(3_000);
            disk.make_room(Some(&recorder));
            flight.until_recorded();
            flight.log(100);
            flight.until_recorded();
            let (status, said) = recorder.stop(Signal::SIGINT);
            assert!(status.success(), "{said}");
            assert_eq!(said.matches("cannot write").count(), 1, "{said}");
            assert_eq!(said.matches("recording continues").count(), 1, "{said}");
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
        let recorder = disk.start(&flight, &["--plain"], words.path());
        // What is overwritten before it begins does not count.
        eventually("the file to begin", || size(&flight.file()) > 0);
        while !recorder.said().contains("cannot write") {
            flight.log(100);
            std::thread::yield_now();
        }
        flight.log(50_000);
        disk.make_room(Some(&recorder));
        recorder.until_it_says("recording continues");
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
        let recorder = disk.start(&flight, &["--plain"], words.path());
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
            let recorder = disk.start(&flight, &["--plain"], words.path());
            disk.make_room(Some(&recorder));
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

#[test]
fn a_recorder_killed_on_a_full_disk_is_continued() {
    let words = tempfile::tempdir().unwrap();
    for (output, form) in [
        ("flight.tla", &["--plain"][..]),
        // What fills the small disk are whole files: the last one is begun, and has no room for its
        // preamble.
        ("flights/", &["--plain", "--rotate-size", "64K"]),
    ] {
        for (disk, mut flight) in Disk::all_of("killed", 1 << 14, output, 128 << 10) {
            if matches!(disk, Disk::Limited) && form.len() > 1 {
                continue;
            }
            let recorder = disk.start(&flight, form, words.path());
            flight.log(3_000);
            recorder.until_it_says("cannot write");
            flight.log(100);
            recorder.stop(Signal::SIGKILL);
            disk.make_room(None);
            assert_eq!(first_arguments(&flight.land(form)), flight.expected());
            assert_eq!(flight.missed(), 0);
        }
    }
}

#[test]
fn a_preamble_waits_for_room() {
    for (output, killed) in [
        ("flight.tla", false),
        ("flight.tla", true),
        ("flights/", false),
    ] {
        let mut flight = Flight::not_there("preamble", 1 << 12, output);
        flight.restart();
        flight.log(100);
        let words = tempfile::tempdir().unwrap();
        let recorder = limited(&flight, 64, &[], words.path());
        recorder.until_it_says("cannot write");
        assert!(flight.files().iter().all(|file| size(file) <= 64));
        flight.log(100);
        if killed {
            recorder.stop(Signal::SIGKILL);
        } else {
            limit(&recorder, "--fsize=unlimited");
            flight.until_recorded();
            let (status, said) = recorder.stop(Signal::SIGTERM);
            assert!(status.success(), "{said}");
            assert!(said.contains("recorded 200 events"), "{said}");
        }
        assert_eq!(first_arguments(&flight.land(&[])), flight.expected());
        assert_eq!(flight.missed(), 0);
    }
}

#[test]
fn a_file_that_cannot_be_begun_is_begun_later() {
    let form = ["--plain", "--rotate-size", "64K"];
    let mut flight = Flight::of_files("begin", 1 << 14);
    flight.log(10);
    let recorder = flight.start(&form);
    flight.until_recorded();
    // It has all the files open that it may have.
    limit(&recorder, "--nofile=3:");
    flight.log(1_000);
    recorder.until_it_says("cannot begin a file behind");
    flight.until_recorded();
    let [file] = &flight.files()[..] else {
        panic!("{:?}", flight.files());
    };
    let goes_on = Archive::open(file).unwrap();
    assert_eq!(goes_on.preambles().len(), 1, "as if nothing had been");
    limit(&recorder, "--nofile=256:");
    eventually("another file", || {
        flight.log(1);
        recorder.said().contains("recording continues")
    });
    flight.until_recorded();
    let (status, said) = recorder.stop(Signal::SIGTERM);
    assert!(status.success(), "{said}");
    assert!(flight.files().len() > 1);
    assert_eq!(first_arguments(&flight.land(&form)), flight.expected());
    assert_eq!(flight.missed(), 0);
}

#[test]
fn what_waits_to_be_compressed_is_written_before_the_next_run() {
    let mut flight = Flight::new("last-block", 1 << 12);
    let words = tempfile::tempdir().unwrap();
    let recorder = Running::new(flight.command(&[]), words.path());
    // What events refer to would be written at once.
    flight.log(10);
    flight.until_recorded();
    // Nothing is written any more, which it finds out by trying only.
    limit(
        &recorder,
        &format!("--fsize={}:unlimited", size(&flight.file())),
    );
    flight.log(100);
    flight.restart();
    flight.log(100);
    recorder.until_it_says("cannot write");
    limit(&recorder, "--fsize=unlimited");
    flight.until_recorded();
    let (status, said) = recorder.stop(Signal::SIGTERM);
    assert!(status.success(), "{said}");
    assert!(said.contains(" 0 missed"), "{said}");
    assert_eq!(first_arguments(&flight.events()), flight.expected());
}

#[test]
fn the_oldest_files_go_before_more_is_written() {
    let mut flight = Flight::not_there("keep-mount", 1 << 15, "flights/");
    let Some(_mounted) = Mounted::on(flight.folder.path(), 144 << 10) else {
        return;
    };
    flight.restart();
    flight.log(5_000);
    flight.timeline = None;
    // Two files and a page more for each, but not three.
    let form = ["--plain", "--rotate-size", "64K", "--keep-size", "128K"];
    let output = flight.command(&form).arg("--once").output().unwrap();
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("cannot"), "{said}");
    let events = first_arguments(&flight.events());
    let expected: Vec<i64> = (5_000 - events.len() as i64..5_000).collect();
    assert!(events.len() > 500 && events == expected, "{}", events.len());
}

#[test]
fn a_recorder_that_begins_where_it_may_not_write_waits() {
    for output in ["flight.tla", "flights/"] {
        let mut flight = Flight::not_there("read-only", 1 << 12, output);
        let Some(mounted) = Mounted::on(flight.folder.path(), 1 << 20) else {
            return;
        };
        flight.restart();
        flight.log(100);
        let remount = |option: &str| {
            let mut mount = Command::new("mount");
            mount
                .args(["-o", &format!("remount,{option}")])
                .arg(&mounted.0);
            assert!(mount.status().unwrap().success());
        };
        remount("ro");
        let words = tempfile::tempdir().unwrap();
        let recorder = Running::new(flight.command(&[]), words.path());
        recorder.until_it_says("trying again until it works");
        assert!(recorder.said().contains("Read-only file system"));
        remount("rw");
        flight.until_recorded();
        let (status, said) = recorder.stop(Signal::SIGINT);
        assert!(
            status.success() && said.contains("recording begins"),
            "{said}"
        );
        assert_eq!(said.matches("Read-only").count(), 1, "{said}");
        assert_eq!(first_arguments(&flight.events()), flight.expected());
        // A signal ends the wait.
        remount("ro");
        let recorder = Running::new(flight.command(&[]), words.path());
        recorder.until_it_says("trying again until it works");
        assert_eq!(recorder.stop(Signal::SIGTERM).0.code(), Some(1));
    }
}

#[test]
fn a_limit_that_nobody_lifts_ends_a_recorder_with_its_program() {
    let words = tempfile::tempdir().unwrap();
    for output in ["flight.tla", "flights/"] {
        let mut flight = Flight::not_there("once", 1 << 14, output);
        flight.restart();
        flight.log(3_000);
        flight.timeline = None;
        let recorder = limited(&flight, LIMIT, &["--plain", "--once"], words.path());
        let (status, said) = recorder.until_it_ends();
        assert_eq!(status.code(), Some(1), "{said}");
        let held = whole(&flight);
        assert!(said.contains("File too large"), "{said}");
        let missed = format!(
            "{},{:03} missed",
            (3_000 - held) / 1_000,
            (3_000 - held) % 1_000
        );
        assert!(said.contains(&missed), "{said}");
        // The ring still has the rest.
        assert_eq!(
            first_arguments(&flight.land(&["--plain"])),
            flight.expected()
        );
    }
}
