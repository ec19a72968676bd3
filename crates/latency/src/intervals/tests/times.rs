//! Tests what times mean, with and without StartTime and BaseTime, by both rules.

use super::*;

/// Less than a year after 1970, and in 2017.
const DELTA: &str = "60.000";
const ABSOLUTE: &str = "1500000100.000";

fn line(time: &str) -> String {
    let log = log(&LogHeader::default(), &[interval(None, 0, 60, &[1000])]);
    let text = String::from_utf8(log).unwrap();
    text.lines().last().unwrap().replacen("0.000", time, 1) + "\n"
}

/// Where the only interval of a log begins, and its offset, in seconds.
fn placed(header: &str, time: &str, rules: TimeRules) -> (u64, i64) {
    let log = format!("{header}{}", line(time));
    let options = ReaderOptions {
        rules,
        ..ReaderOptions::default()
    };
    let found = &read(log.as_bytes(), options)[0];
    (found.start / SECOND, found.offset() / SECOND as i64)
}

#[test]
fn each_case_is_as_the_table_says() {
    let start =
        "#[StartTime: 1500000040.000 (seconds since epoch), Fri Jul 14 02:40:40 UTC 2017]\n";
    let base = "#[BaseTime: 1500003640.000 (seconds since epoch)]\n";
    let both = format!("{start}{base}");
    let plain = TimeRules::Plain;
    let java = TimeRules::Java;
    for (header, time, rules, expected) in [
        // Times count from BaseTime, offsets from StartTime, whoever guesses.
        (both.as_str(), DELTA, plain, (1_500_003_700, 3660)),
        (both.as_str(), DELTA, java, (1_500_003_700, 3660)),
        // Without BaseTime, times count from 1970.
        (start, ABSOLUTE, plain, (1_500_000_100, 60)),
        // But nobody measured in 1970 and says that it began in 2017.
        (start, DELTA, plain, (1_500_000_100, 60)),
        // That may be meant: 2001.
        (
            start,
            "1000000000.000",
            plain,
            (1_000_000_000, -500_000_040),
        ),
        (
            start,
            "1000000000.000",
            java,
            (2_500_000_040, 1_000_000_000),
        ),
        (start, ABSOLUTE, java, (1_500_000_100, 60)),
        // Java guesses that they count from StartTime.
        (start, DELTA, java, (1_500_000_100, 60)),
        // Without StartTime, the first interval is the start.
        (base, DELTA, plain, (1_500_003_700, 0)),
        // For Java, its time in the file is.
        (base, DELTA, java, (1_500_003_700, 1_500_003_640)),
        ("", ABSOLUTE, plain, (1_500_000_100, 0)),
        ("", ABSOLUTE, java, (1_500_000_100, 0)),
        ("", DELTA, plain, (60, 0)),
        ("", DELTA, java, (60, 0)),
    ] {
        let found = placed(header, time, rules);
        assert_eq!(found, expected, "{header:?} {time} {rules:?}");
    }
}

/// The guesses of a log, and where its intervals begin, in seconds.
fn guessed(log: &str) -> (Guesses, Vec<u64>) {
    let mut reader = LogReader::new(log.as_bytes(), ReaderOptions::default());
    let starts = reader.by_ref().filter_map(|entry| match entry.unwrap() {
        LogEntry::Interval(interval) => Some(interval.start / SECOND),
        _ => None,
    });
    let starts = starts.collect();
    (reader.guesses(), starts)
}

#[test]
fn what_times_count_from_is_guessed_anew_behind_each_start() {
    let none = Guesses::default();
    let (delta, absolute) = (line(DELTA), line(ABSOLUTE));
    let log = format!(
        "#[StartTime: 1500000000]\n{delta}{delta}#[StartTime: 1600000000]\n{delta}\
         #[StartTime: 1500000000]\n{absolute}#[BaseTime: 1500000000]\n{delta}"
    );
    let expected = Guesses {
        from_start_time: 3,
        ..none
    };
    let starts = [
        1_500_000_060,
        1_500_000_060,
        1_600_000_060,
        1_500_000_100,
        1_500_000_060,
    ];
    assert_eq!(guessed(&log), (expected, starts.to_vec()));
    // 2001, or 32 years after 2017?
    let log = format!("#[StartTime: 1500000000]\n{}", line("1000000000.000"));
    let expected = Guesses {
        long_before_start: 1,
        ..none
    };
    assert_eq!(guessed(&log), (expected, vec![1_000_000_000]));
    assert_eq!(guessed(&delta), (none, vec![60]));
    assert_eq!(guessed(&format!("\u{feff}\n{delta}")), (none, vec![60]));
}

#[test]
fn java_takes_a_year_as_365_days() {
    let start = "#[StartTime: 1500000040.000]\n";
    let year = 365 * 24 * 3600;
    let ago = 1_500_000_040 - year;
    let java = |time: u64| placed(start, &format!("{time}.000"), TimeRules::Java).0;
    assert_eq!(java(ago), ago);
    assert_eq!(java(ago - 1), ago - 1 + 1_500_000_040);
}

#[test]
fn java_guesses_once() {
    let log = format!(
        "#[StartTime: 1500000040.000]\n{}#[StartTime: 1600000000.000]\n{}",
        line(ABSOLUTE),
        line(DELTA),
    );
    let options = ReaderOptions {
        rules: TimeRules::Java,
        ..ReaderOptions::default()
    };
    let found = read(log.as_bytes(), options);
    assert_eq!(found[1].start, 60 * SECOND);
    assert_eq!(found[1].offset(), (60 - 1_600_000_000) * SECOND as i64);
}

#[test]
fn times_that_there_are_none_of_are_damage() {
    for (header, time) in [
        ("", "-1"),
        ("#[BaseTime: 8999999999]\n", "8999999999"),
        ("", "1e99"),
    ] {
        let log = format!("{header}{}", line(time));
        let error = LogReader::new(log.as_bytes(), ReaderOptions::default()).find_map(Result::err);
        let error = error.unwrap_or_else(|| panic!("{header:?} {time} is read"));
        assert!(matches!(error, Error::Line { .. }), "{error}");
    }
    // But a time before BaseTime is one.
    assert_eq!(
        placed("#[BaseTime: 100]\n", "-40.000", TimeRules::Plain).0,
        60
    );
}
