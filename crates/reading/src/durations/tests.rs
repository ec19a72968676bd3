//! Tests that columns give the same durations as events do.

use std::cell::Cell;

use proptest::prelude::*;
use timeline::{Order, Priority};
use timeline_archive::{Archive, Form, RawEvent, Writer};
use timeline_latency::{Losses, Matcher, Measure, Measurement};
use timeline_search::Query;

use super::*;

const MESSAGES: [&str; 7] = [
    "begin a $n",
    "end a $n",
    "begin b",
    "end b",
    "start job $id",
    "finish job $id",
    "other $n",
];

/// An event: its message, its thread (the last is not known), its key, the time since the one
/// before, and whether entries are missing before it, or the block ends behind it.
type Logged = (usize, u64, i64, u64, (bool, bool));

fn logged() -> impl Strategy<Value = Vec<Logged>> {
    let one = (
        0..MESSAGES.len(),
        0_u64..4,
        0_i64..3,
        1_u64..4,
        (prop::bool::weighted(0.02), prop::bool::weighted(0.1)),
    );
    prop::collection::vec(one, 0..150)
}

/// The part of an archive that one recorder wrote of a ring.
fn part((ring, number): (u64, u64), form: Form, events: &[Logged], start: u64) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, ring, form);
    let (mut time, mut numbers) = (start, [0_u64; 4]);
    let part = number;
    for (message, thread, key, step, (has_gap, ends)) in events {
        time += step;
        let lane = *thread % 2;
        let number = &mut numbers[lane as usize];
        let mut event = RawEvent {
            // No two events of a ring are at the same ticks, unless they are of two threads.
            ticks: Some(8 * time + part),
            unix_nanos: Some(1_000_000 + time),
            lane: Some(lane),
            args: vec![*key],
            ..RawEvent::default()
        };
        event.definition.category = Some(writer.string("t"));
        event.definition.format = Some(writer.string(MESSAGES[*message]));
        event.definition.level = Some(Priority::Info as u64);
        if *thread < 3 {
            event.thread.tid = Some(100 * ring + thread);
            event.thread.name = Some(writer.string("worker"));
        }
        if *has_gap {
            *number += 7;
            event.number = Some(*number);
            writer.gap(&event, 7, lane).unwrap();
        }
        event.number = Some(*number);
        *number += 1;
        writer.event(&event).unwrap();
        if *ends {
            writer.flush().unwrap();
        }
    }
    writer.flush().unwrap();
    file
}

type All = (Vec<(String, Measurement)>, Losses, usize);

fn by_events(archive: &Archive, measures: &[Measure], query: &Query) -> All {
    let mut matcher = Matcher::new(measures, archive);
    let (mut all, mut filter) = (Vec::new(), query.on(archive));
    for event in archive.events_by_time(Order::OldestFirst) {
        let is_wanted = filter.matches(&event);
        matcher.add(&event, |found| {
            if is_wanted {
                all.push(found);
            }
        });
    }
    named(&matcher, all)
}

fn by_columns(archive: &Archive, measures: &[Measure], query: &Query) -> All {
    let mut matcher = Matcher::new(measures, archive);
    let mut all = Vec::new();
    let wanted = DurationRequest::new(query);
    let lost = each_duration(archive, &mut matcher, &wanted, &mut |_, found| {
        all.push(found);
    });
    assert_eq!(lost, 0);
    named(&matcher, all)
}

fn named(matcher: &Matcher, all: Vec<Measurement>) -> All {
    let name = |mut found: Measurement| {
        let name = matcher.series()[found.series].name.clone();
        // Series are numbered in the order in which their definitions come.
        found.series = 0;
        (name, found)
    };
    let all = all.into_iter().map(name).collect();
    (all, matcher.losses(), matcher.open())
}

proptest! {
    #[test]
    fn columns_give_the_durations_that_events_give(
        parts in prop::collection::vec((0_u64..2, any::<bool>(), logged(), 0_u64..200), 1..4),
    ) {
        let files = (0..).zip(&parts).map(|(number, (ring, is_plain, events, start))| {
            let form = if *is_plain { Form::Plain } else { Form::Blocks };
            part((1 + ring, number), form, events, *start)
        });
        let archive = Archive::from_bytes(files.collect::<Vec<_>>().concat());
        for measures in [
            vec![Measure::Spans("*".into())],
            vec![Measure::Spans("t.a".into()), Measure::Every("t.other".into())],
            vec![Measure::Between { from: "t.begin_a".into(), to: "t.end_b".into(), key: None }],
            vec![Measure::Values { event: "t.other".into(), field: "n".into(), scale: None }],
        ] {
            let some_threads = Query { threads: vec!["101".into()], ..Query::default() };
            for query in [Query::default(), some_threads] {
                let expected = by_events(&archive, &measures, &query);
                prop_assert_eq!(&by_columns(&archive, &measures, &query), &expected);
            }
            // Blocks are left out that lie before, with their losses: so only of durations.
            let (since, until) = (Some(1_000_100), Some(1_000_150));
            let times = Query { since, until, ..Query::default() };
            let (expected, ..) = by_events(&archive, &measures, &times);
            prop_assert_eq!(&by_columns(&archive, &measures, &times).0, &expected);
        }
    }
}

#[test]
fn reading_ends_soon_when_nobody_wants_more() {
    // A hundred spans, each of which begins and ends in a block of its own.
    let pair = [(0, 0, 0, 1, (false, false)), (1, 0, 0, 1, (false, true))];
    let file = part((1, 0), Form::Blocks, &pair.repeat(100), 0);
    let archive = Archive::from_bytes(file);
    let (query, found) = (Query::default(), Cell::new(0));
    let measures = [Measure::Spans("*".into())];
    let mut matcher = Matcher::new(&measures, &archive);
    let wanted = DurationRequest {
        is_cancelled: &|| found.get() >= 10,
        ..DurationRequest::new(&query)
    };
    each_duration(&archive, &mut matcher, &wanted, &mut |_, _| {
        found.set(found.get() + 1)
    });
    assert!((10..15).contains(&found.get()), "{}", found.get());
    let mut matcher = Matcher::new(&measures, &archive);
    each_duration(
        &archive,
        &mut matcher,
        &DurationRequest::new(&query),
        &mut |_, _| found.set(found.get() + 1),
    );
    assert!((110..115).contains(&found.get()), "{}", found.get());
}
