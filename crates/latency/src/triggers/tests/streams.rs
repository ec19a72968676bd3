//! Tests conditions on streams of events, beside their models.

use proptest::prelude::*;
use timeline::Event;
use timeline_search::{Expression, Query};

use super::model::{self, Judgement, ModelFiring};
use super::{BEGIN, END, FINISH, START, TICK, TestStep, event, fired};
use crate::triggers::{Firing, FiringValue};

/// Steps of random lengths: events of two threads and two keys, looks at the clock, and gaps.
fn steps() -> impl Strategy<Value = Vec<TestStep>> {
    let step = (0_u32..7, 1_u32..3, 0_u64..400_000, 1_i64..3, 0_u32..40);
    prop::collection::vec(step, 1..60).prop_map(|all| {
        let mut now = 1_000_000_000;
        let made = all.into_iter().map(|(kind, thread, pause, key, luck)| {
            // Some pauses are much longer than any window.
            now += if luck == 0 { pause * 100 } else { pause };
            if kind > TICK {
                return TestStep::Tick(now);
            }
            let missed = u64::from(luck == 1);
            TestStep::Event(Event {
                missed,
                ..event(kind, thread, now, key)
            })
        });
        let made: Vec<TestStep> = made.collect();
        // So that the first moment that is seen is that of the first step, for all conditions.
        [TestStep::Tick(1_000_000_000)]
            .into_iter()
            .chain(made)
            .collect()
    })
}

/// The times, and the values that the model knows.
fn met(fired: Vec<Firing>, model: &[ModelFiring]) -> Vec<ModelFiring> {
    let values = model
        .iter()
        .map(|(_, value)| value)
        .chain([&None].into_iter().cycle());
    let mut all: Vec<ModelFiring> = fired
        .into_iter()
        .zip(values)
        .map(|(one, value)| match one.seen {
            FiringValue::Nanoseconds(nanos) => (one.time, value.map(|_| nanos)),
            _ => (one.time, None),
        })
        .collect();
    all.sort_unstable();
    all
}

/// With a last look at the clock, when nothing is in any window.
fn with_end(mut steps: Vec<TestStep>) -> Vec<TestStep> {
    let last = match steps.last() {
        Some(TestStep::Event(event)) => event.ticks,
        Some(TestStep::Tick(now)) => *now,
        None => 0,
    };
    steps.push(TestStep::Tick(last + 15_000_000));
    steps
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn spans_are_those_of_the_model(steps in steps(), by_key: bool) {
        let condition = match by_key {
            true => "span t.call > 500us",
            false => "span t.j* > 500us",
        };
        let expected = model::spans(&steps, 500_000, by_key);
        let found = fired(condition, 0, &Query::default(), &steps);
        let mut found: Vec<ModelFiring> = found.into_iter().map(|one| match one.seen {
            FiringValue::Nanoseconds(nanos) => (one.time, Some(nanos)),
            _ => (one.time, None),
        }).collect();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn rates_are_those_of_the_model(steps in steps(), fewer: bool, hold in 0_u64..3_000_000) {
        let steps = with_end(steps);
        let (condition, judged) = match fewer {
            true => ("rate(t.tick, 5ms) < 600/s", Judgement::Fewer(3)),
            false => ("rate(t.tick, 5ms) > 600/s", Judgement::More(3)),
        };
        let expected = model::windows(&steps, 5_000_000, hold, &judged);
        let found = fired(condition, hold, &Query::default(), &steps);
        prop_assert_eq!(met(found, &expected), expected);
    }

    #[test]
    fn percentiles_are_those_of_the_model(
        steps in steps(),
        percent in prop::sample::select(vec![1_u32, 50, 90, 99, 100]),
        hold in 0_u64..3_000_000,
    ) {
        // A histogram knows durations to a thousandth: none is as near to the limit.
        let coarse = |time: u64| time / 50_000 * 50_000;
        let steps: Vec<TestStep> = with_end(steps).into_iter().map(|step| match step {
            TestStep::Event(one) => TestStep::Event(Event {
                missed: one.missed,
                ..event(one.id.0, one.thread.0, coarse(one.ticks), one.args[0])
            }),
            TestStep::Tick(now) => TestStep::Tick(coarse(now)),
        }).collect();
        let judged = Judgement::Percentile(percent, 625_000);
        let expected = model::windows(&steps, 5_000_000, hold, &judged);
        let condition = match percent {
            100 => "max(t.job, 5ms) > 625us".to_owned(),
            _ => format!("p{percent}(t.job, 5ms) > 625us"),
        };
        let found = met(fired(&condition, hold, &Query::default(), &steps), &expected);
        let known = |met: &[ModelFiring]| met.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        prop_assert_eq!(known(&found), known(&expected));
        for ((_, found), (_, expected)) in found.iter().zip(&expected) {
            let (found, expected) = (found.expect("a value"), expected.expect("a value"));
            prop_assert!(found.abs_diff(expected) <= expected / 1000, "{found} and {expected}");
        }
    }

    #[test]
    fn what_is_missing_is_that_of_the_model(steps in steps(), hold in 0_u64..2_000_000) {
        let steps = with_end(steps);
        let expected = model::missing(&steps, 1_000_000 + hold);
        let found = fired("missing t.tick for 1ms", hold, &Query::default(), &steps);
        prop_assert_eq!(met(found, &expected), expected);
    }
}

fn at(id: u32, time: u64) -> TestStep {
    TestStep::Event(event(id, 1, time, 5))
}

#[test]
fn a_span_that_hangs_fires_once_with_its_thread() {
    let steps = [
        at(BEGIN, 1_000),
        TestStep::Tick(2_000),
        TestStep::Tick(2_001),
        TestStep::Tick(9_000),
        at(END, 10_000),
        at(START, 20_000),
        TestStep::Tick(21_000),
        TestStep::Tick(21_001),
        at(FINISH, 40_000),
    ];
    let found = fired("span t.* > 1us", 0, &Query::default(), &steps);
    let [hung, keyed] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((hung.name.as_str(), hung.time), ("t.job", 2_001));
    assert_eq!(hung.seen, FiringValue::Nanoseconds(1_001));
    assert_eq!((hung.begin, hung.end), (Some(1_000), None));
    assert_eq!(hung.thread.as_ref().map(|thread| thread.tid), Some(1));
    assert_eq!((keyed.name.as_str(), keyed.begin), ("t.call", Some(20_000)));
    assert_eq!(keyed.seen, FiringValue::Nanoseconds(1_001));
    assert!(keyed.thread.is_none() && keyed.key.is_some());
    // Short spans are short only once they have ended.
    let found = fired("span t.job < 1ms", 0, &Query::default(), &steps);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].end, Some(10_000));
    assert!(fired("span t.job < 5us", 0, &Query::default(), &steps).is_empty());
}

#[test]
fn two_events_make_a_span_and_values_make_an_event() {
    let steps = [at(TICK, 1_000), at(END, 4_000), at(TICK, 5_000)];
    let found = fired(
        "span t.tick..t.end_job >= 3us",
        0,
        &Query::default(),
        &steps,
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, "t.tick..t.end_job");
    let count = |condition| fired(condition, 0, &Query::default(), &steps).len();
    assert_eq!(count("event t.tick where n == 5"), 2);
    assert_eq!(count("event t.* where n >= 5"), 3);
    assert_eq!(count("event t.tick where n > 5"), 0);
    assert_eq!(count("event t.tick"), 2);
}

#[test]
fn filters_are_about_the_end() {
    let spans = |id: i64| {
        [(BEGIN, 1_000, id), (END, 9_000, 7)]
            .map(|(event_id, time, value)| TestStep::Event(event(event_id, 1, time, value)))
    };
    let wanted = |text: &str| Query {
        expressions: vec![Expression::parse(text).expect(text)],
        ..Query::default()
    };
    let count =
        |text: &str, steps: &[TestStep]| fired("span t.job > 1us", 0, &wanted(text), steps).len();
    assert_eq!(count("n == 7", &spans(3)), 1);
    assert_eq!(count("n == 3", &spans(3)), 0);
    // Nobody knows the end of one that is open.
    assert_eq!(
        count("n == 3", &[spans(3)[0].clone(), TestStep::Tick(99_000)]),
        0
    );
}

#[test]
fn a_recording_tells_the_time_by_its_events() {
    let (source, conditions) = (
        super::definitions(),
        [super::Condition::parse("missing t.tick for 1us").expect("read")],
    );
    let all = Query::default();
    let mut triggers = super::Triggers::new(&conditions, &all, &source);
    let mut found = Vec::new();
    for (id, time, count) in [
        (TICK, 1_000, 0),
        (BEGIN, 1_999, 0),
        (BEGIN, 2_000, 1),
        (TICK, 9_000, 1),
    ] {
        triggers.add_recorded(&event(id, 1, time, 0), &mut |one| found.push(one.time));
        assert_eq!(found.len(), count, "{time}");
    }
    assert_eq!(found, [2_000]);
    assert_eq!(triggers.now(), 9_000);
}

#[test]
fn definitions_that_are_left_out_meet_nothing() {
    let (source, conditions) = (
        super::definitions(),
        [super::Condition::parse("event *").expect("read")],
    );
    let all = Query::default();
    let mut triggers = super::Triggers::new(&conditions, &all, &source)
        .leaving_out(|definition| definition.message.starts_with("tick"));
    let mut found = 0;
    for id in [TICK, BEGIN] {
        triggers.add(&event(id, 1, 1_000, 0), &mut |_| found += 1);
    }
    assert_eq!(found, 1);
}
