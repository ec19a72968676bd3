//! Durations between events: spans, interval histograms and triggers.
//!
//! `lack` is what a stream lacks, `percentile` says which value a percentile is, everywhere.
//! `spans` finds the durations in a stream of events, [`intervals`]
//! makes histograms of them and reads and writes these as HdrHistogram does, and `plot` draws them.
//! `triggers` tells when a condition is met. Each module uses only those named before it.
//!
//! `testing` is what tests share.

mod lack;
mod percentile;
mod spans;
#[cfg(test)]
mod testing;
#[cfg(feature = "triggers")]
mod triggers;

pub mod intervals;
#[cfg(feature = "plots")]
pub mod plot;

pub use lack::Lack;
pub use percentile::{percentile, rank};
pub use spans::{
    Losses, Matcher, Measure, Measurement, Need, NoMeasure, OpenSpan, Series, ThreadKey, ValueUnit,
};
#[cfg(feature = "triggers")]
pub use triggers::{Condition, Error as ConditionError, Firing, FiringValue, Triggers};

/// Begins are looked for so long before the first wanted time, where nobody asks for another time:
/// durations that last longer may lack theirs.
pub const DEFAULT_LONGEST: std::time::Duration = std::time::Duration::from_secs(10);

/// A histogram of durations in nanoseconds.
pub type Histogram = hdrhistogram::Histogram<u64>;
