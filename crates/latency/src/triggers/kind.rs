//! The kinds of conditions.

use timeline_search::Query;

use crate::spans::Measure;

/// What a condition is about. Times are in nanoseconds.
#[derive(Debug, Clone)]
pub enum ConditionKind {
    /// A duration beyond a limit.
    Span { measure: Measure, limit: Limit<u64> },
    /// A percentile of the durations of a window beyond a limit.
    Percentile {
        measure: Measure,
        percentile: Percentile,
        window: u64,
        limit: Limit<u64>,
    },
    /// More or less events in a second than a limit.
    Rate {
        /// The names of the events: a pattern.
        events: String,
        window: u64,
        limit: Limit<f64>,
    },
    /// An event whose values meet a condition.
    Event(Query),
    /// No event for a time.
    Missing {
        /// The names of the events: a pattern.
        events: String,
        time: u64,
    },
}

/// Which of the durations of a window counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Percentile {
    /// One that so many percent do not exceed.
    Of(f64),
    /// The longest.
    Longest,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit<T> {
    pub comparison: Comparison,
    pub value: T,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Greater,
    AtLeast,
    Less,
    AtMost,
}

impl Comparison {
    /// Whether what is below the limit meets the condition.
    pub fn is_below(self) -> bool {
        matches!(self, Comparison::Less | Comparison::AtMost)
    }
}

impl<T: PartialOrd + Copy> Limit<T> {
    /// Whether a value is beyond the limit.
    pub fn is_met_by(&self, value: T) -> bool {
        match self.comparison {
            Comparison::Greater => value > self.value,
            Comparison::AtLeast => value >= self.value,
            Comparison::Less => value < self.value,
            Comparison::AtMost => value <= self.value,
        }
    }
}
