//! A wall clock that is set while a program logs: its times, and what `info` says of that.
//! And one event has one time, wherever it is read.
//!
//! Each test has shared memory of its own: others look at all timelines, by the true clock.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use timeline::{Priority, Timeline};

use crate::command::{Ran, command};
use crate::lifecycle::space::mount_small;
use crate::support::toolchain::{cc, root, succeed};
use crate::support::{Name, Process, say};

const SECOND: i64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// The library that is preloaded.
static SHIM: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("stepped.so");
    let mut compiler = cc();
    compiler.args(["-shared", "-fPIC", "-O2", "-o"]);
    compiler
        .arg(&library)
        .arg(root().join("tests/c/stepped_clock.c"));
    succeed(&mut compiler, "gcc");
    (folder, library)
});

/// A wall clock that is set, and a folder for what is saved.
struct Wall {
    folder: tempfile::TempDir,
    file: File,
    environment: [(&'static str, String); 2],
}

impl Wall {
    fn new() -> Wall {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clock");
        fs::write(&path, [0; 4096]).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        Wall {
            file: OpenOptions::new().write(true).open(&path).unwrap(),
            environment: [
                ("LD_PRELOAD", text(&SHIM.1)),
                ("STEPPED_CLOCK", text(&path)),
            ],
            folder,
        }
    }

    /// Sets it ahead of the true one.
    fn set(&self, ahead: i64) {
        self.file.write_all_at(&ahead.to_le_bytes(), 0).unwrap();
    }

    fn start(&self, name: &Name, entries: &str) -> Process {
        let environment = self
            .environment
            .each_ref()
            .map(|(key, value)| (*key, value.as_str()));
        let mut process = Process::start_with(logs_the_time, &[name.path(), entries], &environment);
        assert_eq!(process.line(), "ready");
        process
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// The command, by this clock.
    fn run(&self, args: &[&str]) -> Ran {
        let mut command = command(args);
        let environment = self.environment.iter();
        let ran = Ran::new(
            command
                .envs(environment.map(|(k, v)| (k, v)))
                .output()
                .unwrap(),
        );
        assert_eq!(ran.code, Some(0), "timeline {args:?}: {ran:?}");
        ran
    }

    /// The ring itself, a snapshot of it, and archives of that.
    fn living(&self, name: &Name) -> Vec<String> {
        let files = ["saved.timeline", "saved.tla", "saved-plain.tla"];
        let [saved, blocks, plain] = files.map(|file| self.file(file));
        let _ = [&blocks, &plain].map(fs::remove_file);
        self.run(&["save", name.path(), &saved]);
        self.run(&["record", &saved, "-o", &blocks]);
        self.run(&["record", &saved, "--plain", "-o", &plain]);
        vec![name.path().to_owned(), saved, blocks, plain]
    }

    /// The same of a program that has ended, and archives of the ring.
    fn ended(&self, name: &Name) -> Vec<String> {
        let [blocks, plain] = ["ring.tla", "ring-plain.tla"].map(|file| self.file(file));
        self.run(&["record", name.path(), "--once", "-o", &blocks]);
        self.run(&["record", name.path(), "--once", "--plain", "-o", &plain]);
        [self.living(name), vec![blocks, plain]].concat()
    }

    /// A recorder that ends with the program.
    fn record(&self, name: &Name, archive: &str) -> Child {
        let mut command = command(&["record", name.path(), "--once", "-o", archive]);
        let environment = self.environment.iter();
        command.envs(environment.map(|(k, v)| (k, v)));
        command.stderr(Stdio::null()).spawn().unwrap()
    }
}

/// Logs the time that the wall clock shows, for as many milliseconds as it is told, and at least
/// ten times as often.
pub fn logs_the_time(given: &[String]) {
    let entries = given[1].parse().expect("a number");
    let timeline = Timeline::with_size(&given[0], entries, 4096).expect("created");
    let event = timeline.define("clock", Priority::Info, "it is $unix");
    let event = event.expect("defined");
    let late = timeline.define("clock", Priority::Info, "it was interrupted");
    let late = late.expect("defined");
    say("ready");
    loop {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).expect("a word");
        let Ok(milliseconds) = line.trim().parse() else {
            return;
        };
        let begin = Instant::now();
        let (mut next, mut count) = (Duration::ZERO, 0);
        while begin.elapsed() < Duration::from_millis(milliseconds) || count < milliseconds * 10 {
            if begin.elapsed() >= next {
                count += 1;
                let (since, now) = (Instant::now(), SystemTime::now());
                let now = now.duration_since(UNIX_EPOCH).expect("after 1970");
                timeline.log(event, [now.as_nanos() as i64]);
                if since.elapsed() > Duration::from_micros(200) {
                    timeline.log(late, []);
                }
                // What it could not log in time it does not log at once.
                next = begin.elapsed() + Duration::from_micros(50);
            }
        }
        say("logged");
    }
}

fn log(process: &mut Process, milliseconds: u64) {
    process.write(&milliseconds.to_string());
    assert_eq!(process.line(), "logged");
}

/// Of each event, oldest first: ticks, time, and the time that it says, unless its program was
/// interrupted there.
fn events(wall: &Wall, path: &str) -> Vec<(u64, u64, u64)> {
    let mut events = wall.run(&["dump", "--json", path]).json();
    events.reverse();
    let number = |value: &Value| value.as_u64().unwrap();
    let all = events
        .iter()
        .zip(events.iter().skip(1).map(Some).chain([None]));
    let is_sure = |next: Option<&Value>| next.is_none_or(|next| !next["args"]["unix"].is_null());
    let sure = all.filter(|(event, next)| !event["args"]["unix"].is_null() && is_sure(*next));
    let events = sure.map(|(event, _)| {
        let nanos = |value: &Value| crate::json::nanos(value).unwrap();
        (
            number(&event["ticks"]),
            nanos(&event["unix_ns"]),
            nanos(&event["args"]["unix"]),
        )
    });
    events.collect()
}

/// The steps that `info` tells.
fn steps(wall: &Wall, path: &str) -> Vec<Value> {
    let info = wall.run(&["info", "--json", path]).json().remove(0);
    let place = match info["programs"].as_array() {
        Some(programs) => &programs[0],
        None => &info,
    };
    place["clock_steps"].as_array().expect("steps").clone()
}

#[test]
fn each_event_has_the_time_of_its_own_side_of_a_step() {
    Process::start(
        checks_that_each_event_has_the_time_of_its_own_side_of_a_step,
        &[],
    )
    .finish();
}

pub fn checks_that_each_event_has_the_time_of_its_own_side_of_a_step(_: &[String]) {
    if !mount_small("/dev/shm", 1 << 30) {
        return println!("no file system can be mounted here: nothing is tested");
    }
    for aheads in [
        &[3_600 * SECOND][..],
        &[-3_600 * SECOND],
        &[5_000_000, -300 * SECOND, 40 * SECOND],
    ] {
        let (name, wall) = (Name::new("stepped"), Wall::new());
        let mut logs = wall.start(&name, "16384");
        log(&mut logs, 60);
        let mut sizes = Vec::new();
        for pair in [&[0], aheads].concat().windows(2) {
            wall.set(pair[1]);
            sizes.push(pair[1] - pair[0]);
            log(&mut logs, 60);
        }
        logs.tell();
        logs.finish();
        for path in wall.ended(&name) {
            let steps = steps(&wall, &path);
            let found: Vec<i64> = steps
                .iter()
                .map(|step| step["by_ns"].as_i64().unwrap())
                .collect();
            assert_eq!(found.len(), sizes.len(), "{path}: {found:?}");
            for (found, size) in found.iter().zip(&sizes) {
                assert!(
                    found.abs_diff(*size) < MILLISECOND,
                    "{path}: {found} {size}"
                );
            }
            let unsure = |ticks: u64| {
                let number = |step: &Value, name: &str| step[name].as_u64().unwrap();
                steps.iter().any(|step| {
                    (number(step, "after_ticks")..number(step, "ticks")).contains(&ticks)
                })
            };
            let events = events(&wall, &path);
            assert!(events.len() > 500, "{}", events.len());
            let (doubtful, sure): (Vec<_>, Vec<_>) =
                events.iter().partition(|(ticks, ..)| unsure(*ticks));
            for (ticks, time, said) in sure {
                assert!(
                    time.abs_diff(said) < MILLISECOND,
                    "{path}: {ticks}: {time} {said} {steps:?}"
                );
            }
            // Between two looks at the clock there is little more than a chunk.
            assert!(doubtful.len() < 500 * sizes.len(), "{}", doubtful.len());
        }
        let told = wall.run(&["info", name.path()]).stdout;
        assert!(told.contains("clock set"), "{told}");
    }
}

/// A program that never fills a chunk, and the clock is set in between.
#[test]
fn a_step_that_nobody_saw_is_told_when_somebody_looks() {
    Process::start(
        checks_that_a_step_that_nobody_saw_is_told_when_somebody_looks,
        &[],
    )
    .finish();
}

pub fn checks_that_a_step_that_nobody_saw_is_told_when_somebody_looks(_: &[String]) {
    if !mount_small("/dev/shm", 1 << 30) {
        return println!("no file system can be mounted here: nothing is tested");
    }
    let (name, wall) = (Name::new("unseen"), Wall::new());
    let mut logs = wall.start(&name, "1048576");
    log(&mut logs, 20);
    wall.set(3_600 * SECOND);
    log(&mut logs, 5);
    for path in wall.living(&name) {
        let steps = steps(&wall, &path);
        assert_eq!(steps.len(), 1, "{path}: {steps:?}");
        let events = events(&wall, &path);
        assert!(events.is_sorted_by_key(|(_, time, _)| *time), "{path}");
    }
    logs.tell();
    logs.finish();
}

#[test]
fn many_looks_at_a_restless_clock_leave_what_entries_need() {
    Process::start(
        checks_that_many_looks_at_a_restless_clock_leave_what_entries_need,
        &[],
    )
    .finish();
}

pub fn checks_that_many_looks_at_a_restless_clock_leave_what_entries_need(_: &[String]) {
    if !mount_small("/dev/shm", 1 << 30) {
        return println!("no file system can be mounted here: nothing is tested");
    }
    let (name, wall) = (Name::new("restless"), Wall::new());
    // It has room for 256 stretches.
    let mut logs = wall.start(&name, "16384");
    log(&mut logs, 20);
    wall.set(SECOND);
    log(&mut logs, 20);
    wall.run(&["info", name.path()]);
    let first = events(&wall, name.path());
    for round in 0..300 {
        wall.set(SECOND + round % 2 * 100_000);
        log(&mut logs, 1);
        wall.run(&["info", name.path()]);
    }
    assert_eq!(events(&wall, name.path())[..first.len()], first);
    let steps = steps(&wall, name.path());
    assert_eq!(steps.len(), 1, "{steps:?}");
    logs.tell();
    logs.finish();
}

#[test]
fn one_event_has_one_time() {
    Process::start(checks_that_one_event_has_one_time, &[]).finish();
}

pub fn checks_that_one_event_has_one_time(_: &[String]) {
    if !mount_small("/dev/shm", 1 << 30) {
        return println!("no file system can be mounted here: nothing is tested");
    }
    // Of a ring that is refilled all the time, and of one that never is.
    for entries in ["16384", "1048576"] {
        let (name, wall) = (Name::new("one"), Wall::new());
        let mut logs = wall.start(&name, entries);
        let live = wall.file("live.tla");
        let mut recorder = wall.record(&name, &live);
        log(&mut logs, 30);
        // The clock is looked at by others in between, and is slewed and set.
        let early = events(&wall, name.path());
        wall.set(300_000);
        log(&mut logs, 200);
        let first = wall.living(&name);
        let seen: Vec<_> = first.iter().map(|path| events(&wall, path)).collect();
        wall.set(-2 * SECOND);
        log(&mut logs, 200);
        logs.tell();
        logs.finish();
        assert!(recorder.wait().unwrap().success());
        let paths = wall.ended(&name);
        let right = events(&wall, name.path());
        assert_eq!(right[..early.len()], early);
        for (path, found) in first.iter().zip(&seen) {
            assert_eq!(*found, right[..found.len()], "{path}");
        }
        for path in &paths {
            assert_eq!(events(&wall, path), right, "{path}");
        }
        assert_eq!(events(&wall, &live), right, "a recorder that went along");
        same_in_all_words(&wall, &paths);
    }
}

/// The events of these have the same times in each kind of JSON.
fn same_in_all_words(wall: &Wall, paths: &[String]) {
    let times = |args: &[&str]| {
        let found = wall.run(args).json();
        let mut times: Vec<_> = found.iter().map(|it| it["time"].to_string()).collect();
        times.sort();
        times
    };
    let right = times(&["dump", "--json", &paths[0]]);
    for path in paths {
        assert_eq!(times(&["dump", "--json", path]), right, "{path}");
        assert_eq!(times(&["search", "--json", path, "it "]), right, "{path}");
        let exported = times(&["export", "--format", "jsonl", path]);
        assert_eq!(exported, right, "{path}");
    }
}
