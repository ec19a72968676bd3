//! Live timelines: what is logged is served at once, and stays when the program is killed.

use std::io::Write;

use nix::sys::signal::Signal;
use timeline::{Priority, Timeline, event};
use timeline_archive::WatchMark;

use super::begun;
use super::http::{Served, Stream, quoted};
use crate::command::*;
use crate::support::{Name, Process, hear, say};

/// Logs as many events as it is told to, until it is killed.
pub fn log_as_told(arguments: &[String]) {
    let tl = Timeline::open(&arguments[0]).unwrap();
    let mut number = 0_u32;
    loop {
        hear();
        event!(tl, Priority::Info, "net", "sent {number}", number);
        number += 1;
        say(number);
    }
}

#[test]
fn a_live_timeline_is_followed_and_stays_when_its_program_is_killed() {
    let name = Name::new("serve-live");
    let _tl = name.create(4096);
    let served = Served::begin(&[]);
    let log = format!("/api/logs/{}", quoted(name.path()));
    let mut program = Process::start(log_as_told, &[name.path()]);
    let mut say_more = |count: u64| {
        for _ in 0..count {
            program.tell();
            program.line();
        }
    };
    say_more(3);
    let state = served.json(&log);
    assert_eq!(
        (&state["kind"], &state["lines"]),
        (&"live".into(), &3.into())
    );
    let mut stream = Stream::begin(&served, &format!("{log}/follow"));
    stream.until(|name, data| name == "grown" && data["lines"] == 3);
    for lines in 4..20_u64 {
        say_more(1);
        let data = stream.until(|name, data| name == "grown" && data["lines"] == lines);
        assert_eq!(
            (&data["growing"], &data["missed"]),
            (&true.into(), &0.into())
        );
        let last = served.json(&format!("{log}/lines?from={}&count=5", lines - 1));
        assert_eq!(
            last["lines"][0]["message"],
            format!("sent number({})", lines - 1)
        );
        assert_eq!(last["lines"].as_array().unwrap().len(), 1);
    }
    program.kill();
    let lines = served.json(&format!("{log}/lines?from=0&count=100"));
    assert_eq!(lines["total"], 19);
    // Another run of the program goes on where this one ended.
    let mut program = Process::start(log_as_told, &[name.path()]);
    program.tell();
    program.line();
    stream.until(|name, data| name == "grown" && data["lines"] == 20);
}

#[test]
fn what_was_overwritten_is_a_gap_with_its_count() {
    let name = Name::new("serve-gap");
    let tl = name.create(1024);
    for number in 0..10_000_u32 {
        event!(tl, Priority::Info, "net", "sent {number}", number);
    }
    let served = Served::begin(&[name.path()]);
    let log = format!("/api/logs/{}", quoted(name.path()));
    let state = served.json(&log);
    let (lines, missed) = (
        state["lines"].as_u64().unwrap(),
        state["missed"].as_u64().unwrap(),
    );
    assert!(lines > 100 && lines < 2_000, "{state}");
    let first = served.json(&format!("{log}/lines?from=0&count=1"));
    let message = first["lines"][0]["message"].as_str().unwrap();
    // A CPU that the thread left keeps what is older.
    let first_number = message.strip_prefix("sent number(").unwrap();
    let first_number: u64 = first_number.trim_end_matches(')').parse().unwrap();
    assert!((1..=10_000 - lines).contains(&first_number), "{message}");
    let before = first["lines"][0]["missed"].as_u64().unwrap_or(0);
    assert!(
        before >= first_number || missed >= 10_000 - lines,
        "{state} {first}"
    );
}

#[test]
fn an_archive_that_is_recorded_grows_until_its_recorder_ends() {
    let name = Name::new("serve-grow");
    let tl = name.create(4096);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.tla").display().to_string();
    event!(tl, Priority::Info, "net", "first");
    let recorder = Running::start(&["record", name.path(), "-o", &path]);
    begun(&path);
    let served = Served::begin(&[&folder.path().display().to_string()]);
    // The recorder is told when somebody reads it, each time, and only then.
    let watched = WatchMark::new(path.as_ref());
    served.json("/api/logs");
    for request in ["", "/lines?from=0&count=1", "/lines/0", "/overview"] {
        assert!(!watched.is_now(), "{request}");
        // What was told a moment ago is not told again.
        eventually("the recorder is told", || {
            served.get(&format!("/api/logs/flight.tla{request}"));
            watched.is_now()
        });
        watched.end();
    }
    let mut stream = Stream::begin(&served, "/api/logs/flight.tla/follow");
    stream.until(|name, data| name == "grown" && data["lines"] == 1);
    eventually("the recorder is told", || watched.is_now());
    let number = served.json("/api/logs/flight.tla")["version"].clone();
    for lines in 2..5_u64 {
        event!(tl, Priority::Info, "net", "more {lines}", lines);
        let data = stream.until(|name, data| name == "grown" && data["lines"] == lines);
        assert_eq!(
            (&data["growing"], &data["version"]),
            (&true.into(), &number)
        );
    }
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    stream.until(|name, data| name == "end" && data["lines"] == 4);
}

#[test]
fn temporary_archives_are_removed_with_the_server() {
    let name = Name::new("serve-temp");
    let tl = name.create(1024);
    event!(tl, Priority::Info, "net", "sent");
    let folder = tempfile::tempdir().unwrap();
    let words = ["serve", "--listen", "127.0.0.1:0", name.path()];
    let mut server = Running::start_in(folder.path(), &words);
    let lines = server.stdout_until("an address", |lines| !lines.is_empty());
    let host = lines[0]
        .strip_prefix("http://")
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    let mut stream = std::net::TcpStream::connect(&host).unwrap();
    let path = format!("/api/logs/{}/lines", quoted(name.path()));
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let answer = std::io::read_to_string(stream).unwrap();
    assert!(answer.contains("\"message\":\"sent\""), "{answer}");
    let count = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(count(), 1);
    server.signal(Signal::SIGINT);
    server.succeed();
    assert_eq!(count(), 0);
}
