//! Tests that durations are those that a naive search finds.

use proptest::prelude::*;
use timeline::Event;

use super::{Losses, Matcher, Measure, Measurement, ValueUnit};
use crate::testing::{TestDefinitions, event};

/// The name, the begin, the end and the depth of a duration.
type Named = (String, u64, u64, usize);

fn measured(
    source: &TestDefinitions,
    measures: &[Measure],
    events: &[Event],
) -> (Vec<Named>, Losses, usize) {
    let mut matcher = Matcher::new(measures, source);
    let mut all: Vec<Measurement> = Vec::new();
    events
        .iter()
        .for_each(|event| matcher.add(event, |found| all.push(found)));
    let row = |found: Measurement| {
        assert_eq!(found.value, found.end - found.begin);
        let name = matcher.series()[found.series].name.clone();
        (name, found.begin, found.end, found.depth)
    };
    let rows = all.into_iter().map(row).collect();
    (rows, matcher.losses(), matcher.open())
}

const MESSAGES: [&str; 9] = [
    "begin a $n",
    "end a $n",
    "begin b",
    "end b",
    "start job $id",
    "finish job $id",
    "x: $id",
    "y: $n of $id",
    "other $n",
];

/// The durations that a search in a list of all begins finds: by thread if `key` is `None`, else by
/// the argument at these positions of begins and ends.
fn naive(
    events: &[Event],
    begins: &[(u32, u32)],
    key: Option<(usize, usize)>,
    depths: bool,
) -> (Vec<(u64, u64, usize)>, Losses, usize) {
    let mut open: Vec<(u32, u32, i64, u64)> = Vec::new();
    let (mut found, mut losses) = (Vec::new(), Losses::default());
    for event in events {
        let time = event.time.map_or(0, u64::from);
        if event.missed > 0 {
            losses.begins += open.len() as u64;
            losses.entries += event.missed;
            open.clear();
        }
        let (thread, id) = (event.thread.0, event.id.0);
        // An end comes first if one event is both.
        if let Some((begin, _)) = begins.iter().find(|(_, end)| *end == id) {
            if key.is_none() && thread == 9 {
                losses.threads += 1;
            } else {
                let value = key.map_or(0, |(_, end)| event.args[end]);
                let is_it = |one: &(u32, u32, i64, u64)| match key {
                    None => one.0 == thread && one.1 == *begin,
                    Some(_) => one.1 == *begin && one.2 == value,
                };
                match open.iter().rposition(is_it) {
                    None => losses.ends += 1,
                    Some(at) => {
                        let began = open[at].3;
                        let around = open[..at].iter().filter(|one| one.0 == thread).count();
                        let before = open.len();
                        let mut place = 0;
                        open.retain(|one| {
                            place += 1;
                            let is_inside = key.is_none() && one.0 == thread && place > at;
                            place - 1 != at && !is_inside
                        });
                        losses.begins += (before - open.len() - 1) as u64;
                        match began > time {
                            true => losses.reversed += 1,
                            false => found.push((began, time, if depths { around } else { 0 })),
                        }
                    }
                }
            }
        }
        if begins.iter().any(|(begin, _)| *begin == id) {
            if key.is_none() && thread == 9 {
                losses.threads += 1;
                continue;
            }
            let value = key.map_or(0, |(begin, _)| event.args[begin]);
            if key.is_some() {
                let before = open.len();
                open.retain(|one| !(one.1 == id && one.2 == value));
                losses.begins += (before - open.len()) as u64;
            }
            open.push((thread, id, value, time));
        }
    }
    (found, losses, open.len())
}

fn streams() -> impl Strategy<Value = Vec<Event>> {
    let one = (
        0..MESSAGES.len() as u32,
        prop_oneof![8 => 0_u32..3, 1 => Just(9)],
        0_i64..3,
        prop_oneof![20 => 0_i64..9, 1 => -9_i64..0],
        0..40,
    );
    prop::collection::vec(one, 0..120).prop_map(|rows| {
        let mut time = 1_000;
        let make = |(id, thread, key, step, gap): (u32, u32, i64, i64, i32)| {
            time += step;
            Event {
                missed: u64::from(gap == 0),
                args: [key, (key + 1) % 3, 0, 0],
                ..event(id, thread, time as u64, key)
            }
        };
        rows.into_iter().map(make).collect()
    })
}

proptest! {
    #[test]
    fn durations_are_those_that_a_naive_search_finds(events in streams()) {
        let source = TestDefinitions::of(&MESSAGES);
        let between = |key: Option<&str>, from: &str, to: &str| Measure::Between {
            from: from.into(),
            to: to.into(),
            key: key.map(Into::into),
        };
        for (measure, begins, key, depths) in [
            (Measure::Spans("t.?".into()), &[(0, 1), (2, 3)][..], None, true),
            (Measure::Spans("t.b".into()), &[(2, 3)], None, true),
            (Measure::Spans("t.job".into()), &[(4, 5)], Some((0, 0)), false),
            (between(None, "t.x", "t.y"), &[(6, 7)], None, true),
            (between(Some("id"), "t.x", "t.y"), &[(6, 7)], Some((0, 1)), false),
            (between(None, "t.x", "t.x"), &[(6, 6)], None, true),
            (between(Some("0"), "t.x", "t.other"), &[(6, 8)], Some((0, 0)), false),
        ] {
            let measures = [measure];
            let (found, losses, open) = measured(&source, &measures, &events);
            let found: Vec<_> = found.into_iter().map(|(_, begin, end, depth)| {
                (begin, end, depth)
            }).collect();
            prop_assert_eq!((found, losses, open), naive(&events, begins, key, depths));
        }
    }

    #[test]
    fn several_measures_find_what_each_finds_alone(events in streams()) {
        let source = TestDefinitions::of(&MESSAGES);
        let measures = [
            Measure::Spans("*".into()),
            Measure::Every("t.other".into()),
            Measure::Between { from: "t.x".into(), to: "t.y".into(), key: None },
        ];
        let (mut all, losses, open) = measured(&source, &measures, &events);
        let mut each = Vec::new();
        let (mut each_lost, mut each_open) = (0, 0);
        for measure in measures {
            let (found, losses, open) = measured(&source, &[measure], &events);
            each.extend(found);
            each_lost += losses.total();
            each_open += open;
        }
        all.sort();
        each.sort();
        prop_assert_eq!((all, losses.total(), open), (each, each_lost, each_open));
    }

    #[test]
    fn every_is_the_time_since_the_event_before_in_its_thread(events in streams()) {
        let source = TestDefinitions::of(&MESSAGES);
        let (found, losses, _) = measured(&source, &[Measure::Every("t.other".into())], &events);
        let mut expected = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let (time, thread) = (event.time.map_or(0, u64::from), event.thread);
            if event.id.0 != 8 || thread.0 == 9 || event.missed > 0 {
                continue;
            }
            // Nobody knows what was before a gap.
            let before = events[..at].iter().enumerate().rev();
            let before = before.take_while(|(place, _)| events[place + 1].missed == 0);
            let mut before = before.map(|(_, event)| event);
            let before = before.find(|one| one.id.0 == 8 && one.thread == thread);
            let began = before.map(|one| one.time.map_or(0, u64::from));
            if let Some(began) = began.filter(|began| *began <= time) {
                expected.push(("t.other".to_owned(), began, time, 0));
            }
        }
        let unknown = |one: &&Event| one.id.0 == 8 && one.thread.0 == 9;
        prop_assert_eq!(found, expected);
        prop_assert_eq!(losses.threads, events.iter().filter(unknown).count() as u64);
    }
}

#[test]
fn the_time_before_a_gap_is_not_the_begin_of_anything() {
    let source = TestDefinitions::of(&MESSAGES);
    let mut events = vec![event(8, 0, 10, 1), event(8, 0, 20, 1), event(8, 0, 30, 1)];
    events[2].missed = 1;
    let (found, ..) = measured(&source, &[Measure::Every("t.other".into())], &events);
    assert_eq!(found, [("t.other".into(), 10, 20, 0)]);
}

#[test]
fn values_have_the_units_of_their_fields() {
    let messages = [
        "sent $size:bytes",
        "took $time:ns",
        "got $n:i32",
        "at $rate:f64",
    ];
    let source = TestDefinitions::of(&messages);
    let fields = ["size", "time", "n", "rate"];
    let measures: Vec<_> = fields
        .iter()
        .map(|field| Measure::Values {
            event: "t.*".into(),
            field: (*field).into(),
            scale: (*field == "rate").then_some(10),
        })
        .collect();
    let mut matcher = Matcher::new(&measures, &source);
    let mut values = Vec::new();
    for id in 0..4 {
        let key = match id {
            3 => f64::to_bits(2.5) as i64,
            _ => 40 + i64::from(id),
        };
        matcher.add(&event(id, 0, 5, key), |found| values.push(found.value));
    }
    matcher.add(&event(2, 0, 5, -1), |_| panic!("a negative number"));
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        matcher.add(&event(3, 0, 5, number.to_bits() as i64), |_| {
            panic!("{number} cannot be counted")
        });
    }
    assert_eq!(values, [40, 41, 42, 25]);
    assert_eq!(matcher.series()[3].name, "t.at.rate*10");
    assert_eq!(matcher.fraction(), None);
    assert_eq!(matcher.losses().values, 4);
    let units: Vec<_> = matcher.series().iter().map(|series| series.unit).collect();
    assert_eq!(
        units,
        [
            ValueUnit::Bytes,
            ValueUnit::Nanoseconds,
            ValueUnit::None,
            ValueUnit::None
        ]
    );
}

#[test]
fn a_fraction_is_not_rounded_unless_somebody_says_what_it_is_multiplied_by() {
    let source = TestDefinitions::of(&["at $rate:f64"]);
    let rate = |rate: f64| event(0, 0, 5, rate.to_bits() as i64);
    for (scale, expected) in [
        (None, vec![7]),
        (Some(1), vec![1, 7, 1]),
        (Some(1000), vec![750, 7000, 1250]),
    ] {
        let measures = [Measure::Values {
            event: "t.at".into(),
            field: "rate".into(),
            scale,
        }];
        let mut matcher = Matcher::new(&measures, &source);
        let mut values = Vec::new();
        for number in [0.75, 7.0, 1.25] {
            // What is infinite has no fraction, whatever it is multiplied by.
            let mut other = Matcher::new(&measures, &source);
            other.add(&rate(f64::INFINITY), |_| panic!("it cannot be counted"));
            assert_eq!((other.fraction(), other.losses().values), (None, 1));

            matcher.add(&rate(number), |found| values.push(found.value));
        }
        assert_eq!(values, expected);
        let refused = matcher.fraction().map(|series| &*series.name);
        assert_eq!(refused, scale.is_none().then_some("t.at.rate"));
    }
}

#[test]
fn a_name_that_is_not_there_is_told_with_those_that_are_like_it() {
    let source = TestDefinitions::of(&["begin breath $n", "end breath $n", "sent $size to $port"]);
    let told = |measure: &str| {
        let measure = Measure::parse(measure).expect(measure);
        let (unknown, measures) = (measure.unknown(&source), [measure]);
        assert_eq!(Matcher::new(&measures, &source).unknown(), unknown);
        unknown.map_or(String::new(), |unknown| unknown.to_string())
    };
    for (measure, expected) in [
        ("t.breath", ""),
        ("t.*", ""),
        (
            "t.braeth",
            "there is no span t.braeth; did you mean t.breath?",
        ),
        ("x.*", "there is no span x.*; there are: t.breath"),
        ("every t.sent", ""),
        (
            "every t.send",
            "there is no event t.send; did you mean t.sent?",
        ),
        (
            "t.begin_breath..t.sent by size",
            "there is no field size in t.begin_breath; there are: n",
        ),
        ("t.sent..t.end_breath by 0", ""),
    ] {
        assert_eq!(told(measure), expected, "{measure}");
    }
    let field = |field: &str| Measure::Values {
        event: "t.sent".into(),
        field: field.into(),
        scale: None,
    };
    assert_eq!(field("port").unknown(&source), None);
    let unknown = field("sise").unknown(&source).expect("misspelt");
    assert!(!unknown.may_come());
    assert_eq!(
        unknown.to_string(),
        "there is no field sise in t.sent; did you mean size?"
    );
}

#[test]
fn keys_are_equal_whatever_their_integers_are() {
    let source = TestDefinitions::of(&[
        "start job $id:i32",
        "finish job $id:u64",
        "finish job $id:str",
    ]);
    let spans = [Measure::Spans("*".into())];
    let events = [
        event(0, 0, 5, 7),
        event(0, 1, 6, -1),
        event(1, 2, 9, 7),
        event(1, 2, 9, -1),
    ];
    let (found, losses, open) = measured(&source, &spans, &events);
    assert_eq!(found, [("t.job".into(), 5, 9, 0)]);
    // -1 is not 2^64 - 1.
    assert_eq!((losses.ends, open), (1, 1));
}

#[test]
fn memory_is_bounded_by_what_is_open_and_that_has_a_limit() {
    let source = TestDefinitions::of(&MESSAGES);
    let spans = [Measure::Spans("*".into())];
    let mut matcher = Matcher::with_limits(&spans, &source, (100, 1 << 12));
    let (mut found, most) = (0_u64, 1 << 12);
    for number in 0..most + 5 {
        matcher.add(&event(4, 0, 10 + number as u64, number), |_| found += 1);
    }
    assert_eq!((matcher.open() as i64, matcher.losses().begins), (most, 5));
    // The oldest five are forgotten.
    for number in 0..10 {
        matcher.add(&event(5, 0, 1 << 40, number), |_| found += 1);
    }
    assert_eq!((found, matcher.losses().ends), (5, 5));
    for number in 0..150 {
        matcher.add(&event(0, 0, 10 + number, 0), |_| found += 1);
    }
    assert_eq!(matcher.losses().begins, 5 + 150 - 100);
}

#[test]
fn threads_that_come_and_go_do_not_stay() {
    let source = TestDefinitions::of(&MESSAGES);
    let spans = [Measure::Spans("*".into())];
    let mut matcher = Matcher::new(&spans, &source);
    matcher.add(&event(0, 5_000_000, 1, 0), |_| ());
    let mut found = 0;
    for thread in 10..200_000 {
        matcher.add(&event(0, thread, 1, 0), |_| found += 1);
        matcher.add(&event(1, thread, 2, 0), |_| found += 1);
    }
    assert!(
        matcher.threads.kept() < 150_000,
        "{}",
        matcher.threads.kept()
    );
    matcher.add(&event(1, 5_000_000, 9, 0), |duration| {
        assert_eq!(duration.value, 8);
        found += 1;
    });
    assert_eq!((found, matcher.losses()), (199_991, Losses::default()));
}

#[test]
fn begins_ahead_of_the_clock_hide_no_others_that_last_too_long() {
    let source = TestDefinitions::of(&MESSAGES);
    let spans = [Measure::Spans("*".into())];
    let mut matcher = Matcher::new(&spans, &source);
    // Keys and nested spans; the second of each is of a clock that is far ahead.
    for (number, time) in [(1, 10), (2, 1_000_000), (3, 20)] {
        matcher.add(&event(4, 0, time, number), |_| ());
        matcher.add(&event(0, 0, time, number), |_| ());
    }
    let mut overdue = |now: u64| {
        let mut begins = Vec::new();
        matcher.overdue(now, 100, |open| begins.push(open.begin));
        begins.sort_unstable();
        begins
    };
    assert_eq!(overdue(115), [10, 10]);
    assert_eq!(overdue(500), [20, 20]);
    assert_eq!(overdue(1_000_050), [0; 0]);
    assert_eq!(overdue(1_000_200), [1_000_000; 2]);
    let mut told = Vec::new();
    for number in [2, 1, 3] {
        matcher.add(&event(5, 0, 2_000_000, number), |found| {
            told.push((found.begin, found.told));
        });
    }
    assert_eq!(told, [(1_000_000, true), (10, true), (20, true)]);
}

#[test]
fn events_of_threads_that_are_forgotten_are_counted() {
    let source = TestDefinitions::of(&MESSAGES);
    let every = [Measure::Every("t.other".into())];
    let mut matcher = Matcher::new(&every, &source);
    let (mut found, threads) = (0, 200_000_u64);
    for thread in 10..10 + threads as u32 {
        for time in [1, 5] {
            matcher.add(&event(8, thread, time, 0), |_| found += 1);
        }
    }
    assert_eq!(found, threads);
    // Of each thread the last event is kept, or is counted.
    let kept = matcher.threads.kept() as u64;
    assert!(kept < 150_000);
    assert_eq!(matcher.losses().begins, threads - kept);
}
