//! Durations between events: spans, interval histograms and triggers.
//!
//! `spans` finds the durations in a stream of events, live or from an archive. Each module uses only
//! those named before it.

mod spans;

pub use spans::{Found, Losses, Matcher, Measure, Series, Unit, concerns};
