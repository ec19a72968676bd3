//! Archives that lack texts or definitions: their values are shown, and unknown fields are null.

use std::fs;

use serde_json::Value as Json;
use serde_json::json;
use timeline::{Priority, Value};
use timeline_archive::{Form, PRINTF, RawEvent, Writer};

use crate::command::*;
use crate::damaged::frames;
use crate::mixture::Mixture;
use crate::typed::in_a_line;
use crate::typed::whole;

/// Damages each string of an archive in which this stands; how many.
pub fn lose(bytes: &mut [u8], text: &[u8]) -> usize {
    damage(bytes, 1, text)
}

/// Damages each record with this tag in which this stands; how many.
fn damage(bytes: &mut [u8], tag: u8, text: &[u8]) -> usize {
    let mut lost = 0;
    let starts = frames(bytes);
    let ends = starts[1..].iter().copied().chain([bytes.len()]);
    for (start, end) in starts.iter().zip(ends.collect::<Vec<_>>()) {
        let frame = &mut bytes[*start..end];
        let head = match frame[7] {
            0xda => 10,
            0xdb => 12,
            _ => 8,
        };
        let has_tag = frame[head] == tag;
        if has_tag
            && frame
                .windows(text.len().max(1))
                .any(|at| at.starts_with(text))
        {
            *frame.last_mut().unwrap() ^= 0x40;
            lost += 1;
        }
    }
    lost
}

/// What stands in the place of a message, made of the JSON of its values.
fn by_position(template: &Json, args: &Json) -> String {
    let values: Vec<&Json> = match args {
        Json::Array(values) => values.iter().collect(),
        args => args.as_object().unwrap().values().collect(),
    };
    let shown = values.iter().map(|value| match value {
        Json::Null => "(null)".to_string(),
        Json::String(text) if text == "nan" => text.clone(),
        // Beyond 2^53.
        Json::String(text) if text.parse::<i128>().is_ok() => text.clone(),
        Json::String(text) => format!("{text:?}"),
        number => number.to_string(),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match shown.is_empty() {
        true => template.as_str().unwrap().to_string(),
        false => format!("{}({shown})", template.as_str().unwrap()),
    }
}

/// The values, whatever they are called. Those of an object have no order here.
fn values(line: &Json) -> Vec<String> {
    match &line["args"] {
        Json::Array(values) => values.iter().map(Json::to_string).collect(),
        args => {
            let values = args.as_object().unwrap().values();
            let mut values: Vec<_> = values.map(Json::to_string).collect();
            values.sort();
            values
        }
    }
}

#[test]
fn values_are_shown_by_position_where_all_definitions_were_lost() {
    let mut mixture = Mixture::new("positions");
    mixture.log(20);
    mixture.end();
    for (file, options) in [("blocks.tla", &[][..]), ("plain.tla", &["--plain"])] {
        let archive = mixture.record(mixture.name.path(), file, options);
        let before = succeed(&["dump", "--json", &archive]).json();
        let mut bytes = fs::read(&archive).unwrap();
        assert!(lose(&mut bytes, b"") > 10);
        // Nor does anybody know which executable has them.
        assert_eq!(damage(&mut bytes, 0, b""), 1);
        assert!(damage(&mut bytes, 3, b"") > 0);
        fs::write(&archive, bytes).unwrap();

        let after = lacking(&["dump", "--json", &archive]).json();
        assert_eq!(before.len(), after.len());
        let mut kinds = [0; 3];
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(values(before), values(after));
            for known in [
                "ticks",
                "unix_ns",
                "core",
                "tid",
                "pid",
                "priority",
                "definition",
                "line",
                "backtrace",
            ] {
                assert_eq!(before[known], after[known], "{known}");
            }
            for lost in ["template", "category", "thread", "process"] {
                let shown = after[lost].as_str().unwrap();
                assert!(
                    shown.starts_with("<string 0x") && shown.ends_with("?>"),
                    "{shown}"
                );
            }
            let message = after["message"].as_str().unwrap();
            assert_eq!(message, by_position(&after["template"], &after["args"]));
            match &after["args"] {
                Json::Array(_) => kinds[0] += 1,
                args if args.as_object().unwrap().is_empty() => kinds[1] += 1,
                args => {
                    let names: Vec<_> = args.as_object().unwrap().keys().collect();
                    assert!(names == ["0"] || names == ["0", "1", "2"], "{names:?}");
                    kinds[2] += 1;
                }
            }
        }
        assert_eq!(kinds, [120, 40, 120]);

        let shown = |message: &Json| in_a_line(message.as_str().unwrap());
        for (args, reversed) in [
            (&["dump", &archive][..], false),
            (&["dump", "--long", &archive], false),
            (&["tail", "-n", "1000", &archive], true),
        ] {
            let text = lacking(args).stdout;
            let lines = text.lines().skip(usize::from(!reversed));
            let mut lines: Vec<_> = lines.filter(|line| !line.starts_with("    at ")).collect();
            if reversed {
                lines.reverse();
            }
            assert_eq!(lines.len(), after.len());
            for (line, event) in lines.iter().zip(&after) {
                let expected = format!(" {}", shown(&event["message"]));
                assert!(line.ends_with(&expected), "{line} of {expected}");
            }
        }
    }
}

#[test]
fn only_what_its_definition_was_lost_of_is_shown_as_its_number() {
    let mut mixture = Mixture::new("one-lost");
    mixture.log(20);
    mixture.end();
    let archive = mixture.record(mixture.name.path(), "one.tla", &["--plain"]);
    let dumps = |dump: fn(&[&str]) -> Ran| {
        let text = dump(&["dump", &archive]).stdout;
        let json = dump(&["dump", "--json", &archive]).json();
        (text.lines().map(String::from).collect::<Vec<_>>(), json)
    };
    let (before, before_json) = dumps(succeed);
    let mut bytes = fs::read(&archive).unwrap();
    assert_eq!(lose(&mut bytes, b"processed $tcp"), 1);
    fs::write(&archive, bytes).unwrap();
    let (after, after_json) = dumps(lacking);
    let (mut numbers, mut others) = (0, 0);
    for (before, after) in before.iter().zip(&after) {
        let Some((_, said)) = before.split_once("processed ") else {
            assert_eq!(before, after);
            others += 1;
            continue;
        };
        // processed tcp(10), udp(20), and other(3)
        let values = said
            .split(['(', ')'])
            .skip(1)
            .step_by(2)
            .collect::<Vec<_>>();
        let end = format!("?>({})", values.join(", "));
        assert!(
            after.contains("example     <string 0x") && after.ends_with(&end),
            "{after}"
        );
        numbers += 1;
    }
    assert_eq!((numbers, numbers + others), (40, before.len()));
    assert_eq!(before.len(), after.len());
    for (before, after) in before_json.iter().zip(&after_json) {
        let lost = before["message"].as_str().unwrap().starts_with("processed");
        assert_eq!(before == after, !lost);
    }
}

/// An archive of these events, in this form, whose strings 1 and 2 are `net` and `got $bytes`.
fn archive(form: Form, events: &[RawEvent]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, form);
    events.iter().for_each(|event| writer.event(event).unwrap());
    writer.flush().unwrap();
    file
}

fn encoded(values: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.iter().for_each(|value| value.encode(&mut bytes));
    bytes
}

/// What dump and tail print of an archive, as JSON and as text, the oldest first.
fn shown(file: &[u8]) -> (Vec<Json>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.tla").display().to_string();
    fs::write(&path, file).unwrap();
    let mut json = succeed(&["dump", "--json", &path]).json();
    json.reverse();
    let mut tailed = succeed(&["tail", "--json", "-n", "1000", &path]).json();
    // Of the same events, these are the distances to others.
    for line in json.iter_mut().chain(&mut tailed) {
        line["cycles"].take();
    }
    assert_eq!(json, tailed);
    let text = succeed(&["dump", &path]).stdout;
    let mut text: Vec<_> = text.lines().skip(1).map(String::from).collect();
    text.reverse();
    let long = succeed(&["dump", "--long", &path]).stdout;
    let tail = succeed(&["tail", "-n", "1000", &path]).stdout;
    let mut long: Vec<_> = long.lines().skip(1).collect();
    long.reverse();
    for lines in [long, tail.lines().collect()] {
        assert_eq!(lines.len(), text.len());
        for (line, text) in lines.iter().zip(&text) {
            let message = text.split_once(' ').unwrap().1.rsplit("  ").next().unwrap();
            assert!(line.ends_with(message), "{line} of {text}");
        }
    }
    (json, text)
}

/// Events of which hardly anything is known: nothing, arguments, a payload, and a few numbers.
fn hardly_known() -> [RawEvent; 4] {
    let nothing = RawEvent::default();
    let mut values = RawEvent {
        args: vec![10, -20],
        unix_nanos: Some(1),
        ..RawEvent::default()
    };
    let mut payload = RawEvent {
        payload: encoded(&[
            Value::Nil,
            Value::Float(0.5),
            Value::Text {
                bytes: b"a \"b\"\n",
                cut: true,
            },
        ]),
        unix_nanos: Some(2),
        ..RawEvent::default()
    };
    payload.definition.syntax = Some(PRINTF);
    values.thread.tid = Some(5);
    let mut numbered = values.clone();
    numbered.unix_nanos = Some(3);
    numbered.definition.event = Some(6);
    numbered.definition.level = Some(Priority::Error as u64);
    numbered.ticks = Some(100);
    [nothing, values, payload, numbered]
}

#[test]
fn what_is_not_known_is_null() {
    for form in [Form::Blocks, Form::Plain] {
        let (json, text) = shown(&archive(form, &hardly_known()));

        let mut unknown = json!({});
        for field in [
            "ticks",
            "time",
            "unix_ns",
            "cycles",
            "core",
            "node",
            "tid",
            "pid",
            "thread",
            "process",
            "category",
            "priority",
            "message",
            "template",
            "event",
            "definition",
        ] {
            unknown[field] = Json::Null;
        }
        unknown["args"] = json!({});
        let with = |fields: Json| {
            let mut event = unknown.clone();
            for (field, value) in fields.as_object().unwrap() {
                event[field] = value.clone();
            }
            event
        };
        assert_eq!(json[0], unknown);
        let time = |n| format!("1970-01-01T00:00:00.00000000{n}Z");
        assert_eq!(
            json[1],
            with(
                json!({ "unix_ns": "1", "time": time(1), "tid": 5, "args": { "0": 10, "1": -20 } })
            )
        );
        assert_eq!(
            json[2],
            with(json!({
                "unix_ns": "2", "time": time(2), "args": [null, 0.5, "a \"b\"\n…"], "file": null,
                "line": null, "cut": [2],
            }))
        );
        assert_eq!(
            json[3],
            with(json!({
                "unix_ns": "3", "time": time(3), "tid": 5, "ticks": 100, "definition": 6,
                "priority": "error",
                "args": { "0": 10, "1": -20 },
            }))
        );
        let messages: Vec<_> = text
            .iter()
            .map(|line| line.split_once("?        ").unwrap().1)
            .collect();
        let cut = r#"<event ?>((null), 0.5, "a \"b\"\n…")"#;
        assert_eq!(
            messages,
            [
                "<event ?>",
                "<event ?>(10, -20)",
                cut,
                "<event 6?>(10, -20)"
            ]
        );
    }
}

#[test]
fn more_integers_than_an_entry_has_are_shown() {
    for form in [Form::Blocks, Form::Plain] {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, form);
        let [six, one] = ["$a $b $c $d $e $f", "$n"].map(|text| writer.string(text));
        let mut event = RawEvent {
            args: vec![1, -2, 3, i64::MIN, i64::MAX, 6],
            ticks: Some(1),
            ..RawEvent::default()
        };
        event.definition.format = Some(six);
        writer.event(&event).unwrap();
        // Few, and a call stack beside them.
        event = RawEvent {
            args: vec![7],
            backtrace: vec![0x1000],
            ticks: Some(2),
            ..RawEvent::default()
        };
        event.definition.format = Some(one);
        writer.event(&event).unwrap();
        writer.flush().unwrap();
        drop(writer);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("six.tla").display().to_string();
        fs::write(&path, file).unwrap();
        let json = succeed(&["dump", "--json", &path]).json();
        let (least, most) = (i64::MIN, i64::MAX);
        assert_eq!(
            json[1]["args"],
            json!({ "a": 1, "b": -2, "c": 3, "d": whole(least), "e": whole(most), "f": 6 })
        );
        let message = format!("a(1) b(-2) c(3) d({least}) e({most}) f(6)");
        assert_eq!(json[1]["message"], message);
        assert_eq!(
            (&json[0]["message"], &json[0]["args"]),
            (&json!("n(7)"), &json!({ "n": 7 }))
        );
        let text = succeed(&["dump", &path]).stdout;
        assert!(
            text.contains(&message) && text.contains("n(7)\n    at 0x1000"),
            "{text}"
        );
    }
}
