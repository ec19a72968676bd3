//! A place in a stream of events where others are missing.

/// A place where events are missing: overwritten, missed, damaged, or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamGap {
    /// The number of the log.
    pub log: usize,
    /// How many entries are missing right before the next event of its lane; 0 if nobody knows. An
    /// event takes one entry, or several with a payload.
    pub entries: u64,
    /// When the next event was logged, in nanoseconds since 1970.
    pub before: Option<u64>,
}
