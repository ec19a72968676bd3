//! Many readers at once, slow ones, and such as never read.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;
use timeline::{Priority, event};

use super::begun;
use super::http::Served;
use crate::command::*;
use crate::support::Name;

const READERS: u64 = 200;

/// The resident memory of a process, in bytes, at most so far.
fn most_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        << 10
}

/// An answer. A server that says it is busy is asked again, as the page does.
fn patiently(served: &Served, path: &str) -> Value {
    loop {
        let answer = served.get(path);
        if answer.status != 503 {
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            return serde_json::from_slice(&answer.body).unwrap();
        }
    }
}

#[test]
fn two_hundred_readers_get_whole_answers_while_it_is_recorded() {
    let name = Name::new("readers");
    let tl = name.create(65536);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.tla").display().to_string();
    let log_some = |from: u64| {
        for number in from..from + 1_000 {
            event!(tl, Priority::Info, "net", "sent {number}", number);
        }
    };
    log_some(0);
    let recorder = Running::start(&["record", name.path(), "-o", &path]);
    begun(&path);
    let served = Served::begin(&[&folder.path().display().to_string()]);
    eventually("events", || {
        served.json("/api/logs/flight.tla")["lines"] == 1_000
    });
    let answers = AtomicU64::new(0);
    thread::scope(|scope| {
        for reader in 0..READERS {
            let (served, answers) = (&served, &answers);
            scope.spawn(move || {
                for turn in 0..5 {
                    let from = (reader * 37 + turn * 211) % 900;
                    let path = format!("/api/logs/flight.tla/lines?from={from}&count=100");
                    let answer = patiently(served, &path);
                    let lines = answer["lines"].as_array().unwrap();
                    assert_eq!(lines.len(), 100);
                    for (line, number) in lines.iter().zip(from..) {
                        assert_eq!(line["message"], format!("sent number({number})"));
                    }
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        (1..20).for_each(|part| log_some(part * 1_000));
    });
    assert_eq!(answers.into_inner(), READERS * 5);
    let memory = most_memory(served.pid());
    assert!(memory < 256 << 20, "{memory} bytes");
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
}

#[test]
fn readers_that_never_read_cost_little_and_keep_nobody_waiting() {
    let name = Name::new("never");
    let tl = name.create(1 << 17);
    for number in 0..100_000_u64 {
        event!(
            tl,
            Priority::Info,
            "net",
            "sent {number} of many events with a long message",
            number
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.tla").display().to_string();
    let file = snapshot(&name, folder.path());
    succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", super::http::quoted(&path));
    served.json(&log);
    let mut silent = Vec::new();
    for number in 0..40 {
        let mut stream = served.connect();
        let request = match number % 4 {
            0 => format!(
                "GET {log}/lines?count=1000 HTTP/1.1\r\nHost: {}\r\n\r\n",
                served.host
            ),
            1 => format!("GET {log}/file HTTP/1.1\r\nHost: {}\r\n\r\n", served.host),
            2 => format!("GET {log}/lines HTTP/1.1\r\nHost: {}\r\n", served.host),
            _ => String::new(),
        };
        stream.write_all(request.repeat(20).as_bytes()).unwrap();
        silent.push(stream);
    }
    for from in 0..50 {
        let answer = served.json(&format!("{log}/lines?from={from}&count=1"));
        assert_eq!(answer["lines"][0]["line"], from);
    }
    let memory = most_memory(served.pid());
    assert!(memory < 256 << 20, "{memory} bytes");
    // They are there still, and one of them reads at last.
    let mut first = [0; 12];
    silent[0].read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
}

#[test]
fn connections_beyond_the_limit_wait_and_do_not_keep_the_server_from_ending() {
    const CONNECTIONS: usize = 512;
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::begin(&[&folder.path().display().to_string()]);
    let request = format!("GET /api/server HTTP/1.1\r\nHost: {}\r\n\r\n", served.host);
    let ask = |served: &Served| {
        let mut stream = served.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    let is_answered = |stream: &mut TcpStream| {
        let mut first = [0; 12];
        stream
            .read_exact(&mut first)
            .map(|()| assert_eq!(&first, b"HTTP/1.1 200"))
    };
    let mut open: Vec<_> = (0..CONNECTIONS).map(|_| ask(&served)).collect();
    open.iter_mut()
        .for_each(|stream| is_answered(stream).unwrap());
    let mut waiting = ask(&served);
    // If it does not wait, its answer comes at once.
    waiting
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let error = is_answered(&mut waiting).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    waiting
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    open.pop();
    is_answered(&mut waiting).unwrap();
    // Again there are as many as may be. Those that are silent are closed after half a minute.
    let begin = Instant::now();
    served.interrupt();
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_search_ends_when_its_client_goes() {
    let name = Name::new("gone");
    let tl = name.create(1 << 17);
    for number in 0..100_000_u64 {
        event!(tl, Priority::Info, "net", "sent {number}", number);
    }
    let served = Served::begin(&[name.path()]);
    let log = format!("/api/logs/{}", super::http::quoted(name.path()));
    served.json(&log);
    // Far more searches than are allowed at once: each must make room for the next.
    for _ in 0..50 {
        let mut stream = served.connect();
        let path = format!("{log}/search?q=sent&limit=10000000");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", served.host);
        stream.write_all(request.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
    }
    let events = served
        .get(&format!("{log}/search?q=number(99999)"))
        .events();
    let (name, end) = events.last().unwrap();
    assert_eq!((name.as_str(), &end["found"]), ("end", &1.into()));
}
