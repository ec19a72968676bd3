//! Pointers among the values of events: each file has the symbols of those that have a name.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use timeline::{Attached, EventId, Priority, Timeline, Value, lay_out, unlink};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};

use crate::flight::{code, this_program};
use crate::samples::frames;

/// Fewer than four numbers, and more words than an entry has, with a text of varying length.
const SHORT: &str = "number $n:i64 at $place:ptr";
const LONG: &str = "number $n:i64 of $name:str by $ratio:f64 at $a $b:u8 $c $d:u64 $place:ptr";
/// The tag of a symbol in docs/archive.md.
const SYMBOL: u8 = 2;

/// Where an event points: to code of this program, to memory without a name, to nothing.
fn place(number: i64) -> u64 {
    let number = number as u64;
    match number % 7 {
        0..4 => code() + number % 60,
        4 | 5 => 0x1000 + number * 8,
        _ => 0,
    }
}

fn log(timeline: &Timeline, [short, long]: [EventId; 2], numbers: std::ops::Range<i64>) {
    for number in numbers {
        if number / 40 % 2 == 0 {
            timeline.log(short, [number, place(number) as i64]);
            continue;
        }
        let (bytes, cut) = (&b"some name of something"[..number as usize % 22], false);
        let values = [
            Value::Int(number),
            Value::Text { bytes, cut },
            Value::Float(number as f64 / 3.0),
            Value::Int(1),
            Value::Uint(2),
            Value::Int(3),
            Value::Uint(4),
            Value::Uint(place(number)),
        ];
        timeline.log_payload(long, &lay_out(&values), false);
    }
}

/// Fails unless a file has just the symbols of the places of its events, once. Returns the numbers
/// of these events, and how many have a name.
fn numbers_with_symbols(file: &Path) -> (Vec<i64>, usize) {
    let (archive, bytes) = (Archive::open(file).unwrap(), fs::read(file).unwrap());
    let (mut numbers, mut named) = (Vec::new(), HashSet::new());
    for event in archive.events() {
        let number = match event.payload.as_slice() {
            [] => event.args[0],
            // Signed integers of 32 bits come first in its msgpack.
            payload => i32::from_be_bytes(payload[1..5].try_into().unwrap()).into(),
        };
        let place = place(number);
        let symbol = archive.symbol(event.definition.magic, event.thread.pid, place + 1);
        let has_name = (code()..code() + 60).contains(&place);
        let name = symbol.and_then(|symbol| symbol.name.as_deref());
        match has_name {
            true => assert!(
                name.is_some_and(|name| name.contains("restart")),
                "{number}"
            ),
            false => assert_eq!(symbol, None, "{number}"),
        }
        named.extend(has_name.then_some(place));
        numbers.push(number);
    }
    let symbols = frames(&bytes).into_iter().filter(|(_, tag)| *tag == SYMBOL);
    assert_eq!(symbols.count(), named.len(), "{file:?}");
    (numbers, named.len())
}

#[test]
fn each_file_has_the_symbols_of_its_pointers_once() {
    let directory = tempfile::tempdir().unwrap();
    let name = format!("/timeline-test-pointers-{}", std::process::id());
    let timeline = Timeline::with_size(&name, 1 << 17, 1 << 16).unwrap();
    let define = |message| timeline.define("test", Priority::Info, message).unwrap();
    let events = [SHORT, LONG].map(define);
    timeline.define_module(&this_program()).unwrap();
    log(&timeline, events, 0..40_000);
    let attached = Attached::open(&name).unwrap();
    for (form, rotate_size) in [
        (Form::Plain, Some(1 << 20)),
        (Form::Blocks, Some(16 << 10)),
        (Form::Blocks, None),
    ] {
        let path = directory.path().join(format!("{form:?}-{rotate_size:?}/"));
        let keeping = Keeping {
            rotate_size,
            ..Keeping::default()
        };
        let mut output = ArchiveOutput::open(&path, keeping).unwrap();
        let mut recorder = Recorder::new(&attached, &mut output, form).unwrap();
        while recorder.step() {}
        assert_eq!(recorder.finish().events, 40_000);
        let files = fs::read_dir(&path)
            .unwrap()
            .map(|file| file.unwrap().path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        assert_eq!(files.len() > 2, rotate_size.is_some(), "{files:?}");
        let all = files.iter().map(|file| numbers_with_symbols(file));
        let (numbers, named): (Vec<_>, Vec<_>) = all.unzip();
        assert_eq!(numbers.concat(), Vec::from_iter(0..40_000));
        assert!(named.iter().all(|named| *named > 0));
    }
    unlink(&name).unwrap();
}

#[test]
fn a_pointer_has_a_name_once_its_object_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let name = format!("/timeline-test-pointers-later-{}", std::process::id());
    let timeline = Timeline::with_size(&name, 1 << 14, 1 << 16).unwrap();
    let short = timeline.define("test", Priority::Info, SHORT).unwrap();
    let attached = Attached::open(&name).unwrap();
    let path = directory.path().join("later.tla");
    let mut output = ArchiveOutput::open(&path, Keeping::default()).unwrap();
    let mut recorder = Recorder::new(&attached, &mut output, Form::Blocks).unwrap();
    let mut record = |number| {
        (0..3).for_each(|_| timeline.log(short, [number, place(0) as i64]));
        while recorder.step() {}
    };
    record(0);
    timeline.define_module(&this_program()).unwrap();
    record(0);
    assert_eq!(recorder.finish().events, 6);
    assert_eq!(numbers_with_symbols(&path), (vec![0; 6], 1));
    unlink(&name).unwrap();
}
