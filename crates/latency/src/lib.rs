//! Durations between events: spans, interval histograms and triggers.
//!
//! `spans` finds the durations of a stream of events, live or from an archive. Each module uses only
//! those named before it.

mod spans;
