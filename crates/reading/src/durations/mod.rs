//! Finds how long spans took, and all other durations of an archive.
//!
//! with_durations.rs adds them to the events of a stream in either order. pairing.rs finds them
//! from oldest to newest, partial.rs for some events from the middle of an archive; edges.rs has
//! those begins and ends read that a query does not want. columns.rs finds the durations of an
//! archive that a [`DurationRequest`] (request.rs) asks for, and makes few events; each_event.rs
//! gives all events that play a part, with what they end; longest.rs keeps the longest.
//!
//! All of these have `timeline_latency::Matcher` pair begins and ends, from oldest to newest.
//! Newest first, `timeline::dump::DumpDurations` does, because the library dumps rings that way
//! without this crate.

mod columns;
mod each_event;
mod edges;
#[cfg(test)]
mod hole_tests;
mod longest;
mod pairing;
mod partial;
mod request;
#[cfg(test)]
mod tests;
mod with_durations;

pub use columns::each_duration;
pub use each_event::each_event;
pub(crate) use edges::{EdgeSelect, select_with_edges};
pub use longest::Longest;
pub use pairing::SpanPairer;
pub use request::DurationRequest;
pub(crate) use with_durations::WithDurations;
