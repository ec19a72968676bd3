//! What a store answers: its list, its files, removal, changes, in JSON and CBOR.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::place::{Program, eventually, traces};
use super::reading::{answering, named};
use crate::command::{Ran, Running, run, snapshot, succeed};
use crate::support::root;

/// Sends a request, and returns the status, the head and the body of the answer.
fn ask(http: &str, method: &str, path: &str, head: &str) -> (u16, String, Vec<u8>) {
    let mut socket = TcpStream::connect(http).unwrap();
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\n{head}\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let status = head[9..12].parse().unwrap();
    (status, head, answer[end + 4..].to_vec())
}

fn get(http: &str, path: &str) -> Value {
    let (status, _, body) = ask(http, "GET", path, "");
    let text = String::from_utf8_lossy(&body);
    assert_eq!(status, 200, "{path}: {text}");
    serde_json::from_slice(&body).unwrap()
}

fn send(program: &Program, folder: &Path, address: &str) {
    let path = snapshot(&program.name, folder);
    let more = ["--once", "--label", "service=db"];
    succeed(&[&["record", &path, "--to", address][..], &more].concat());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_list_says_whose_each_trace_is_and_how_far() {
    let mut program = Program::new("listed", 1 << 12);
    program.log(50);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("traces");
    let (store, address, http) = answering(&kept, &[]);
    assert_eq!(get(&http, "/api/logs")["logs"].as_array().unwrap().len(), 0);
    let recorder = Running::start(&["record", program.name.path(), "--to", &address]);
    let first = |http: &str| get(http, "/api/logs")["logs"][0].clone();
    let state = |wanted: &'static str| {
        let http = http.clone();
        move || first(&http)["trace"]["state"] == wanted
    };
    eventually("the trace", state("receiving"));
    eventually("the events", || first(&http)["trace"]["events"] == 53);
    recorder.signal(Signal::SIGINT);
    recorder.finish();
    eventually("the end", state("ended"));
    let log = first(&http);
    let (trace, id) = (&log["trace"], log["id"].as_str().unwrap());
    assert_eq!(kept.join(id).display().to_string(), named(&kept, &http).0);
    let executable = std::env::current_exe().unwrap();
    assert_eq!(trace["program"], executable.display().to_string());
    assert_eq!(trace["pid"], std::process::id());
    assert_eq!(trace["timeline"], program.name.path());
    assert_eq!((&trace["missed"], &trace["gone"]), (&0.into(), &0.into()));
    let nanos = |name: &str| {
        trace[name]["unix_ns"]
            .as_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    assert_eq!(trace["duration_ns"], nanos("last") - nanos("first"));
    assert!(nanos("created") <= nanos("first"), "{trace}");
    let one = get(&http, &format!("/api/logs/{}", id.replace('/', "%2F")));
    assert_eq!((&one["trace"], &one["events"]), (trace, &53.into()));
    store.signal(Signal::SIGTERM);
    store.succeed();
}

#[test]
fn files_come_whole_and_in_ranges() {
    let mut program = Program::new("files", 1 << 15);
    program.log(20_000);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("traces");
    let (store, address, http) = answering(&kept, &[]);
    send(&program, folder.path(), &address);
    let (trace, url) = named(&kept, &http);
    let id = url.split_once(&http).unwrap().1[1..].replace('/', "%2F");
    let place = format!("/api/logs/{id}/files");
    let files = get(&http, &place)["files"].as_array().unwrap().clone();
    assert!(files.len() > 1, "{files:?}");
    for file in &files {
        let name = file["name"].as_str().unwrap();
        let own = std::fs::read(Path::new(&trace).join(name)).unwrap();
        assert_eq!(file["bytes"], own.len());
        let (status, _, body) = ask(&http, "GET", &format!("{place}/{name}"), "");
        assert!(status == 200 && body == own, "{name}");
        let range = "Range: bytes=5-104\r\n";
        let (status, _, body) = ask(&http, "GET", &format!("{place}/{name}"), range);
        assert!(status == 206 && body == own[5..105], "{name}");
    }
    for wrong in [
        "none.tla",
        "..%2Fstore.pem",
        "%2Fetc%2Fpasswd",
        "..",
        ".",
        "%00",
    ] {
        let (status, _, _) = ask(&http, "GET", &format!("{place}/{wrong}"), "");
        assert!([400, 404].contains(&status), "{wrong}: {status}");
    }
    // The key of the store is no log.
    let (status, _, _) = ask(&http, "GET", "/api/logs/store.pem/file", "");
    assert_eq!(status, 404);
    store.signal(Signal::SIGTERM);
    store.succeed();
}

#[test]
fn a_trace_is_removed_if_that_is_allowed_and_nobody_sends_it() {
    let mut program = Program::new("removed", 1 << 12);
    program.log(50);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("traces");
    let (store, address, http) = answering(&kept, &[]);
    send(&program, folder.path(), &address);
    let (_, url) = named(&kept, &http);
    let id = url.split_once(&http).unwrap().1[1..].replace('/', "%2F");
    let place = format!("/api/logs/{id}");
    let remove = |http: &str| ask(http, "DELETE", &place, "").0;
    assert_eq!(remove(&http), 403);
    store.signal(Signal::SIGTERM);
    store.succeed();
    let (store, address, http) = answering(&kept, &["--allow-removal"]);
    let recorder = Running::start(&["record", program.name.path(), "--to", &address]);
    program.log(1);
    let receives = || get(&http, "/api/logs")["logs"][0]["trace"]["state"] == "receiving";
    eventually("the recorder", receives);
    assert_eq!(remove(&http), 409);
    recorder.signal(Signal::SIGINT);
    recorder.finish();
    eventually("the end", || !receives());
    assert_eq!(remove(&http), 200);
    assert_eq!(remove(&http), 404);
    assert!(traces(&kept).is_empty());
    assert_eq!(get(&http, "/api/logs")["logs"], Value::Array(Vec::new()));
    // The same run may be sent again, from its beginning.
    send(&program, folder.path(), &address);
    let (_, url) = named(&kept, &http);
    let again = succeed(&["dump", "--json", &url]).json().len();
    assert_eq!(again, 54);
    store.signal(Signal::SIGTERM);
    store.succeed();
}

#[test]
fn changes_are_told_as_they_come() {
    let mut program = Program::new("changes", 1 << 12);
    program.log(5);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("traces");
    let (store, address, http) = answering(&kept, &["--allow-removal"]);
    let mut socket = TcpStream::connect(&http).unwrap();
    write!(socket, "GET /api/changes HTTP/1.1\r\nHost: {http}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(socket).lines();
    let mut next = || loop {
        let line = lines.next().unwrap().unwrap();
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str::<Value>(data).unwrap();
        }
    };
    assert_eq!(next()["changed"], Value::Array(Vec::new()));
    send(&program, folder.path(), &address);
    let ended = |change: &Value| change["changed"][0]["trace"]["state"] == "ended";
    let mut change = next();
    while !ended(&change) {
        change = next();
    }
    let id = change["changed"][0]["id"].as_str().unwrap().to_owned();
    let labels = &change["changed"][0]["trace"]["labels"];
    assert_eq!(labels["service"], "db");
    let place = format!("/api/logs/{}", id.replace('/', "%2F"));
    assert_eq!(ask(&http, "DELETE", &place, "").0, 200);
    let mut change = next();
    while change["removed"] != serde_json::json!([id]) {
        change = next();
    }
    store.signal(Signal::SIGTERM);
    store.succeed();
}

/// What a client reads that knows only the description.
#[test]
fn a_client_in_python_reads_the_same_as_json_and_as_cbor() {
    let folder = tempfile::tempdir().unwrap();
    let name = crate::support::Name::new("python-client");
    succeed(&["demo", name.path(), "--seconds", "1"]);
    let kept = folder.path().join("traces");
    let (store, address, http) = answering(&kept, &[]);
    let path = snapshot(&name, folder.path());
    succeed(&["record", &path, "--to", &address, "--once"]);
    let modules = root().join("tests/histograms/python_modules");
    let mut client = Command::new("python3");
    client.arg(root().join("tests/python/rest_client.py"));
    client
        .arg(format!("http://{http}"))
        .env("PYTHONPATH", modules);
    let read = Ran::new(client.output().unwrap());
    assert_eq!(read.code, Some(0), "{read:?}");
    let counts = read
        .stdout
        .split_whitespace()
        .map(|word| word.parse::<u64>().unwrap());
    let [asked, numbers] = counts.collect::<Vec<_>>()[..] else {
        panic!("{read:?}");
    };
    assert!(asked >= 15 && numbers > 100, "{asked} {numbers}");
    // An error is an object as well.
    let cbor = "Accept: application/cbor\r\n";
    let (status, head, body) = ask(&http, "GET", "/api/logs/none", cbor);
    assert!(
        status == 404 && head.contains("content-type: application/cbor"),
        "{head}"
    );
    assert!(body.windows(5).any(|word| word == b"error"), "{body:?}");
    let (_, head, _) = ask(&http, "GET", "/api/logs", "");
    assert!(head.contains("content-type: application/json"), "{head}");
    let told = run(&["dump", &format!("store://{http}/none")]).stderr;
    assert!(told.contains("there is no log"), "{told}");
    store.signal(Signal::SIGTERM);
    store.succeed();
}
