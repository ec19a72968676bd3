//! The options of dump and tail that say which events are wanted.

use nix::sys::signal::Signal;
use serde_json::Value as Json;
use tempfile::TempDir;
use timeline::{Attached, Attributes, EventId, Priority, Timeline, Value, lay_out};
use timeline_archive::{ArchiveOutput, Form, Fsync, Keeping, Recorder};

use crate::command::*;
use crate::support::Name;

/// The events of two threads, of which each knows its number.
struct Program {
    timeline: Timeline,
    net: EventId,
    tcp: EventId,
    disk: EventId,
    note: EventId,
}

const COUNT: i64 = 60;
/// How many of them the first thread logs.
const HALF: i64 = COUNT / 2;

impl Program {
    fn new(name: &Name, entries: u64) -> Program {
        let timeline = name.create(entries);
        let sent = "sent $size:bytes to $host:str, $number left";
        let define = |category, priority, message, important| {
            let attributes = Attributes {
                important,
                ..Attributes::default()
            };
            let id = timeline.define_with(category, priority, message, &attributes);
            id.unwrap()
        };
        Program {
            net: define("net", Priority::Info, sent, false),
            tcp: define("net.tcp", Priority::Trace, sent, false),
            disk: define("disk", Priority::Error, "read $number of $size:i64", false),
            note: define("config", Priority::Library, "noted $number", true),
            timeline,
        }
    }

    /// Every tenth event is important; the others are of three kinds in turn.
    fn log(&self, number: i64) {
        let host = format!("eth{}", number % 5);
        let bytes = host.as_bytes();
        let sent = [
            Value::Uint(number as u64 * 256),
            Value::Text { bytes, cut: false },
            Value::Int(number),
        ];
        let tl = &self.timeline;
        match (number % 10, number % 3) {
            (0, _) => tl.log(self.note, [number]),
            (_, 0) => tl.log_payload(self.net, &lay_out(&sent), false),
            (_, 1) => tl.log_payload(self.tcp, &lay_out(&sent), false),
            _ => tl.log(self.disk, [number, -number]),
        }
    }

    /// The ids of the threads that logged each half.
    fn log_all(&self) -> [u32; 2] {
        [("first", 0..HALF), ("second", HALF..COUNT)].map(|(thread, numbers)| {
            let work = || {
                self.timeline.thread(thread, "workers").unwrap();
                numbers.for_each(|number| self.log(number));
                gettid()
            };
            std::thread::scope(|scope| scope.spawn(work).join()).unwrap()
        })
    }
}

fn numbers(lines: &[Json]) -> Vec<i64> {
    let numbers = lines.iter().map(|line| line["args"]["number"].as_i64());
    numbers.map(Option::unwrap).collect()
}

/// The numbers of the events that a command shows.
fn shown(args: &[&str]) -> Vec<i64> {
    numbers(&succeed(&[args, &["--json"]].concat()).json())
}

/// Recorded to a directory of small files; the directory.
fn in_small_files(name: &Name, folder: &TempDir) -> String {
    let path = folder.path().join("flights/").display().to_string();
    let keeping = Keeping {
        rotate_size: Some(4 << 10),
        fsync: Fsync::Never,
        ..Keeping::default()
    };
    let at: Attached = name.attach();
    let mut output = ArchiveOutput::open(&path, keeping).unwrap();
    let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
    while recorder.step() {}
    assert_eq!(recorder.finish().missed, 0);
    path
}

/// The ring, a snapshot and archives of each form.
fn places(name: &Name, folder: &TempDir) -> Vec<String> {
    let path = |file: &str| folder.path().join(file).display().to_string();
    let (blocks, plain) = (path("blocks.tla"), path("plain.tla"));
    let record = ["record", "--once", name.path(), "--fsync", "never", "-o"];
    succeed(&[&record[..], &[&blocks]].concat());
    succeed(&[&record[..], &[&plain, "--plain"]].concat());
    let snapshot = snapshot(name, folder.path());
    let small = in_small_files(name, folder);
    vec![name.path().into(), snapshot, blocks, plain, small]
}

/// Options, and which numbers they let through.
type Way<'a> = (Vec<&'a str>, Box<dyn Fn(i64) -> bool + 'a>);

fn is_note(number: i64) -> bool {
    number % 10 == 0
}

fn kind(number: i64) -> i64 {
    if is_note(number) { 3 } else { number % 3 }
}

fn way<'a>(options: &[&'a str], is_wanted: impl Fn(i64) -> bool + 'a) -> Way<'a> {
    (options.to_vec(), Box::new(is_wanted))
}

fn ways<'a>(tid: &'a str, pid: &'a str, middle: &'a str) -> Vec<Way<'a>> {
    vec![
        way(&["--category", "net"], |n| kind(n) == 0),
        way(&["--category=net*"], |n| kind(n) < 2),
        way(&["--category", "net", "--category", "d?sk"], |n| {
            kind(n) == 0 || kind(n) == 2
        }),
        way(&["--event", "net.sent"], |n| kind(n) == 0),
        way(&["--event", "*.sent"], |n| kind(n) < 2),
        way(&["--priority", "error"], |n| kind(n) == 2),
        way(&["--priority", "..info"], |n| kind(n) % 2 == 0),
        way(&["--priority", "trace.."], |n| kind(n) % 2 == 1),
        way(&["--priority", "info..trace"], |n| kind(n) < 2),
        way(&["--thread", "first"], |n| n < HALF),
        way(&["--thread", "worker*"], |_| false),
        way(&["--thread", tid], |n| n >= HALF),
        way(&["--thread", tid, "--thread=f*"], |_| true),
        way(&["--pid", pid], |_| true),
        way(&["--pid", "4294967295"], |_| false),
        way(&["--core", "0-8191"], |_| true),
        way(&["--core", "9000,60000-65535"], |_| false),
        way(&["--since", middle], |n| n >= HALF),
        way(&["--until", middle], |n| n < HALF),
        way(&["--since", "@0", "--until", "-100h"], |_| false),
        way(&["--since", "-100h", "--until", "+1h"], |_| true),
        way(&["--where", "size >= 10KiB"], |n| kind(n) < 2 && n >= 40),
        way(&["--where", "size < 0 || $number == 50"], |n| {
            kind(n) == 2 || n == 50
        }),
        way(&["--where", "-5 > size"], |n| kind(n) == 2 && n > 5),
        way(&["--where", "host ~ '^eth[12]$'"], |n| {
            kind(n) < 2 && matches!(n % 5, 1 | 2)
        }),
        way(&["--where", "!(host == \"eth1\")"], |n| {
            kind(n) > 1 || n % 5 != 1
        }),
        way(&["--where", "host", "--where", "number < 7"], |n| {
            kind(n) < 2 && n < 7
        }),
        way(&["--grep", "SENT"], |_| false),
        way(&["--grep", "sent"], |n| kind(n) < 2),
        way(&["-g", "size(-"], |n| kind(n) == 2),
        way(&["--grep", "-1"], |n| {
            kind(n) == 2 && n.to_string().starts_with('1')
        }),
    ]
}

/// Several options at once, of which all must let an event through.
fn several<'a>(pid: &'a str, middle: &'a str) -> [Way<'a>; 2] {
    [
        way(
            &[
                "--category=net*",
                "--priority=info",
                "--thread=second",
                "--where=size>0",
                "--grep=ETH3",
            ],
            |_| false,
        ),
        way(
            &[
                "--category=net*",
                "--priority=info",
                "--thread=second",
                "--where=size>0",
                "--grep=eth3",
                "--core=0-8191",
                "--since",
                middle,
                "--until=+1h",
                "--event=*.sent",
                "--pid",
                pid,
            ],
            |n| kind(n) == 0 && n >= HALF && n % 5 == 3,
        ),
    ]
}

#[test]
fn each_option_lets_the_same_events_through_everywhere() {
    let (name, folder) = (Name::new("filters"), tempfile::tempdir().unwrap());
    let [_, tid] = Program::new(&name, 1024).log_all();
    let (tid, pid) = (tid.to_string(), std::process::id().to_string());
    let places = places(&name, &folder);
    // Between the last event of the first thread and the first one of the second.
    let all = succeed(&["dump", name.path(), "--json"]).json();
    let time = |number: i64| {
        let line = all.iter().find(|line| line["args"]["number"] == number);
        crate::json::nanos(&line.unwrap()["unix_ns"]).unwrap()
    };
    let middle = u64::midpoint(time(HALF - 1), time(HALF));
    let middle = format!("@{}.{:09}", middle / 1_000_000_000, middle % 1_000_000_000);
    for place in &places {
        let all = shown(&["dump", place]);
        assert_eq!(all.len() as i64, COUNT, "{place}");
        let ways = ways(&tid, &pid, &middle).into_iter();
        for (options, is_wanted) in ways.chain(several(&pid, &middle)) {
            let mut expected: Vec<_> = all.iter().copied().filter(|n| is_wanted(*n)).collect();
            let dump = [&["dump", place], &options[..]].concat();
            assert_eq!(shown(&dump), expected, "{dump:?}");
            if *place == places[0] {
                continue;
            }
            // What has an end, tail ends at.
            let tail = [&["tail", place, "-n", "1000"], &options[..]].concat();
            let notes = expected.iter().take_while(|n| is_note(**n)).count();
            expected[..notes].reverse();
            expected[notes..].reverse();
            assert_eq!(shown(&tail), expected, "{tail:?}");
        }
    }
}

/// An option, a word that it does not take, and what it says about that.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "--where <CONDITION>",
        "a >",
        "expected a field or a value at character 4, got the end",
    ),
    (
        "--where <CONDITION>",
        "size > 5x",
        "x at character 9 is no unit: expected B, kB",
    ),
    (
        "--where <CONDITION>",
        "a ~ '('",
        r#""(" is no regular expression: unclosed group"#,
    ),
    (
        "--where <CONDITION>",
        "--json",
        "expected a field, a number, a text in quotes",
    ),
    (
        "--where <CONDITION>",
        "a \"b\n\u{1b}[2J\"",
        r#"at character 3, got "b??[2J""#,
    ),
    (
        "--priority <RANGE>",
        "loud",
        "expected a priority, such as info, or a range",
    ),
    (
        "--core <LIST>",
        "3-1",
        "the range 3-1 is reversed; did you mean 1-3?",
    ),
    (
        "--pid <PID>",
        "init",
        r#"expected the number of a process, such as 4711, got "init""#,
    ),
    (
        "--since <TIME>",
        "soon",
        "expected a time, such as 2026-11-23",
    ),
    (
        "--until <TIME>",
        "-9223372036854775808s",
        "expected a time, such as 2026-11-23",
    ),
];

#[test]
fn mistakes_name_the_option_and_what_it_expects() {
    for (option, word, expected) in MISTAKES {
        let own = option.split(' ').next().unwrap();
        for verb in ["dump", "tail"] {
            let ran = run(&[verb, "/timeline-none", &format!("{own}={word}")]);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
            let mut lines = ran.stderr.lines();
            let line = lines.next().unwrap();
            let begin = "error: invalid value '";
            let is_sound = line.starts_with(begin)
                && line.contains(&format!("' for '{option}': "))
                && line.contains(expected);
            assert!(is_sound, "{word:?}: {line}");
            let rest: Vec<_> = lines.collect();
            assert_eq!(
                rest,
                ["", "For more information, try '--help'."],
                "{word:?}"
            );
        }
    }
}

/// Has all files of an archive but the last one seem to be changed before any of these events: who
/// asks for the newest events only does not read them.
fn seem_old(directory: &str) {
    let files = std::fs::read_dir(directory).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.pop();
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        let file = std::fs::File::options().write(true).open(file).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
}

#[test]
fn the_newest_that_match_are_found_however_old_they_are() {
    let (name, folder) = (Name::new("filters-old"), tempfile::tempdir().unwrap());
    let program = Program::new(&name, 4096);
    (0..1500).for_each(|number| program.log(number));
    drop(program);
    let places = places(&name, &folder);
    seem_old(places.last().unwrap());
    for place in &places {
        let dump = ["dump", place, "-n", "3", "--where", "$number < 33"];
        assert_eq!(shown(&dump), [30, 20, 10, 0, 32, 31, 29], "{place}");
        let dump = ["dump", place, "-n", "0", "--where", "$number < 33"];
        assert_eq!(shown(&dump), [30, 20, 10, 0], "{place}");
        if *place != places[0] {
            let tail = ["tail", place, "-n", "3", "--where", "$number < 33"];
            assert_eq!(shown(&tail), [0, 10, 20, 30, 29, 31, 32], "{place}");
        }
    }
}

/// The numbers of lines of JSON so far.
fn read(lines: &[String]) -> Vec<i64> {
    let lines: Vec<Json> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    numbers(&lines)
}

#[test]
fn tail_begins_with_the_newest_that_match_and_goes_on_with_those() {
    let name = Name::new("filters-tail");
    let program = Program::new(&name, 4096);
    // Of the first, the newest three are followed by many that do not match.
    (0..1000).for_each(|number| program.log(number));
    let args = [
        "tail",
        name.path(),
        "--json",
        "--where=number<13||number>=1000",
    ];
    let mut tail = Running::start(&[&args[..], &["--category=none"], &["-n", "3"]].concat());
    // It waits, and shows nothing.
    let mut other = Running::start(&[&args[..], &["--priority=..trace", "-n", "3"]].concat());
    other.stdout_until("the newest three", |lines| read(lines) == [9, 11, 12]);
    for number in 1000..1004 {
        // One that does not match before each.
        program.log(number - 500);
        program.log(number);
    }
    let expected = [9, 11, 12, 1001, 1002, 1003];
    other.stdout_until("what matches of the new ones", |lines| {
        read(lines) == expected
    });
    // The next run is read from its first event on.
    drop(program);
    let program = Program::new(&name, 1024);
    (998..1003).for_each(|number| program.log(number));
    let expected = [9, 11, 12, 1001, 1002, 1003, 1001, 1002];
    other.stdout_until("those of the next run", |lines| read(lines) == expected);
    other.signal(Signal::SIGINT);
    let (_, said) = other.succeed();
    assert_eq!(
        said.last().unwrap(),
        "timeline: 8 events shown, 0 entries missed"
    );
    assert_eq!(tail.stdout_now(), [] as [&str; 0]);
    tail.signal(Signal::SIGINT);
    tail.succeed();
}

#[test]
fn tail_of_a_recording_shows_what_matches() {
    let (name, folder) = (Name::new("filters-record"), tempfile::tempdir().unwrap());
    let program = Program::new(&name, 4096);
    (0..100).for_each(|number| program.log(number));
    let path = folder.path().join("flight.tla").display().to_string();
    let args = [
        "record",
        name.path(),
        "-o",
        &path,
        "--once",
        "--fsync",
        "never",
    ];
    let recorder = Running::start(&args);
    eventually("the archive", || {
        let ran = run(&["info", "--json", &path]);
        ran.code == Some(0) && ran.json()[0]["events"] == 100
    });
    let args = ["tail", &path, "--json", "--where=host=='eth1'", "-n", "3"];
    let mut tail = Running::start(&args);
    tail.stdout_until("the newest three", |lines| read(lines) == [81, 91, 96]);
    (100..120).for_each(|number| program.log(number));
    let expected = [81, 91, 96, 106, 111];
    tail.stdout_until("the new ones", |lines| read(lines) == expected);
    drop(program);
    recorder.succeed();
    let (lines, said) = tail.succeed();
    assert_eq!(read(&lines), expected);
    assert_eq!(said, ["timeline: 5 events shown, 0 entries missed"]);
}

#[test]
fn dump_says_what_was_overwritten_before_events_that_are_not_shown() {
    let (name, folder) = (Name::new("filters-missed"), tempfile::tempdir().unwrap());
    let program = Program::new(&name, 256);
    (1..3000).for_each(|_| program.log(11));
    program.log(13);
    drop(program);
    let all = succeed(&["dump", name.path(), "--json"]).json();
    let missed = |number: i64| {
        let own = all.iter().filter(|line| line["args"]["number"] == number);
        own.map(|line| line["missed"].as_u64().unwrap_or(0))
            .sum::<u64>()
    };
    assert!((1000..10_000).contains(&missed(11)), "{all:?}");
    let told = missed(11).to_string();
    let told = format!("timeline: {},{} entries", &told[..1], &told[1..]);
    for place in places(&name, &folder) {
        let dump = |condition| succeed(&["dump", &place, "--json", "--where", condition]);
        let ran = dump("number == 13");
        assert_eq!(numbers(&ran.json()), [13]);
        let first = ran.stderr.lines().next().unwrap_or_default();
        let expected = format!("{told} missing right before events that are not shown");
        assert_eq!(first, expected, "{place}");
        // The line of the event says it.
        let ran = dump("number == 11");
        assert!(!ran.stderr.contains("not shown"), "{place}: {}", ran.stderr);
    }
}
