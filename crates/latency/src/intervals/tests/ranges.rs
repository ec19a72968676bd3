//! Tests which intervals of a log are read: by time, and by tag.

use proptest::prelude::*;

use super::*;

const START: u64 = 1_500_000_000;

fn logged(starts: &[u64]) -> Vec<u8> {
    let header = LogHeader {
        start_time: Some(START * SECOND),
        base_time: Some(START * SECOND),
        ..LogHeader::default()
    };
    let intervals = starts
        .iter()
        .map(|start| interval(None, (START + start) * SECOND, 1, &[1]));
    log(&header, &intervals.collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn a_range_is_read_as_if_all_were_read_and_some_chosen(
        mut starts in prop::collection::vec(0_u64..50, 0..20),
        from in prop::option::of((any::<bool>(), 0_u64..60)),
        to in prop::option::of((any::<bool>(), 0_u64..60)),
        java in any::<bool>(),
    ) {
        starts.sort_unstable();
        let moment = |(absolute, at): (bool, u64)| match absolute {
            true => TimePoint::Absolute((START + at) * SECOND),
            false => TimePoint::Offset((at * SECOND) as i64),
        };
        let options = ReaderOptions {
            rules: if java { TimeRules::Java } else { TimeRules::Plain },
            range: TimeRange { from: from.map(moment), to: to.map(moment) },
            ..ReaderOptions::default()
        };
        let found = read(&logged(&starts), options);
        let found: Vec<u64> = found.iter().map(|found| found.start / SECOND - START).collect();
        let least = from.map_or(0, |(_, from)| from);
        let most = to.map_or(u64::MAX, |(_, to)| to);
        // Java reads the end, too.
        starts.retain(|start| *start >= least && (*start < most || java && *start == most));
        prop_assert_eq!(found, starts);
    }
}

#[test]
fn java_stops_behind_the_range() {
    let mut log = logged(&[1, 5]);
    log.extend(logged(&[2]));
    let to = Some(TimePoint::Offset(3 * SECOND as i64));
    let count = |rules| {
        let range = TimeRange { from: None, to };
        read(
            &log,
            ReaderOptions {
                rules,
                range,
                ..ReaderOptions::default()
            },
        )
        .len()
    };
    assert_eq!(count(TimeRules::Plain), 2);
    assert_eq!(count(TimeRules::Java), 1);
}

#[test]
fn tags_are_chosen() {
    let intervals = [
        interval(None, 1, 1, &[1]),
        interval(Some("a"), 1, 1, &[2]),
        interval(Some("b"), 1, 1, &[3]),
    ];
    let log = log(&LogHeader::default(), &intervals);
    for (wanted, values) in [
        (None, vec![1, 2, 3]),
        (Some(vec![Some("b"), Some("a")]), vec![2, 3]),
        (Some(vec![None]), vec![1]),
        (Some(vec![Some("c")]), vec![]),
    ] {
        let tags = wanted.map(|tags| tags.into_iter().map(|tag| tag.map(str::to_owned)).collect());
        let found = read(
            &log,
            ReaderOptions {
                tags,
                ..ReaderOptions::default()
            },
        );
        let found: Vec<_> = found.iter().map(|found| found.histogram.max()).collect();
        assert_eq!(found, values);
    }
}
