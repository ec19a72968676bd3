//! An interval log, or a histogram in one.

use std::io::BufReader;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use timeline_latency::intervals::{
    Distribution, Error, Interval, LogEntry, LogHeader, LogReader, LogWriter, ReaderOptions,
    SummaryRow, TimeRules, merge, spark_line,
};

/// Histograms of more memory take long, and are read as others are.
const MOST_HISTOGRAM: u64 = 1 << 18;

/// Reads the bytes as a log; if the first byte is odd, as the histogram of a log. The second bit
/// says by which rules.
pub fn run(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else {
        return;
    };
    let log = match first & 1 {
        0 => rest.to_vec(),
        _ => format!("Tag=a,1.5,1.0,0.0,{}\n", STANDARD.encode(rest)).into_bytes(),
    };
    let options = ReaderOptions {
        rules: match first & 2 {
            0 => TimeRules::Plain,
            _ => TimeRules::Java,
        },
        most_line: 10_000,
        most_histogram: MOST_HISTOGRAM,
        ..ReaderOptions::default()
    };
    let (intervals, damaged) = strictly(&log, &options);
    passed_over(&log, &options, &intervals, damaged);
    merged(&log, &options, &intervals);
    written_again(&intervals);
    for interval in &intervals {
        let row = SummaryRow::from(&interval.histogram);
        assert!(row.min <= row.max && row.percentiles.is_sorted());
        spark_line(&interval.histogram, (row.min, row.max), 16);
        let mut text = Vec::new();
        let distribution = Distribution::default();
        distribution
            .write(&interval.histogram, &mut text)
            .expect("memory");
    }
}

/// The intervals, and how many lines are damaged.
fn strictly(log: &[u8], options: &ReaderOptions) -> (Vec<Interval>, u64) {
    let (mut intervals, mut damaged) = (Vec::new(), 0);
    for entry in LogReader::new(log, options.clone()) {
        match entry {
            Ok(LogEntry::Interval(interval)) => intervals.push(interval),
            Ok(_) => {}
            Err(Error::Line { .. }) => damaged += 1,
            Err(error) => panic!("{error}"),
        }
    }
    (intervals, damaged)
}

/// Whoever passes over what is damaged gets the same, also in small pieces.
fn passed_over(log: &[u8], options: &ReaderOptions, intervals: &[Interval], damaged: u64) {
    let options = ReaderOptions {
        skip_damaged: true,
        ..options.clone()
    };
    let mut reader = LogReader::new(BufReader::with_capacity(7, log), options);
    let entries = reader.by_ref().map(|entry| entry.expect("an entry"));
    let found = entries.filter(|entry| matches!(entry, LogEntry::Interval(_)));
    assert_eq!(found.count(), intervals.len());
    assert_eq!(reader.damaged(), damaged);
}

/// Merged with nothing, a log has as many durations.
fn merged(log: &[u8], options: &ReaderOptions, intervals: &[Interval]) {
    let durations = |intervals: &[Interval]| {
        let counts = intervals.iter().map(|interval| interval.histogram.len());
        counts.fold(0, u64::saturating_add)
    };
    // What cannot be added to another one is an error.
    if durations(intervals) > i64::MAX as u64 {
        return;
    }
    let readers = [LogReader::new(log, options.clone())];
    let found = merge(readers).filter_map(|entry| match entry {
        Ok(LogEntry::Interval(interval)) => Some(interval),
        _ => None,
    });
    let found: Vec<Interval> = found.collect();
    assert!(found.len() <= intervals.len());
    assert_eq!(durations(&found), durations(intervals));
}

/// What can be written is read again.
fn written_again(intervals: &[Interval]) {
    let mut log = LogWriter::new(Vec::new(), &LogHeader::default()).expect("memory");
    let mut written = Vec::new();
    for interval in intervals {
        match log.write(interval) {
            Ok(()) => written.push(interval),
            Err(Error::Tag { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let log = log.into_inner().expect("memory");
    let (again, damaged) = strictly(&log, &ReaderOptions::default());
    assert_eq!((again.len(), damaged), (written.len(), 0));
    for (again, written) in again.iter().zip(written) {
        assert_eq!(again.tag, written.tag);
        // A log has milliseconds.
        assert!(again.start.abs_diff(written.start) <= 500_000);
        assert!(again.length.abs_diff(written.length) <= 500_000);
        assert!(again.histogram == written.histogram);
    }
}
