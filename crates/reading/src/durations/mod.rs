//! Adds to the events that end spans how long these took.
//!
//! with_durations.rs adds them to a stream in either order. pairing.rs finds them from oldest to
//! newest, and partial.rs for some events from the middle of an archive. edges.rs has those begins
//! and ends read that a query does not want.

mod edges;
mod pairing;
mod partial;
mod with_durations;

pub(crate) use edges::select_with_edges;
pub use pairing::SpanPairer;
pub(crate) use with_durations::WithDurations;
