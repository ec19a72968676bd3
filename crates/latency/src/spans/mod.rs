//! Finds durations in a stream of events: of spans, between two events, or since the one before.
//!
//! measure.rs says which durations are wanted, and parse.rs reads that from a text. matcher.rs
//! finds them (measurement.rs): by roles.rs, which says once for each definition what its events
//! mean, in threads.rs for pairs of one thread and keys.rs for those of a key. times.rs has the
//! times of events, and losses.rs counts the events whose other half is missing, and
//! unknown_names.rs tells the nearest names of those that are in no definition. A stream may be
//! live or from an archive: memory is bounded by open spans, and not by events.

mod keys;
mod losses;
mod matcher;
mod measure;
mod measurement;
mod parse;
mod roles;
mod threads;
mod times;
mod unknown_names;

#[cfg(test)]
mod tests;

pub use losses::Losses;
pub use matcher::{Matcher, Need};
pub use measure::{Measure, Series, ValueUnit};
pub use measurement::{Measurement, OpenSpan};
pub use parse::NoMeasure;
pub use threads::ThreadKey;
#[cfg(feature = "triggers")]
pub use times::SpanTimes;
#[cfg(feature = "triggers")]
pub use unknown_names::unknown_in;
