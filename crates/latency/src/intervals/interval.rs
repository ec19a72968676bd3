//! Defines an interval: the histogram of the durations in a stretch of time.

use std::sync::Arc;

use hdrhistogram::Histogram;

/// The durations of a stretch of time, as a histogram.
#[derive(Debug, Clone)]
pub struct Interval {
    /// What the durations are of: the name of a span. Several tags share a log.
    pub tag: Option<Arc<str>>,
    /// Where it begins, in nanoseconds since 1970.
    pub start: u64,
    /// How long it is, in nanoseconds.
    pub length: u64,
    /// The StartTime of its log, from which offsets count, in nanoseconds since 1970.
    pub origin: u64,
    /// The durations, in nanoseconds.
    pub histogram: Histogram<u64>,
}

impl Interval {
    /// Where it ends, in nanoseconds since 1970.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }

    /// How long after StartTime it begins, in nanoseconds: its place on the axis of a plot.
    pub fn offset(&self) -> i64 {
        let offset = i128::from(self.start) - i128::from(self.origin);
        offset.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}
