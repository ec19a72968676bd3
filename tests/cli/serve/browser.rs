//! The page in a browser: tests/browser/page.mjs drives it and compares it with the command.

use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::json;
use timeline::{Priority, Timeline, event};
use timeline_archive::{Form, RawEvent, Writer};

use super::http::Served;
use crate::command::*;
use crate::support::{Name, Process, Random, root, say};

/// Logs until it is killed: some hundred events a second, as a page is read by people.
fn log_for_ever(arguments: &[String]) {
    let tl = Timeline::open(&arguments[0]).unwrap();
    for number in 0_u64.. {
        event!(tl, Priority::Info, "net", "sent {number}", number);
        if number == 0 {
            say("begun");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Begins and ends spans that are nested, each over several events of its thread.
fn log_span_parts(tl: &Timeline, number: u64) {
    let batch = number / 20;
    match number % 20 {
        0 => event!(tl, Priority::Info, "engine", "begin batch {batch}", batch),
        4 => event!(tl, Priority::Info, "engine", "begin step {number}", number),
        6 | 9 => event!(tl, Priority::Info, "engine", "end step {number}", number),
        8 => event!(tl, Priority::Info, "engine", "begin step {number}", number),
        19 => event!(tl, Priority::Info, "engine", "end batch {batch}", batch),
        _ => {}
    };
}

/// An archive of several categories, priorities and threads, with spans, messages of several
/// lines, markup and text beyond ASCII.
fn archive(folder: &std::path::Path, purpose: &str) {
    let name = Name::new(&format!("{purpose}-archive"));
    let tl = name.create(1 << 16);
    let none = timeline::Attributes::default();
    let lines = tl.define_printf("db", Priority::Info, "query %d\n  of %x", ("m.c", 1), &none);
    let lines = lines.unwrap();
    thread::scope(|scope| {
        for seed in 1..4 {
            let tl = &tl;
            scope.spawn(move || {
                let mut random = Random(seed);
                for number in 0..6_000_u64 {
                    log_span_parts(tl, number);
                    let (any, took) = (random.next(), random.below(5_000_000));
                    let id = format!("{:012x}", any >> 16);
                    match any % 8 {
                        0 => tl.log_payload(lines, &[number, any], false),
                        1 => event!(tl, Priority::Warning, "net", "retry {number}", number),
                        2 => event!(tl, Priority::Error, "größe", "<b>{id}</b> & co", id),
                        3 => event!(tl, Priority::Trace, "db", "took {took} for {id}", took, id),
                        _ => event!(
                            tl,
                            Priority::Info,
                            "net",
                            "got {number} of {id}",
                            number,
                            id
                        ),
                    };
                }
            });
        }
    });
    event!(important: true, tl, Priority::Error, "net", "link is down");
    let file = snapshot(&name, folder);
    let path = folder.join("flight.tla").display().to_string();
    succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
    std::fs::remove_file(file).unwrap();
}

/// When the archive of an hour begins, in nanoseconds since 1970.
const HOUR_BEGINS: u64 = 1_700_000_000_000_000_000;

/// How many events it has.
const HOUR_EVENTS: u64 = 723;

/// An archive of an hour: a span as long as it, with short ones in it, and one that does not end.
fn hour(path: &std::path::Path) {
    const SECOND: u64 = 1_000_000_000;
    let mut writer = Writer::new(std::fs::File::create(path).unwrap(), 7, Form::Blocks);
    let mut log = |seconds: u64, thread: &str, message: &str| {
        let time = HOUR_BEGINS + seconds * SECOND;
        let mut event = RawEvent {
            unix_nanos: Some(time),
            ticks: Some(time),
            core: Some(0),
            ..RawEvent::default()
        };
        event.definition.category = Some(writer.string("job"));
        event.definition.format = Some(writer.string(message));
        event.definition.level = Some(Priority::Info as u64);
        event.thread.tid = Some(thread.len() as u64);
        event.thread.name = Some(writer.string(thread));
        event.args.push(seconds as i64);
        writer.event(&event).unwrap();
    };
    log(0, "worker", "begin day $second");
    log(1, "sleeper", "begin wait $second");
    for ten in 0..360 {
        log(10 * ten + 2, "worker", "begin step $second");
        log(10 * ten + 3, "worker", "end step $second");
    }
    log(3600, "worker", "end day $second");
    writer.flush().unwrap();
}

/// What a browser is shown: an archive, one of an hour, and a timeline that a program logs to.
struct Shown {
    _folder: tempfile::TempDir,
    path: String,
    name: Name,
    program: Process,
    served: Served,
    of_an_hour: String,
    typed: String,
    _timeline: Timeline,
}

impl Shown {
    fn new(purpose: &str) -> Shown {
        let folder = tempfile::tempdir().unwrap();
        archive(folder.path(), purpose);
        let name = Name::new(purpose);
        let timeline = name.create(1 << 14);
        let mut program = Process::start(log_for_ever, &[name.path()]);
        program.line();
        let path = folder.path().join("flight.tla").display().to_string();
        let of_an_hour = folder.path().join("hour.tla");
        hour(&of_an_hour);
        let of_an_hour = of_an_hour.display().to_string();
        let typed = folder.path().join("typed.tla").display().to_string();
        let log = root().join("tests/data/typed.jsonl").display().to_string();
        succeed(&["import", &log, "-o", &typed]);
        let served = Served::begin(&[&path, &of_an_hour, &typed, name.path()]);
        Shown {
            _folder: folder,
            path,
            name,
            program,
            served,
            of_an_hour,
            typed,
            _timeline: timeline,
        }
    }

    /// Runs a program of tests/browser with what is shown, and returns what it printed.
    fn tried_by(&self, program: &str) -> String {
        let given = json!({
            "address": format!("http://{}/", self.served.host),
            "timeline": env!("CARGO_BIN_EXE_timeline"),
            "archive": {"id": self.path, "path": self.path, "query": "got", "category": "db",
                "source": "query"},
            "live": {"id": self.name.path(), "pid": self.program.pid()},
            "hour": {"id": self.of_an_hour, "begin": HOUR_BEGINS.to_string(),
                "events": HOUR_EVENTS},
            "typed": {"id": self.typed, "lines": 4},
            "screenshots": std::env::var("SCREENSHOTS").ok(),
            "seed": std::process::id(),
        });
        let tried = Command::new("node")
            .arg(root().join("tests/browser").join(program))
            .arg(given.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&tried.stdout).into_owned();
        let wrong = String::from_utf8_lossy(&tried.stderr);
        assert!(tried.status.success(), "{said}{wrong}");
        said
    }
}

#[test]
fn the_page_shows_what_the_command_prints() {
    let said = Shown::new("browser").tried_by("page.mjs");
    assert!(said.contains("follow: up to \"sent number("), "{said}");
}

#[test]
fn the_page_works_in_firefox() {
    let said = Shown::new("firefox").tried_by("firefox.mjs");
    assert!(said.contains("follow: from \"sent number("), "{said}");
}
