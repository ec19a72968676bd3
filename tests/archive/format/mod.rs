//! docs/format.md against the source and the library: its tables, its worked example, and an
//! independent reader (tests/python/read_timeline.py) that was written from that page alone.

mod anchors;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use serde_json::Value;
use timeline::{EventId, Priority, Timeline};

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
    lines(&printed(
        dump.args(["dump", "--json"]).arg(file),
        "timeline",
    ))
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
        log_all(&tl, &events, rounds);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| log_all(&tl, &events, rounds));
            }
        });
        let file = folder.path().join(format!("{entries}.timeline"));
        tl.save(&file).unwrap();

        let found = independent(&file);

        assert!(found.len() >= held, "{} events", found.len());
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

    // The command adds an anchor of its own to what is no snapshot, so the times may differ a
    // little.
    let untimed = |mut events: Vec<Value>| {
        for event in &mut events {
            let fields = event.as_object_mut().unwrap();
            assert!(fields.remove("unix_ns").unwrap().is_u64());
            assert!(fields.remove("time").unwrap().is_string());
        }
        events
    };
    let found = independent(&copy);
    assert_eq!(found.len(), 7 * 8);
    assert_same(&untimed(found), &untimed(dumped(&copy)));
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
        (0x9001, "count and lane"),
        (0xa009, "a defined event"),
        (0xa007, "times that rise"),
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
    assert!(page.contains("61,440\nbytes long") && bytes.len() == 61440);
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

/// The constants of a Rust source and the first line of what is said about each.
fn constants(source: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut about = String::new();
    for line in source.lines().map(str::trim) {
        if let Some(said) = line.strip_prefix("/// ") {
            if about.is_empty() {
                about = said.to_owned();
            }
        } else if let Some(constant) = line.strip_prefix("pub const ") {
            let (name, rest) = constant.split_once(':').unwrap();
            let value = rest.split_once("= ").unwrap().1.trim_end_matches(';');
            let about = std::mem::take(&mut about);
            found.push((name.to_lowercase(), value.to_owned(), about));
        } else {
            about.clear();
        }
    }
    found
}

/// The constants that are the offsets of fields, with the type that their documentation begins
/// with.
fn fields_of_the_source(source: &str, others: &[&str]) -> Fields {
    constants(source)
        .into_iter()
        .filter(|(name, ..)| !others.contains(&name.as_str()))
        .map(|(name, value, about)| {
            let offset = number(&value).unwrap_or_else(|| panic!("{name} is {value}"));
            let word = about.split([',', ' ', '.', ';']).next().unwrap_or("");
            let scalar = ["u8", "u16", "u32", "u64"].contains(&word);
            let kind = match (scalar, about.split_once(" × ")) {
                (_, Some((count, rest))) if number(count).is_some() => {
                    format!("{count} × {}", rest.split(',').next().unwrap_or(""))
                }
                (true, _) => word.to_owned(),
                _ => String::new(),
            };
            (name, (offset, kind))
        })
        .collect()
}

fn assert_tables_agree(what: &str, page: &Fields, source: &Fields) {
    let offsets = |fields: &Fields| -> BTreeMap<String, u64> {
        let offset = |(name, (at, _)): (&String, &(u64, String))| (name.clone(), *at);
        fields.iter().map(offset).collect()
    };
    assert!(!page.is_empty(), "{what} has no table");
    assert_eq!(offsets(page), offsets(source), "{what}: page, then source");
    for (name, (_, kind)) in source {
        let said = &page[name].1;
        // Where the source says it in words (16 bytes, a byte per CPU), an array of the page will
        // do.
        let agree = kind == said || kind.is_empty() || said.ends_with(&format!("× {kind}"));
        assert!(agree, "{what}: {name} is {said} here and {kind} there");
    }
}

#[test]
fn the_header_is_that_of_the_source() {
    let page = fields_of_the_page(&read("docs/format.md"), "## Header");
    let not_fields = [
        "region_size",
        "creator_exe_size",
        "cpu_nodes_count",
        "checked",
        "anchors_count",
        "anchor_size",
        "flag_snapshot",
        "flag_reduced",
    ];
    let source = fields_of_the_source(&read("src/layout/header.rs"), &not_fields);
    assert_tables_agree("the header", &page, &source);
    assert!(page.len() > 30);
}

#[test]
fn the_records_are_those_of_the_source() {
    let page = read("docs/format.md");
    let source = read("src/layout/records.rs");
    let modules: Vec<&str> = source.split("\npub mod ").skip(1).collect();
    assert_eq!(modules.len(), 5);
    for module in modules {
        let (name, body) = module.split_once(" {\n").unwrap();
        let heading = format!("### {}{}", name[..1].to_uppercase(), &name[1..]);
        let size = constants(body)
            .into_iter()
            .find(|(name, ..)| name == "size");
        assert_eq!(size.unwrap().1, "64", "{name}");
        let of_the_page = fields_of_the_page(&page, &heading);
        let of_the_source = fields_of_the_source(body, &["size"]);
        assert_tables_agree(name, &of_the_page, &of_the_source);
    }
}
