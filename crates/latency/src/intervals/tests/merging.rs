//! Tests that several logs become one.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Facts = BTreeMap<(u64, Option<String>, u64), Vec<(u64, u64)>>;

proptest! {
    #[test]
    fn merged_logs_have_all_durations_in_order(
        logs in prop::collection::vec(
            prop::collection::vec((0_u64..6, 0_usize..3, 1_u64..3, 1_u64..5_000), 0..15),
            0..4,
        ),
    ) {
        let tags = [None, Some("a"), Some("b")];
        let mut naive = Facts::new();
        let mut written = Vec::new();
        for mut rows in logs {
            rows.sort_unstable();
            let intervals: Vec<_> = rows.iter().map(|&(start, tag, seconds, value)| {
                interval(tags[tag], start * SECOND, seconds, &[value])
            }).collect();
            for one in &intervals {
                let tag = one.tag.as_deref().map(str::to_owned);
                let all = naive.entry((one.start, tag, one.length)).or_default();
                for (value, count) in counts(&one.histogram) {
                    match all.iter_mut().find(|(known, _)| *known == value) {
                        Some((_, known)) => *known += count,
                        None => all.push((value, count)),
                    }
                }
                all.sort_unstable();
            }
            written.push(log(&LogHeader::default(), &intervals));
        }
        let readers = written.iter()
            .map(|log| LogReader::new(&log[..], ReaderOptions::default()).intervals());
        let merged: Vec<_> = merge(readers).map(|interval| interval.unwrap()).collect();
        prop_assert!(merged.is_sorted_by_key(|interval| interval.start));
        let found: Facts = merged.iter().map(|one| {
            let tag = one.tag.as_deref().map(str::to_owned);
            ((one.start, tag, one.length), counts(&one.histogram))
        }).collect();
        prop_assert_eq!(found.len(), merged.len());
        prop_assert_eq!(&found, &naive);
        if let Some(first) = merged.first() {
            prop_assert!(merged.iter().all(|interval| interval.origin == first.origin));
        }

        let mut summaries = Summaries::default();
        for interval in &merged {
            summaries.add(interval).unwrap();
        }
        let total: u64 = summaries.iter().map(|summary| summary.row().count).sum();
        let naive_total: u64 = naive.values().flatten().map(|(_, count)| count).sum();
        prop_assert_eq!(total, naive_total);
    }
}

#[test]
fn hours_become_a_day() {
    let start = 1_500_000_040;
    let hours: Vec<_> = (0..3)
        .map(|hour| {
            let base = (start + hour * 3600) * SECOND;
            let header = LogHeader {
                start_time: Some(start * SECOND),
                base_time: Some(base),
                ..LogHeader::default()
            };
            let minutes: Vec<_> = (0..60)
                .map(|minute| {
                    interval(None, base + minute * 60 * SECOND, 60, &[hour * 60 + minute])
                })
                .collect();
            log(&header, &minutes)
        })
        .collect();
    // In any order.
    let readers = hours
        .iter()
        .rev()
        .map(|log| LogReader::new(&log[..], Default::default()));
    let day: Vec<_> = merge(readers.map(LogReader::intervals))
        .map(Result::unwrap)
        .collect();
    assert_eq!(day.len(), 180);
    for (minute, interval) in day.iter().enumerate() {
        assert_eq!(interval.offset(), minute as i64 * 60 * SECOND as i64);
        assert_eq!(interval.histogram.max(), minute as u64);
    }
}

#[test]
fn an_error_comes_once_and_the_others_go_on() {
    let whole = log(
        &LogHeader::default(),
        &[interval(None, 1, 1, &[1]), interval(None, 2, 1, &[1])],
    );
    let damaged = [b"x,1,1,H\n".to_vec(), whole.clone()].concat();
    let readers = [damaged, whole]
        .map(|log| LogReader::new(std::io::Cursor::new(log), ReaderOptions::default()).intervals());
    let found: Vec<_> = merge(readers).collect();
    assert!(matches!(found[0], Err(Error::Line { number: 1, .. })));
    let counts: Vec<_> = found[1..]
        .iter()
        .map(|one| one.as_ref().unwrap().histogram.len())
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), 4);
}

#[test]
fn more_tags_than_fit_are_an_error() {
    let mut summaries = Summaries::default();
    let many: Vec<_> = (0..=MOST_TAGS)
        .map(|tag| interval(Some(&tag.to_string()), 1, 1, &[1]))
        .collect();
    let (last, others) = many.split_last().unwrap();
    for one in others {
        summaries.add(one).unwrap();
    }
    assert!(matches!(
        summaries.add(last),
        Err(Error::TooManyTags { .. })
    ));
    let merged: Vec<_> = merge([many.into_iter().map(Ok)]).collect();
    assert!(matches!(merged[0], Err(Error::TooManyTags { .. })));
    assert_eq!(merged.len(), MOST_TAGS + 1);
}
