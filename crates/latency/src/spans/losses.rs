//! Counts the events whose other half is missing.

/// How many events have no other half, so that nothing was measured. Nothing is guessed in their
/// place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// Ends without a begin: it was overwritten, or was not logged.
    pub ends: u64,
    /// Begins without an end: a span around it ended first, its key began again, entries are
    /// missing behind it, or too many spans are open.
    pub begins: u64,
    /// Events of threads that are not known.
    pub threads: u64,
    /// Events without a time, or with a key or value that is not there.
    pub values: u64,
    /// Pairs whose end is earlier than their begin, by clocks that do not agree.
    pub reversed: u64,
    /// Entries that are missing before the events that were taken, as these say: overwritten before
    /// they were read. Nobody knows how many events these were, so they are not in the total.
    pub entries: u64,
}

impl Losses {
    /// How many events were lost, for any reason.
    pub fn total(&self) -> u64 {
        let Losses {
            ends,
            begins,
            threads,
            values,
            reversed,
            entries: _,
        } = *self;
        ends + begins + threads + values + 2 * reversed
    }
}
