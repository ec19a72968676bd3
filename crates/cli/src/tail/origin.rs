//! What a tail is asked to follow, and what a look at it brings.

use timeline_latency::Lack;
use timeline_reading::Log;
use timeline_search::Query;

use super::Args;
use crate::restart::FollowEnd;
use crate::signals::Signals;

/// What a part is made of.
pub struct TailOrigin<'q> {
    pub log: Log,
    pub args: &'q Args,
    pub query: &'q Query,
    pub signals: &'q Signals,
    /// How many events to begin with; all that a ring holds if that is not said.
    pub first: Option<usize>,
}

/// What came of a look at new events.
#[derive(Default)]
pub struct PollResult {
    /// What is missing.
    pub lacks: Vec<Lack>,
    /// Whether nothing was new.
    pub is_idle: bool,
    /// Whether no more comes of it.
    pub end: Option<FollowEnd>,
}
