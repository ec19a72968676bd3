//! Tests that events which are taken as entries meet the conditions that whole events meet.

use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use timeline::internal::SpanKey;
use timeline::{Attached, FollowFrom, Priority, Timeline, event};
use timeline_search::{Expression, Query};

use crate::triggers::{Condition, Firing, Triggers};

/// Only a span's begins and ends need no more than their entries.
const CONDITIONS: [&[&str]; 3] = [
    &["span t.job >= 0s"],
    &["span t.* >= 0s", "rate(t.tick, 5ms) > 600/s"],
    &[
        "span t.job >= 0s",
        "max(t.job, 5ms) >= 0s",
        "missing t.tick for 1ms",
    ],
];

/// What is logged between two looks: by this thread or by another, and each so often.
type Burst = (bool, Vec<(u32, i64)>, u32);

fn log(tl: &Timeline, (by_other, events, ticks): &Burst) {
    let log = || {
        for (kind, n) in events {
            match kind {
                0 => event!(tl, Priority::Info, "t", "begin job {n}", n),
                1 => event!(tl, Priority::Info, "t", "end job {n}", n),
                2 => event!(tl, Priority::Info, "t", "start call {n}", n),
                3 => event!(tl, Priority::Info, "t", "finish call {n}", n),
                _ => event!(tl, Priority::Info, "other", "pass {n}", n),
            }
        }
        (0..*ticks).for_each(|n| event!(tl, Priority::Info, "t", "tick {n}", n));
    };
    match by_other {
        true => std::thread::scope(|scope| scope.spawn(log).join().expect("logged")),
        false => log(),
    }
}

/// What has fired, without times: the last nanosecond of one depends on which event was asked for
/// it first.
type What = (
    usize,
    String,
    Option<timeline::Thread>,
    Option<SpanKey>,
    bool,
);

fn what(fired: Firing) -> What {
    (
        fired.condition,
        fired.name,
        fired.thread,
        fired.key,
        fired.end.is_some(),
    )
}

/// What the bursts meet, as entries or as events.
fn met(conditions: &[&str], bursts: &[Burst], wanted: &Query) -> [Vec<What>; 2] {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: only each number once.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = format!("/timeline-test-entries-{}-{number}", std::process::id());
    let tl = Timeline::with_size(&path, 1024, 16384).expect("created");
    let at = Attached::open(&path).expect("attached");
    timeline::unlink(&path).expect("removed");

    let conditions = conditions.iter();
    let conditions: Vec<_> = conditions
        .map(|text| Condition::parse(text).expect(text))
        .collect();
    let [mut entries, mut events] = [(); 2].map(|()| at.follow(FollowFrom::Now));
    let [mut of_entries, mut of_events] = [(); 2].map(|()| Triggers::new(&conditions, wanted, &at));
    let (mut by_entries, mut by_events) = (Vec::new(), Vec::new());
    for burst in bursts {
        log(&tl, burst);
        entries.poll_placed();
        while let Some(entry) = entries.next_entry() {
            let make = || entries.placed_event(&entry).event;
            of_entries.add_entry(&entry, make, &mut |one| by_entries.push(what(one)));
        }
        events.poll_placed();
        while let Some(placed) = events.next_placed() {
            of_events.add(&placed.event, &mut |one| by_events.push(what(one)));
        }
    }
    assert!(of_entries.now().abs_diff(of_events.now()) < 10);
    [by_entries, by_events]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn entries_meet_what_events_meet(
        bursts in prop::collection::vec((
            any::<bool>(),
            prop::collection::vec((0_u32..5, 1_i64..3), 0..30),
            // Some overwrite what was not read.
            prop_oneof![8 => 0_u32..3, 1 => 2000_u32..3000],
        ), 1..12),
        conditions in prop::sample::select(&CONDITIONS[..]),
        is_filtered: bool,
    ) {
        let expressions = is_filtered.then(|| Expression::parse("n == 1").expect("a condition"));
        let wanted = Query { expressions: expressions.into_iter().collect(), ..Query::default() };
        let [by_entries, by_events] = met(conditions, &bursts, &wanted);
        prop_assert_eq!(by_entries, by_events);
    }
}

#[test]
fn spans_of_entries_meet_conditions() {
    let burst = (true, vec![(0, 1), (1, 1), (2, 2), (3, 2)], 0);
    let [by_entries, by_events] = met(CONDITIONS[0], &[burst], &Query::default());
    let names: Vec<&str> = by_entries.iter().map(|one| one.1.as_str()).collect();
    assert_eq!(names, ["t.job"]);
    assert!(by_entries[0].2.is_some());
    assert_eq!(by_entries, by_events);
}
