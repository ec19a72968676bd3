//! What a recorder shows on a terminal.

use std::process::{Command, Stdio};

use crate::flight::Flight;

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
