//! What can be asked of the durations of an archive.

use std::ops::Range;

use timeline_search::Query;

/// Which durations of an archive are wanted, and whether reading goes on.
pub struct DurationRequest<'w> {
    /// Which events may end one.
    pub query: &'w Query,
    /// Blocks are read from so many nanoseconds before the first end that is wanted.
    pub longest: u64,
    /// Asked again and again: reading ends early when it says that nobody waits for the rest.
    pub is_cancelled: &'w dyn Fn() -> bool,
}

impl<'w> DurationRequest<'w> {
    /// All whose ends are wanted.
    pub fn new(query: &'w Query) -> DurationRequest<'w> {
        DurationRequest {
            query,
            longest: u64::MAX,
            is_cancelled: &|| false,
        }
    }

    /// The times of the ends.
    pub(super) fn ends(&self) -> Range<u64> {
        self.query.since.unwrap_or(0)..self.query.until.unwrap_or(u64::MAX)
    }

    /// The times of what may begin or end one.
    pub(super) fn times(&self) -> Range<u64> {
        let ends = self.ends();
        ends.start.saturating_sub(self.longest)..ends.end
    }

    /// Whether a time alone does not tell that an end is wanted.
    pub(super) fn needs_ends(&self) -> bool {
        let without_times = Query {
            since: None,
            until: None,
            ..self.query.clone()
        };
        !without_times.is_empty()
    }
}
