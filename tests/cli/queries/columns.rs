//! Columns: events of an archive are chosen by them, and are those left when all are filtered.

use std::fs;
use std::time::SystemTime;

use jiff::tz::TimeZone;
use timeline::{Attributes, Priority, Value, lay_out};
use timeline_archive::{Archive, Form, Preamble, RawEvent, RawThread, Writer};
use timeline_import::Importer;
use timeline_search::{Query, numbers, priorities};

use super::recorded;
use super::selection::{Chosen, HOW, LITERALS, by, edges, kinds};
use crate::support::{Name, Random};

/// What else is asked about a number: with other fields, and with parts of any kind.
const OTHERS: [&str; 15] = [
    "!(v > 2 || v > 1 || w == 3)",
    "v",
    "!v",
    "v == w",
    "v != w",
    "v < w",
    "w <= v",
    "v == v",
    "v > x",
    "v ~ '^1'",
    "v !~ '[0-9]$'",
    "v > 5 && w < 40 || !(x == 2)",
    "!(v < 3) && !(w ~ '7')",
    "$7 == 0 || $3 != 1",
    "nobody == 1 || text == 'eth0'",
];

#[test]
fn numbers_at_all_edges_are_chosen_as_they_are_compared() {
    let (name, folder) = (Name::new("queries-edges"), tempfile::tempdir().unwrap());
    let tl = name.create(1 << 16);
    let define = |message: &str| tl.define("net", Priority::Info, message).unwrap();
    for kind in kinds() {
        // As words of the event; with a text, in columns of their kinds; and as more than four.
        let events = [
            format!("words $v:{kind} $w:i64 $x:u8"),
            format!("payload $text:str $v:{kind} $w:u64 $x:i16"),
            format!("many $w $x $v:{kind} $c:u64 $d:u64"),
            format!("alone $v:{kind} $w:hex"),
        ]
        .map(|message| define(&message));
        let is_single = kind == "f32";
        for (number, bits) in edges().into_iter().enumerate() {
            let w = if number % 3 == 0 { bits } else { number as u64 };
            tl.log(events[0], [bits as i64, w as i64, (number % 5) as i64]);
            tl.log(events[3], [bits as i64]);
            // Those of a pointer have a payload in no column.
            if ["str", "u8[]", "ptr"].contains(&kind) {
                continue;
            }
            let v = match kind {
                "f64" => Value::Float(f64::from_bits(bits)),
                _ if is_single => Value::Uint(u64::from(bits as u32)),
                _ => Value::Uint(bits),
            };
            let text = [None, Some(&b""[..]), Some(b"eth0")][number % 3];
            let text = text.map_or(Value::Nil, |bytes| Value::Text { bytes, cut: false });
            let rest = [Value::Uint(w), Value::Int((number % 5) as i64)];
            let [w, x] = rest.clone();
            tl.log_payload(events[1], &lay_out(&[text, v.clone(), w, x]), false);
            let [w, x] = rest;
            tl.log_payload(
                events[2],
                &lay_out(&[w, x, v, Value::Uint(1), Value::Uint(2)]),
                false,
            );
        }
    }
    let path = folder.path().join("flight.tla").display().to_string();
    let archive = recorded(&name.attach(), &path, Form::Blocks);
    let made = Chosen::of(&archive);
    let all = made.events[0].1.len();
    let compared = LITERALS.iter().enumerate().flat_map(|(row, literal)| {
        // Either way round, by turns.
        let either = |(column, how): (usize, &&str)| match (row + column) % 2 {
            0 => format!("v {how} {literal}"),
            _ => format!("{literal} {how} v"),
        };
        HOW.iter().enumerate().map(either).collect::<Vec<_>>()
    });
    let mut hits = 0;
    for text in compared.chain(OTHERS.map(str::to_owned)) {
        let (found, asked) = made.agree(&by(&text));
        // Of some definitions, the first event or two have a payload in no column.
        assert!(asked <= 2 * kinds().len(), "{asked} asked about by {text}");
        hits += usize::from(found > 0 && found < all);
    }
    assert!(hits > 150, "{hits}");
}

/// An archive of 2,000 events that have any fields.
fn varied() -> Archive {
    let mut file = Vec::new();
    let mut random = Random(super::seed());
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    let names = ["main", "worker"].map(|name| writer.string(name));
    let category = writer.string("net");
    let messages = ["sent $bytes:u32 to $host", "got $bytes"].map(|text| writer.string(text));
    for i in 0..2_000_u64 {
        let optional = |random: &mut Random, value| (random.below(8) > 0).then_some(value);
        let mut event = RawEvent {
            thread: RawThread {
                name: Some(names[random.below(2) as usize]),
                tid: Some(1 + random.below(3)),
                ..RawThread::default()
            },
            ticks: optional(&mut random, 1_000 + 10 * i),
            unix_nanos: optional(&mut random, 5_000_000 + 3 * i),
            core: optional(&mut random, i * 7 % 5),
            lane: optional(&mut random, i / 100 % 3),
            number: optional(&mut random, i),
            args: (0..random.below(6))
                .map(|_| random.below(9) as i64)
                .collect(),
            backtrace: vec![i; usize::from(random.below(9) == 0)],
            ..RawEvent::default()
        };
        event.definition.category = Some(category);
        event.definition.format = optional(&mut random, messages[(i / 3 % 2) as usize]);
        if random.below(20) == 0 {
            Value::Text {
                bytes: b"eth0",
                cut: false,
            }
            .encode(&mut event.payload);
        }
        if event.lane.is_some() && event.number.is_some() && random.below(90) == 0 {
            writer.gap(&event, 1 + i, 0).unwrap();
        }
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    Archive::from_bytes(file)
}

#[test]
fn threads_cores_times_and_names_are_chosen_by_columns() {
    let archive = varied();
    let made = Chosen::of(&archive);
    let middle = 5_000_000 + 3 * 1_000;
    for query in [
        Query {
            threads: vec!["w*".into()],
            ..Query::default()
        },
        Query {
            threads: vec!["2".into(), "nobody".into()],
            ..by("$0 > 3")
        },
        Query {
            cores: numbers("1-2,65535").unwrap(),
            ..Query::default()
        },
        Query {
            since: Some(middle),
            ..Query::default()
        },
        Query {
            until: Some(middle),
            cores: numbers("3").unwrap(),
            ..by("$1 < 4 || bytes")
        },
        Query {
            since: Some(middle),
            until: Some(middle + 300),
            ..Query::default()
        },
        Query {
            events: vec!["*got*".into()],
            ..Query::default()
        },
        by("bytes == 7 && !host"),
        by("$4 >= 0 || host != 1"),
        by("$0 ~ 'eth' || bytes > 7"),
    ] {
        let (found, asked) = made.agree(&query);
        assert!(0 < found && found < 2_000, "{found} by {query:?}");
        // Only payloads are in no column.
        assert!(asked < 200, "{asked} asked about by {query:?}");
    }
}

#[test]
fn important_events_are_asked_about_and_what_is_missing_is_counted() {
    let (name, folder) = (Name::new("queries-missed"), tempfile::tempdir().unwrap());
    let tl = name.create(256);
    let important = Attributes {
        important: true,
        ..Attributes::default()
    };
    let told = tl
        .define_with("net", Priority::Info, "told $n", &important)
        .unwrap();
    let sent = tl.define("net", Priority::Info, "sent $n").unwrap();
    for n in 0..5_000 {
        if n % 1_000 == 0 {
            tl.log(told, [n]);
        }
        tl.log(sent, [n]);
    }
    let path = folder.path().join("flight.tla");
    let path = path.display().to_string();
    let archive = recorded_with_losses(&name, &path);
    let made = Chosen::of(&archive);
    let missed: u64 = made.events[0].1.iter().map(|event| event.missed).sum();
    assert!(missed > 1_000);
    let (found, asked) = made.agree(&by("n >= 3000"));
    assert!(found > 2 && asked == 5, "{found}, asked about {asked}");
    assert_eq!(made.agree(&by("n < 0")), (0, 5));
    fs::remove_file(path).unwrap();
}

fn recorded_with_losses(name: &Name, path: &str) -> Archive {
    use timeline_archive::{ArchiveOutput, Keeping, Recorder};
    let at = name.attach();
    let mut output = ArchiveOutput::open(path, Keeping::default()).unwrap();
    let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
    while recorder.step() {}
    recorder.finish();
    Archive::open(path).unwrap()
}

#[test]
fn lines_of_imported_logs_are_chosen_by_times_and_priorities() {
    let mut log = String::new();
    for i in 0..3_000_u64 {
        let (minute, second) = (i / 60 % 60, i % 60);
        let level = ["INFO", "ERROR", "WARN"][(i % 7 % 3) as usize];
        let host = ["eth0", "eth1"][(i % 2) as usize];
        log += &format!(
            "2026-11-23 14:{minute:02}:{second:02}.{:03} {level} sent {i} bytes to {host}\n",
            i % 1_000
        );
    }
    let mut file = Vec::new();
    let mut importer = Importer::new(&mut file, Preamble::default(), TimeZone::UTC).unwrap();
    let mut lines = importer.begin("server.log", SystemTime::now());
    let mut bytes = log.as_bytes();
    while importer.read(&mut lines, &mut bytes).unwrap() > 0 {}
    importer.end(&mut lines).unwrap();
    importer.flush().unwrap();
    drop(importer);
    let archive = Archive::from_bytes(file);
    let made = Chosen::of(&archive);
    assert_eq!(made.events[0].1.len(), 3_000);
    let middle = made.events[0].1[1_500].time.map(Into::into);
    for (query, most_asked) in [
        (
            Query {
                since: middle,
                ..Query::default()
            },
            0,
        ),
        (
            Query {
                until: middle,
                priorities: priorities("..error").ok(),
                ..Query::default()
            },
            0,
        ),
        // Its first value is the time, which stands in no column: only the events tell.
        (
            Query {
                since: middle,
                ..by("$1 == 'eth0' || $0 ~ '7' || $2 ~ '7' || $3 ~ '7'")
            },
            1_500,
        ),
    ] {
        let (found, asked) = made.agree(&query);
        assert!(0 < found && found < 3_000, "{found} by {query:?}");
        assert!(asked <= most_asked, "asked about {asked} by {query:?}");
    }
}
