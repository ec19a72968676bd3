//! Sums intervals up: percentiles of one histogram, and of all intervals of each tag.

use std::sync::Arc;

use hdrhistogram::Histogram;

use super::cutter::MOST_TAGS;
use super::error::{Error, Result};
use super::interval::Interval;
use super::memory::Memory;
use crate::percentile;

/// The percentiles of a row, and their names.
pub const PERCENTILES: [(f64, &str); 5] = [
    (50.0, "50%"),
    (90.0, "90%"),
    (99.0, "99%"),
    (99.9, "99.9%"),
    (99.99, "99.99%"),
];

/// What a histogram says in a few numbers. Durations are in nanoseconds, and 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummaryRow {
    /// How many durations there are.
    pub count: u64,
    /// The shortest.
    pub min: u64,
    /// How long at most 50, 90, 99, 99.9 and 99.99 % of the durations are.
    pub percentiles: [u64; PERCENTILES.len()],
    /// The longest.
    pub max: u64,
    /// Their mean.
    pub mean: f64,
}

impl From<&Histogram<u64>> for SummaryRow {
    fn from(histogram: &Histogram<u64>) -> SummaryRow {
        SummaryRow {
            count: histogram.len(),
            min: histogram.min(),
            percentiles: PERCENTILES.map(|(percent, _)| percentile(histogram, percent)),
            max: histogram.max(),
            mean: histogram.mean(),
        }
    }
}

/// All intervals of a tag.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The tag.
    pub tag: Option<Arc<str>>,
    /// How many intervals there are.
    pub intervals: u64,
    /// Where the first begins, in nanoseconds since 1970.
    pub from: u64,
    /// Where the last ends, in nanoseconds since 1970.
    pub to: u64,
    /// The durations of all, in nanoseconds.
    pub histogram: Histogram<u64>,
}

impl Summary {
    /// What the histogram says in a few numbers.
    pub fn row(&self) -> SummaryRow {
        SummaryRow::from(&self.histogram)
    }
}

/// Sums intervals up by their tags.
///
/// # Example
/// ```
/// use timeline_latency::intervals::{IntervalOptions, Intervals, Summaries};
///
/// let mut intervals = Intervals::new(IntervalOptions::default())?;
/// let parse = intervals.tag(Some("parse"))?;
/// for second in 0..60 {
///     intervals.record(parse, second * 1_000_000_000, 1_000 + second);
/// }
/// intervals.finish();
/// let mut summaries = Summaries::default();
/// while let Some(interval) = intervals.due() {
///     summaries.add(&interval)?;
/// }
/// let row = summaries.iter().next().unwrap().row();
/// assert_eq!((row.count, row.min, row.max), (60, 1_000, 1_059));
/// # Ok::<(), timeline_latency::intervals::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Summaries {
    all: Vec<Summary>,
    memory: Memory,
}

impl Summaries {
    /// Adds an interval to those of its tag.
    ///
    /// # Errors
    /// `TooManyTags`; `TooMuch` if the histograms of all tags take more than 1 GiB.
    pub fn add(&mut self, interval: &Interval) -> Result<()> {
        let known = self.all.iter_mut().find(|known| known.tag == interval.tag);
        if let Some(known) = known {
            known.intervals += 1;
            known.from = known.from.min(interval.start);
            known.to = known.to.max(interval.end());
            return self.memory.add(&mut known.histogram, &interval.histogram);
        }
        if self.all.len() == MOST_TAGS {
            return Err(Error::TooManyTags { most: MOST_TAGS });
        }
        self.memory.take(&interval.histogram)?;
        self.all.push(Summary {
            tag: interval.tag.clone(),
            intervals: 1,
            from: interval.start,
            to: interval.end(),
            histogram: interval.histogram.clone(),
        });
        Ok(())
    }

    /// The tags in the order in which they appeared.
    pub fn iter(&self) -> impl Iterator<Item = &Summary> {
        self.all.iter()
    }
}
