//! `timeline import --follow`: lines that programs append, and logs that are rotated.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use nix::sys::signal::Signal;

use serde_json::{Value, json};

use super::{Logs, export};
use crate::command::*;
use crate::serve::http::{Served, Stream};
use crate::support::Name;
use crate::support::toolchain::limited;

fn append(path: &str, text: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text).unwrap();
}

/// Waits until the archive has these lines.
fn has(archive: &str, expected: &[u8]) {
    eventually("the lines", || {
        is_begun(archive) && export(archive) == expected
    });
}

/// Whether there is something to read: a file that was just made is no archive yet.
fn is_begun(archive: &str) -> bool {
    fs::metadata(archive).is_ok_and(|file| file.len() > 0)
}

#[test]
fn lines_come_as_they_are_appended_and_logs_may_be_rotated() {
    let logs = Logs::new();
    let (log, other) = (logs.write("a.log", "one\ntw"), logs.write("b.log", ""));
    let archive = logs.path("a.tla");
    let running = Running::start(&["import", &log, &other, "-o", &archive, "--follow"]);
    // A line without an end waits for it.
    has(&archive, b"one\n");
    append(&log, b"o\n");
    has(&archive, b"one\ntwo\n");
    append(&other, b"other\n");
    has(&archive, b"one\ntwo\nother\n");
    // The old file may get lines until the new one is there.
    let old = logs.path("a.log.1");
    fs::rename(&log, &old).unwrap();
    append(&old, b"last of the old");
    fs::write(&log, b"first of the new\n").unwrap();
    let mut all = b"one\ntwo\nother\nlast of the oldfirst of the new\n".to_vec();
    has(&archive, &all);
    // A file that is cut begins again.
    fs::write(&log, b"short\n").unwrap();
    all.extend(b"short\n");
    has(&archive, &all);
    let line = |number: usize| format!("2026-11-23 14:03:07 number {number}\n");
    let many: String = (0..5000).map(line).collect();
    append(&log, many.as_bytes());
    append(&log, b"no end");
    // What was appended before the signal is taken.
    running.signal(Signal::SIGINT);
    let (_, told) = running.succeed();
    all.extend(many.bytes().chain(*b"no end"));
    assert!(export(&archive) == all);
    assert!(told[0].contains("imported 5,007 lines"), "{told:?}");
    succeed(&["verify", &archive]);
}

#[test]
fn all_that_follow_an_archive_see_it_grow_until_its_import_ends() {
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let logs = Logs::new();
        let step = |edge: &str, second: u32| {
            let time = format!("2026-11-23T14:03:{second:02}Z");
            let step = format!("{edge} step");
            let line = json!({"time": time, "message": step, "format": step, "properties": {}});
            format!("{line}\n")
        };
        let log = logs.write("a.log", step("begin", 1) + &step("end", 2));
        let archive = logs.path("a.tla");
        let import = Running::start(&["import", &log, "-o", &archive, "--follow"]);
        eventually("two lines", || {
            is_begun(&archive) && export(&archive).len() as u64 == fs::metadata(&log).unwrap().len()
        });
        let recorded = || succeed(&["info", "--json", &archive]).json()[0]["recorded"].clone();
        assert_eq!(recorded(), true);
        let mut tail = Running::start(&["tail", &archive, "-n", "1"]);
        tail.stdout_until("the newest", |lines| lines.len() == 1);
        let spans = logs.path("spans.hlog");
        let histogram = Running::start(&["histogram", &archive, "--follow", "-o", &spans]);
        eventually("the histogram to begin", || Path::new(&spans).exists());
        let index = Running::start(&["index", &archive, "--follow", "--json"]);
        let served = Served::begin(&[logs.0.path().to_str().unwrap()]);
        let mut stream = Stream::begin(&served, "/api/logs/a.tla/follow");
        stream.until(|name, data| name == "grown" && data["lines"] == 2);
        for (edge, second, lines) in [("begin", 3, 3_u64), ("end", 5, 4)] {
            append(&log, step(edge, second).as_bytes());
            tail.stdout_until("what comes", |shown| shown.len() as u64 == lines - 1);
            let data = stream.until(|name, data| name == "grown" && data["lines"] == lines);
            assert_eq!(data["growing"], true);
        }
        // Two recorders would write into one another.
        let name = Name::new("import-recorded");
        let tl = name.create(256);
        tl.log(Events::define(&tl).warn, [1]);
        let message = fail(&["record", name.path(), "-o", &archive, "--once"]);
        assert!(message.contains("is being written"), "{message}");

        import.signal(signal);
        import.finish();
        stream.until(|name, data| name == "end" && data["lines"] == 4);
        let (_, told) = tail.succeed();
        assert_eq!(told, ["timeline: 3 events shown, 0 entries missed"]);
        histogram.succeed();
        assert!(fs::read_to_string(&spans).unwrap().contains("_.step"));
        let (indexed, _) = index.succeed();
        let indexed: Value = serde_json::from_str(&indexed[0]).unwrap();
        assert_eq!(indexed["lines"], 4);
        assert_eq!(recorded(), false);
    }
}

#[test]
fn a_follower_that_is_killed_leaves_whole_frames() {
    let logs = Logs::new();
    let (log, archive) = (logs.write("a.log", "one\n"), logs.path("a.tla"));
    let running = Running::start(&["import", &log, "-o", &archive, "-f"]);
    has(&archive, b"one\n");
    running.signal(Signal::SIGKILL);
    drop(running);
    succeed(&["verify", &archive]);
    assert_eq!(export(&archive), b"one\n");
}

#[test]
fn an_archive_that_may_not_grow_ends_with_a_whole_frame() {
    let logs = Logs::new();
    // Numbers that no difference makes smaller.
    let line = |number: u64| {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{:x}\n", (mixed ^ mixed >> 29).wrapping_mul(mixed | 1))
    };
    let lines: String = (0..100_000).map(line).collect();
    let archive = logs.path("a.tla");
    let mut kept = Vec::new();
    // The limit is in a frame: all lines are more than one, and each block is larger.
    for (limit, follow) in [(100 << 10, true), (700 << 10, true), (100 << 10, false)] {
        let log = logs.write("a.log", &lines);
        let mut command = limited("prlimit");
        command.arg(format!("--fsize={limit}"));
        command.args([
            env!("CARGO_BIN_EXE_timeline"),
            "import",
            &log,
            "-o",
            &archive,
        ]);
        let output = command.args(follow.then_some("--follow")).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            told.contains("cannot write") && told.contains("File too large"),
            "{told}"
        );
        assert_eq!(Path::new(&archive).exists(), follow);
        if follow {
            let size = fs::metadata(&archive).unwrap().len();
            assert!(size < limit, "{size}");
            let verified = run(&["verify", &archive]);
            assert_eq!(verified.code, Some(0), "{verified:?}");
            let back = export(&archive);
            assert!(lines.as_bytes().starts_with(&back));
            kept.push(back.len());
            fs::remove_file(&archive).unwrap();
        }
    }
    assert!(kept[0] < kept[1], "{kept:?}");
}

#[test]
fn a_signal_ends_an_import_that_has_much_to_read_and_what_it_has_is_there_before() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
        let logs = Logs::new();
        let line = |number: usize| format!("2026-11-23 14:03:07 number {number}\n");
        let log = logs.write("a.log", (0..5000).map(line).collect::<String>());
        let other = logs.write("b.log", "other\n");
        // More than anybody reads while this runs, and no byte of it is on the disk.
        let file = OpenOptions::new().append(true).open(&log).unwrap();
        file.set_len(64 << 30).unwrap();
        let archive = logs.path("a.tla");
        let import = ["import", &log, &other, "-o", &archive, "--follow"];
        let running = Running::start(&import);
        let events = |options: &[&str]| {
            let read = run(&[&["dump", &archive, "--json", "-n", "1"], options].concat());
            read.stdout.lines().count()
        };
        // Other logs have their turn.
        eventually("lines in the archive", || {
            is_begun(&archive) && events(&["--thread", "b.log"]) == 1
        });
        running.signal(signal);
        if signal != Signal::SIGKILL {
            let (_, told) = running.succeed();
            assert!(told[0].contains("a.log are not imported"), "{told:?}");
            succeed(&["verify", &archive]);
        } else {
            running.finish();
        }
        assert_eq!(events(&["--grep", "number 4999"]), 1);
    }
}

#[test]
fn what_does_not_grow_is_not_followed() {
    let logs = Logs::new();
    let (packed, archive) = (logs.write("a.gz", [0x1f, 0x8b, 8, 0]), logs.path("a.tla"));
    for (input, expected) in [
        (packed.as_str(), "is compressed"),
        ("/dev/null", "no regular file"),
    ] {
        let message = fail(&["import", input, "-o", &archive, "--follow"]);
        assert!(message.contains(expected), "{message}");
        assert!(!Path::new(&archive).exists());
    }
}
