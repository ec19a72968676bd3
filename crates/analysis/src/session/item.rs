//! What comes out of the logs: events, and what is missing.

use timeline::Event;
use timeline_latency::Lack;

/// One of these.
pub enum StreamItem {
    /// An event, behind the number of its log.
    Event(usize, Event),
    /// What a log lacks, by the number of the log.
    Lack(usize, Lack),
}
