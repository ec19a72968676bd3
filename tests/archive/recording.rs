//! Recording a live ring: nothing twice, nothing left out, whatever happens to the recorder.

use std::fs;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use timeline::archive::Archive;
use timeline::{Order, Priority};

use crate::flight::{Flight, eventually, first_arguments, said, size};

#[test]
fn a_file_cut_anywhere_is_continued() {
    for form in [&["--plain"][..], &[]] {
        let mut flight = Flight::new(&format!("cut{}", form.len()), 1024);
        flight.log(40);
        flight.land(form);
        let whole = fs::read(flight.file()).unwrap();
        let expected: Vec<i64> = (0..40).collect();
        for cut in (0..whole.len()).step_by(1 + whole.len() / 64) {
            fs::write(flight.file(), &whole[..cut]).unwrap();
            assert_eq!(
                first_arguments(&flight.land(form)),
                expected,
                "cut at {cut}"
            );
            let archive = Archive::open(flight.file()).unwrap();
            assert_eq!(archive.missed(), 0, "cut at {cut}");
        }
    }
}

#[test]
fn what_was_overwritten_is_counted_and_recorded() {
    for form in [&["--plain"][..], &[]] {
        let mut flight = Flight::new(&format!("missed{}", form.len()), 1024);
        flight.log(100);
        let recorder = flight.start(form);
        eventually("the file to begin", || size(&flight.file()) > 0);
        let (status, said) = recorder.stop(Signal::SIGINT);
        assert!(status.success(), "{said}");
        assert_eq!(
            first_arguments(&flight.events()),
            (0..100).collect::<Vec<_>>()
        );
        flight.log(5_000);
        let events = flight.land(form);
        let archive = Archive::open(flight.file()).unwrap();
        assert!(archive.missed() > 3_000, "{}", archive.missed());
        assert_eq!(archive.missed() + events.len() as u64, 5_100);
        let mut all = first_arguments(&events);
        all.dedup();
        assert_eq!(all.len(), events.len());
        assert_eq!(all.last(), Some(&5_099));
    }
}

#[test]
fn a_recorded_event_says_what_the_ring_said() {
    let mut flight = Flight::new("says", 1024);
    flight.log(3);
    let timeline = flight.timeline.as_ref().unwrap();
    let attached = timeline::Attached::open(&flight.name).unwrap();
    let live: Vec<_> = attached.events(Order::OldestFirst).collect();
    let thread = attached.thread(&live[1]).expect("this thread");
    assert_eq!(
        live[1].id,
        timeline
            .define("test", Priority::Info, "number $n of $all")
            .unwrap()
    );
    let events = flight.land(&[]);
    let (event, live) = (&events[1], &live[1]);
    assert_eq!(
        event.statement.message.as_deref(),
        Some("number $n of $all")
    );
    assert_eq!(event.statement.category.as_deref(), Some("test"));
    assert_eq!(event.statement.priority, Some(Priority::Info));
    assert_eq!(event.author.thread.as_deref(), Some(thread.name.as_str()));
    assert_eq!(
        event.author.process.as_deref(),
        Some(thread.process.as_str())
    );
    assert_eq!(event.author.pid, Some(std::process::id().into()));
    assert_eq!(event.author.tid, Some(live.tid.into()));
    assert_eq!((event.ticks, &event.args), (Some(live.ticks), &vec![1, -1]));
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let age = now.as_nanos() as u64 - event.unix_nanos.expect("a time");
    assert!(age < 60_000_000_000, "{age} ns ago");
    let archive = Archive::open(flight.file()).unwrap();
    let preamble = &archive.preambles()[0];
    let exe = std::env::current_exe().unwrap();
    assert_eq!(preamble.path.as_deref(), exe.to_str());
    assert_eq!(preamble.size, Some(fs::metadata(&exe).unwrap().len()));
    assert_eq!(preamble.pid, Some(std::process::id().into()));
}

#[test]
fn other_files_and_a_second_recorder_are_refused() {
    let mut flight = Flight::new("refused", 1024);
    flight.log(1);
    let recorder = flight.start(&[]);
    eventually("the file to begin", || size(&flight.file()) > 0);
    let output = flight.command(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("another recorder"),
        "{}",
        said(&output)
    );
    assert!(recorder.stop(Signal::SIGTERM).0.success());

    let mut other = Flight::new("refused-other", 1024);
    other.log(1);
    let before = other.land(&[]);
    for content in [fs::read(other.file()).unwrap(), b"my diary".to_vec()] {
        fs::write(flight.file(), &content).unwrap();
        let output = flight.command(&[]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(
            said(&output).contains("choose another file"),
            "{}",
            said(&output)
        );
        assert_eq!(fs::read(flight.file()).unwrap(), content);
    }
    assert_eq!(before.len(), 1);
}

#[test]
fn verify_tells_and_repair_leaves_out_what_is_damaged() {
    let mut flight = Flight::new("verify", 1024);
    flight.log(200);
    flight.land(&["--plain"]);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        command
            .args(args)
            .current_dir(flight.folder.path())
            .output()
            .unwrap()
    };
    let json =
        |output: &Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).unwrap() };
    let whole = run(&["verify", "flight.tla", "--json"]);
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    assert_eq!(json(&whole)["events"], 200);

    let mut bytes = fs::read(flight.file()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(flight.file(), &bytes).unwrap();
    let damaged = run(&["verify", "flight.tla", "--json"]);
    assert_eq!(damaged.status.code(), Some(1));
    assert!(said(&damaged).contains("is damaged"), "{}", said(&damaged));
    assert_eq!(json(&damaged)["events"], 199);
    let range = json(&damaged)["damage"][0].clone();
    let (start, end) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
    assert!((start..end).contains(&(middle as u64)));

    let repaired = run(&["repair", "flight.tla", "-o", "whole.tla"]);
    assert!(repaired.status.success(), "{}", said(&repaired));
    let again = run(&["verify", "whole.tla"]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    let text = String::from_utf8(again.stdout).unwrap();
    assert!(text.contains("199 recoverable"), "{text}");
    // Nothing is overwritten.
    assert_eq!(
        run(&["repair", "flight.tla", "-o", "whole.tla"])
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn what_can_be_nothing_to_record_or_to_record_to_is_said_at_once() {
    let mut flight = Flight::new("neither", 1024);
    flight.log(1);
    let record = |name: &str, output: &std::path::Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let output = command
            .args(["record", name, "--once", "-o"])
            .arg(output)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
        said(&output)
    };
    let folder = flight.folder.path().to_path_buf();
    let diary = folder.join("diary");
    fs::write(&diary, "my diary").unwrap();
    // No timeline: no file is begun either.
    assert!(record(diary.to_str().unwrap(), &flight.file()).contains("is not a timeline"));
    assert!(!flight.file().exists());
    let fifo = folder.join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for neither in [&fifo, &"/dev/null".into()] {
        assert!(record(&flight.name, neither).contains("this is neither"));
    }
    // Through a link, what it leads to stays as it was.
    let link = folder.join("link");
    std::os::unix::fs::symlink("diary", &link).unwrap();
    assert!(record(&flight.name, &link).contains("choose another file"));
    assert_eq!(fs::read(&diary).unwrap(), b"my diary");
    assert!(record(&flight.name, &folder.join("no/such.tla")).contains("No such file"));
}
