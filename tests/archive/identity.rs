//! What is recorded is what is read, for any events.

use proptest::prelude::*;
use timeline::Order;
use timeline_archive::{
    Archive, Form, OBJECT, PRINTF, RawDefinition, RawEvent, RawThread, RecordedEvent, Writer,
};

fn number() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        Just(None),
        (0..100u64).prop_map(Some),
        any::<u64>().prop_map(Some),
        Just(Some(u64::MAX))
    ]
}

fn definition() -> impl Strategy<Value = RawDefinition> {
    let strings = prop::option::of(0..4u64);
    (
        strings.clone(),
        number(),
        prop::option::of(1..8u64),
        strings.clone(),
        strings.clone(),
        number(),
        prop_oneof![
            3 => Just(None),
            3 => Just(Some(PRINTF)),
            1 => Just(Some(OBJECT)),
            1 => number()
        ],
        strings,
    )
        .prop_map(
            |(file, line, level, format, category, event, syntax, channels)| RawDefinition {
                file,
                line,
                level,
                format,
                category,
                event,
                syntax,
                channels,
            },
        )
}

fn thread() -> impl Strategy<Value = RawThread> {
    let strings = prop::option::of(0..4u64);
    let texts = (strings.clone(), strings.clone(), strings);
    (texts, number(), number(), number()).prop_map(
        |((name, process, group), tid, pid, identity)| RawThread {
            name,
            tid,
            pid,
            process,
            group,
            identity,
        },
    )
}

/// A whole value as msgpack: of the arguments of `printf`, and of others.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let sized = |head: Vec<u8>, size: usize| {
        let bytes = prop::collection::vec(any::<u8>(), size);
        bytes.prop_map(move |bytes| [&head[..], &bytes].concat())
    };
    let text = prop::collection::vec(any::<u8>(), 0..50);
    prop_oneof![
        sized(vec![0xd2], 4),
        sized(vec![0xce], 4),
        sized(vec![0xd3], 8),
        sized(vec![0xcf], 8),
        sized(vec![0xcb], 8),
        sized(vec![0xd8, 2], 16),
        text.clone()
            .prop_map(|t| [&[0xd9, t.len() as u8], &t[..]].concat()),
        text.prop_map(|t| [&[0xc8, 0, t.len() as u8, 1], &t[..]].concat()),
        Just(vec![0xc0]),
        (0..0x80u8).prop_map(|n| vec![n]),
        Just(vec![0x92, 1, 0x81, 0xc3, 0xc0]),
    ]
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    let values = prop::collection::vec(value(), 0..9).prop_map(|values| values.concat());
    // A value that is cut can only be the last one: it would take bytes of those behind it.
    let cut = prop_oneof![3 => Just(vec![]), 1 => Just(vec![0xd9, 200, b'x'])];
    let values = (values, cut).prop_map(|(values, cut)| [values, cut].concat());
    prop_oneof![3 => Just(Vec::new()), 2 => values]
}

fn data() -> impl Strategy<Value = RawEvent> {
    let numbers = (number(), number(), number(), number(), number());
    let lists = (
        prop_oneof![
            prop::collection::vec(any::<i64>(), 0..7),
            prop::collection::vec(any::<i64>(), 100..300),
        ],
        payload(),
        prop::collection::vec(any::<u64>(), 0..4),
    );
    (definition(), thread(), numbers, lists).prop_map(|(definition, thread, numbers, lists)| {
        let (ticks, unix_nanos, core, lane, number) = numbers;
        let (mut args, payload, backtrace) = lists;
        if keeps_types(&definition) {
            // Their values are always a payload.
            args.clear();
        }
        RawEvent {
            definition,
            thread,
            ticks,
            unix_nanos,
            core,
            lane,
            number,
            next: None,
            missed: 0,
            args,
            payload,
            backtrace,
        }
    })
}

/// Strings of every sort, and their numbers are given in place of 0 to 3.
const STRINGS: [&str; 4] = ["", "got $bytes", "ä\u{10ffff}\0", "third\nline"];

/// What is written: events of several programs in turn, each with its own writer, and when they are
/// written out.
#[derive(Debug, Clone)]
struct Plan {
    events: Vec<(usize, RawEvent)>,
    writers: Vec<(u64, bool)>,
    flush: usize,
}

fn plan() -> impl Strategy<Value = Plan> {
    let magics = prop_oneof![0..3u64, any::<u64>()];
    let writers = prop::collection::vec((magics, any::<bool>()), 1..4);
    let events = prop::collection::vec((0..4usize, data()), 0..40);
    (writers, events, 1..20usize).prop_map(|(writers, mut events, flush)| {
        for (writer, _) in &mut events {
            *writer %= writers.len();
        }
        Plan {
            events,
            writers,
            flush,
        }
    })
}

/// The file, and the events in the order in which they stand there.
fn write(plan: &Plan) -> (Vec<u8>, Vec<(u64, RawEvent)>) {
    let mut files = vec![Vec::new(); plan.writers.len()];
    let mut writers = Vec::new();
    for (file, (magic, plain)) in files.iter_mut().zip(&plan.writers) {
        let form = if *plain { Form::Plain } else { Form::Blocks };
        writers.push(Writer::new(file, *magic, form));
    }
    for (i, (at, event)) in plan.events.iter().enumerate() {
        let (writer, mut event) = (&mut writers[*at], event.clone());
        for string in [
            &mut event.definition.file,
            &mut event.definition.format,
            &mut event.definition.category,
            &mut event.definition.channels,
            &mut event.thread.name,
            &mut event.thread.group,
            &mut event.thread.process,
        ] {
            *string = string.map(|n| writer.string(STRINGS[n as usize]));
        }
        writer.event(&event).unwrap();
        if i % plan.flush == 0 {
            writer.flush().unwrap();
        }
    }
    writers
        .iter_mut()
        .for_each(|writer| writer.flush().unwrap());
    let mut expected = Vec::new();
    for (at, (magic, _)) in plan.writers.iter().enumerate() {
        let of = plan.events.iter().filter(|(of, _)| *of == at);
        expected.extend(of.map(|(_, event)| (*magic, event.clone())));
    }
    (files.concat(), expected)
}

/// Whether values keep their types, also if all are integers.
fn keeps_types(definition: &RawDefinition) -> bool {
    [Some(PRINTF), Some(OBJECT)].contains(&definition.syntax)
}

/// The first value of a payload, and whether it is an integer. Knows only what `value` makes.
fn first_value(payload: &[u8]) -> Option<(usize, Option<i64>)> {
    let be = |from: usize, to: usize| {
        let bytes = payload.get(from..to)?;
        Some(bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b)))
    };
    let (length, integer) = match *payload.first()? {
        small @ 0..0x80 => (1, Some(small.into())),
        0xd2 => (5, Some(be(1, 5)? as i32 as i64)),
        0xce => (5, Some(be(1, 5)? as i64)),
        0xd3 | 0xcf => (9, Some(be(1, 9)? as i64)),
        0xcb => (9, None),
        0xd8 => (18, None),
        0xd9 => (2 + be(1, 2)? as usize, None),
        0xc8 => (4 + be(1, 3)? as usize, None),
        0xc0 => (1, None),
        0x92 => (5, None),
        other => panic!("{other:#x}"),
    };
    (length <= payload.len()).then_some((length, integer))
}

/// The arguments and the payload that are read: whole values, as integers if they are nothing else.
fn arguments(event: &RawEvent) -> (Vec<i64>, Vec<u8>) {
    if event.payload.is_empty() {
        return (event.args.clone(), Vec::new());
    }
    let (mut at, mut integers) = (0, Some(Vec::new()));
    while let Some((length, integer)) = first_value(&event.payload[at..]) {
        at += length;
        integers = integers.zip(integer).map(|(mut all, integer)| {
            all.push(integer);
            all
        });
    }
    match integers {
        Some(integers) if !keeps_types(&event.definition) => (integers, Vec::new()),
        _ => (Vec::new(), event.payload[..at].to_vec()),
    }
}

fn same(read: &RecordedEvent, magic: u64, event: &RawEvent) -> bool {
    let text = |n: Option<u64>| n.map(|n| STRINGS[n as usize]);
    let (definition, thread) = (&read.definition, &read.thread);
    let priority = definition.priority.map(|p| p as u64);
    definition.magic == magic
        && definition.category.as_deref() == text(event.definition.category)
        && definition.message.as_deref() == text(event.definition.format)
        && definition.file.as_deref() == text(event.definition.file)
        && definition.channels.as_deref() == text(event.definition.channels)
        && definition.line == event.definition.line
        && definition.event == event.definition.event
        && definition.syntax == event.definition.syntax
        && priority == event.definition.level
        && thread.name.as_deref() == text(event.thread.name)
        && thread.process.as_deref() == text(event.thread.process)
        && thread.group.as_deref() == text(event.thread.group)
        && thread.identity == event.thread.identity
        && (thread.tid, thread.pid) == (event.thread.tid, event.thread.pid)
        && (read.ticks, read.unix_nanos, read.core) == (event.ticks, event.unix_nanos, event.core)
        && (read.lane, read.number) == (event.lane, event.number)
        && (read.args.clone(), read.payload.clone()) == arguments(event)
        && read.backtrace == event.backtrace
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_events_come_back(plan in plan()) {
        let (file, expected) = write(&plan);
        let archive = Archive::from_bytes(file);
        let read: Vec<_> = archive.events().collect();
        prop_assert!(archive.damage().is_empty());
        prop_assert_eq!(archive.count(), expected.len() as u64);
        prop_assert_eq!(archive.recoverable(), (expected.len() as u64, 0));
        prop_assert_eq!(read.len(), expected.len());
        for (read, (magic, event)) in read.iter().zip(&expected) {
            prop_assert!(same(read, *magic, event), "{:?} is not {:?}", read, event);
        }
        // By time: of one ring by ticks, of several by the clock on the wall. Its first two
        // nanoseconds count as one: 0 is the key of important events.
        let one = archive.magics().count() < 2;
        let key = |e: &RecordedEvent| {
            let (unix, ticks) = (e.unix_nanos.unwrap_or(0), e.ticks.unwrap_or(0));
            let rest = (e.definition.magic, e.lane.unwrap_or(0), e.number.unwrap_or(0));
            (if one { 0 } else { unix.max(1) }, ticks, rest)
        };
        for order in [Order::OldestFirst, Order::NewestFirst] {
            let keys: Vec<_> = archive.by_time(order).map(|e| key(&e)).collect();
            let mut sorted: Vec<_> = read.iter().map(key).collect();
            sorted.sort();
            if order == Order::NewestFirst {
                sorted.reverse();
            }
            prop_assert_eq!(keys, sorted);
        }
    }

    #[test]
    fn any_bytes_do_no_harm(
        mut noise in prop::collection::vec(any::<u8>(), 0..400),
        at in any::<usize>(),
    ) {
        let events: Vec<_> = Archive::from_bytes(noise.clone()).events().collect();
        prop_assert!(events.is_empty());
        // In a frame that is whole, so that they are taken for a record.
        let tag = [0, 1, 2, 16, 17, 127][at % 6];
        let mut record = vec![tag, 0x80 + noise.len() as u8 % 16];
        record.append(&mut noise);
        let mut file = vec![0xc1, 0xce];
        file.extend(crc32fast::hash(&record).to_be_bytes());
        file.extend([0xc1, 0xda]);
        file.extend((record.len() as u16).to_be_bytes());
        file.extend(record);
        let archive = Archive::from_bytes(file);
        // A whole frame, of a record or of nothing that is one.
        prop_assert_eq!(archive.frames() + archive.damage().len() as u64, 1);
        for _ in archive.by_time(Order::OldestFirst) {}
    }
}
