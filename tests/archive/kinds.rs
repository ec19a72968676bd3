//! Tests that values in columns of their kinds are read as those of a payload.

use std::fs;

use serde_json::json;
use timeline::{Attached, EventId, Priority, Timeline, Value, lay_out, unlink};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};

use crate::independent::agree;

const PRINTF: &str = "%d %u %ld %lu %p %f %Lf %s %ls %s";
const TYPED: &str = "$a:i64 $b:u64 $c:f64 $d:str $e:u16[] $f:hex $g:i8 $h:f32";
const DOUBLES: &str = "$a:f64 $b:f64 $c:f64 $d:f64 $e:f64";
const POINTER: &str = "$a:i64 $b:u64 $c:f64 $d:str $e:u16[] $f:ptr $g:i8 $h:f32";

/// Values of which some are the largest, texts are missing or cut, and one is longer than an entry.
fn values(turn: usize) -> Vec<Value<'static>> {
    let texts: [(&[u8], bool); 5] = [
        (b"", false),
        (b"eth0", false),
        (&[0xff; 300], false),
        (b"part", true),
        (b"\xc1 no UTF-8", false),
    ];
    let text = |at: usize| match texts.get((turn + at) % 6) {
        Some((bytes, cut)) => Value::Text { bytes, cut: *cut },
        None => Value::Nil,
    };
    let number = [0, 1, u64::MAX, 1 << 63, 1 << 31, 0x7fff_ffff, 300][turn % 7];
    let float = [0.1, -0.0, f64::NAN, f64::INFINITY, 5e-324][turn % 5];
    vec![
        Value::Int(number as u32 as i32 as i64),
        Value::Uint(number as u32 as u64),
        Value::Int(number as i64),
        Value::Uint(number),
        Value::Uint(number ^ 0x7ffe_0000_1000),
        Value::Float(float),
        Value::LongDouble([
            turn as u8, 2, 3, 4, 5, 6, 7, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0,
        ]),
        text(0),
        text(1),
        text(2),
    ]
}

/// A double of one of several kinds, each of which suits another way to store it.
fn double(way: usize, turn: usize) -> Value<'static> {
    let mixed = (turn as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Value::Float(match way {
        0 => (mixed >> 48) as f64 / 100.0 - 300.0,
        1 => 1e5 + turn as f64 / 7.0,
        2 => f64::from_bits(mixed),
        // One that is not in the sample has more decimal places.
        3 => [1.5, 0.001][usize::from(turn == 67)],
        // One that is not in the sample is far from its neighbours.
        _ => [1e5 + turn as f64 / 3.0, -1e5][usize::from(turn == 67)],
    })
}

/// Logs events of each kind of value, and such as have other ways into a block.
fn log(timeline: &Timeline) {
    let printf = timeline.define_printf(
        "test",
        Priority::Info,
        PRINTF,
        ("test.c", 7),
        &Default::default(),
    );
    let plain = timeline.define_printf(
        "test",
        Priority::Info,
        "%d of %u",
        ("test.c", 8),
        &Default::default(),
    );
    let none = timeline.define_printf(
        "test",
        Priority::Info,
        "nothing",
        ("test.c", 9),
        &Default::default(),
    );
    let (printf, plain, none) = (printf.unwrap(), plain.unwrap(), none.unwrap());
    let define = |message| timeline.define("test", Priority::Info, message).unwrap();
    let interned = define("$a:istr $b:str");
    let (typed, pointer) = (define(TYPED), define(POINTER));
    let six = define("$a $b $c $d $e:u64 $f:i8");
    let (doubles, one) = (define(DOUBLES), define("$a:str $b:f64"));
    let put = |event: EventId, values: &[Value]| {
        timeline.log_payload(event, &lay_out(values), false);
    };
    for turn in 0..100 {
        let all = values(turn);
        put(printf, &all);
        timeline.log(plain, [turn as i64 - 50, -1, 7, 7]);
        timeline.log(none, []);
        let text = |at: usize| all[at].clone();
        let some = [2, 3, 5, 7, 8, 4, 0].map(text);
        put(typed, &[&some[..], &[Value::Uint(0x3fc0_0000)]].concat());
        put(pointer, &[&some[..], &[Value::Uint(0x7f80_0000)]].concat());
        put(six, &[0, 2, 0, 2, 3, 0].map(text));
        put(interned, &[text(7), text(8)]);
        put(doubles, &[0, 1, 2, 3, 4].map(|way| double(way, turn)));
        put(one, &[text(7), double(turn / 30, turn)]);
        // Too short for its values, and one with a call stack.
        timeline.log_payload(printf, &[turn as u64; 4], false);
        timeline.log_payload(plain, &[2, 0x1000, 0x2000, turn as u64, 5], true);
    }
    // So many that not all of them are in the sample by which a recorder chooses.
    for turn in 100..1000 {
        put(doubles, &[0, 1, 2, 3, 4].map(|way| double(way, turn)));
    }
}

#[test]
fn values_in_columns_of_their_kinds_are_those_of_a_payload() {
    let directory = tempfile::tempdir().unwrap();
    let name = format!("/timeline-test-kinds-{}", std::process::id());
    let timeline = Timeline::with_size(&name, 32_768, 1 << 16).unwrap();
    log(&timeline);
    let attached = Attached::open(&name).unwrap();
    let [plain, blocks] = [Form::Plain, Form::Blocks].map(|form| {
        let path = directory.path().join(format!("{form:?}.tla"));
        let mut output = ArchiveOutput::open(&path, Keeping::default()).unwrap();
        let mut recorder = Recorder::new(&attached, &mut output, form).unwrap();
        while recorder.step() {}
        assert_eq!(recorder.finish().events, 2000);
        let events: Vec<_> = Archive::open(&path).unwrap().events().collect();
        let read = events.into_iter().map(|event| {
            let message = event.definition.message.as_deref().map(str::to_string);
            (
                message,
                event.args,
                event.payload,
                event.backtrace,
                event.number,
            )
        });
        (path, read.collect::<Vec<_>>())
    });
    unlink(&name).unwrap();
    assert_eq!(plain.1.len(), 2000);
    for (plain, blocks) in plain.1.iter().zip(&blocks.1) {
        assert_eq!(plain, blocks);
    }
    let file = fs::read(&blocks.0).unwrap();
    assert!(file.windows(11).any(|bytes| bytes == b"lz4+columns"));
    // As a reader without our code has it from the document.
    let found = agree(&blocks.0);
    assert_eq!(found.len(), 2001);
    assert!(found.iter().any(|event| event["payload"] != json!(null)));
}
