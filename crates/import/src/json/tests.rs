//! Property tests: objects of JSON come back as equal objects, and in their order.

use proptest::prelude::*;
use serde_json::{Map, Value};
use timeline_archive::{Archive, OBJECT};

use crate::tests::{exported, import};

/// Imports lines, and checks that each comes back as an equal object or the same bytes. Returns
/// how many events were made of JSON.
fn check(log: &[u8], most: usize) -> usize {
    let archive = import(log, most);
    assert!(archive.damage().is_empty());
    let back = exported(&archive);
    let lines = |log: &[u8]| {
        let log = log.strip_suffix(b"\n").unwrap_or(log).to_vec();
        log.split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    let (before, after) = (lines(log), lines(&back));
    assert_eq!(
        before.len(),
        after.len(),
        "{}",
        String::from_utf8_lossy(&back)
    );
    for (before, after) in before.iter().zip(&after) {
        let value = |line: &[u8]| serde_json::from_slice::<Value>(line).ok();
        let are_equal =
            before == after || value(before).is_some_and(|before| Some(before) == value(after));
        let [before, after] = [before, after].map(|line| String::from_utf8_lossy(line));
        assert!(are_equal, "{before}\nbecame\n{after}");
    }
    made_of_json(&archive)
}

fn made_of_json(archive: &Archive) -> usize {
    let events = archive.events();
    events
        .filter(|event| event.definition.syntax == Some(OBJECT))
        .count()
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-9..9_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just(-0.0), Just(1.0), Just(1e300), Just(0.1), Just(5e-324)]
            .prop_map(Value::from),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c{}()$%\"\\\\ 0-9.:,é\n\u{202e}\u{0}]{0,12}",
        ".{0,6}",
        "[ab]"
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop_oneof![Just("$type".to_owned()), Just("$text".to_owned()), text()];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A format, its properties, and a message that often is that of the format.
fn message() -> impl Strategy<Value = (String, Map<String, Value>, String)> {
    let property = (
        "[a-c]",
        prop_oneof![number(), text().prop_map(Value::from), value()],
    );
    let piece = prop_oneof![
        "[a-d %.]{1,3}".prop_map(|text| (text.clone(), Err(text))),
        Just(("{{".to_owned(), Err("{".to_owned()))),
        "[a-c]".prop_map(|name| (format!("{{{name}}}"), Ok(name))),
        "[a-c]".prop_map(|name| (format!("{{{name}:n1}}"), Err("1.2".to_owned()))),
        Just(("}".to_owned(), Err("}".to_owned()))),
    ];
    let pieces = proptest::collection::vec(piece, 0..5);
    let properties = proptest::collection::vec(property, 0..4);
    (
        pieces,
        properties,
        any::<bool>(),
        prop_oneof![3 => Just(None), 1 => text().prop_map(Some)],
    )
        .prop_map(|(pieces, properties, is_named, other)| {
            let properties: Map<String, Value> = properties.into_iter().collect();
            let shown = |name: &str| match properties.get(name) {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => "?".into(),
            };
            let format = pieces.iter().map(|(format, _)| format.as_str()).collect();
            let message = pieces.iter().map(|(_, piece)| match piece {
                Ok(name) if is_named => format!("{name}({})", shown(name)),
                Ok(name) => shown(name),
                Err(text) => text.clone(),
            });
            let message = other.unwrap_or_else(|| message.collect());
            (format, properties, message)
        })
}

/// An object of the schema, more or less.
fn object() -> impl Strategy<Value = Value> {
    let level = prop_oneof![
        3 => Just(Value::from("Information")),
        1 => Just(Value::from("Warning")),
        1 => value(),
    ];
    let time = prop_oneof![
        4 => (0..60_u32).prop_map(|s| Value::from(format!("2026-11-23T14:03:{s:02}.125Z"))),
        1 => Just(Value::from("1969-12-31T23:59:59Z")),
        1 => Just(Value::from(1_795_442_587_123_u64)),
        1 => value(),
    ];
    let lines = (0..3_u64, 1..3_u64);
    let missing = proptest::collection::vec(proptest::bool::weighted(0.1), 9);
    (time, level, message(), lines, value(), value(), missing).prop_map(
        |(time, level, (format, properties, message), (index, count), id, more, missing)| {
            let members = [
                ("time", time),
                ("level", level),
                ("id", id),
                ("message", message.into()),
                ("format", format.into()),
                ("properties", Value::Object(properties)),
                ("lineIndex", index.into()),
                ("lineCount", count.into()),
                ("more", more),
            ];
            let there = members
                .into_iter()
                .zip(missing)
                .filter(|(_, is_missing)| !is_missing);
            let members = there.map(|((name, value), _)| (name.to_owned(), value));
            Value::Object(members.collect())
        },
    )
}

/// The naive twin of a writer of JSON: with spaces and escapes wherever the bits say so.
fn print(value: &Value, bits: &mut impl FnMut() -> bool, out: &mut String) {
    let mut string = |text: &str, out: &mut String| {
        out.push('"');
        for c in text.chars() {
            if c < ' ' || c == '"' || c == '\\' || bits() {
                let mut units = [0; 2];
                c.encode_utf16(&mut units)
                    .iter()
                    .for_each(|unit| *out += &format!("\\u{unit:04X}"));
            } else {
                out.push(c);
            }
        }
        out.push('"');
        if bits() {
            out.push(' ');
        }
    };
    match value {
        Value::String(text) => string(text, out),
        Value::Array(all) => {
            out.push('[');
            for (place, value) in all.iter().enumerate() {
                *out += if place > 0 { ", " } else { "" };
                print(value, bits, out);
            }
            out.push(']');
        }
        Value::Object(all) => {
            *out += "{";
            for (place, (key, value)) in all.iter().enumerate() {
                *out += if place > 0 { ",\t" } else { "" };
                let mut own = String::new();
                let mut string = String::new();
                print(&Value::from(key.as_str()), bits, &mut string);
                print(value, bits, &mut own);
                *out += &format!("{string}:{own}");
            }
            out.push('}');
        }
        value => *out += &value.to_string(),
    }
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let printed = (object(), any::<u64>(), any::<bool>()).prop_map(|(object, seed, is_plain)| {
        let mut state = seed;
        let mut bits = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            !is_plain && state >> 61 == 0
        };
        let mut out = String::new();
        print(&object, &mut bits, &mut out);
        out.into_bytes()
    });
    let damaged =
        (object(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(o, at, byte)| {
            let mut line = o.to_string().into_bytes();
            let at = at.index(line.len());
            line[at] = if byte == b'\n' { b'x' } else { byte };
            line
        });
    // With such a number, as 1e309, nobody can compare it with the object that comes back.
    let damaged = damaged.prop_filter("a number beyond those of floats", |line| {
        let value = serde_json::from_slice::<Value>(line);
        !value.is_err_and(|error| error.to_string().contains("number out of range"))
    });
    prop_oneof![
        8 => printed,
        1 => damaged,
        1 => "[a-z]{0,5} [0-9]{1,3}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn objects_come_back(
        lines in proptest::collection::vec(line(), 1..6),
        order in proptest::collection::vec(any::<prop::sample::Index>(), 1..30),
        most in 1..3000_usize,
    ) {
        let log: Vec<_> = order.iter().map(|at| at.get(&lines).clone()).collect();
        check(&log.join(&b"\n"[..]), most);
    }
}

/// Imports one line.
fn one(line: &str) -> (usize, String) {
    let archive = import(format!("{line}\n").as_bytes(), 1 << 20);
    let back = String::from_utf8(exported(&archive)).unwrap();
    (
        made_of_json(&archive),
        back.trim_end_matches('\n').to_owned(),
    )
}

#[test]
fn lines_of_the_schema_are_events_and_others_remain_text() {
    for line in [
        r#"{"message":"a"}"#,
        r#"{"format":"{a}","properties":{"a":1}}"#,
        r#"{"format":"{a}","properties":{}}"#,
        r#"{"message":"a","format":"{a} {","properties":{"a":"b"}}"#,
        r#"{"time":null,"level":null,"id":null,"message":"","properties":null}"#,
        r#"{"message":"a","properties":{"a":1,"a":2},"x":1,"x":"2"}"#,
        r#"{"message":"a","n":[-0,-0.0,1.0,1,1e400,18446744073709551616,1e-400]}"#,
        r#"{"message":"a","n":-0,"o":-0.0,"p":1.0,"q":1e400,"r":18446744073709551616}"#,
        r#"{"message":"a","s":"\ud800"}"#,
        r#"{"message":"a","level":"Loud","time":"1969-12-31T23:59:59Z"}"#,
        r#"{"message":"a","level":30,"time":"yesterday"}"#,
    ] {
        assert_eq!(one(line), (1, line.to_owned()));
    }
    for line in [
        r#"{}"#,
        r#"{"message":1}"#,
        r#"{"format":"a"}"#,
        r#"{"properties":{"a":1}}"#,
        r#"{"message":"a","message":"b"}"#,
        r#"{"message":"a","properties":{},"properties":{}}"#,
        r#"{"message":"a","time":"b","time":"c"}"#,
        r#"{"message":"a","level":"Error","level":"Warning"}"#,
        r#"{"message":"a"}}"#,
        r#"{"message":"a"} {"message":"b"}"#,
        r#"{"message":"\ud800"}"#,
        r#"{"message":"a","\ud800":1}"#,
        r#"["message"]"#,
        r#" {"message":"a"}"#,
    ] {
        assert_eq!(one(line), (0, line.to_owned()));
    }
    // A number beyond those of floats stays, and a text is printed as everywhere.
    let far = "{\"message\":\"a\",\"s\":\"\u{202e}\",\"n\":1e400}";
    let escaped = far.replace('\u{202e}', r"\u202e");
    assert_eq!(one(far), (1, escaped));
    let deep = format!(
        r#"{{"message":"a","d":{}1{}}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    assert_eq!(one(&deep), (1, deep));
    let deep = format!(
        r#"{{"message":"a","d":{}1{}}}"#,
        "{\"a\":".repeat(100),
        "}".repeat(100)
    );
    assert_eq!(one(&deep), (1, deep));
    let deep = format!(r#"{{"message":"a","d":{}"#, "[".repeat(50_000));
    assert_eq!(one(&deep), (0, deep));
}

#[test]
fn values_are_found_in_messages() {
    for (line, format) in [
        (
            r#""message":"5 of A","format":"{n} of {s}","properties":{"n":5,"s":"A"}"#,
            "%ld of %s",
        ),
        (
            r#""message":"n(5)!","format":"{n}!","properties":{"n":5}"#,
            "n(%ld)!",
        ),
        (
            r#""message":"{5} 5%","format":"{{{n}}} {n}%","properties":{"n":5}"#,
            "{%ld} %ld%%",
        ),
        (
            r#""message":"1.2s","format":"{n:n1}s","properties":{"n":1.23}"#,
            "%ss",
        ),
        (
            r#""message":"A","format":"{@s,5}","properties":{"s":{"$type":"S","$text":"A"}}"#,
            "%s",
        ),
        (
            r#""message":"else","format":"{n} of {s}","properties":{"n":5}"#,
            "%s",
        ),
        (
            r#""message":"9999999999999999999","format":"{n}","x":0,"n":9999999999999999999"#,
            "%lu",
        ),
        (
            r#""format":"{n} of {s}","properties":{"n":5,"s":"A"}"#,
            "%ld of %s",
        ),
        (r#""format":"{n} of {s}","properties":{"n":5}"#, "%s"),
    ] {
        let line = format!("{{{line}}}\n");
        let archive = import(line.as_bytes(), 1 << 20);
        let text = archive
            .events()
            .next()
            .and_then(|event| event.definition.message.clone());
        let object =
            timeline::internal::Object::parse(&text.unwrap()).expect("a format of objects");
        assert_eq!(object.format(), format, "{line}");
        assert_eq!(String::from_utf8(exported(&archive)).unwrap(), line);
    }
}

#[test]
fn lines_of_one_event_are_one_event() {
    let line = |time: u32, index: u32, count: u32, n: u32| {
        format!(
            "{{\"time\":\"2026-11-23T14:03:0{time}Z\",\"message\":\"line {n}\",\"properties\":\
             {{\"n\":{n}}},\"lineIndex\":{index},\"lineCount\":{count}}}\n"
        )
    };
    let events = |lines: &[String]| check(lines.concat().as_bytes(), 1 << 20);
    let three = [line(1, 0, 3, 1), line(1, 1, 3, 2), line(1, 2, 3, 3)];
    assert_eq!(events(&three), 1);
    assert_eq!(events(&[three.clone(), three.clone()].concat()), 2);
    // One is missing; two are swapped; of another time; text between.
    assert_eq!(events(&three[..2]), 1);
    assert_eq!(events(&[three[0].clone(), three[2].clone()]), 2);
    assert_eq!(
        events(&[three[1].clone(), three[0].clone(), three[2].clone()]),
        3
    );
    assert_eq!(events(&[three[0].clone(), line(2, 1, 3, 2)]), 2);
    assert_eq!(
        events(&[three[0].clone(), "text\n".into(), three[1].clone()]),
        2
    );
    // A message of several lines in one object, as timeline writes it.
    let whole = "{\"message\":\"a\\nb\",\"lineIndex\":0,\"lineCount\":2}\n".to_owned();
    assert_eq!(events(&[whole.clone(), whole]), 2);
}

#[test]
fn more_definitions_than_there_may_be_remain_text() {
    let line = |n: usize| format!("{{\"message\":\"a\",\"properties\":{{\"k{n}\":{n}}}}}\n");
    let log: String = (0..5000).map(line).collect();
    assert_eq!(check(log.as_bytes(), 1 << 20), super::MOST);
}

#[test]
fn objects_with_too_much_for_an_event_remain_text() {
    let many = |count: usize| {
        let all: Vec<_> = (0..count).map(|n| format!("\"{n}\":\"\"")).collect();
        format!(
            "{{\"message\":\"a\",\"properties\":{{{}}}}}\n",
            all.join(",")
        )
    };
    assert_eq!(check(many(200).as_bytes(), 1 << 20), 1);
    assert_eq!(check(many(300).as_bytes(), 1 << 20), 0);
}

#[test]
fn a_part_of_a_long_line_is_no_object() {
    let object = "{\"message\":\"a\"}";
    let spaces = " ".repeat(70_000);
    let most = crate::lines::MOST;
    for log in [
        format!("{object}{spaces}\n{object}\n"),
        format!("{}{object}\n", "x".repeat(most)),
        format!("{}{object}", "x".repeat(most)),
    ] {
        let archive = import(log.as_bytes(), 1 << 20);
        assert_eq!(String::from_utf8(exported(&archive)).unwrap(), log);
    }
    let long = format!("{{\"message\":\"{}\"}}\n", "é\\n".repeat(14_000));
    assert_eq!(check(long.as_bytes(), 1000), 1);
}
