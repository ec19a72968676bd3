//! What is recorded is what is read, for any events.

use proptest::prelude::*;
use timeline::Order;
use timeline::archive::{Archive, Data, Form, Kind, Recorded, Source, Writer};

fn number() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        Just(None),
        (0..100u64).prop_map(Some),
        any::<u64>().prop_map(Some),
        Just(Some(u64::MAX))
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    let strings = prop::option::of(0..4u64);
    (
        strings.clone(),
        number(),
        prop::option::of(1..8u64),
        strings.clone(),
        strings,
        number(),
    )
        .prop_map(|(file, line, level, format, category, event)| Kind {
            file,
            line,
            level,
            format,
            category,
            event,
            syntax: None,
        })
}

fn source() -> impl Strategy<Value = Source> {
    let strings = prop::option::of(0..4u64);
    (strings.clone(), number(), number(), strings).prop_map(|(thread, tid, pid, process)| Source {
        thread,
        tid,
        pid,
        process,
    })
}

fn data() -> impl Strategy<Value = Data> {
    let numbers = (number(), number(), number(), number(), number());
    let lists = (
        prop::collection::vec(any::<i64>(), 0..7),
        prop::collection::vec(any::<u64>(), 0..4),
    );
    (kind(), source(), numbers, lists).prop_map(|(kind, source, numbers, (args, backtrace))| {
        let (ticks, unix_nanos, core, lane, number) = numbers;
        Data {
            magic: None,
            kind,
            source,
            ticks,
            unix_nanos,
            core,
            lane,
            number,
            args,
            payload: Vec::new(),
            backtrace,
        }
    })
}

/// Strings of every sort, and their numbers are given in place of 0 to 3.
const STRINGS: [&str; 4] = ["", "got $bytes", "ä\u{10ffff}\0", "third\nline"];

fn write(events: &[Data], form: Form, flush: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 99, form);
    for (i, event) in events.iter().enumerate() {
        let mut event = event.clone();
        for string in [
            &mut event.kind.file,
            &mut event.kind.format,
            &mut event.kind.category,
            &mut event.source.thread,
            &mut event.source.process,
        ] {
            *string = string.map(|n| writer.string(STRINGS[n as usize]));
        }
        writer.event(&event).unwrap();
        if i % flush == 0 {
            writer.flush().unwrap();
        }
    }
    writer.flush().unwrap();
    file
}

fn same(read: &Recorded, event: &Data) -> bool {
    let text = |n: Option<u64>| n.map(|n| STRINGS[n as usize]);
    let (statement, author) = (&read.statement, &read.author);
    let priority = statement.priority.map(|p| p as u64);
    statement.magic == 99
        && statement.category.as_deref() == text(event.kind.category)
        && statement.message.as_deref() == text(event.kind.format)
        && statement.file.as_deref() == text(event.kind.file)
        && statement.line == event.kind.line
        && statement.event == event.kind.event
        && priority == event.kind.level
        && author.thread.as_deref() == text(event.source.thread)
        && author.process.as_deref() == text(event.source.process)
        && (author.tid, author.pid) == (event.source.tid, event.source.pid)
        && (read.ticks, read.unix_nanos, read.core) == (event.ticks, event.unix_nanos, event.core)
        && (read.lane, read.number) == (event.lane, event.number)
        && (&read.args, &read.backtrace) == (&event.args, &event.backtrace)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_events_come_back(
        events in prop::collection::vec(data(), 0..40),
        plain in any::<bool>(),
        flush in 1..20usize,
    ) {
        let form = if plain { Form::Plain } else { Form::Blocks };
        let archive = Archive::from_bytes(write(&events, form, flush));
        let read: Vec<_> = archive.events().collect();
        prop_assert!(archive.damage().is_empty());
        prop_assert_eq!(archive.count(), events.len() as u64);
        prop_assert_eq!(read.len(), events.len());
        for (read, event) in read.iter().zip(&events) {
            prop_assert!(same(read, event), "{:?} is not {:?}", read, event);
        }
        for order in [Order::OldestFirst, Order::NewestFirst] {
            let ticks: Vec<_> = archive.by_time(order).map(|e| e.ticks.unwrap_or(0)).collect();
            let mut sorted: Vec<_> = events.iter().map(|e| e.ticks.unwrap_or(0)).collect();
            sorted.sort();
            if order == Order::NewestFirst {
                sorted.reverse();
            }
            prop_assert_eq!(ticks, sorted);
        }
    }

    #[test]
    fn any_bytes_do_no_harm(mut noise in prop::collection::vec(any::<u8>(), 0..400), at in any::<usize>()) {
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
        prop_assert_eq!(archive.frames(), 1);
        for _ in archive.by_time(Order::OldestFirst) {}
    }
}
