//! What a matcher finds: durations and values, and spans that have not ended.

use timeline::ThreadRef;
use timeline::internal::SpanKey;

/// A duration, or a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// The number of its series among [`Matcher::series`](super::Matcher::series).
    pub series: usize,
    /// When it began, in nanoseconds since 1970. A value has no duration: there both are the time
    /// of its event.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// The duration in nanoseconds, or the value.
    pub value: u64,
    /// The thread in which it ended.
    pub thread: ThreadRef,
    /// The number of that thread in the kernel.
    pub tid: u32,
    /// The key that both events share, if they are paired by one.
    pub key: Option<SpanKey>,
    /// In how many other spans of its measure and thread it lies.
    pub depth: usize,
    /// Whether [`Matcher::overdue`](super::Matcher::overdue) has told of it while it was open.
    pub told: bool,
}

/// A duration that has begun, and whose end has not come yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSpan {
    /// The number of its series among [`Matcher::series`](super::Matcher::series).
    pub series: usize,
    /// When it began, in nanoseconds since 1970.
    pub begin: u64,
    /// Its thread and that thread's number in the kernel. `None` if its events are paired by a key.
    pub thread: Option<(ThreadRef, u32)>,
    /// The key, if its events are paired by one.
    pub key: Option<SpanKey>,
}
