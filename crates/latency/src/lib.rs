//! Durations between events: spans, interval histograms and triggers.
//!
//! `spans` finds the durations in a stream of events, live or from an archive. `triggers` tells
//! when a condition is met: it is behind the feature `triggers`, which is on by default. Each
//! module uses only those named before it.

mod spans;
#[cfg(feature = "triggers")]
mod triggers;

pub use spans::{Found, Losses, Matcher, Measure, Open, Series, Unit};
#[cfg(feature = "triggers")]
pub use triggers::{Condition, Error as ConditionError, Fired, Seen, Triggers};
