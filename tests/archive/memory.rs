//! Tests how much memory an archive can make a reader use.
//! The command reads small files that ask for much, with little memory.

use std::fs;
use std::process::{Command, Output, Stdio};

use timeline::{Definition, Order, Source as _, Value};
use timeline_archive::{Archive, Form, PRINTF, RawDefinition, RawEvent, RawThread, Writer};

use crate::samples::framed;

/// Most bytes that the command may have mapped; the program itself is some 20 MB of it.
const MOST: usize = 300 << 20;

/// Runs a verb on these bytes in that much memory.
fn run(file: &[u8], verb: &[&str], stdout: Stdio) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crafted.tla");
    fs::write(&path, file).unwrap();
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--as={MOST}"))
        .arg(env!("CARGO_BIN_EXE_timeline"))
        .args(verb)
        .arg(path);
    let child = command.stdout(stdout).stderr(Stdio::piped()).spawn();
    let child = child.expect("prlimit of util-linux");
    child.wait_with_output().expect("its end")
}

/// What a verb prints when all is well.
fn printed(file: &[u8], verb: &[&str]) -> String {
    let output = run(file, verb, Stdio::piped());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{verb:?}: {}: {told}",
        output.status
    );
    String::from_utf8(output.stdout).expect("text")
}

/// An archive of one string of a mebibyte that so many statements and threads refer to, for
/// everything they say.
fn one_long_string(count: u64, text: &str) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    let string = Some(writer.string(text));
    for i in 0..count {
        let event = RawEvent {
            definition: RawDefinition {
                file: string,
                line: Some(i),
                format: string,
                category: string,
                ..RawDefinition::default()
            },
            thread: RawThread {
                name: string,
                process: string,
                group: string,
                pid: Some(i),
                tid: Some(i),
                identity: Some(i),
            },
            ticks: Some(i),
            ..RawEvent::default()
        };
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    file
}

#[test]
fn many_statements_and_threads_of_one_long_string() {
    const COUNT: u64 = 3_000;
    // Line breaks end what is shown of a message, and not what is kept of it.
    let text = format!("begin{}", "\n".repeat((1 << 20) - 5));
    let file = one_long_string(COUNT, &text);
    assert!(file.len() < 2 << 20);
    for verb in [&["verify"][..], &["info"]] {
        assert!(printed(&file, verb).contains("3,000"), "{verb:?}");
    }
    let ways: [&[&str]; 3] = [&["dump"], &["dump", "--json"], &["tail", "-n", "5000"]];
    for way in ways {
        assert!(
            printed(&file, way).matches("begin").count() >= COUNT as usize,
            "{way:?}"
        );
    }
    // Of the first hundreds, as much as a definition may have.
    let archive = Archive::from_bytes(file);
    let longest = format!("{}…", &text[..Definition::LONGEST_TEXT]);
    let (long, cut): (Vec<_>, Vec<_>) = archive
        .definitions()
        .partition(|definition| definition.message == longest);
    assert!(long.len() >= 500 && cut.iter().all(|definition| definition.message.len() < 256));
    assert_eq!(long.len() + cut.len(), COUNT as usize);
    // In an archive's own terms, each has all of it.
    for event in archive.events() {
        assert_eq!(event.definition.message.as_deref(), Some(text.as_str()));
        assert_eq!(event.thread.process.as_deref(), Some(text.as_str()));
    }
}

#[test]
fn texts_of_an_archive_as_recorders_write_them_are_never_cut() {
    // A path of usual length for each statement of a large program, and for each of many threads.
    let text = format!("/usr/src/{}", "directory/".repeat(20));
    let archive = Archive::from_bytes(one_long_string(5_000, &text));
    assert_eq!(archive.definitions().count(), 5_000);
    assert!(
        archive
            .definitions()
            .all(|definition| definition.message == text)
    );
    for event in archive.events_by_time(Order::OldestFirst) {
        assert_eq!(
            archive.thread(&event).expect("known").name,
            Some(text.clone())
        );
    }
}

/// Appends a number, seven bits a byte.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A block of so many events, the first of which is at `first` and each other `step` later; it does
/// not say so.
fn block(count: u64, first: u64, step: u64) -> Vec<u8> {
    let mut expanded = Vec::new();
    for number in [first, 0, 0, 0] {
        put(&mut expanded, number);
    }
    // A shape with ticks alone; a source of nothing.
    expanded.extend([1, 0x80, 0x01, 1, 0]);
    let mut ticks = vec![0];
    for _ in 1..count {
        put(&mut ticks, 2 * step);
    }
    let zeros = vec![0; count as usize];
    let columns: [&[u8]; 8] = [&zeros, &zeros, &ticks, &[], &[], &[], &[], &[]];
    put(&mut expanded, columns.len() as u64);
    for column in columns {
        put(&mut expanded, column.len() as u64);
        expanded.extend(column);
    }
    let payload = lz4_flex::block::compress(&expanded);
    let mut record = vec![16, 0x85, 1, 7, 2, 0xa3, b'l', b'z', b'4', 3, 0xce];
    record.extend((expanded.len() as u32).to_be_bytes());
    record.extend([4, 0xce]);
    record.extend((count as u32).to_be_bytes());
    record.extend([9, 0xc6]);
    record.extend((payload.len() as u32).to_be_bytes());
    record.extend(payload);
    framed(&record)
}

#[test]
fn blocks_that_claim_any_time() {
    const BLOCKS: u64 = 50;
    const EVENTS: u64 = 1 << 16;
    // One after the other, the last first; and all at the same time.
    let apart = |i| block(EVENTS, (BLOCKS - i) * EVENTS, 1);
    let mixed = |i| block(EVENTS, i, BLOCKS);
    let apart: Vec<u8> = (0..BLOCKS).flat_map(apart).collect();
    let mixed: Vec<u8> = (0..BLOCKS).flat_map(mixed).collect();
    for file in [&apart, &mixed] {
        assert!(file.len() < 200_000, "{}", file.len());
        let shown = printed(file, &["dump", "--json", "-n", "20000"]);
        let ticks = |line: &str| line["{\"ticks\":".len()..].split(',').next()?.parse().ok();
        let ticks: Vec<u64> = shown
            .lines()
            .map(|line| ticks(line).expect("ticks"))
            .collect();
        assert_eq!(ticks.len(), 20_000);
        assert!(ticks.windows(2).all(|two| two[0] == two[1] + 1));
        assert!(printed(file, &["info"]).contains("3,276,800"));
    }
}

#[test]
fn the_same_archive_joined_hundreds_of_times() {
    const TIMES: usize = 200;
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    for i in 0..8_000 {
        let event = RawEvent {
            ticks: Some(i),
            args: vec![i as i64; 6],
            ..RawEvent::default()
        };
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    let file = file.repeat(TIMES);
    // Each of these events takes some 250 bytes: 400 MB in all.
    let shown = printed(&file, &["dump", "--json", "-n", "30000"]);
    let ticks = |line: &str| line["{\"ticks\":".len()..].split(',').next()?.parse().ok();
    let ticks: Vec<u64> = shown
        .lines()
        .map(|line| ticks(line).expect("ticks"))
        .collect();
    let expected = (0..8_000).rev().flat_map(|tick| [tick; TIMES]);
    assert!(expected.take(30_000).eq(ticks));
}

/// A record of msgpack: its tag, and fields that are encoded already.
fn record(tag: u8, fields: &[&[u8]]) -> Vec<u8> {
    framed(&[&[tag, 0x80 | fields.len() as u8], &fields.concat()[..]].concat())
}

/// A field that is a number.
fn number(field: u8, number: u64) -> Vec<u8> {
    [&[field, 0xcf], &number.to_be_bytes()[..]].concat()
}

/// A field that is a text.
fn text(field: u8, text: &str) -> Vec<u8> {
    let length = (text.len() as u32).to_be_bytes();
    [&[field, 0xdb], &length[..], text.as_bytes()].concat()
}

/// An archive of a few strings as long as they fit, to which each of some events refers for all
/// that it says.
fn amplified(events: u64, mebibytes: usize, change: impl Fn(u64, &mut RawEvent)) -> Vec<u8> {
    // Each takes six bytes in JSON, and four in the message of a table.
    let long = "\u{1}".repeat(mebibytes << 20);
    let mut file = record(1, &[&number(1, 7), &number(2, 1), &text(3, &long)]);
    // Two machines, so that each event tells which.
    for (magic, name) in [(7, &long[..1 << 20]), (8, "other")] {
        file.extend(record(
            0,
            &[&number(1, magic), &text(5, name), &text(8, name)],
        ));
    }
    for address in 0..100 {
        let names = [text(3, &long[..50_000]), text(5, &long[..50_000])];
        file.extend(record(
            2,
            &[&number(1, 7), &number(2, address), &names[0], &names[1]],
        ));
    }
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    for i in 0..events {
        let one = Some(1);
        let mut data = RawEvent {
            definition: RawDefinition {
                file: one,
                format: one,
                category: one,
                ..RawDefinition::default()
            },
            thread: RawThread {
                name: one,
                process: one,
                group: one,
                pid: Some(1),
                tid: Some(i % 3),
                identity: Some(i % 3),
            },
            ticks: Some(i),
            unix_nanos: Some(i),
            ..RawEvent::default()
        };
        change(i, &mut data);
        writer.event(&data).unwrap();
    }
    writer.flush().unwrap();
    drop(writer);
    file
}

/// Bytes that a way of reading prints of each event, as text and as JSON.
fn printed_of_each(file: &[u8], events: u64) -> [usize; 2] {
    let most = |ways: [&[&str]; 3]| {
        let lengths = ways.map(|way| {
            let text = printed(file, way);
            let json = text.lines().filter(|line| line.starts_with('{')).count();
            assert!(
                json == 0 || json as u64 == events,
                "{json} of {events} with {way:?}"
            );
            text.len() / events as usize
        });
        lengths.into_iter().max().unwrap()
    };
    [
        most([
            &["dump"],
            &["dump", "--long"],
            &["tail", "--long", "-n", "5000"],
        ]),
        most([
            &["dump", "--json"],
            &["dump", "--json", "-n", "5000"],
            &["tail", "--json", "-n", "5000"],
        ]),
    ]
}

#[test]
fn what_is_printed_of_an_event_does_not_grow_with_the_strings_of_an_archive() {
    // Each event of one such a file said all of it: with 1,500 of them, 17 MB became 24 GB of text.
    let file = amplified(200, 15, |_, _| {});
    assert!(file.len() > 16 << 20);
    let [text, json] = printed_of_each(&file, 200);
    let longest = Definition::LONGEST_TEXT + 100;
    // Category, thread, process and host, and the message, four for each byte; in JSON the group,
    // the template, the file, the channels and the timeline as well, six for each byte.
    assert!(text < (4 + 4) * longest, "{text} bytes of an event as text");
    assert!(json < 10 * 6 * longest, "{json} bytes of an event as JSON");
}

#[test]
fn many_threads_on_machines_of_long_names() {
    // Of each, 48 KiB in JSON.
    let file = amplified(8_000, 1, |i, event| event.thread.tid = Some(1 + i));
    let output = run(&file, &["dump", "--json"], Stdio::null());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {told}", output.status);
}

#[test]
fn what_is_printed_of_an_event_is_bounded_whatever_it_says() {
    const EVENTS: u64 = 16;
    let wide = "%4096d".repeat(32);
    let ints = [0xd2, 0, 0, 0, 1].repeat(32);
    let mut file = record(1, &[&number(1, 7), &number(2, 2), &text(3, &wide)]);
    file.extend(record(
        1,
        &[&number(1, 7), &number(2, 3), &text(3, "%s %s")],
    ));
    file.extend(amplified(EVENTS, 1, |i, event| {
        event.definition.syntax = Some(PRINTF);
        match i % 4 {
            0 => (event.definition.format, event.payload) = (Some(2), ints.clone()),
            // A text of a mebibyte, and after it others.
            1 => {
                let mut payload = vec![0xdb, 0, 0x0f, 0xff, 0xf0];
                payload.resize(payload.len() + 0x0f_fff0, 1);
                (event.definition.format, event.payload) = (Some(3), payload);
            }
            // As many values as there is room for, and no message.
            2 => (event.definition.format, event.payload) = (Some(9), vec![0xc0; 1 << 20]),
            _ => event.backtrace = (0..1024).map(|n| n % 100).collect(),
        }
    }));
    let [text, json] = printed_of_each(&file, EVENTS);
    // On average; a call stack of names that are as long as they may be is the most.
    assert!(text < 200 << 10, "{text} bytes of an event as text");
    assert!(json < 1 << 20, "{json} bytes of an event as JSON");
    // What there was room for is there.
    let json = printed(&file, &["dump", "--json"]);
    let lines: Vec<serde_json::Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let message = |i: usize| lines[EVENTS as usize - 1 - i]["message"].as_str().unwrap();
    assert!(message(0).starts_with(&format!("{:4096}", 1)) && message(0).ends_with('…'));
    assert!(message(1).starts_with("\u{1}\u{1}\u{1}") && message(1).contains('…'));
    assert!(message(1).chars().count() > 60_000);
    assert!(message(2).starts_with("<string 0x9?>((null), (null)") && message(2).ends_with("…)"));
    assert_eq!(
        lines[EVENTS as usize - 4]["backtrace"]
            .as_array()
            .unwrap()
            .len(),
        1024
    );
}

#[test]
fn no_more_symbols_of_pointers_are_shown_than_have_room() {
    const EVENTS: u64 = 100;
    let pointers: String = (0..60).map(|i| format!("$p{i}:ptr ")).collect();
    let name = "n".repeat(5_000);
    let mut file = record(1, &[&number(1, 7), &number(2, 2), &text(3, &pointers)]);
    for at in 0..60 {
        // Behind the pointer, as that of a call.
        let places = [number(2, at + 1), number(6, at)];
        file.extend(record(
            2,
            &[
                &number(1, 7),
                &places[0],
                &text(5, &name),
                &places[1],
                &number(7, 1),
            ],
        ));
    }
    file.extend(amplified(EVENTS, 1, |_, event| {
        event.definition.format = Some(2);
        (event.definition.file, event.definition.category) = (None, None);
        event.thread = RawThread {
            pid: Some(1),
            ..RawThread::default()
        };
        for address in 0..60 {
            Value::Uint(address).encode(&mut event.payload);
        }
    }));
    let shown = printed(&file, &["dump", "-n", "1"]);
    // Those that have room are there, then the addresses alone.
    assert_eq!(shown.matches(&name).count(), (32 << 10) / 5_000, "{shown}");
    assert!(shown.contains("p59(0x3b)"), "{shown}");
    let [text, json] = printed_of_each(&file, EVENTS);
    assert!(text < 64 << 10, "{text} bytes of an event as text");
    // With the names of the machine and of the timeline.
    assert!(json < 96 << 10, "{json} bytes of an event as JSON");
}
