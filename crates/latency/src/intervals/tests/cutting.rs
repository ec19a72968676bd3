//! Tests that durations get into the right intervals, whatever their order is.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn options(milliseconds: u64) -> IntervalOptions {
    IntervalOptions {
        length: Duration::from_millis(milliseconds),
        ..IntervalOptions::default()
    }
}

fn all_due(intervals: &mut Intervals) -> Vec<Interval> {
    std::iter::from_fn(|| intervals.due()).collect()
}

#[test]
fn empty_intervals_come_for_each_tag_that_is_known() {
    let mut intervals = Intervals::new(options(1000)).unwrap();
    let one = intervals.tag(Some("one")).unwrap();
    intervals.record(one, 10 * SECOND + 5, 100);
    intervals.record(one, 13 * SECOND, 100);
    let none = intervals.tag(None).unwrap();
    assert_eq!(intervals.tag(Some("one")).unwrap(), one);
    intervals.record(none, 13 * SECOND, 200);
    intervals.finish();
    let due = all_due(&mut intervals);
    let found = due
        .iter()
        .map(|i| (i.tag.as_deref(), i.start / SECOND, i.histogram.len()));
    let found: Vec<_> = found.collect();
    assert_eq!(
        found,
        [
            (Some("one"), 10, 1),
            (None, 10, 0),
            (Some("one"), 11, 0),
            (None, 11, 0),
            (Some("one"), 12, 0),
            (None, 12, 0),
            (Some("one"), 13, 1),
            (None, 13, 1),
        ]
    );
    assert!(due.iter().all(|interval| interval.origin == 10 * SECOND));
}

#[test]
fn what_comes_too_late_is_in_the_oldest_open_interval_and_counted() {
    let mut intervals = Intervals::new(options(1000)).unwrap();
    let tag = intervals.tag(None).unwrap();
    for second in [10, 11, 12, 13] {
        intervals.record(tag, second * SECOND, second);
    }
    assert_eq!(all_due(&mut intervals).len(), 2);
    intervals.record(tag, 12 * SECOND, 1); // Still open.
    assert_eq!(intervals.late(), 0);
    intervals.record(tag, 11 * SECOND, 2); // Given away.
    intervals.record(tag, 5 * SECOND, 3); // Before the first.
    assert_eq!(intervals.late(), 2);
    intervals.finish();
    let due = all_due(&mut intervals);
    let found: Vec<_> = due
        .iter()
        .map(|i| (i.start / SECOND, i.histogram.len()))
        .collect();
    assert_eq!(found, [(12, 4), (13, 1)]);
    assert!(intervals.due().is_none());
}

#[test]
fn an_interval_of_which_a_tag_was_given_away_is_open_no_more() {
    let mut intervals = Intervals::new(IntervalOptions {
        late: 0,
        ..options(1000)
    })
    .unwrap();
    let [a, b] = ["a", "b"].map(|tag| intervals.tag(Some(tag)).unwrap());
    intervals.record(a, SECOND, 1);
    intervals.record(b, 2 * SECOND, 1);
    assert_eq!(intervals.due().unwrap().tag.as_deref(), Some("a"));
    intervals.record(b, SECOND, 2);
    intervals.finish();
    let due = all_due(&mut intervals);
    let found = due
        .iter()
        .map(|i| (i.tag.as_deref().unwrap(), i.histogram.len()));
    let found: Vec<_> = found.collect();
    assert_eq!(found, [("b", 0), ("a", 0), ("b", 2)]);
    assert_eq!(intervals.late(), 1);
}

#[test]
fn time_that_passes_makes_intervals_due() {
    let start = Some(5 * SECOND + 1_999_999);
    let mut intervals = Intervals::new(IntervalOptions {
        start,
        ..options(10)
    })
    .unwrap();
    intervals.tag(Some("idle")).unwrap();
    assert!(intervals.due().is_none());
    intervals.pass(5 * SECOND + 41 * MILLISECOND);
    let due = all_due(&mut intervals);
    assert_eq!(due.len(), 3);
    assert_eq!(due[0].start, 5 * SECOND + MILLISECOND);
    assert!(due.iter().all(|interval| interval.histogram.is_empty()));
}

#[test]
fn aligned_intervals_begin_at_multiples_of_their_length() {
    let mut intervals = Intervals::new(IntervalOptions {
        aligned: true,
        ..options(60_000)
    })
    .unwrap();
    let tag = intervals.tag(None).unwrap();
    intervals.record(tag, 1_500_000_040 * SECOND, 1);
    intervals.finish();
    let start = intervals.due().unwrap().start;
    assert_eq!(start % (60 * SECOND), 0);
    assert!(start <= 1_500_000_040 * SECOND);
}

#[test]
fn a_gap_of_years_is_left_out() {
    let mut intervals = Intervals::new(options(1)).unwrap();
    let tag = intervals.tag(None).unwrap();
    intervals.record(tag, 0, 1);
    let far = 50 * 365 * 86_400 * SECOND;
    intervals.record(tag, far, 1);
    intervals.finish();
    let due = all_due(&mut intervals);
    let starts: Vec<_> = due.iter().map(|interval| interval.start).collect();
    assert_eq!(starts, [0, far]);
    assert_eq!(intervals.left_out(), far / MILLISECOND - 1);
}

#[test]
fn durations_are_corrected_and_cut_to_the_highest() {
    let corrected = IntervalOptions {
        expected: Some(Duration::from_nanos(250)),
        ..options(1000)
    };
    let fixed = IntervalOptions {
        shape: HistogramShape {
            digits: 2,
            highest: Some(500),
        },
        ..options(1000)
    };
    for (options, count, clamped) in [(corrected, 4, 0), (fixed, 1, 1), (options(1000), 1, 0)] {
        let mut intervals = Intervals::new(options).unwrap();
        let tag = intervals.tag(None).unwrap();
        intervals.record(tag, SECOND, 1000);
        intervals.finish();
        assert_eq!(intervals.due().unwrap().histogram.len(), count);
        assert_eq!(intervals.clamped(), clamped);
    }
}

#[test]
fn what_a_log_cannot_say_is_refused() {
    for length in [Duration::ZERO, Duration::from_micros(1500), Duration::MAX] {
        let options = IntervalOptions {
            length,
            ..IntervalOptions::default()
        };
        let error = Intervals::new(options).unwrap_err();
        assert!(error.to_string().contains("whole milliseconds"), "{error}");
    }
    let mut intervals = Intervals::new(options(1)).unwrap();
    for tag in ["", "a,b", "a b", "a\nb"] {
        assert!(matches!(intervals.tag(Some(tag)), Err(Error::Tag { .. })));
    }
    for number in 0..MOST_TAGS {
        intervals.tag(Some(&number.to_string())).unwrap();
    }
    assert!(matches!(
        intervals.tag(None),
        Err(Error::TooManyTags { .. })
    ));
}

proptest! {
    #[test]
    fn nothing_is_lost_and_intervals_are_where_a_naive_cut_has_them(
        recorded in prop::collection::vec((0_usize..3, 0_u64..40, 1_u64..1_000_000), 1..60),
        late in 0_u32..4,
        takes in prop::collection::vec(any::<bool>(), 60),
    ) {
        let length = 3 * MILLISECOND;
        let mut intervals = Intervals::new(IntervalOptions {
            late,
            start: Some(0),
            ..options(3)
        }).unwrap();
        let tags: Vec<_> = (0..3).map(|n| intervals.tag(Some(&format!("t{n}"))).unwrap()).collect();
        let mut due = Vec::new();
        for ((tag, at, value), take) in recorded.iter().zip(takes) {
            intervals.record(tags[*tag], at * MILLISECOND, *value);
            if take {
                due.extend(all_due(&mut intervals));
            }
        }
        intervals.finish();
        due.extend(all_due(&mut intervals));
        // In order, and without gaps.
        for (number, interval) in due.iter().enumerate() {
            prop_assert_eq!(interval.start, number as u64 / 3 * length);
            let tag = format!("t{}", number % 3);
            prop_assert_eq!(interval.tag.as_deref(), Some(tag.as_str()));
        }
        let total: u64 = due.iter().map(|interval| interval.histogram.len()).sum();
        prop_assert_eq!(total, recorded.len() as u64);
        if intervals.late() == 0 {
            for (number, interval) in due.iter().enumerate() {
                let within = |(tag, at, _): &&(usize, u64, u64)| {
                    number % 3 == *tag && at * MILLISECOND / length == number as u64 / 3
                };
                let values: Vec<u64> = recorded.iter().filter(within).map(|r| r.2).collect();
                prop_assert_eq!(counts(&interval.histogram), counts(&histogram(&values)));
            }
        }
    }
}
