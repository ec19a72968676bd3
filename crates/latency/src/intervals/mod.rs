//! Durations over time: a histogram for each interval, in the text format of HdrHistogram.
//!
//! [`Intervals`] cuts a stream of durations into one [`Interval`] (interval.rs) after another, for
//! each tag (cutter.rs), and records them in histograms of a [`HistogramShape`], corrected or not
//! (shape.rs); interval_loss.rs is what is in none. [`LogWriter`] writes them as an interval log
//! (log_writer.rs), and [`LogReader`] reads such logs (log_reader.rs): lines.rs bounds the lines,
//! line.rs takes one apart, seconds.rs reads its times, and payload.rs its histogram, which
//! encoding.rs takes apart. [`merge`] makes one stream of several logs (memory.rs bounds what it
//! keeps). [`Summaries`] sums intervals up (summary.rs), and [`IntervalTable`] writes what they say
//! (table.rs), with durations of units.rs and distributions of spark.rs; [`Distribution`] writes
//! all percentiles (hgrm.rs). error.rs has the errors. docs/intervals.md states the format.

mod cutter;
#[cfg(feature = "logs")]
mod encoding;
mod error;
#[cfg(feature = "logs")]
mod hgrm;
mod interval;
#[cfg(feature = "logs")]
mod interval_loss;
#[cfg(feature = "logs")]
mod line;
#[cfg(feature = "logs")]
mod lines;
#[cfg(feature = "logs")]
mod log_reader;
#[cfg(feature = "logs")]
mod log_writer;
mod memory;
#[cfg(feature = "logs")]
mod merge;
#[cfg(feature = "logs")]
mod payload;
#[cfg(feature = "logs")]
mod seconds;
mod shape;
mod spark;
mod summary;
#[cfg(feature = "logs")]
mod table;
#[cfg(all(test, feature = "logs"))]
mod tests;
mod units;

pub use cutter::{IntervalOptions, Intervals, MOST_EMPTY, MOST_TAGS, TagId, is_tag};
pub use error::{Error, Flaw, Result};
#[cfg(feature = "logs")]
pub use hgrm::Distribution;
pub use interval::Interval;
#[cfg(feature = "logs")]
pub use interval_loss::IntervalLoss;
#[cfg(feature = "logs")]
pub use log_reader::{
    Guesses, LineDamage, LogEntry, LogIntervals, LogReader, MOST_FLAWS, ReaderOptions, TimePoint,
    TimeRange, TimeRules,
};
#[cfg(feature = "logs")]
pub use log_writer::{LogHeader, LogWriter};
#[cfg(feature = "logs")]
pub use merge::{IntervalMerge, merge};
pub use shape::{HIGHEST, HistogramShape, corrected, record, record_corrected};
pub use spark::spark_line;
pub use summary::{PERCENTILES, Summaries, Summary, SummaryRow};
#[cfg(feature = "logs")]
pub use table::{IntervalTable, TableFormat};
pub use units::duration;
