//! Tests how conditions are read, and what is told about those that cannot be.

use proptest::prelude::*;

use crate::spans::Measure;
use crate::triggers::Condition;
use crate::triggers::kind::{Comparison, ConditionKind, Percentile};

fn kind(text: &str) -> ConditionKind {
    let read = Condition::parse(text);
    read.unwrap_or_else(|error| panic!("{text}: {error}")).kind
}

#[test]
fn spans_are_read() {
    let ConditionKind::Span { measure, limit } = kind("span engine.breath > 1.5ms") else {
        panic!("no span");
    };
    assert_eq!(measure, Measure::Spans("engine.breath".into()));
    assert_eq!(
        (limit.comparison, limit.value),
        (Comparison::Greater, 1_500_000)
    );

    let between = |from: &str, to: &str, key: Option<&str>| Measure::Between {
        from: from.into(),
        to: to.into(),
        key: key.map(Into::into),
    };
    for (text, expected) in [
        ("span a.b..c.d>=2s", between("a.b", "c.d", None)),
        (
            "span a.b..c.d by $id >= 2s",
            between("a.b", "c.d", Some("id")),
        ),
        (
            "span 'a b'..\"c d\" by 0 >= 2s",
            between("a b", "c d", Some("0")),
        ),
        ("span 'a..b' >= 2s", Measure::Spans("a..b".into())),
    ] {
        let ConditionKind::Span { measure, limit } = kind(text) else {
            panic!("{text}");
        };
        assert_eq!(measure, expected, "{text}");
        assert_eq!(
            (limit.comparison, limit.value),
            (Comparison::AtLeast, 2_000_000_000)
        );
    }
}

#[test]
fn windows_are_read() {
    for (text, expected, length) in [
        ("p99(t.job) < 2 ms", Percentile::Of(99.0), 1_000_000_000),
        (
            "p99.9(t.job, 100ms) < 2ms",
            Percentile::Of(99.9),
            100_000_000,
        ),
        (
            "max ( span t.job,10s ) < 2ms",
            Percentile::Longest,
            10_000_000_000,
        ),
    ] {
        let ConditionKind::Percentile {
            measure,
            percentile,
            window,
            limit,
        } = kind(text)
        else {
            panic!("{text}");
        };
        assert_eq!(measure, Measure::Spans("t.job".into()), "{text}");
        assert_eq!((percentile, window), (expected, length), "{text}");
        assert_eq!(
            (limit.comparison, limit.value),
            (Comparison::Less, 2_000_000)
        );
    }
    let ConditionKind::Percentile { measure, .. } = kind("max(span, 1s) > 1ms") else {
        panic!("no percentile");
    };
    assert_eq!(measure, Measure::Spans("span".into()));
    for (text, expected) in [
        ("rate(net.*) <= 20k/s", 20_000.0),
        ("rate(net.*, 1s) <= 1_000/ms", 1e6),
        ("rate(net.*) <= 30 / min", 0.5),
        ("rate(net.*) <= 1.5M/s", 1.5e6),
    ] {
        let ConditionKind::Rate { events, limit, .. } = kind(text) else {
            panic!("{text}");
        };
        assert_eq!(
            (events.as_str(), limit.value),
            ("net.*", expected),
            "{text}"
        );
    }
}

#[test]
fn events_are_read() {
    let ConditionKind::Event(query) = kind("event net.got where bytes > 4KiB && name ~ \"eth\"")
    else {
        panic!("no event");
    };
    assert_eq!((query.events.len(), query.expressions.len()), (1, 1));
    assert!(matches!(kind("event net.got"), ConditionKind::Event(_)));
    let ConditionKind::Missing { events, time } = kind(" missing net.got for 100ms ") else {
        panic!("none missing");
    };
    assert_eq!((events.as_str(), time), ("net.got", 100_000_000));
}

/// What cannot be read, and a part of what is told about it.
const REFUSED: &[(&str, &str)] = &[
    ("", "expected span NAME > TIME, p99(NAME) > TIME"),
    ("breath > 1ms", "at character 1, got breath"),
    ("p101(a) > 1ms", "at character 1, got p101(a)"),
    ("p0(a) > 1ms", "at character 1"),
    ("pinf(a) > 1ms", "at character 1"),
    (
        "span",
        "expected the name of a span, or two events as FIRST..LAST at character 5, got the end",
    ),
    (
        "span a",
        "expected >, >=, < or <= at character 7, got the end",
    ),
    (
        "span a == 1ms",
        "expected >, >=, < or <= at character 8, got ==",
    ),
    (
        "span a > 1",
        "expected a time, with a unit, such as 100us, 10ms or 1.5s, at character 10, got 1",
    ),
    ("span a > -1ms", "got -1ms"),
    ("span a > 1ms or so", "got 1ms or so"),
    ("span ..a > 1ms", "FIRST..LAST at character 6, got ..a"),
    (
        "span a.. > 1ms",
        "expected the name of the last event at character 10, got >",
    ),
    (
        "span a..b by > 1ms",
        "expected the name of a field at character 14, got >",
    ),
    ("span 'a > 1ms", "FIRST..LAST at character 6, got 'a"),
    ("span '' > 1ms", "at character 6, got ''"),
    (
        "p99 a > 1ms",
        "expected ( and the name of a span at character 5, got a",
    ),
    (
        "p99(a > 1ms",
        "expected ) or a comma and a time at character 7, got >",
    ),
    (
        "p99(a, 1us) > 1ms",
        "expected a time of at least 1ms, with a unit",
    ),
    ("p99(a, 1s > 1ms", "got 1s > 1ms"),
    (
        "rate(a) > 10",
        "such as 1000/s, 20k/s or 5/min, at character 11, got 10",
    ),
    ("rate(a) > x/s", "got x/s"),
    ("rate(a) > 1/fortnight", "got 1/fortnight"),
    (
        "rate a > 1/s",
        "expected ( and the name of an event at character 6, got a",
    ),
    (
        "event",
        "expected the name of an event at character 6, got the end",
    ),
    (
        "event a if b",
        "expected where, or the end at character 9, got if",
    ),
    (
        "event a where b >",
        "in the condition behind `where`: expected a field or a value at character 4",
    ),
    (
        "missing a",
        "expected for and a time at character 10, got the end",
    ),
    ("missing a for 0s", "expected a time above zero"),
    ("missing a for ever", "got ever"),
    ("spän\u{1b}", "at character 1"),
];

#[test]
fn what_cannot_be_read_is_told() {
    for (text, expected) in REFUSED {
        let error = Condition::parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(!error.contains('\u{1b}'), "{error:?}");
    }
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,4}",
        prop::sample::select(vec![
            "span ", "p99(", "max(", "rate(", "event ", "missing ", "where ", "for ", "by ", "..",
            "a.b", "'", "\"", "(", ")", ",", ">", ">=", "<", "1ms", "1s", "10/s", "µs", "é",
            "\u{7f}",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        pieces in prop::collection::vec(piece(), 0..8),
        any in ".{0,30}",
    ) {
        for text in [pieces.concat(), any] {
            match Condition::parse(&text) {
                Ok(condition) => {
                    // It is written as it was read.
                    let again = Condition::parse(&condition.to_string()).expect("read again");
                    prop_assert_eq!(format!("{:?}", again.kind), format!("{:?}", condition.kind));
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
