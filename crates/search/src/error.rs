//! Defines the errors of questions.

use thiserror::Error as ThisError;
use timeline::Priority;
use timeline::dump::printable;

/// The result of reading a question.
pub type Result<T> = std::result::Result<T, Error>;

/// A question that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An expression that breaks off, or goes on, where it should not.
    #[error("expected {expected} at character {at}, got {}", printable(.found))]
    Expression {
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
        /// Which character it begins with, counted from 1.
        at: usize,
    },

    /// An expression with too many parentheses or negations inside one another.
    #[error("the expression has more than {most} levels of parentheses and negations")]
    TooDeep {
        /// The limit.
        most: usize,
    },

    /// A unit that no number has.
    #[error("{unit} at character {at} is no unit: expected {known}")]
    Unit {
        /// The letters behind the number.
        unit: String,
        /// Which character they begin with, counted from 1.
        at: usize,
        /// All units.
        known: &'static str,
    },

    /// A regular expression that cannot be read.
    #[error("{pattern:?} is no regular expression: {reason}")]
    Regex {
        /// The expression.
        pattern: String,
        /// The reason, in one line.
        reason: String,
    },

    /// A condition that can be given once.
    #[error("{name} came several times")]
    Repeated {
        /// Its name.
        name: &'static str,
    },

    /// A time that cannot be read.
    #[error(
        "expected a time, such as 2026-11-23, \"2026-11-23 14:03:07\", 14:03, \"5m ago\", -90s or \
         @1763906587, got {found:?}"
    )]
    Time {
        /// The text.
        found: String,
    },

    /// A range of numbers that cannot be read.
    #[error("expected numbers, such as 3, 0-3 or 0-3,8, got {found:?}")]
    Numbers {
        /// The text.
        found: String,
    },

    /// A range whose end is before its beginning.
    #[error("the range {found} is reversed; did you mean {meant}?")]
    Reversed {
        /// The range.
        found: String,
        /// The same the other way round.
        meant: String,
    },

    /// A range of priorities that cannot be read.
    #[error(
        "expected a priority, such as info, or a range, such as ..info or warning..trace, of \
         error, warning, info, trace, app, packet and library, got {found:?}{}", meant(.found)
    )]
    Priorities {
        /// The text.
        found: String,
    },
}

/// The priority that may have been meant in a range.
fn meant(range: &str) -> String {
    let mut words = range
        .split("..")
        .filter(|word| word.parse::<Priority>().is_err());
    let meant = words.find_map(Priority::meant_by);
    meant.map_or(String::new(), |meant| format!("; did you mean {meant}?"))
}
