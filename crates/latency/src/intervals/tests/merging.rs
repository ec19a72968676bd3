//! Tests that several logs become one.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// The intervals of what was read.
fn intervals_of(entries: impl Iterator<Item = Result<LogEntry>>) -> impl Iterator<Item = Interval> {
    entries.filter_map(|entry| match entry.unwrap() {
        LogEntry::Interval(interval) => Some(interval),
        _ => None,
    })
}

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
            .map(|log| LogReader::new(&log[..], ReaderOptions::default()));
        let merged: Vec<_> = intervals_of(merge(readers)).collect();
        prop_assert!(merged.is_sorted_by_key(|interval| interval.start));
        let found: Facts = merged.iter().map(|one| {
            let tag = one.tag.as_deref().map(str::to_owned);
            ((one.start, tag, one.length), counts(&one.histogram))
        }).collect();
        prop_assert_eq!(found.len(), merged.len());
        prop_assert_eq!(&found, &naive);
        if let Some(first) = merged.first().filter(|_| written.len() > 1) {
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
    let day: Vec<_> = intervals_of(merge(readers)).collect();
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
        .map(|log| LogReader::new(std::io::Cursor::new(log), ReaderOptions::default()));
    let found: Vec<_> = merge(readers)
        .filter(|entry| !matches!(entry, Ok(LogEntry::Comment(_))))
        .collect();
    assert!(matches!(found[0], Err(Error::Line { number: 1, .. })));
    let counts = intervals_of(found.into_iter().skip(1)).map(|one| one.histogram.len());
    assert_eq!(counts.sum::<u64>(), 4);
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
    let merged: Vec<_> = merge([many.into_iter().map(|one| Ok(LogEntry::Interval(one)))]).collect();
    assert!(matches!(merged[0], Err(Error::TooManyTags { .. })));
    assert_eq!(merged.len(), MOST_TAGS + 1);
}

/// What a merged stream says, in words.
fn words(logs: &[&str]) -> Vec<String> {
    let readers = logs
        .iter()
        .map(|log| LogReader::new(log.as_bytes(), ReaderOptions::default()));
    let word = |entry: Result<LogEntry>| match entry.unwrap() {
        LogEntry::Comment(text) => text,
        LogEntry::StartTime(time) => format!("start {}", time / SECOND as i64),
        LogEntry::BaseTime(time) => format!("base {}", time / SECOND as i64),
        LogEntry::Interval(one) => format!(
            "{} at {} from {}",
            one.histogram.len(),
            one.start / SECOND,
            one.origin / SECOND
        ),
    };
    merge(readers).map(word).collect()
}

#[test]
fn a_single_log_keeps_what_else_it_says_where_it_stands() {
    let whole = log(&LogHeader::default(), &[interval(None, 0, 1, &[7])]);
    let whole = String::from_utf8(whole).unwrap();
    let at = |time: u64| {
        let last = whole.lines().last().unwrap();
        last.replacen("0.000", &format!("{time}.000"), 1) + "\n"
    };
    let (first, again, second) = (at(1_600_000_000), at(1_600_000_000), at(1_500_000_000));
    let one = format!(
        "#a\n#[StartTime: 1599999990]\n{first}{again}#b\n{again}\
         #[StartTime: 1499999990]\n#[BaseTime: 0]\n{second}#c\n"
    );
    let said = [
        "a",
        "start 1599999990",
        "2 at 1600000000 from 1599999990",
        "b",
        "1 at 1600000000 from 1599999990",
        "start 1499999990",
        "base 0",
        // A log that is not ordered keeps its order.
        "1 at 1500000000 from 1499999990",
        "c",
    ];
    assert_eq!(words(&[&one]), said);
    // Of several, offsets count from the earliest, and comments stay.
    assert_eq!(
        words(&[
            &format!("#a\n{first}#b\n"),
            &format!("#[StartTime: 1500000000]\n{first}")
        ]),
        ["a", "2 at 1600000000 from 1500000000", "b"]
    );
    // What is between two intervals is bounded.
    let long = format!("#{}\n", "x".repeat(100_000)).repeat(20);
    let found = words(&[&format!("{long}{first}")]);
    assert_eq!(found.len(), 10 + 1 + 1);
    assert_eq!(found[10], "[10 more lines left out]");
}
