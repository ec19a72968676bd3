//! Tests intervals: cutting, writing, reading, choosing and merging.
//!
//! cutting.rs is about intervals, logs.rs, encodings.rs, ranges.rs, times.rs and hostile.rs about
//! reading logs, text_output.rs about what is written, and merging.rs about several logs.

mod cutting;
mod encodings;
mod hostile;
mod logs;
mod merging;
mod ranges;
mod text_output;
mod times;

use super::*;

/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// The histogram of these durations.
fn histogram(values: &[u64]) -> hdrhistogram::Histogram<u64> {
    let mut histogram = HistogramShape::default().histogram().unwrap();
    for &value in values {
        histogram.record(value).unwrap();
    }
    histogram
}

/// An interval of this length, in seconds.
fn interval(tag: Option<&str>, start: u64, seconds: u64, values: &[u64]) -> Interval {
    Interval {
        tag: tag.map(Into::into),
        start,
        length: seconds * SECOND,
        origin: start,
        histogram: histogram(values),
    }
}

/// A log of these intervals.
fn log(header: &LogHeader, intervals: &[Interval]) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new(), header).unwrap();
    for interval in intervals {
        log.write(interval).unwrap();
    }
    log.into_inner().unwrap()
}

/// The intervals of a log without damage.
fn read(log: &[u8], options: ReaderOptions) -> Vec<Interval> {
    let intervals = LogReader::new(log, options).intervals();
    intervals.map(|interval| interval.unwrap()).collect()
}

/// All that is known of a histogram, to be compared: its buckets and their counts.
fn counts(histogram: &hdrhistogram::Histogram<u64>) -> Vec<(u64, u64)> {
    let recorded = histogram.iter_recorded();
    recorded
        .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
        .collect()
}

/// What an interval is, to be compared.
fn facts(interval: &Interval) -> (Option<&str>, u64, u64, Vec<(u64, u64)>) {
    let counts = counts(&interval.histogram);
    (
        interval.tag.as_deref(),
        interval.start,
        interval.length,
        counts,
    )
}
