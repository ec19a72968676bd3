//! Tests how a recorder ends upon signals.
//! It ends in time, however full the ring and however slow the disk. It leaves whole frames, and
//! a count of the entries that it did not record.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use timeline_archive::Archive;

use crate::flight::{Flight, Running, eventually, first_arguments};

/// More than is read at once.
const LOGGED: i64 = 100_000;

/// What makes the disk of a recorder slow.
struct Slow {
    folder: tempfile::TempDir,
}

impl Slow {
    fn new() -> Slow {
        let folder = tempfile::tempdir().unwrap();
        let source = crate::support::root().join("tests/archive/slow.c");
        let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]);
        compiler.arg(folder.path().join("slow.so"));
        compiler.arg(source).arg("-ldl");
        assert!(compiler.status().unwrap().success());
        nix::unistd::mkfifo(&folder.path().join("gate"), Mode::S_IRWXU).unwrap();
        Slow { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A recorder that waits at its first write (`w`) or when it makes the file durable (`d`).
    fn start(&self, flight: &Flight, at: &str, write_seconds: &str) -> Running {
        let mut command = flight.command(&["--plain"]);
        command
            .env("LD_PRELOAD", self.file("slow.so"))
            .env("GATE", self.file("gate"))
            .env("GATE_NOTED", self.file("noted"))
            .env("GATE_AT", at)
            .env("WRITE_SECONDS", write_seconds);
        Running::new(command, flight.folder.path())
    }

    fn until_it_waits(&self) {
        eventually("it to wait", || self.file("noted").exists());
    }

    fn go_on(&self) {
        let mut options = File::options();
        options.write(true).open(self.file("gate")).unwrap();
    }
}

/// The number before these words.
fn number(said: &str, words: &str) -> u64 {
    let before = said
        .split(words)
        .next()
        .filter(|before| before.len() < said.len());
    let before = before.unwrap_or_else(|| panic!("no {words:?} in: {said}"));
    let number = before.rsplit([' ', '\n']).next().unwrap();
    number.replace(',', "").parse().unwrap()
}

/// The file is whole, holds what was said, and the next recorder finds the rest.
fn assert_the_rest_is_there(mut flight: Flight, said: &str) {
    let archive = Archive::open(flight.file()).unwrap();
    assert!(archive.damage().is_empty(), "{:?}", archive.damage());
    let recorded = number(said, " events of ");
    assert_eq!(archive.count(), recorded);
    let left = number(said, " entries left in the ring");
    assert_eq!(
        (recorded + left, number(said, " missed")),
        (LOGGED as u64, 0)
    );
    let mut numbers = first_arguments(&flight.land(&["--plain"]));
    // Those of two CPUs, as the thread moves, may stand in another order.
    numbers.sort_unstable();
    assert_eq!((numbers, flight.missed()), (flight.expected(), 0));
}

#[test]
fn a_signal_ends_a_recorder_in_time_and_it_says_what_it_leaves() {
    let slow = Slow::new();
    let mut flight = Flight::new("ending", 1 << 17);
    flight.log(LOGGED);
    let recorder = slow.start(&flight, "w", "10");
    slow.until_it_waits();
    recorder.signal(Signal::SIGINT);
    slow.go_on();
    let (status, said) = recorder.until_it_ends();
    assert!(status.success(), "{said}");
    assert_the_rest_is_there(flight, &said);
}

#[test]
fn a_second_signal_ends_a_recorder_at_once() {
    let slow = Slow::new();
    let mut flight = Flight::new("at-once", 1 << 17);
    flight.log(LOGGED);
    let recorder = slow.start(&flight, "w", "0");
    slow.until_it_waits();
    recorder.signal(Signal::SIGINT);
    recorder.signal(Signal::SIGTERM);
    slow.go_on();
    let (status, said) = recorder.until_it_ends();
    assert!(status.success(), "{said}");
    assert_the_rest_is_there(flight, &said);
}

#[test]
fn a_second_signal_does_not_wait_for_the_disk() {
    let slow = Slow::new();
    let mut flight = Flight::new("not-durable", 1 << 12);
    flight.log(1_000);
    let recorder = slow.start(&flight, "d", "0");
    flight.until_recorded();
    recorder.signal(Signal::SIGTERM);
    slow.until_it_waits();
    recorder.signal(Signal::SIGINT);
    let (status, said) = recorder.until_it_ends();
    assert_eq!(status.code(), Some(128 + Signal::SIGINT as i32), "{said}");
    let archive = Archive::open(flight.file()).unwrap();
    assert_eq!((archive.damage(), archive.count()), (&[][..], 1_000));
}

#[test]
fn a_writer_that_never_pauses_does_not_keep_a_recorder() {
    for form in [&["--plain"][..], &[]] {
        let mut flight = Flight::new(&format!("outrun{}", form.len()), 1 << 10);
        let recorder = flight.start(form);
        let file = flight.file();
        let over = AtomicBool::new(false);
        let (status, said) = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    flight.log(100);
                }
            });
            eventually("a few events", || {
                fs::metadata(&file).is_ok_and(|file| file.len() > 10_000)
            });
            recorder.signal(Signal::SIGINT);
            let ended = recorder.until_it_ends();
            over.store(true, Ordering::Relaxed);
            ended
        });
        assert!(status.success(), "{said}");
        let mut verify = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let verified = verify.arg("verify").arg(&file).output().unwrap();
        assert!(verified.status.success(), "{verified:?}");
        let archive = Archive::open(&file).unwrap();
        assert_eq!(archive.count(), number(&said, " events of "), "{said}");
        assert_eq!(archive.missed(), number(&said, " missed"), "{said}");
    }
}
