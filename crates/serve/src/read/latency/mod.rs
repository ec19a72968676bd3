//! Finds durations, and makes of them what pictures of latency show.
//!
//! `find` finds the durations that are asked for, and `bins` counts those of a column of a picture.
//! `durations` sums them up, `list` lists them, and `spans` are those that tracks show as bars, and
//! `long_spans` those of them that are found in all of a log. Each module uses only those named
//! before it.

mod bins;
mod durations;
mod find;
mod list;
mod long_spans;
mod spans;

pub use durations::{DurationQuery, Durations, durations};
pub use find::DurationFilter;
pub use list::{DurationList, ListQuery, list};
pub use long_spans::long_spans;
pub use spans::{SpanQuery, Spans, spans};
