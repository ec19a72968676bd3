//! Important events in archives: first and once in each file, and once in all of them together.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;
use tempfile::TempDir;
use timeline::{Attached, Attributes, EventId, Order, Priority, Timeline};
use timeline_archive::{
    Archive, ArchiveOutput, Form, Fsync, Keeping, RawEvent, RecordedEvent, Recorder, Totals, Writer,
};

use crate::flight::{Running, eventually, size};
use crate::independent::agree;
use crate::samples::frames;
use crate::support::Name;

const FORMS: [Form; 2] = [Form::Plain, Form::Blocks];

/// A program with important events and others, and what they are recorded to.
struct Program {
    name: Name,
    timeline: Timeline,
    important: EventId,
    plain: EventId,
    kept: i64,
    logged: i64,
    folder: TempDir,
}

fn create(name: &Name) -> (Timeline, EventId, EventId) {
    let options = Timeline::options().entries(1 << 14).string_table_size(4096);
    let timeline = options.important_entries(256).create(name.path()).unwrap();
    let attributes = Attributes {
        important: true,
        ..Attributes::default()
    };
    let important = timeline.define_with("net", Priority::Info, "interface $id", &attributes);
    let plain = timeline.define("test", Priority::Info, "number $n of $all");
    (timeline, important.unwrap(), plain.unwrap())
}

impl Program {
    fn new(purpose: &str) -> Program {
        let name = Name::new(purpose);
        let (timeline, important, plain) = create(&name);
        Program {
            name,
            timeline,
            important,
            plain,
            kept: 0,
            logged: 0,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn keep(&mut self, count: i64) {
        (self.kept..self.kept + count).for_each(|id| self.timeline.log(self.important, [id]));
        self.kept += count;
    }

    fn log(&mut self, count: i64) {
        // Hard to compress, so that blocks fill files, too.
        let mixed = |n: i64| (n * 0x9e37_79b9).wrapping_mul(n) >> 7;
        (self.logged..self.logged + count)
            .for_each(|n| self.timeline.log(self.plain, [n, mixed(n)]));
        self.logged += count;
    }

    fn directory(&self) -> PathBuf {
        self.folder.path().join("flights/")
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("flight.tla")
    }

    /// Records what is there. Without `ends`, it stops as if it had been killed.
    fn record(&self, path: &Path, form: Form, ends: bool) -> Totals {
        let keeping = Keeping {
            rotate_size: path.to_str().unwrap().ends_with('/').then_some(32 << 10),
            fsync: Fsync::Never,
            ..Keeping::default()
        };
        let attached = Attached::open(self.name.path()).unwrap();
        let mut output = ArchiveOutput::open(path, keeping).unwrap();
        let mut recorder = Recorder::new(&attached, &mut output, form).unwrap();
        while recorder.step() {}
        if ends {
            return recorder.finish();
        }
        recorder.flush();
        recorder.totals()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn is_important(event: &RecordedEvent) -> bool {
    event.lane == Some(1 << 15)
}

fn ids(events: &[RecordedEvent]) -> Vec<i64> {
    events.iter().map(|event| event.args[0]).collect()
}

/// How often each important event is in one file, found frame by frame.
fn counts(file: &Path) -> BTreeMap<i64, usize> {
    let bytes = fs::read(file).unwrap();
    let mut counts = BTreeMap::new();
    for (place, tag) in frames(&bytes) {
        if tag == 127 {
            let alone = Archive::from_bytes(&bytes[place]);
            let event = alone.events().next().unwrap();
            if is_important(&event) {
                *counts.entry(event.args[0]).or_default() += 1;
            }
        }
    }
    counts
}

/// Important events first, then the others, each in the order of time and each once.
fn assert_first_and_once(archive: &Archive, kept: i64, logged: i64) {
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let events: Vec<RecordedEvent> = archive.by_time(order).collect();
        let (first, others) = events.split_at(kept as usize);
        let mut expected: Vec<i64> = (0..kept).collect();
        let mut numbers: Vec<i64> = (0..logged).collect();
        if order == Order::NewestFirst {
            expected.reverse();
            numbers.reverse();
        }
        assert_eq!((ids(first), ids(others)), (expected, numbers));
        assert!(first.iter().all(is_important) && !others.iter().any(is_important));
        let marked = archive.events_by_time(order).map(|event| event.important);
        assert!(marked.eq(events.iter().map(is_important)));
    }
    assert_eq!(archive.count(), (kept + logged) as u64);
    assert_eq!(archive.recoverable(), ((kept + logged) as u64, 0));
    let in_file: Vec<_> = archive.events().filter(is_important).collect();
    assert_eq!(ids(&in_file), (0..kept).collect::<Vec<_>>());
}

#[test]
fn each_file_has_all_so_far_first_and_all_files_have_each_once() {
    for form in FORMS {
        let mut program = Program::new("important-files");
        let directory = program.directory();
        for round in 0..4 {
            program.keep(10);
            program.log(6_000);
            let totals = program.record(&directory, form, round % 2 == 0);
            assert_eq!((totals.events, totals.missed), (6_010, 0));
        }
        let files = files(&directory);
        assert!(files.len() > 3, "{files:?}");
        let mut so_far = 0;
        for file in &files {
            let archive = Archive::open(file).unwrap();
            let events: Vec<_> = archive.events().collect();
            let begins = events
                .iter()
                .take_while(|event| is_important(event))
                .count();
            assert!(begins as i64 >= so_far, "{begins} of {so_far} in {file:?}");
            let all: Vec<i64> = counts(file).into_keys().collect();
            assert_eq!(all, (0..all.len() as i64).collect::<Vec<_>>(), "{file:?}");
            assert!(counts(file).values().all(|count| *count == 1), "{file:?}");
            so_far = all.len() as i64;
        }
        assert_eq!(so_far, 40);
        assert_first_and_once(&Archive::open(&directory).unwrap(), 40, 24_000);
        // Without the oldest files, which a recorder may remove, nothing of them is missing.
        fs::remove_file(&files[0]).unwrap();
        let rest = Archive::open(&directory).unwrap();
        assert_eq!(rest.events().filter(is_important).count(), 40);
        let newest = Archive::open_newest(&directory, 5).unwrap();
        let events: Vec<_> = newest.by_time(Order::NewestFirst).take(45).collect();
        assert_eq!(
            events.iter().filter(|event| is_important(event)).count(),
            40
        );
        // The whole frames of all, in one file.
        let mut joined = Vec::new();
        Archive::open(&directory)
            .unwrap()
            .copy(&mut joined)
            .unwrap();
        let joined = Archive::from_bytes(joined);
        assert_eq!(
            joined
                .by_time(Order::OldestFirst)
                .filter(is_important)
                .count(),
            40
        );
    }
}

/// Kills recorders while they write to files of 64 KiB, and lets the last one go on to the end.
fn killed_again_and_again(form: &[&str]) {
    let mut program = Program::new("important-kills");
    let directory = program.directory();
    let written = || {
        let files = fs::read_dir(&directory).into_iter().flatten();
        files.map(|file| size(&file.unwrap().path())).sum::<u64>()
    };
    let start = |program: &Program| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        command.args(["record", program.name.path(), "-o"]);
        command.arg(&directory).args(["--rotate-size", "64K"]);
        command.args(form);
        Running::new(command, program.folder.path())
    };
    let mut random = std::process::id() | 1;
    for _ in 0..30 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let until = written() + u64::from(random >> 16) % 3_000 + 1;
        let recorder = start(&program);
        for _ in 0..5 {
            program.keep(1);
            program.log(400);
        }
        eventually("the files to grow", || written() >= until);
        let (status, said) = recorder.stop(Signal::SIGKILL);
        assert_eq!(status.code(), None, "{said}");
    }
    let form = if form.is_empty() {
        Form::Blocks
    } else {
        Form::Plain
    };
    program.record(&directory, form, true);
    for file in files(&directory) {
        let counts = counts(&file);
        assert!(
            counts.keys().copied().eq(0..counts.len() as i64),
            "{file:?}: {counts:?}"
        );
        assert!(
            counts.values().all(|count| *count == 1),
            "{file:?}: {counts:?}"
        );
    }
    assert!(files(&directory).len() > 2);
    let archive = Archive::open(&directory).unwrap();
    let events: Vec<RecordedEvent> = archive.by_time(Order::OldestFirst).collect();
    let (first, others) = events.split_at(150);
    assert!(first.iter().all(is_important));
    assert!(ids(first).into_iter().eq(0..150), "{:?}", ids(first));
    // Of the others, the ring may have lost some, but none is there twice.
    assert!(ids(others).is_sorted_by(|before, after| before < after));
    assert_eq!(others.len() as u64 + archive.missed(), 60_000);
}

#[test]
fn killed_plain_recorders_leave_each_once() {
    killed_again_and_again(&["--plain"]);
}

#[test]
fn killed_recorders_of_blocks_leave_each_once() {
    killed_again_and_again(&[]);
}

#[test]
fn a_recorder_that_goes_on_repeats_none_in_its_file() {
    for form in FORMS {
        let mut program = Program::new("important-restart");
        let file = program.file();
        for round in 0..5 {
            program.keep(3);
            program.log(100);
            let totals = program.record(&file, form, round % 2 == 0);
            assert_eq!(totals.events, 103);
            // Nothing new.
            assert_eq!(program.record(&file, form, true).events, 0);
        }
        let expected: BTreeMap<i64, usize> = (0..15).map(|id| (id, 1)).collect();
        assert_eq!(counts(&file), expected);
        assert_first_and_once(&Archive::open(&file).unwrap(), 15, 500);
        agree(&file);
        // One that is damaged is recorded again, because it is in no file.
        let mut bytes = fs::read(&file).unwrap();
        let one = frames(&bytes).into_iter().find(|(place, tag)| {
            let alone = || Archive::from_bytes(&bytes[place.clone()]);
            *tag == 127
                && alone()
                    .events()
                    .next()
                    .is_some_and(|event| is_important(&event))
        });
        let (place, _) = one.unwrap();
        bytes[place.end - 1] ^= 1;
        fs::write(&file, bytes).unwrap();
        assert_eq!(Archive::open(&file).unwrap().count(), 514);
        assert_eq!(program.record(&file, form, true).events, 1);
        let found = Archive::open(&file).unwrap();
        assert_eq!(
            found
                .by_time(Order::OldestFirst)
                .filter(is_important)
                .count(),
            15
        );
    }
}

#[test]
fn a_reader_that_follows_gets_each_once_over_all_files() {
    let mut program = Program::new("important-follow");
    let directory = program.directory();
    program.keep(5);
    program.log(2_000);
    program.record(&directory, Form::Plain, true);
    let archive = Archive::open(&directory).unwrap();
    let mut growth = archive.follow().unwrap();
    for _ in 0..3 {
        program.keep(2);
        program.log(4_000);
        program.record(&directory, Form::Plain, true);
    }
    assert!(files(&directory).len() > 3);
    let mut events = Vec::new();
    while {
        let before = events.len();
        growth.poll(&mut events).unwrap();
        events.len() > before
    } {}
    let kept: Vec<i64> = events
        .iter()
        .filter(|e| e.important)
        .map(|e| e.args[0])
        .collect();
    assert_eq!(kept, [5, 6, 7, 8, 9, 10]);
    assert_eq!(events.len(), 3 * 4_002);
}

#[test]
fn those_of_each_run_come_first_in_the_order_of_the_runs() {
    let mut program = Program::new("important-runs");
    let file = program.file();
    program.keep(2);
    program.log(10);
    program.record(&file, Form::Blocks, true);
    // The program ends, and another run takes its name.
    let other = Name::new("important-other");
    let other = Timeline::with_size(other.path(), 256, 1024).unwrap();
    drop(std::mem::replace(&mut program.timeline, other));
    let (timeline, important, plain) = create(&program.name);
    (program.timeline, program.important, program.plain) = (timeline, important, plain);
    program.keep(2);
    program.log(10);
    program.record(&file, Form::Blocks, true);
    let archive = Archive::open(&file).unwrap();
    assert_eq!(archive.magics().count(), 2);
    assert_first_and_once(&archive, 4, 20);
}

#[test]
fn the_command_shows_them_first_and_counts_them_once() {
    let mut program = Program::new("important-command");
    let directory = program.directory();
    for _ in 0..2 {
        program.keep(3);
        program.log(3_000);
        program.record(&directory, Form::Plain, true);
    }
    let run = |verb: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let output = command
            .arg(verb)
            .arg(&directory)
            .args(more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for verb in ["dump", "tail"] {
        let text = run(verb, &["--json", "-n", "2"]);
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 8, "{verb}");
        let marked = lines.iter().map(|line| line["important"] == true);
        assert!(marked.eq((0..8).map(|line| line < 6)), "{verb}");
        assert!(lines[6].get("important").is_none());
    }
    let info: serde_json::Value = serde_json::from_str(&run("info", &["--json"])).unwrap();
    assert_eq!(info["events"], 6_006);
    let verified: serde_json::Value = serde_json::from_str(&run("verify", &["--json"])).unwrap();
    assert_eq!(verified["events"], 6_006);
}

#[test]
fn joined_archives_of_one_ring_give_each_once_in_any_order() {
    let mut program = Program::new("important-joined");
    program.keep(4);
    program.log(5);
    let one = program.file();
    program.record(&one, Form::Plain, true);
    program.keep(4);
    let two = program.folder.path().join("two.tla");
    program.record(&two, Form::Blocks, true);
    let (one, two) = (fs::read(one).unwrap(), fs::read(two).unwrap());
    for joined in [[&one[..], &two].concat(), [&two[..], &one].concat()] {
        let archive = Archive::from_bytes(joined);
        let events: Vec<_> = archive.by_time(Order::OldestFirst).collect();
        assert_eq!(ids(&events[..8]), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(events[..8].iter().all(is_important));
        // The others are shown several times, as those of any two recorders.
        assert_eq!(events.len(), 8 + 10);
    }
}

#[test]
fn they_come_in_the_order_of_time_whatever_their_numbers_are() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Plain);
    let event = |number| RawEvent {
        lane: Some(1 << 15),
        number: Some(number),
        ticks: Some(100 - number),
        ..RawEvent::default()
    };
    (0..3).for_each(|number| writer.event(&event(number)).unwrap());
    writer.flush().unwrap();
    drop(writer);
    let archive = Archive::from_bytes([&file[..], &file].concat());
    let numbers = |order| {
        archive
            .by_time(order)
            .map(|e| e.number.unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(Order::OldestFirst), [2, 1, 0]);
    assert_eq!(numbers(Order::NewestFirst), [0, 1, 2]);
    assert_eq!((archive.count(), archive.recoverable()), (3, (3, 0)));
}
