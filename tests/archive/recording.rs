//! Recording a live ring: nothing twice, nothing left out, whatever happens to the recorder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use timeline::archive::{Archive, Recorded};
use timeline::{EventId, Order, Priority, Timeline};

/// Far longer than anything takes: only a hang comes here.
const DEADLINE: Duration = Duration::from_secs(60);

/// A ring, and a file to record it to.
struct Flight {
    name: String,
    timeline: Option<Timeline>,
    event: EventId,
    logged: i64,
    folder: TempDir,
}

impl Flight {
    fn new(purpose: &str, entries: u64) -> Flight {
        let name = format!("/timeline-test-archive-{purpose}-{}", std::process::id());
        let timeline = Timeline::with_size(&name, entries, 4096).unwrap();
        let event = timeline
            .define("test", Priority::Info, "number $n of $all")
            .unwrap();
        Flight {
            name,
            timeline: Some(timeline),
            event,
            logged: 0,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn log(&mut self, count: i64) {
        let timeline = self.timeline.as_ref().expect("still there");
        for n in self.logged..self.logged + count {
            timeline.log(self.event, [n, -1]);
        }
        self.logged += count;
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("flight.tla")
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        command
            .args(["record", &self.name, "-o"])
            .arg(self.file())
            .args(more);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self, more: &[&str]) -> Child {
        self.command(more).spawn().unwrap()
    }

    /// The program ends, and so does a recorder that has read everything.
    fn land(&mut self, more: &[&str]) -> Vec<Recorded> {
        self.timeline = None;
        let output = self.command(&[more, &["--once"]].concat()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        self.events()
    }

    fn events(&self) -> Vec<Recorded> {
        let archive = Archive::open(self.file()).unwrap();
        assert_eq!(archive.damage(), []);
        archive.by_time(Order::OldestFirst).collect()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.timeline = None;
        // Reported by the test if it matters.
        let _ = timeline::unlink(&self.name);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

fn stop(child: Child, signal: Signal) -> Output {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
    child.wait_with_output().unwrap()
}

fn first_arguments(events: &[Recorded]) -> Vec<i64> {
    events.iter().map(|event| event.args[0]).collect()
}

/// Recorders are killed, 25 times for each form, and the next one goes on.
fn killed_again_and_again(form: &[&str], most: u64) {
    let mut flight = Flight::new(&format!("kill{}", form.len()), 1 << 20);
    let mut random = std::process::id() | 1;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        u64::from(random)
    };
    for round in 0..25 {
        let before = size(&flight.file());
        let recorder = flight.start(form);
        for _ in 0..next() % 20 {
            flight.log((next() % (most / 20)) as i64);
        }
        if round % 2 == 0 {
            // Killed while it writes, or just after; otherwise at whatever it was doing.
            flight.log(most as i64 / 2);
            eventually("the file to grow", || size(&flight.file()) > before);
        }
        let killed = stop(recorder, Signal::SIGKILL);
        assert_eq!(killed.status.code(), None, "{}", said(&killed));
        let archive = Archive::from_bytes(fs::read(flight.file()).unwrap_or_default());
        let tail = archive
            .damage()
            .iter()
            .all(|d| d.end == archive.bytes().len());
        assert!(tail, "only the tail is damaged by a kill");
    }
    let expected: Vec<i64> = (0..flight.logged).collect();
    let events = flight.land(form);
    assert!(first_arguments(&events) == expected, "repeats or holes");
    assert_eq!(Archive::open(flight.file()).unwrap().missed(), 0);
}

#[test]
fn plain_recorders_killed_at_any_moment_repeat_nothing_and_leave_nothing_out() {
    killed_again_and_again(&["--plain"], 4_000);
}

#[test]
fn recorders_of_blocks_killed_at_any_moment_repeat_nothing_and_leave_nothing_out() {
    killed_again_and_again(&[], 30_000);
}

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
        let output = stop(recorder, Signal::SIGINT);
        assert!(output.status.success(), "{}", said(&output));
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
    assert!(stop(recorder, Signal::SIGTERM).status.success());

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
