//! Tests that what is written is read.

use proptest::prelude::*;

use super::*;

#[test]
fn a_log_is_written_as_java_writes_it() {
    let header = LogHeader {
        comments: vec!["[of a test]\n[StartTime: no".into()],
        start_time: Some(1_500_000_040 * SECOND),
        base_time: Some(1_500_003_640 * SECOND),
    };
    let hour = 1_500_003_640 * SECOND;
    let intervals = [
        interval(Some("a"), hour + 127 * MILLISECOND, 1, &[2_769_000]),
        interval(None, hour + 1020 * SECOND, 60, &[]),
    ];
    let text = String::from_utf8(log(&header, &intervals)).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[..6],
        [
            "#[of a test]",
            "# [StartTime: no",
            "#[Histogram log format version 1.3]",
            "#[StartTime: 1500000040.000 (seconds since epoch), Fri Jul 14 02:40:40 UTC 2017]",
            "#[BaseTime: 1500003640.000 (seconds since epoch)]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
             \"Interval_Compressed_Histogram\"",
        ]
    );
    assert!(
        lines[6].starts_with("Tag=a,0.127,1.000,2.771,HISTFAAAA"),
        "{}",
        lines[6]
    );
    assert!(
        lines[7].starts_with("1020.000,60.000,0.000,HISTFAAAA"),
        "{}",
        lines[7]
    );
    assert_eq!(lines.len(), 8);
}

/// A process starts at 1500000000, its benchmark 40 seconds later; there is a file for each hour.
#[test]
fn the_17th_minute_of_the_second_hour_is_4620_seconds_after_the_start() {
    let start = 1_500_000_040;
    let header = LogHeader {
        start_time: Some(start * SECOND),
        base_time: Some((start + 3600) * SECOND),
        ..LogHeader::default()
    };
    let minutes = (0..60).map(|minute| {
        interval(
            None,
            (start + 3600 + minute * 60) * SECOND,
            60,
            &[minute + 1],
        )
    });
    let minutes: Vec<_> = minutes.collect();
    let log = log(&header, &minutes);
    assert!(String::from_utf8_lossy(&log).contains("\n1020.000,60.000,"));
    for rules in [TimeRules::Plain, TimeRules::Java] {
        let read = read(
            &log,
            ReaderOptions {
                rules,
                ..ReaderOptions::default()
            },
        );
        assert_eq!(read[17].start, 1_500_004_660 * SECOND);
        assert_eq!(read[17].offset(), 4620 * SECOND as i64);
        assert_eq!(read[17].offset() / 60 / SECOND as i64, 77);
    }
}

#[test]
fn entries_come_as_they_stand() {
    let mut log = LogWriter::new(Vec::new(), &LogHeader::default()).unwrap();
    log.start_time(1_000 * SECOND).unwrap();
    log.base_time(2_000 * SECOND + 1).unwrap();
    log.write(&interval(None, 2_001 * SECOND, 1, &[1])).unwrap();
    // Anybody may have written it.
    log.comment("noon\u{1b}[31m\tred").unwrap();
    log.start_time(3_000 * SECOND).unwrap();
    log.base_time(3_500 * SECOND).unwrap();
    log.write(&interval(None, 4_000 * SECOND, 1, &[2])).unwrap();
    let log = log.into_inner().unwrap();
    let mut reader = LogReader::new(&log[..], ReaderOptions::default());
    let entries: Vec<_> = reader
        .by_ref()
        .map(|entry| match entry.unwrap() {
            LogEntry::Comment(comment) => comment,
            LogEntry::StartTime(time) => format!("start {}", time / SECOND as i64),
            LogEntry::BaseTime(time) => format!("base {}", time / SECOND as i64),
            LogEntry::Interval(interval) => {
                format!(
                    "{} +{}",
                    interval.start / SECOND,
                    interval.offset() / SECOND as i64
                )
            }
        })
        .collect();
    assert_eq!(
        entries,
        [
            "[Histogram log format version 1.3]",
            "start 1000",
            "base 2000",
            "2001 +1001",
            "noon?[31m\tred",
            "start 3000",
            "base 3500",
            "4000 +1000",
        ]
    );
    assert_eq!(reader.start_time(), Some(3_000 * SECOND as i64));
}

#[test]
fn what_would_break_a_log_is_refused() {
    let mut log = LogWriter::new(Vec::new(), &LogHeader::default()).unwrap();
    log.write(&interval(None, 10 * SECOND, 1, &[1])).unwrap();
    let tag = log
        .write(&interval(Some("a b"), 10 * SECOND, 1, &[1]))
        .unwrap_err();
    assert!(tag.to_string().contains("got \"a b\""), "{tag}");
    let text = String::from_utf8(log.into_inner().unwrap()).unwrap();
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn histograms_without_compression_are_read_as_well() {
    use base64::Engine;
    use hdrhistogram::serialization::{Serializer, V2Serializer};
    let histogram = histogram(&[5, 700, 700, 123_456_789]);
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(&histogram, &mut bytes)
        .unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    let log = format!("1.0,1.0,123.5,{text}");
    let found = read(log.as_bytes(), ReaderOptions::default());
    assert_eq!(counts(&found[0].histogram), counts(&histogram));
}

proptest! {
    // Histograms of such values are large.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_written_is_read(
        written in prop::collection::vec(
            (
                prop::option::of("[^,\\s\\p{Cc}]{1,12}"),
                0_u64..100_000,
                0_u64..90_000,
                prop::collection::vec(0_u64..=u64::MAX / 2, 0..30),
            ),
            0..6,
        ),
        base in prop::option::of(0_u64..2_000_000_000),
        digits in 1_u8..=3,
    ) {
        let shape = HistogramShape { digits, highest: None };
        let mut start = base.unwrap_or(0) * SECOND;
        let mut intervals = Vec::new();
        for (tag, pause, length, values) in written {
            start += pause * MILLISECOND;
            let mut histogram = shape.histogram().unwrap();
            for value in values {
                histogram.record(value).unwrap();
            }
            intervals.push(Interval {
                tag: tag.map(Into::into),
                start,
                length: length * MILLISECOND,
                origin: 0,
                histogram,
            });
        }
        let header = LogHeader {
            base_time: base.map(|base| base * SECOND),
            ..LogHeader::default()
        };
        let found = read(&log(&header, &intervals), ReaderOptions::default());
        prop_assert_eq!(found.len(), intervals.len());
        for (found, written) in found.iter().zip(&intervals) {
            prop_assert_eq!(facts(found), facts(written));
            let (ours, theirs) = (&found.histogram, &written.histogram);
            prop_assert_eq!((ours.max(), ours.min()), (theirs.max(), theirs.min()));
            prop_assert_eq!(ours.sigfig(), digits);
            prop_assert_eq!(ours.high(), theirs.high());
            prop_assert_eq!(SummaryRow::from(ours), SummaryRow::from(theirs));
        }
        // And written again, it is the same log.
        prop_assert_eq!(log(&header, &found), log(&header, &intervals));
    }
}

#[test]
fn the_page_shows_a_log_that_is_one() {
    let page = include_str!("../../../../../docs/intervals.md");
    let log = page.split("```text\n").nth(1).unwrap();
    let log = log.split("```").next().unwrap();
    let found = read(log.as_bytes(), ReaderOptions::default());
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].tag.as_deref(), Some("parse"));
    assert_eq!(found[0].histogram.max(), 2_770_943);
    assert_eq!(found[1].offset(), 4620 * SECOND as i64);
    assert!(found[1].histogram.is_empty());
}
