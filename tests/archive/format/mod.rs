//! Compares docs/format.md with the source and the library.
//! It checks the tables and the worked example of the page, and an independent reader
//! (tests/python/read_timeline.py) that was written from that page alone.

mod anchors;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};
use timeline::internal::layout::header::{self, Header};
use timeline::internal::layout::records::{
    Chunk, Definition, Lane, Process, RecordField, Stretch, Thread,
};
use timeline::{Attributes, EventId, Priority, Timeline};

use crate::support::Name;
use crate::support::toolchain::{limited, printed, root, run};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

// The independent reader -------------------------------------------------------------------------

fn reader(file: &Path) -> Command {
    let mut python = limited("python3");
    python
        .env("PYTHONUTF8", "1")
        .arg(root().join("tests/python/read_timeline.py"))
        .arg(file);
    python
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

fn independent(file: &Path) -> Vec<Value> {
    lines(&printed(&mut reader(file), "python3"))
}

fn dumped(file: &Path) -> Vec<Value> {
    let mut dump = limited(env!("CARGO_BIN_EXE_timeline"));
    let mut dumped = lines(&printed(
        dump.args(["dump", "--json"]).arg(file),
        "timeline",
    ));
    for event in &mut dumped {
        // Names are made of categories and messages: the format has none.
        event.as_object_mut().expect("an object").remove("event");
    }
    dumped
}

/// Event for event, field for field, in the same order.
fn assert_same(independent: &[Value], dumped: &[Value]) {
    assert_eq!(independent.len(), dumped.len());
    for (number, (mine, theirs)) in independent.iter().zip(dumped).enumerate() {
        assert_eq!(mine, theirs, "event {number}, newest first");
    }
}

/// Events of every shape a definition can have.
fn define(tl: &Timeline) -> Vec<EventId> {
    let messages = [
        ("plain", Priority::Error, "no arguments at all"),
        ("one", Priority::Warning, "$only"),
        (
            "example",
            Priority::Trace,
            "processed $tcp, $udp, and $other",
        ),
        (
            "four",
            Priority::App,
            "$a_1$b2 [$c] 5$ or $$d\nand $not this one\nnor this",
        ),
        ("größe", Priority::Packet, "naïve $größe → “$x”\r\nprose"),
        // Shares its category with one and its message with none.
        ("one", Priority::Library, "only"),
        // Both strings are in the table already.
        ("plain", Priority::Info, "$only"),
    ];
    messages
        .map(|(category, priority, message)| tl.define(category, priority, message).unwrap())
        .to_vec()
}

fn log_all(tl: &Timeline, events: &[EventId], rounds: i64) {
    for i in 0..rounds {
        for (number, event) in (0..).zip(events) {
            tl.log(*event, [i, -i, i64::MIN + number, i64::MAX - i]);
        }
    }
}

#[test]
fn an_independent_reader_finds_the_same_events_in_a_snapshot() {
    let name = Name::new("format");
    let folder = tempfile::tempdir().unwrap();
    // Rings that hold all, and one that was overwritten many times.
    for (entries, rounds, held) in [(4096, 40, 7 * 4 * 40), (256, 1000, 128)] {
        let tl = Timeline::with_size(name.path(), entries, 8192).unwrap();
        let events = define(&tl);
        let important = Attributes {
            important: true,
            ..Attributes::default()
        };
        let important = tl.define_with("net", Priority::Info, "interface $id", &important);
        let important = important.unwrap();
        (0..3).for_each(|id| tl.log(important, [id]));
        log_all(&tl, &events, rounds);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| log_all(&tl, &events, rounds));
            }
        });
        let file = folder.path().join(format!("{entries}.timeline"));
        tl.save(&file).unwrap();

        let found = independent(&file);

        assert!(found.len() >= held + 3, "{} events", found.len());
        let is_important = |event: &&Value| event["important"] == true;
        assert!(found[..3].iter().all(|event| is_important(&event)));
        assert_eq!(found.iter().filter(is_important).count(), 3);
        assert_same(&found, &dumped(&file));
    }
}

#[test]
fn an_independent_reader_finds_the_same_events_where_a_program_stopped() {
    // Open chunks, whose counts are in the cursors: of a living thread, and of one that has ended.
    let name = Name::new("format");
    let folder = tempfile::tempdir().unwrap();
    let tl = Timeline::with_size(name.path(), 1024, 8192).unwrap();
    let events = define(&tl);
    thread::scope(|scope| {
        scope.spawn(|| log_all(&tl, &events, 3));
    });
    log_all(&tl, &events, 5);
    let copy = folder.path().join("corpse.timeline");
    let mut bytes = fs::read(format!("/dev/shm{}", name.path())).unwrap();
    // As if a writer had been killed between taking a chunk and installing it: chunk 60 of 64 is
    // open in lane 8, the first of those for threads, under a ticket that the lane's cursor does
    // not carry.
    let chunks = u64::from_le_bytes(bytes[0xc0..0xc8].try_into().unwrap()) as usize;
    let taken: u64 = (64 + 60) << 16 | 1 << 15 | 8;
    bytes[chunks + 60 * 64..][..8].copy_from_slice(&taken.to_le_bytes());
    bytes[chunks + 60 * 64 + 16] = 8;
    fs::write(&copy, bytes).unwrap();

    let found = independent(&copy);
    assert_eq!(found.len(), 7 * 8);
    assert_same(&found, &dumped(&copy));
}

#[test]
fn an_independent_reader_finds_only_whole_events_while_others_write() {
    let name = Name::new("format");
    let folder = tempfile::tempdir().unwrap();
    let tl = Timeline::with_size(name.path(), 1024, 8192).unwrap();
    let events = define(&tl);
    let (logged, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let files = [1, 2, 3].map(|round| (round, folder.path().join(format!("{round}.timeline"))));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    log_all(&tl, &events, 10);
                    logged.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for (round, file) in &files {
            // The ring has turned over since the last one.
            while logged.load(Ordering::Relaxed) < round * 100 {
                thread::yield_now();
            }
            tl.save(file).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    for (_, file) in &files {
        let found = independent(file);
        assert!(!found.is_empty());
        assert_same(&found, &dumped(file));
    }
}

#[test]
fn an_independent_reader_refuses_what_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(root().join("tests/data/example.timeline")).unwrap();
    let file = folder.path().join("damaged.timeline");
    for (at, named) in [
        (0x000, "the magic"),
        (0x008, "major version 1"),
        (0x01c, "checksum"),
        (0x17f, "checksum"),
        (0x7ff, "checksum"),
        (0x2040, "hash"),
        (0x205c, "as many $names"),
        (0x1e001, "count and lane"),
        (0x1f009, "a defined event"),
        (0x1f007, "times that rise"),
    ] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        fs::write(&file, bytes).unwrap();
        let output = run(&mut reader(&file), "python3");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "byte {at:#x}: {said}");
        assert!(said.contains(named), "byte {at:#x}: {said}");
    }
    fs::write(&file, &good[..good.len() - 1]).unwrap();
    assert!(!run(&mut reader(&file), "python3").status.success());
}

// The worked example -----------------------------------------------------------------------------

/// Version 1.0 as it was first written: every later version reads it.
#[test]
fn the_example_is_read_alike_by_both() {
    let file = root().join("tests/data/example.timeline");
    let found = independent(&file);
    let args: Vec<_> = found
        .iter()
        .map(|event| event["message"].as_str())
        .collect();
    assert_eq!(
        args,
        [
            Some("processed tcp(50), udp(60), and other(8)"),
            Some("processed tcp(10), udp(20), and other(3)"),
        ]
    );
    assert_same(&found, &dumped(&file));
}

/// Events of every type; tests/core/golden_typed.rs has made them.
#[test]
fn every_type_is_read_alike_by_both() {
    let file = root().join("tests/data/v1-typed.timeline");
    let (mut found, mut theirs) = (independent(&file), dumped(&file));
    // The reader gives units as numbers, and addresses without names.
    for event in found.iter_mut().chain(&mut theirs) {
        event["message"].take();
        for frame in event["backtrace"].as_array_mut().into_iter().flatten() {
            let address = frame.get_mut("address").map(Value::take);
            *frame = address.unwrap_or(frame.take());
        }
    }
    assert_same(&found, &theirs);
    let args = |event: usize| found[found.len() - 1 - event]["args"].clone();
    let texts = json!({"a": "größe", "b": "one", "c": null, "d": "nine byte", "e": ""});
    assert_eq!(args(5), texts);
    assert_eq!(args(6), json!({"a": "eight by…", "b": [513, "…"]}));
    assert_eq!(args(7)["c"], json!([-1, 7]));
}

/// Generations of thread records come again after 65,535 threads.
#[test]
fn a_record_of_that_identity_and_another_tid_is_another_threads() {
    let mut bytes = fs::read(root().join("tests/data/example.timeline")).unwrap();
    bytes[0x3004] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("later.timeline");
    fs::write(&file, bytes).unwrap();
    let found = independent(&file);
    assert!(
        found
            .iter()
            .all(|event| event["thread"].is_null() && event["tid"] == 0x2a24)
    );
    assert_same(&found, &dumped(&file));
}

#[test]
fn the_bytes_shown_are_those_of_the_example() {
    let page = read("docs/format.md");
    let bytes = fs::read(root().join("tests/data/example.timeline")).unwrap();
    assert!(page.contains("151,552\nbytes long") && bytes.len() == 151_552);
    let mut shown = 0;
    for block in page.split("```hexdump\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines() {
            let (at, rest) = line.split_once("  ").unwrap();
            let at = usize::from_str_radix(at, 16).unwrap();
            let (hex, text) = rest.split_once("  |").unwrap();
            let hex: Vec<u8> = hex
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                .collect();
            assert_eq!(hex, &bytes[at..at + 16], "{line}");
            let printable = |&byte: &u8| match byte {
                b' '..=b'~' => char::from(byte),
                _ => '.',
            };
            let expected: String = hex.iter().map(printable).chain(['|']).collect();
            assert_eq!(text, expected, "{line}");
            shown += 1;
        }
    }
    assert!(shown > 30, "only {shown} lines of bytes are shown");
}

// The tables -------------------------------------------------------------------------------------

/// Field by name: its offset and its type.
type Fields = BTreeMap<String, (u64, String)>;

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The rows `| offset | type | field | meaning |` of the first table below a heading.
fn fields_of_the_page(page: &str, heading: &str) -> Fields {
    let section = page
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("docs/format.md has no {heading}"))
        .1;
    let rows = section
        .lines()
        .skip_while(|line| *line != "| offset | type | field | meaning |")
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let offset = cells[0].trim_start_matches("| ");
        let offset = number(offset).unwrap_or_else(|| panic!("no offset in {row}"));
        (cells[2].to_owned(), (offset, cells[1].to_owned()))
    })
    .collect()
}

/// The fields of a record of the source, without the bytes that have no meaning.
fn fields_of_the_source(record: &[RecordField]) -> Fields {
    let named = record.iter().filter(|field| !field.name.starts_with('_'));
    named
        .map(|field| {
            let kind = field.kind.replace("Atomic", "").to_lowercase();
            let array = kind.trim_matches(['[', ']']).split_once("; ");
            let kind = array.map_or(kind.clone(), |(of, count)| format!("{count} × {of}"));
            (field.name.to_owned(), (field.offset as u64, kind))
        })
        .collect()
}

#[test]
fn the_header_is_that_of_the_source() {
    let page = read("docs/format.md");
    let source = fields_of_the_source(Header::FIELDS);
    assert_eq!(fields_of_the_page(&page, "## Header"), source);
    assert!(source.len() > 30);
    // The records that stand in it several times are told in their rows.
    let check = |name: &str, fields: &[RecordField], size: usize| {
        let row = row_of(&page, &format!(" | {name} | {{ "));
        let kind = |field: &RecordField| field.kind.replace("AtomicU", "u");
        let told = |field: &RecordField| format!("{} {}", field.name, kind(field));
        let fields: Vec<String> = fields.iter().map(told).collect();
        let fields = format!("{{ {} }}, {size} bytes", fields.join(", "));
        assert!(
            row.replace(" of each region", "").contains(&fields),
            "{row}"
        );
    };
    check(
        "regions",
        header::Region::FIELDS,
        size_of::<header::Region>(),
    );
    check(
        "anchors",
        header::Anchor::FIELDS,
        size_of::<header::Anchor>(),
    );
}

fn row_of<'a>(page: &'a str, cell: &str) -> &'a str {
    let row = page.lines().find(|line| line.contains(cell));
    row.unwrap_or_else(|| panic!("no row has {cell}"))
}

#[test]
fn the_records_are_those_of_the_source() {
    let page = read("docs/format.md");
    let check = |heading: &str, region: &str, fields: &[RecordField], size: usize| {
        let (told, is) = (
            fields_of_the_page(&page, heading),
            fields_of_the_source(fields),
        );
        assert_eq!(told, is, "{heading}");
        let row = row_of(&page, &format!(" | {region} | "));
        assert!(row.ends_with(&format!(" | {size} |")), "{row}");
    };
    check(
        "### Definition",
        "definitions",
        Definition::FIELDS,
        size_of::<Definition>(),
    );
    check("### Thread", "threads", Thread::FIELDS, size_of::<Thread>());
    check(
        "### Process",
        "processes",
        Process::FIELDS,
        size_of::<Process>(),
    );
    check("### Lane", "lanes", Lane::FIELDS, size_of::<Lane>());
    check("### Chunk", "chunks", Chunk::FIELDS, size_of::<Chunk>());
    check(
        "### Stretch",
        "stretches",
        Stretch::FIELDS,
        size_of::<Stretch>(),
    );
}
