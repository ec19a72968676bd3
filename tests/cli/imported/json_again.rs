//! Whatever a program logs comes back whole of lines of JSON: events with hostile names and texts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use timeline::{Attributes, FieldType, Priority, Timeline, lay_out};

use super::Logs;
use crate::command::*;
use crate::support::{Name, size};

/// Names that the form of lines uses itself, and those that come of names which are used again.
const NAMES: [&str; 26] = [
    "time",
    "timestamp",
    "ts",
    "level",
    "priority",
    "id",
    "message",
    "format",
    "properties",
    "category",
    "channel",
    "file",
    "line",
    "lines",
    "lineIndex",
    "lineCount",
    "lineFeed",
    "path",
    "backtrace",
    "0",
    "1",
    "0_2",
    "category_2",
    "file_2",
    "_",
    "a",
];

/// An event that is defined and logged.
#[derive(Debug, Clone)]
struct Logged {
    category: String,
    priority: Priority,
    message: String,
    is_printf: bool,
    /// The types that the call gives, and its values.
    values: Vec<Given>,
    stack: Vec<u64>,
    place: (String, u32),
}

#[derive(Debug, Clone)]
enum Given {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text(String),
}

impl Given {
    fn kind(&self) -> FieldType<'static> {
        match self {
            Given::Int(_) => FieldType::I64,
            Given::Uint(_) => FieldType::U64,
            Given::Float(_) => FieldType::F64,
            Given::Bool(_) => FieldType::Bool,
            Given::Text(_) => FieldType::Str,
        }
    }

    fn conversion(&self) -> &'static str {
        match self {
            Given::Int(_) => "%ld",
            Given::Uint(_) => "%lu",
            Given::Float(_) => "%g",
            Given::Bool(_) => "%x",
            Given::Text(_) => "%s",
        }
    }

    fn value(&self) -> timeline::Value<'_> {
        match self {
            Given::Int(number) => timeline::Value::Int(*number),
            Given::Uint(number) => timeline::Value::Uint(*number),
            Given::Float(number) => timeline::Value::Float(*number),
            Given::Bool(is) => timeline::Value::Uint((*is).into()),
            Given::Text(text) => timeline::Value::Text {
                bytes: text.as_bytes(),
                cut: false,
            },
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    const HOSTILE: [&str; 25] = [
        "\n",
        "\n\n",
        "a\n",
        "\na",
        "a\nb",
        "\r\n",
        "",
        " ",
        "{",
        "}}",
        "{0}",
        "{category}",
        "%",
        "\"",
        "\\",
        "\\n",
        "\u{0}",
        "\u{1b}[2J",
        "\u{202e}",
        "é",
        "…",
        "null",
        "1",
        "a(1)",
        "(",
    ];
    prop_oneof![
        proptest::sample::select(&HOSTILE[..]).prop_map(str::to_owned),
        "[a-c{}()%\"\\\\ 0-9.:,é\n]{0,8}",
    ]
}

fn given() -> impl Strategy<Value = Given> {
    prop_oneof![
        1 => any::<i64>().prop_map(Given::Int),
        1 => (-3..3_i64).prop_map(Given::Int),
        1 => any::<u64>().prop_map(Given::Uint),
        1 => any::<f64>().prop_map(Given::Float),
        1 => any::<bool>().prop_map(Given::Bool),
        4 => text().prop_map(Given::Text),
    ]
}

/// A message is made of texts and of values, which have names.
fn logged() -> impl Strategy<Value = Logged> {
    let words = prop_oneof![
        proptest::sample::select(&["a", " ", ": ", "{", "}", "{}", "\"", "\\", "é", ".", "("][..])
            .prop_map(str::to_owned),
        "[a-c {}:.]{1,3}",
    ];
    let piece = (words, proptest::sample::select(&NAMES[..]), given());
    let end = proptest::sample::select(&["", "", "\n", "\n\n", "\nmore", "\nmore\n", "\r\n"][..]);
    (
        proptest::sample::select(&["", "c", "net.v1", "é \"c\"", "_"][..]),
        proptest::sample::select(&Priority::ALL[..]),
        proptest::collection::vec(piece, 0..5),
        end,
        any::<bool>(),
        proptest::collection::vec(1..9_u64, 0..3),
        (
            proptest::sample::select(&["a.c", "é \"\\.c", ""][..]),
            0..3_u32,
        ),
    )
        .prop_map(
            |(category, priority, pieces, end, is_printf, stack, (file, line))| {
                let mut message = String::new();
                for (words, name, given) in &pieces {
                    message += words;
                    message += &match is_printf {
                        true => given.conversion().to_owned(),
                        false => format!("${name}"),
                    };
                }
                Logged {
                    category: category.into(),
                    priority,
                    message: message + end,
                    is_printf,
                    values: pieces.into_iter().map(|(_, _, given)| given).collect(),
                    stack,
                    place: (file.into(), line),
                }
            },
        )
}

impl Logged {
    /// Logs it, if it is one that can be defined.
    fn log(&self, tl: &Timeline) -> bool {
        let plain = Attributes::default();
        let place = (&*self.place.0, self.place.1);
        let (category, priority, message) = (&*self.category, self.priority, &*self.message);
        let kinds: Vec<_> = self.values.iter().map(Given::kind).collect();
        let event = match self.is_printf {
            true => tl.define_printf(category, priority, message, place, &plain),
            false => tl.define_event(category, priority, message, &kinds, place, &plain),
        };
        let Ok(event) = event else {
            return false;
        };
        let mut values: Vec<_> = self.values.iter().map(Given::value).collect();
        let has_stack = self.is_printf && !self.stack.is_empty();
        if has_stack {
            values.insert(0, timeline::Value::Addresses(self.stack.clone()));
        }
        tl.log_payload(event, &lay_out(&values), has_stack);
        true
    }
}

fn lines(path: &str, more: &[&str]) -> String {
    succeed(&[&["export", path, "--format", "jsonl"], more].concat()).stdout
}

/// What readers are told of each event, with its values by name. Those that the form adds are not
/// compared, nor is NULL, which is no value of an event that was imported.
fn told(path: &str) -> Vec<Value> {
    let events = succeed(&["dump", path, "--json", "--reverse"]).json();
    let told = events.into_iter().map(|event| {
        let fields = ["time", "priority", "category", "message", "file", "line"];
        let mut told: Map<_, _> = fields
            .iter()
            .map(|field| (field.to_string(), event[field].clone()))
            .collect();
        let args: BTreeMap<String, Value> = match &event["args"] {
            Value::Array(all) => (all.iter().enumerate())
                .map(|(place, value)| (place.to_string(), value.clone()))
                .collect(),
            Value::Object(all) => all.clone().into_iter().collect(),
            other => panic!("{other}"),
        };
        told.insert("args".into(), serde_json::to_value(args).unwrap());
        Value::Object(told)
    });
    told.collect()
}

/// Whether an event has all that another one has.
fn has_all(after: &Value, before: &Value) -> bool {
    let args = before["args"].as_object().unwrap();
    let are_there = args
        .iter()
        .all(|(name, value)| value.is_null() || after["args"][name] == *value);
    let same = ["time", "priority", "category", "message", "file", "line"];
    are_there && same.iter().all(|field| after[field] == before[field])
}

/// A value in an object of another writer: sometimes an object, with a type of its own.
fn value() -> impl Strategy<Value = Value> {
    const TYPES: [&str; 4] = ["Channel", "SourceFile", "LineNumber", "Asset"];
    let leaf = prop_oneof![
        2 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let typed = (proptest::sample::select(&TYPES[..]), text(), any::<bool>());
    let typed = typed.prop_map(|(kind, text, has_more)| match has_more {
        true => json!({"$type": kind, "$text": text, "line": 7}),
        false => json!({"$type": kind, "$text": text}),
    });
    let inner = (proptest::sample::select(&NAMES[..]), leaf.clone());
    let inner = inner.prop_map(|(name, value)| json!({name: value}));
    prop_oneof![3 => leaf, 2 => typed, 1 => inner]
}

/// An object of another writer, in which any name may stand anywhere.
fn object() -> impl Strategy<Value = Value> {
    let member = || (proptest::sample::select(&NAMES[..]), value());
    let members = || proptest::collection::vec(member(), 0..5);
    let format = proptest::sample::select(&["", "{0}", "{category} a", "{a}{1}", "\n"][..]);
    (members(), members(), text(), format).prop_map(|(top, properties, message, format)| {
        let mut all: Map<String, Value> = Map::new();
        for (name, value) in top {
            all.insert(name.into(), value);
        }
        all.insert("message".into(), message.into());
        if !format.is_empty() {
            all.insert("format".into(), format.into());
        }
        let properties = properties.into_iter();
        let properties = properties.map(|(name, value)| (name.to_owned(), value));
        all.insert("properties".into(), Value::Object(properties.collect()));
        Value::Object(all)
    })
}

fn check_objects(all: &[Value]) {
    let logs = Logs::new();
    let log: String = all.iter().map(|object| format!("{object}\n")).collect();
    let archive = logs.import(&log);
    let parsed = |lines: &str| -> Vec<Value> {
        let lines = lines.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    assert_eq!(parsed(&lines(&archive, &[])), all, "{log}");
    let whole = lines(&archive, &["--whole"]);
    let (before, again) = (told(&archive), logs.import(&whole));
    assert_eq!(lines(&again, &["--whole"]), whole, "{log}");
    for (after, before) in told(&again).iter().zip(&before) {
        let same = ["time", "priority", "category", "message", "file", "line"];
        for field in same {
            assert_eq!(after[field], before[field], "{field} of {log}{whole}");
        }
    }
    // No name stands twice, and each type is that of a value.
    for event in succeed(&["dump", &archive, "--json"]).json() {
        for name in event["types"].as_object().into_iter().flat_map(Map::keys) {
            assert!(
                event["args"].get(name).is_some(),
                "{name} of {event} in {log}"
            );
        }
    }
}

fn check(all: &[Logged]) {
    let (logs, name) = (Logs::new(), Name::new("json-again"));
    let tl = name.create(4096);
    let count = all.iter().filter(|one| one.log(&tl)).count();
    drop(tl);
    let before = told(name.path());
    assert_eq!(before.len(), count);
    let whole = lines(name.path(), &["--whole"]);
    for more in [&[][..], &["--whole"]] {
        let exported = lines(name.path(), more);
        let archive = logs.import(&exported);
        assert_eq!(lines(&archive, more), exported);
        assert_eq!(lines(&archive, &["--whole"]).lines().count(), count);
        if !more.is_empty() {
            assert_eq!(lines(&archive, &["--whole"]), whole);
        }
        for (after, before) in told(&archive).iter().zip(&before) {
            assert!(
                has_all(after, before),
                "{more:?} {exported}\n{before}\nbecame\n{after}"
            );
        }
    }
}

fn runner() -> TestRunner {
    TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(12 * size() as u32)
    })
}

#[test]
fn whatever_is_logged_comes_back_whole() {
    let all = proptest::collection::vec(logged(), 1..30);
    let run = runner().run(&all, |all| {
        check(&all);
        Ok(())
    });
    run.unwrap();
}

#[test]
fn objects_with_any_names_come_back_whole() {
    let all = proptest::collection::vec(object(), 1..30);
    let run = runner().run(&all, |all| {
        check_objects(&all);
        Ok(())
    });
    run.unwrap();
}
