//! Recording with filters: what is left out is neither recorded nor missed, wherever it stops.

mod losses;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output as Ran, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use timeline::{Attached, Attributes, Event, EventId, Priority, Timeline, event};
use timeline_archive::{
    Archive, ArchiveOutput, Form, Fsync, Keeping, RecordedEvent, Recorder, Totals,
};

use crate::flight::{Running, eventually, said};
use crate::support::{Name, run_on};

const FORMS: [Form; 2] = [Form::Plain, Form::Blocks];

/// One event in so many is wanted.
const WANTED: i64 = 7;

/// A program of whose events few are wanted, and what they are recorded to.
struct Program {
    name: Name,
    timeline: Timeline,
    important: EventId,
    wanted: EventId,
    other: EventId,
    logged: i64,
    folder: TempDir,
}

impl Program {
    fn new(purpose: &str, entries: u64) -> Program {
        let name = Name::new(purpose);
        let timeline = Timeline::with_size(name.path(), entries, 64 << 10).unwrap();
        let important = Attributes {
            important: true,
            ..Attributes::default()
        };
        let define = |category, message| {
            timeline
                .define(category, Priority::Info, message)
                .expect("defined")
        };
        Program {
            important: timeline
                .define_with("net", Priority::Info, "interface $id", &important)
                .expect("defined"),
            wanted: define("wanted", "number $n"),
            other: define("other", "number $n"),
            name,
            logged: 0,
            folder: tempfile::tempdir().unwrap(),
            timeline,
        }
    }

    /// All events are of one lane, as long as nothing else is done to this thread.
    fn on_one_cpu(self) -> Program {
        run_on(0);
        self
    }

    fn log(&mut self, count: i64) {
        for number in self.logged..self.logged + count {
            let event = match number % WANTED {
                0 => self.wanted,
                _ => self.other,
            };
            self.timeline.log(event, [number]);
        }
        self.logged += count;
    }

    fn log_others(&self, count: i64) {
        (0..count).for_each(|n| self.timeline.log(self.other, [n]));
    }

    /// The numbers that are wanted.
    fn expected(&self) -> Vec<i64> {
        (0..self.logged).step_by(WANTED as usize).collect()
    }

    fn path(&self, output: &str) -> PathBuf {
        self.folder.path().join(output)
    }

    fn command(&self, output: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        command.args(["record", self.name.path(), "-o"]);
        command.arg(self.path(output)).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    /// Records in this process, only events of this kind.
    fn record(&self, at: &Attached, output: &str, form: Form, only: Only) -> Totals {
        let mut output = ArchiveOutput::open(self.path(output), Keeping::default()).unwrap();
        let mut recorder = Recorder::new(at, &mut output, form)
            .unwrap()
            .only(self.is(only));
        while recorder.step() {}
        recorder.finish()
    }

    fn is(&self, only: Only) -> impl Fn(&Event) -> bool + use<> {
        let (wanted, other, important) = (self.wanted, self.other, self.important);
        move |event| match only {
            Only::Wanted => event.id == wanted,
            Only::Others => event.id == other,
            Only::Important => event.id == important,
            Only::None => false,
        }
    }
}

#[derive(Clone, Copy)]
enum Only {
    Wanted,
    Others,
    Important,
    None,
}

fn timeline(words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
    let ran = command.args(words).stdin(Stdio::null()).output().unwrap();
    assert!(ran.status.success(), "{words:?}: {}", said(&ran));
    ran
}

/// What `dump --json` prints, without what archives do not keep.
fn dump(path: &str, filter: &[&str]) -> Vec<Value> {
    let ran = timeline(&[&["dump", "--json", path], filter].concat());
    let lines = String::from_utf8(ran.stdout).unwrap();
    let event = |line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        // An archive rounds times, and numbers the definitions that it has.
        for field in ["time", "unix_ns", "definition"] {
            event.as_object_mut().unwrap().remove(field);
        }
        event
    };
    lines.lines().map(event).collect()
}

fn facts(verb: &str, path: &str) -> Value {
    serde_json::from_slice(&timeline(&[verb, "--json", path]).stdout).unwrap()
}

/// Logs events of several threads, with values of several types.
fn log_some(tl: &Timeline) {
    let id = 3;
    event!(important: true, tl, Priority::Warning, "engine", "interface {id}", id);
    event!(important: true, tl, Priority::Info, "net", "route {id}", id);
    for name in ["reader", "writer"] {
        let log = || {
            for bytes in 0..500_u32 {
                event!(
                    tl,
                    Priority::Info,
                    "engine",
                    "got {bytes} by {name}",
                    bytes,
                    name
                );
                event!(tl, Priority::Error, "disk", "{bytes} read too late", bytes);
                event!(tl, Priority::Trace, "net", "waits");
            }
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name(name.into());
            thread.spawn_scoped(scope, log).unwrap().join().unwrap();
        });
    }
}

const FILTERS: [&[&str]; 8] = [
    &["--category", "engine"],
    &["--category", "engine", "--where", "bytes > 400"],
    &["--priority", "..warning"],
    &["--event", "disk.*", "--event", "net.*"],
    &["--grep", "by name(writer)"],
    &["--thread", "reader", "--core", "0-4000"],
    &["--since", "1h ago", "--until", "1m ago"],
    &["--category", "nothing"],
];

#[test]
fn an_archive_has_what_a_dump_with_the_same_filter_shows() {
    let (name, folder) = (Name::new("filtered"), tempfile::tempdir().unwrap());
    let tl = Timeline::with_size(name.path(), 1 << 14, 64 << 10).unwrap();
    log_some(&tl);
    let snapshot = folder.path().join("snapshot.timeline");
    let snapshot = snapshot.to_str().unwrap();
    timeline(&["save", name.path(), snapshot]);
    drop(tl);
    let all = dump(snapshot, &[]).len();
    assert_eq!(all, 2 + 3_000);
    for (number, filter) in FILTERS.iter().enumerate() {
        let expected = dump(snapshot, filter);
        let nothing = expected.is_empty();
        assert_eq!(nothing, number >= 6, "{filter:?}");
        assert!(expected.len() < all);
        for (source, form) in [
            (snapshot, &[][..]),
            (snapshot, &["--plain"]),
            (name.path(), &[]),
            (name.path(), &["--plain"]),
            (name.path(), &["--rotate-size", "64K"]),
        ] {
            let output = match form {
                ["--rotate-size", _] => "flights/",
                _ => "flight.tla",
            };
            let to = folder.path().join(output);
            let to = to.to_str().unwrap();
            let words = [&["record", source, "-o", to, "--once"], form, *filter].concat();
            let told = said(&timeline(&words));
            let what = format!("{words:?}: {told}");
            assert_eq!(dump(to, &[]), expected, "{what}");
            let (events, left_out) = (expected.len(), all - expected.len());
            let (events, left_out) = (thousands(events), thousands(left_out));
            assert!(told.contains(&format!("recorded {events} event")), "{what}");
            let end = format!(", 0 missed, {left_out} events left out by the filter\n");
            assert!(told.ends_with(&end), "{what}");
            for verb in ["info", "verify"] {
                let facts = facts(verb, to);
                let counts = ["events", "missed", "missed_unknown", "damaged_bytes"];
                let counts = counts.map(|field| facts[field].as_u64().unwrap());
                assert_eq!(counts, [expected.len() as u64, 0, 0, 0], "{what}");
            }
            // Without a filter, nothing was left out, and all was read already.
            let again = [&["record", source, "-o", to, "--once"], form].concat();
            let told = said(&timeline(&again));
            let important = expected
                .iter()
                .filter(|event| event["important"] == json!(true));
            let important = 2 - important.count();
            assert!(
                told.contains(&format!("recorded {important} event")),
                "{told}"
            );
            assert!(told.ends_with(", 0 missed\n"), "{told}");
            match output {
                "flights/" => fs::remove_dir_all(to).unwrap(),
                _ => fs::remove_file(to).unwrap(),
            }
        }
    }
}

fn thousands(count: usize) -> String {
    match count {
        0..1000 => count.to_string(),
        _ => format!("{},{:03}", count / 1000, count % 1000),
    }
}

fn numbers(events: &[RecordedEvent]) -> Vec<i64> {
    let mut numbers: Vec<i64> = events.iter().map(|event| event.args[0]).collect();
    // Those of two CPUs, as a thread moves, may stand in another order.
    numbers.sort_unstable();
    numbers
}

fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// All that is recorded, as if the recorder were killed now.
fn recorded(path: &Path) -> Vec<RecordedEvent> {
    let read = |file: PathBuf| {
        let bytes = fs::read(file).unwrap_or_default();
        let archive = Archive::from_bytes(bytes);
        archive.events().collect::<Vec<_>>()
    };
    match path.is_dir() {
        true => files(path).into_iter().flat_map(read).collect(),
        false => read(path.to_path_buf()),
    }
}

#[test]
fn recorders_killed_at_any_moment_repeat_nothing_and_miss_nothing() {
    for (output, form) in [
        ("flight.tla", &["--plain"][..]),
        ("flight.tla", &[]),
        ("flights/", &["--plain", "--rotate-size", "64K"]),
        ("flights/", &["--rotate-size", "64K"]),
    ] {
        let mut program = Program::new("filtered-killed", 1 << 16);
        let words = [form, &["--category", "wanted"]].concat();
        let path = program.path(output);
        for round in 0..6 {
            program.log(200);
            let recorder = Running::new(program.command(output, &words), program.folder.path());
            program.log(3_000);
            let wanted = program.expected();
            if round % 3 == 0 {
                let last = wanted.last().copied();
                eventually("all that is wanted to be recorded", || {
                    numbers(&recorded(&path)).last().copied() == last
                });
            } else if round % 3 == 1 {
                let some = wanted.len() as i64 - 400;
                eventually("some to be recorded", || {
                    recorded(&path).len() as i64 > some
                });
            }
            let (status, told) = recorder.stop(Signal::SIGKILL);
            assert_eq!(status.code(), None, "{told}");
        }
        let expected = program.expected();
        let command = program.command(output, &[&words[..], &["--once"]].concat());
        let Program {
            timeline,
            name,
            folder,
            ..
        } = program;
        drop(timeline);
        let (status, told) = Running::new(command, folder.path()).until_it_ends();
        assert!(status.success() && told.contains(" 0 missed,"), "{told}");
        assert_eq!(numbers(&recorded(&path)), expected, "{form:?}");
        for verb in ["info", "verify"] {
            let facts = facts(verb, path.to_str().unwrap());
            assert_eq!(
                (&facts["missed"], &facts["missed_unknown"]),
                (&json!(0), &json!(0))
            );
        }
        drop(name);
    }
}

#[test]
fn important_events_are_recorded_if_they_are_wanted() {
    let program = Program::new("filtered-important", 1 << 12);
    let at = program.name.attach();
    for form in FORMS {
        let output = format!("{form:?}.tla");
        let record = |only| program.record(&at, &output, form, only);
        (0..5).for_each(|id| program.timeline.log(program.important, [id]));
        program.log_others(10);
        let totals = record(Only::Wanted);
        let kept = totals.left_out - 10 * (1 + u64::from(form == Form::Blocks));
        assert_eq!((totals.events, kept % 5), (0, 0));
        // They stay in the ring, so that a recorder with another filter has those it wants.
        assert_eq!(record(Only::Important).events, kept);
        assert_eq!(record(Only::Important), record(Only::Important));
        let archive = Archive::open(program.path(&output)).unwrap();
        assert_eq!((archive.count(), archive.missed()), (kept, 0));
    }
}

#[test]
fn a_file_is_begun_only_for_something_to_write() {
    for form in FORMS {
        let mut program = Program::new("filtered-files", 1 << 10);
        let at = program.name.attach();
        // Each batch of events is for another file.
        let keeping = Keeping {
            rotate_every: Some(Duration::from_nanos(1)),
            fsync: Fsync::Never,
            ..Keeping::default()
        };
        let mut output = ArchiveOutput::open(program.path("flights/"), keeping).unwrap();
        let recorder = Recorder::new(&at, &mut output, form).unwrap();
        let mut recorder = recorder.only(program.is(Only::Wanted));
        let count = || files(&program.path("flights/")).len();
        let before = count();
        for _ in 0..20 {
            program.log_others(300);
            while recorder.step() {}
        }
        assert_eq!(count(), before);
        let folder = program.path("flights/");
        program.log(2);
        while recorder.step() {}
        assert_eq!(files(&folder).len(), before + 1);
        let totals = recorder.finish();
        drop(output);
        assert_eq!(
            (totals.events, totals.left_out, totals.missed),
            (1, 6_001, 0)
        );
        // What comes last says how far all was read.
        let totals = program.record(&at, "flights/", form, Only::Others);
        assert_eq!((totals.events, totals.missed), (0, 0));
    }
}

#[test]
fn a_terminal_shows_how_many_are_left_out() {
    let mut program = Program::new("filtered-progress", 1 << 12);
    program.log(1_400);
    let line = format!(
        "{} record {} --once --category wanted -o {}",
        env!("CARGO_BIN_EXE_timeline"),
        program.name.path(),
        program.path("flight.tla").display()
    );
    let Program {
        timeline,
        name,
        folder,
        ..
    } = program;
    drop(timeline);
    // `script`, of util-linux, runs a command on a terminal of its own.
    let mut script = Command::new("script");
    let script = script
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null());
    let ran = script.output().unwrap();
    assert!(ran.status.success());
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(shown.contains(" unread, 0 missed, 0 left out"), "{shown:?}");
    let (_, last) = shown.rsplit_once("\r\x1b[K").unwrap();
    let end = "0 missed, 1,200 events left out by the filter";
    assert!(
        last.contains("recorded 200 events") && last.trim_end().ends_with(end),
        "{last:?}"
    );
    drop((name, folder));
}
