//! What a recorder shows on a terminal.

use std::fs;
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;

use crate::flight::{Flight, Running, eventually};

#[test]
fn a_terminal_shows_how_it_goes() {
    let mut flight = Flight::new("progress", 1 << 12);
    flight.log(1_024);
    flight.timeline = None;
    let line = format!(
        "{} record {} --once -o {}",
        env!("CARGO_BIN_EXE_timeline"),
        flight.name,
        flight.file().display()
    );
    // `script`, of util-linux, runs a command on a terminal of its own.
    let mut script = Command::new("script");
    let script = script
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null());
    let output = script.output().unwrap();
    assert!(output.status.success());
    let shown = String::from_utf8(output.stdout).unwrap();
    // Looked at before the first step: a quarter of the ring is still to be read.
    let (nothing, first) = shown.split_once("\r\x1b[K").unwrap();
    assert_eq!(nothing, "");
    assert!(first.starts_with("0 events, 0/s, "), "{shown:?}");
    let lag = " B, 25% of the ring unread, 0 missed\r\x1b[K";
    assert!(first.contains(lag), "{shown:?}");
    let (_, after) = shown.rsplit_once("\r\x1b[K").unwrap();
    assert!(after.contains("recorded 1,024 events"), "{shown:?}");
    // Elsewhere there is no such line.
    let output = flight.command(&["--once"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains('\r'));
}

#[test]
fn the_line_moves_with_what_happens() {
    let mut flight = Flight::new("progress-live", 1 << 10);
    flight.log(10);
    let recorder = flight.start(&[]);
    flight.until_recorded();
    assert!(recorder.stop(Signal::SIGINT).0.success());
    // More than the ring holds.
    flight.log(3_000);
    let line = format!(
        "{} record {} --once -o {}",
        env!("CARGO_BIN_EXE_timeline"),
        flight.name,
        flight.file().display()
    );
    let shown = flight.folder.path().join("shown");
    let mut script = Command::new("script");
    script.args(["-qefc", &line]).arg(&shown);
    let mut script = script
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let number = |part: &str| -> u64 {
        let digits = part.split(' ').next().unwrap().replace(',', "");
        digits.parse().unwrap_or(0)
    };
    eventually("a line with all of it", || {
        flight.log(10);
        let shown = fs::read_to_string(&shown).unwrap_or_default();
        // What stands behind the last one is not whole yet.
        let mut lines = shown.split("\r\x1b[K").skip(1);
        lines.any(|line| {
            let parts: Vec<_> = line.split(", ").collect();
            let [events, rate, bytes, lag, missed] = parts[..] else {
                return false;
            };
            events.ends_with(" events")
                && number(events) > 0
                && rate.ends_with("/s")
                && rate != "0/s"
                && bytes.ends_with('B')
                && bytes != "0 B"
                && lag.ends_with("% of the ring unread")
                && missed.ends_with(" missed")
                && number(missed) > 1_000
        })
    });
    flight.timeline = None;
    assert!(script.wait().unwrap().success());
}

#[test]
fn the_line_says_that_there_is_no_room() {
    let mut flight = Flight::new("progress-full", 1 << 12);
    flight.log(3_000);
    let line = format!(
        "prlimit --fsize=8192:unlimited -- {} record {} --plain --once -o {}",
        env!("CARGO_BIN_EXE_timeline"),
        flight.name,
        flight.file().display()
    );
    let shown = flight.folder.path().join("shown");
    let mut script = Command::new("script");
    script.args(["-qefc", &line]).arg(&shown);
    script.stdin(Stdio::null()).stdout(Stdio::null());
    let script = Running::new(script, flight.folder.path());
    eventually("a line that says so", || {
        let shown = fs::read_to_string(&shown).unwrap_or_default();
        // The line is shown anew behind the message about the file.
        let mut lines = shown.split("\r\x1b[K").skip(1);
        lines.any(|line| line.ends_with(" missed, no room to write"))
    });
    // Its terminal goes with `script`, which ends it.
    drop(script);
}
