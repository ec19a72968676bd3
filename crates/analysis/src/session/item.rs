//! What comes out of the logs: events, and what is missing.

use timeline_latency::Lack;
use timeline_reading::LogEvent;

/// One of these.
pub enum StreamItem {
    Event(LogEvent),
    /// What a log lacks, by the number of the log.
    Lack(usize, Lack),
}
