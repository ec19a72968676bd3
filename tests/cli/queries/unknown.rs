//! Events of which too little is known: without a definition, or with one whose message was lost.

use timeline::internal::Record;
use timeline::internal::layout::Geometry;
use timeline::internal::layout::header::Header;
use timeline::internal::layout::words::{entry_head, entry_thread};
use timeline::{Attached, Event, Order, Priority, Source};
use timeline_archive::{Archive, Form};
use timeline_search::{Case, Expression, Needle, Query, priorities};

use super::recorded;
use crate::lost::lose;
use crate::support::{Name, begin_snapshot, put_chunk, put_thread, seal};

/// Which of the events are wanted, by their first values.
fn wanted(query: &Query, source: &dyn Source, events: &[Event]) -> Vec<i64> {
    let mut filter = query.on(source);
    let layout = timeline::Layout::unknown();
    let wanted = events.iter().filter(|event| filter.matches(event));
    let first = wanted.map(|event| match event.values(&layout).next() {
        Some(timeline::Value::Int(value)) => value,
        Some(timeline::Value::Uint(value)) => value as i64,
        other => panic!("{other:?}"),
    });
    let mut first: Vec<_> = first.collect();
    first.sort_unstable();
    first
}

fn by(text: &str) -> Query {
    Query {
        expressions: vec![Expression::parse(text).unwrap()],
        ..Query::default()
    }
}

/// Queries, and what they find among two events with the values 5, 7 and 6, 8.
fn asked() -> Vec<(Query, &'static [i64])> {
    let is = |query: fn(&mut Query)| {
        let mut asked = Query::default();
        query(&mut asked);
        asked
    };
    vec![
        (by("$0 == 5"), &[5]),
        (by("$1 > 7"), &[6]),
        (by("$0 ~ '[0-5]'"), &[5]),
        (by("a == 5 || a != 5 || $99 == 0"), &[]),
        (by("!(a == 5)"), &[5, 6]),
        (
            is(|query| query.texts.extend(Needle::text("(6, 8", Case::Smart))),
            &[6],
        ),
        (is(|query| query.events = vec!["*".into()]), &[]),
        (
            is(|query| query.categories = vec!["*".into(), String::new()]),
            &[],
        ),
        (is(|query| query.priorities = priorities("..").ok()), &[]),
    ]
}

/// A snapshot without definitions, whose only thread is "worker" with the id 77, and whose entries
/// begin with these words.
fn forged(entries: &[[u64; 7]]) -> Vec<u8> {
    let geometry = Geometry::new(256, 64 * 1024);
    let mut bytes = vec![0; geometry.total as usize];
    Header::edit(&mut bytes, |header| {
        begin_snapshot(header, &geometry);
        header.defined = 1.into();
        header.next_ticket = 101.into();
        seal(header);
    });
    let thread = (77, 7, "worker", "program");
    put_thread(&mut bytes, &geometry, 0, 9 << 16, thread);
    let lane = u64::from(geometry.cpu_lanes);
    put_chunk(&mut bytes, &geometry, (100, lane, 0), entries);
    bytes
}

#[test]
fn an_event_of_another_thread_than_its_record_is_not_taken_for_one_of_it() {
    let entry = |value: u64, tid| {
        let thread = entry_thread(9 << 16, tid);
        [1000 + value, entry_head(9, 3), thread, value, 0, 0, 0]
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    let entries = [entry(1, 77), entry(2, 78), entry(3, 77)];
    std::fs::write(file.path(), forged(&entries)).unwrap();
    let at = Attached::open(file.path()).unwrap();
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let events: Vec<_> = at.events(order).collect();
        for (thread, expected) in [("work*", &[1, 3][..]), ("77", &[1, 3]), ("78", &[2])] {
            let query = Query {
                threads: vec![thread.into()],
                ..Query::default()
            };
            assert_eq!(wanted(&query, &at, &events), expected, "{thread}");
        }
        let query = Query {
            pids: vec![7],
            ..Query::default()
        };
        assert_eq!(wanted(&query, &at, &events), [1, 3]);
    }
}

#[test]
fn an_event_without_a_definition_has_values_by_position() {
    let entry = |event, args: [u64; 4]| {
        let [a, b, c, d] = args;
        [1000 + a, entry_head(event, 3), 0, a, b, c, d]
    };
    // One beyond those that are defined, and one beyond the table.
    let entries = [entry(9, [5, 7, 0, 0]), entry(u32::MAX, [6, 8, 0, 0])];
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("snapshot"), forged(&entries)).unwrap();
    let at = Attached::open(path("snapshot")).unwrap();
    let events: Vec<_> = at.events(Order::NewestFirst).collect();
    assert!(events.iter().all(|event| at.definition(event.id).is_none()));
    let archives = [Form::Blocks, Form::Plain].map(|form| {
        let name = format!("{form:?}.tla");
        recorded(&at, &path(&name), form)
    });
    for (query, expected) in asked() {
        assert_eq!(wanted(&query, &at, &events), expected, "{query:?}");
        for archive in &archives {
            let events: Vec<_> = archive.events_by_time(Order::OldestFirst).collect();
            assert_eq!(wanted(&query, archive, &events), expected, "{query:?}");
        }
    }
}

#[test]
fn an_event_whose_message_was_lost_has_values_by_position() {
    let (name, folder) = (Name::new("queries-lost"), tempfile::tempdir().unwrap());
    let tl = name.create(256);
    let message = "lost $a:hex and $b:enum(red=7)";
    let event = tl.define("net", Priority::Info, message).unwrap();
    tl.log(event, [5, 7]);
    tl.log(event, [6, 8]);
    let path = folder.path().join("flight.tla").display().to_string();
    for form in [Form::Blocks, Form::Plain] {
        drop(recorded(&name.attach(), &path, form));
        let mut bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(lose(&mut bytes, b"lost $a"), 1);
        let damaged = format!("{path}.damaged");
        std::fs::write(&damaged, bytes).unwrap();
        let archive = Archive::open(&damaged).unwrap();
        let events: Vec<_> = archive.events_by_time(Order::OldestFirst).collect();
        // Category and priority are known.
        for (query, expected) in asked().into_iter().take(6) {
            assert_eq!(wanted(&query, &archive, &events), expected, "{query:?}");
        }
        let query = Query {
            categories: vec!["net".into()],
            priorities: priorities("info").ok(),
            ..by("$1 == 7 && $1 != 'red'")
        };
        let expected: &[i64] = &[];
        assert_eq!(wanted(&query, &archive, &events), expected);
        let query = Query {
            expressions: by("$1 == 7").expressions,
            ..query
        };
        assert_eq!(wanted(&query, &archive, &events), [5]);
    }
}
