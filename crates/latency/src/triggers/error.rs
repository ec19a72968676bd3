//! Defines the errors of conditions that cannot be read.

use thiserror::Error as ThisError;
use timeline::dump::printable;

/// The result of reading a condition.
pub type Result<T> = std::result::Result<T, Error>;

/// A condition that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A condition that breaks off, or goes on, where it should not.
    #[error("expected {expected} at character {at}, got {}", printable(.found))]
    Syntax {
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
        /// Which character it begins with, counted from 1.
        at: usize,
    },

    /// A time that is none, or is too long or too short.
    #[error(
        "expected {expected}, with a unit, such as 100us, 10ms or 1.5s, at character {at}, got {}",
        printable(.found)
    )]
    Duration {
        /// What it should be.
        expected: &'static str,
        /// What stands there.
        found: String,
        /// Which character it begins with, counted from 1.
        at: usize,
    },

    /// A rate that is none.
    #[error(
        "expected a number of events in a time, such as 1000/s, 20k/s or 5/min, at character {at}, \
         got {}",
        printable(.found)
    )]
    Rate {
        /// What stands there.
        found: String,
        /// Which character it begins with, counted from 1.
        at: usize,
    },

    /// A condition on values that cannot be read.
    #[error("in the condition behind `where`: {0}")]
    Where(timeline_search::Error),
}
