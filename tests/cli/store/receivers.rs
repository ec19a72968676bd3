//! Receivers that are no store of ours: any program that writes what it reads to a file.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use timeline_archive::{Archive, Form, frames};
use timeline_net::{Acknowledge, Hello, MAX_HELLO, Received, WireMessage};

use super::place::{Program, assert_same, events, is_important, options, send};
use crate::support::root;

#[test]
fn whoever_writes_what_it_reads_is_a_store() {
    let mut program = Program::new("nc", 1024);
    program.log(50);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = options(listener.local_addr().unwrap());
    options.acknowledge = Acknowledge::Nothing;
    let path = file.clone();
    let receiver = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut file = std::fs::File::create(path).unwrap();
        std::io::copy(&mut socket, &mut file).unwrap();
    });
    let totals = send(&program, &options, Form::Blocks);
    receiver.join().unwrap();
    assert_eq!((totals.events, totals.missed), (53, 0));
    assert_same(&events(&file), &program.recorded_here(), "what was written");
    // The important events come before all others.
    let archive = Archive::open(&file).unwrap();
    let important = archive.events().map(|event| is_important(&event));
    assert!(important.collect::<Vec<_>>().starts_with(&[true; 3]));
}

/// The script of the guide, as it is shown there.
#[test]
fn the_receiver_in_python_makes_whole_archives() {
    let mut program = Program::new("python", 1024);
    program.log(50);
    let folder = tempfile::tempdir().unwrap();
    let mut script = Command::new("python3")
        .arg(root().join("examples/python/receive.py"))
        .args(["0", "flight.tla"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = script.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
    let port: u16 = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let mut options = options(([127, 0, 0, 1], port).into());
    options.acknowledge = Acknowledge::Nothing;
    let totals = send(&program, &options, Form::Blocks);
    assert!(script.wait().unwrap().success());
    assert_eq!((totals.events, totals.missed), (53, 0));
    let file = folder.path().join("flight.tla");
    assert_same(&events(&file), &program.recorded_here(), "what it wrote");
}

/// The bytes of docs/protocol.md are those of a hello.
#[test]
fn the_example_of_the_protocol_is_a_hello() {
    let page = std::fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let (_, example) = page.split_once("```text\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let byte = |hex: &str| u8::from_str_radix(hex, 16).unwrap();
    let bytes: Vec<u8> = example.split_whitespace().map(byte).collect();
    let hello = WireMessage::Hello(Hello {
        version: 1,
        session: [7; 16],
        magic: 1,
        ..Hello::default()
    });
    let mut written = Vec::new();
    hello.put(&mut written);
    assert_eq!(written, bytes);
    let record = frames::first(&bytes, MAX_HELLO).unwrap().unwrap();
    assert_eq!(
        Received::read(&bytes[record]),
        Some(Received::Message(hello))
    );
}
