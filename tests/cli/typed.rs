//! Arguments with types, as every verb and every kind of file shows them.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use timeline::internal::FIELD_TYPES;
use timeline::{Priority, Timeline};
use timeline_search::line_count;

use crate::command::*;
use crate::json::same;
use crate::serve::http::{Served, quoted};
use crate::support::Name;
use crate::support::toolchain::{limited, printed, root};

/// A type, a word of an entry, and the word as text and in JSON.
fn cases() -> Vec<(&'static str, i64, &'static str, Json)> {
    let f64 = |number: f64| number.to_bits() as i64;
    let f32 = |number: f32| number.to_bits().into();
    vec![
        ("", -5, "-5", json!(-5)),
        (
            ":i64",
            i64::MIN,
            "-9223372036854775808",
            json!("-9223372036854775808"),
        ),
        (":i8", 0x80, "-128", json!(-128)),
        (":i16", 0x7fff, "32767", json!(32_767)),
        (":i32", 0xffff_ffff, "-1", json!(-1)),
        (":u8", -1, "255", json!(255)),
        (":u16", 65_536, "0", json!(0)),
        (":u32", -1, "4294967295", json!(u32::MAX)),
        (
            ":u64",
            -1,
            "18446744073709551615",
            json!("18446744073709551615"),
        ),
        (":u64", 1 << 53, "9007199254740992", json!(1_u64 << 53)),
        (":f32", f32(1.1), "1.1", json!(1.1)),
        (":f64", f64(-0.25), "-0.25", json!(-0.25)),
        (":f64", f64(f64::INFINITY), "inf", json!("inf")),
        (":f64", f64(f64::NAN), "nan", json!("nan")),
        (":f64", f64(-f64::NAN), "nan", json!("nan")),
        (":f32", f32(-f32::NAN), "nan", json!("nan")),
        (":bool", 0, "false", json!(false)),
        (":bool", -1, "true", json!(true)),
        (":char", 0xe9, "é", json!("é")),
        (":char", -1, "\\xff", json!("\\xff")),
        (":hex", 31, "0x1f", json!(31)),
        (
            ":ptr",
            0x7f00_dead_beef,
            "0x7f00deadbeef",
            json!(0x7f00_dead_beef_u64),
        ),
        (":ns", -12_500, "-12.5µs", json!(-12_500)),
        (":time", 0, "1970-01-01T00:00:00.000000000Z", json!(0)),
        (":bytes", 1536, "1.5 KiB", json!(1536)),
        (":enum(red=1,green=0x2)", 2, "green", json!("green")),
        (":enum(red=1,green=0x2)", -2, "-2", json!(-2)),
        (":flags(r=1,w=2)", 0, "0", json!([])),
        (":flags(r=1,w=2)", 0x13, "r|w|0x10", json!(["r", "w", 16])),
    ]
}

/// Logs each case in two events of its own: in each of the four words of an entry in turn, and
/// behind more integers than an entry has. Returns the text and the arguments in JSON of each, in
/// their order.
fn log(timeline: &Timeline) -> Vec<(String, Json)> {
    for row in FIELD_TYPES
        .iter()
        .filter(|row| row.storage.bits().is_some())
    {
        let is_of = |kind: &str| kind[1..].split('(').next() == Some(row.name);
        let mut cases = cases().into_iter().filter(|case| !case.0.is_empty());
        assert!(cases.any(|case| is_of(case.0)), "no case of {}", row.name);
    }
    let mut expected = Vec::new();
    for (index, case) in cases().iter().enumerate() {
        for before in [index % 4, 5 + index % 3] {
            expected.push(log_one(timeline, case, before));
        }
    }
    expected
}

/// Logs a case behind so many zeros.
fn log_one(
    timeline: &Timeline,
    (kind, word, text, json): &(&str, i64, &str, Json),
    before: usize,
) -> (String, Json) {
    let names: Vec<String> = ('a'..).take(before).map(String::from).collect();
    let plain: String = names.iter().map(|name| format!("${name} ")).collect();
    let message = format!("{plain}now $x{kind}. end\n$not:this");
    let event = timeline.define("typed", Priority::Info, &message).unwrap();
    match before {
        0..4 => {
            let mut words = [0; 4];
            words[before] = *word;
            timeline.log(event, words);
        }
        _ => {
            let mut words = vec![0; before];
            words.push(*word as u64);
            timeline.log_payload(event, &words, false);
        }
    }
    let mut args = json!({ "x": json });
    for name in &names {
        args[name] = json!(0);
    }
    let others: String = names.iter().map(|name| format!("{name}(0) ")).collect();
    (format!("{others}now x({text}). end"), args)
}

/// A message as a line of a table has it. Of the characters that are not shown, these tests have
/// only some.
pub fn in_a_line(text: &str) -> String {
    let spelled = |c: char| match c {
        '\n' => r"\n".to_string(),
        '\r' => r"\r".to_string(),
        '\t' => r"\t".to_string(),
        c if c.is_ascii_control() => format!(r"\x{:02x}", c as u32),
        c if c.is_control() || c == '\u{202e}' => format!(r"\u{{{:x}}}", c as u32),
        c => c.to_string(),
    };
    text.chars().map(spelled).collect()
}

/// A whole number in JSON: a text, where others would round it.
pub fn whole(number: impl Into<i128>) -> Json {
    let number = number.into();
    match number.unsigned_abs() > 1 << 53 {
        true => json!(number.to_string()),
        false => json!(i64::try_from(number).expect("it is small")),
    }
}

/// If it does not, shows where.
fn ends_with(found: &str, wanted: &str, what: &str) {
    let begin = wanted.split('(').next().unwrap_or_default();
    let from = found.find(begin).unwrap_or_default();
    let pairs = found[from..].chars().zip(wanted.chars());
    let same = pairs.take_while(|(a, b)| a == b).count();
    let part = |text: &str| -> String { text.chars().skip(same.max(80) - 80).take(160).collect() };
    let (found_part, wanted_part) = (part(&found[from..]), part(wanted));
    assert!(
        found.ends_with(wanted),
        "{what}: at {same} is\n{found_part:?}, expected\n{wanted_part:?}"
    );
}

fn check(path: &str, expected: &[(String, Json)]) {
    let dump = succeed(&["dump", path]);
    let mut texts: Vec<_> = dump.stdout.lines().skip(1).map(str::to_string).collect();
    texts.reverse();
    assert_eq!(texts.len(), expected.len(), "{path}");
    let json = succeed(&["dump", "--json", path]).json();
    for (at, (text, args)) in expected.iter().enumerate() {
        let line = format!(" typed    {}", in_a_line(text));
        ends_with(&texts[at], &line, path);
        let event = &json[expected.len() - 1 - at];
        ends_with(event["message"].as_str().unwrap(), text, path);
        for (name, wanted) in args.as_object().unwrap() {
            assert_eq!(
                &event["args"][name], wanted,
                "{path}: {name} of {text:.300}"
            );
        }
        let is_cut = |wanted: &Json| match wanted {
            Json::String(text) => text.ends_with('…'),
            Json::Array(list) => list.last() == Some(&json!("…")),
            _ => false,
        };
        let cut = args.as_object().unwrap().iter().filter(|arg| is_cut(arg.1));
        let cut: BTreeSet<_> = cut.map(|(name, _)| name.as_str()).collect();
        let told = event["cut"].as_array().into_iter().flatten();
        let told: BTreeSet<_> = told.map(|name| name.as_str().unwrap()).collect();
        assert_eq!(told, cut, "{path}: {text:.300}");
        let count = |args: &Json| args.as_object().unwrap().len();
        assert_eq!(count(&event["args"]), count(args), "{path}: {text:.300}");
    }
    let lines = succeed(&["search", path, "--json", "--whole", ""]).json();
    assert_eq!(lines.len(), expected.len(), "{path}");
    for (line, (text, args)) in lines.iter().zip(expected) {
        for (name, wanted) in args.as_object().unwrap() {
            let found = &line["properties"][name];
            assert_eq!(found, wanted, "{path}: {name} of {text:.300}");
        }
    }
    let exported = succeed(&["export", path, "--format", "jsonl", "--whole"]).json();
    assert!(exported == lines, "{path}");
}

/// The server tells the same values of the events of a file; of many events, of some.
fn check_served(path: &str, expected: &[(String, Json)]) {
    let served = Served::begin(&[path]);
    let log = format!("/api/logs/{}/lines", quoted(path));
    let mut first = 0;
    for (at, (text, args)) in expected.iter().enumerate() {
        if at % (expected.len() / 50 + 1) == 0 {
            let event = served.json(&format!("{log}/{first}"));
            let fields = event["fields"].as_array().unwrap().iter();
            let found: serde_json::Map<_, _> = fields
                .map(|field| {
                    (
                        field["name"].as_str().unwrap().into(),
                        field["value"].clone(),
                    )
                })
                .collect();
            assert_eq!(Json::from(found), *args, "{path}: {text:.300}");
        }
        first += line_count(text);
    }
}

#[test]
fn each_type_is_shown_alike_from_a_ring_a_snapshot_and_an_archive() {
    let name = Name::new("typed");
    let timeline = name.create(1024);
    let expected = log(&timeline);
    check_everywhere(&name, timeline, &expected);
}

/// The reader in Python gives the arguments that `dump --json` gives.
fn an_independent_reader_agrees(saved: &str, count: usize) {
    let mut python = limited("python3");
    python.env("PYTHONUTF8", "1");
    let reader = root().join("tests/python/read_timeline.py");
    let said = printed(python.arg(reader).arg(saved), "python3");
    let found = said.lines().map(|line| -> Json {
        serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line:.300}"))
    });
    let found: Vec<Json> = found.collect();
    let wanted = succeed(&["dump", "--json", saved]).json();
    assert_eq!((found.len(), wanted.len()), (count, count));
    for (found, wanted) in found.iter().zip(&wanted) {
        let (args, dumped) = (&found["args"], &wanted["args"]);
        assert!(same(args, dumped), "{args:.300}\n{dumped:.300}");
        for column in ["cut", "template", "definition", "ticks"] {
            assert_eq!(found[column], wanted[column], "{column} of {args:.300}");
        }
    }
}

#[test]
fn an_independent_reader_reads_what_is_rare() {
    let name = Name::new("typed");
    let tl = name.create(1024);
    // More arguments than the event has words, and names that come again.
    let five = tl.define("typed", Priority::Info, "$a $b $a $a_2 $e");
    tl.log(five.unwrap(), [1, 2, 3, 4]);
    let long = tl.define_printf(
        "typed",
        Priority::Info,
        "%Lf",
        ("a.c", 1),
        &Default::default(),
    );
    let long = long.unwrap();
    let one = 1 << 63;
    let numbers: [(u64, u64); 12] = [
        (0, 0),
        (0x8000, 0),
        (0, 1),
        (1, one),
        (16383, one),
        (0xbfff, one | one >> 1),
        (16383 - 4, 0xcccc_cccc_cccc_cccd),
        (16383 + 63, 10_000_000_000_000_000_000),
        (16383 + 69, one | 12_345),
        (16383 - 14, 0xd1b7_1758_e219_652c),
        (0x7ffe, u64::MAX),
        (0xffff, one),
    ];
    for (upper, significand) in numbers.into_iter().chain([(0x7fff, one | 1)]) {
        tl.log_payload(long, &[significand, upper], false);
    }
    let folder = tempfile::tempdir().unwrap();
    an_independent_reader_agrees(&snapshot(&name, folder.path()), 14);
}

/// The ring, its tail, a snapshot and archives.
pub fn check_everywhere(name: &Name, timeline: Timeline, expected: &[(String, Json)]) {
    check(name.path(), expected);

    let mut tail = Running::start(&["tail", name.path(), "-n", "1000"]);
    let count = expected.len();
    let lines = tail.stdout_until("all of them", |lines| lines.len() == count);
    for (line, (text, _)) in lines.iter().zip(expected) {
        ends_with(line, &in_a_line(text), "tail");
    }

    let folder = tempfile::tempdir().unwrap();
    let saved = snapshot(name, folder.path());
    check(&saved, expected);
    an_independent_reader_agrees(&saved, expected.len());
    check_served(&saved, expected);
    drop(timeline);
    for more in [&[][..], &["--plain"]] {
        let archive = folder.path().join(format!("{}.tla", more.len()));
        let archive = archive.to_str().unwrap();
        succeed(&[&["record", "--once", name.path(), "-o", archive], more].concat());
        check(archive, expected);
        check_served(archive, expected);
    }
}
