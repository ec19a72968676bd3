//! What a condition has seen when it was met.

use timeline::Thread;
use timeline::internal::SpanKey;

/// A moment at which a condition was met.
#[derive(Debug, Clone, PartialEq)]
pub struct Firing {
    /// The number of the condition.
    pub condition: usize,
    /// When, in nanoseconds since 1970: the end of a span, or the moment at which one that is still
    /// open reached the limit; the time of an event; the end of a step of a window; the end of the
    /// time for which nothing came. For what is told later, because it still holds, that moment.
    pub time: u64,
    /// The name of the span or event, or the pattern of those that were counted.
    pub name: String,
    /// The value.
    pub seen: FiringValue,
    /// When the span began, in nanoseconds since 1970.
    pub begin: Option<u64>,
    /// When it ended. `None` if it is still open.
    pub end: Option<u64>,
    /// The thread in which the span ended or is open, or the event was logged.
    pub thread: Option<Thread>,
    /// The key that the begin and the end of the span share.
    pub key: Option<SpanKey>,
}

/// The value that met a condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FiringValue {
    /// A duration in nanoseconds.
    Nanoseconds(u64),
    /// Events in a second.
    PerSecond(f64),
    /// An event, which is no value.
    Event,
}
