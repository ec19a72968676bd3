//! Defines the errors of intervals, and what may be wrong with a line of a log.

use std::io;

use thiserror::Error as ThisError;

/// The result of a call about intervals.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of cutting, writing, reading or merging intervals.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// Intervals of a length that a log cannot say.
    #[error(
        "expected intervals of whole milliseconds, from 1 ms to {most_days} days, got \
         {nanoseconds} ns; choose another length"
    )]
    Length {
        /// The length that was given.
        nanoseconds: u128,
        /// The greatest length.
        most_days: u64,
    },

    /// Histograms of a shape that there is none of.
    #[error(
        "expected a histogram of 1 to 5 digits up to 2 ns or more, got {digits} digits up to \
         {highest} ns"
    )]
    Shape {
        /// The significant digits that were asked for.
        digits: u8,
        /// The highest value that was asked for.
        highest: u64,
    },

    /// A tag that would break its line.
    #[error("expected a tag without commas, spaces and control characters, got {tag:?}")]
    Tag {
        /// The tag.
        tag: String,
    },

    /// More tags than the histograms of all of them are kept for.
    #[error("there are more than {most} tags; choose some of them")]
    TooManyTags {
        /// The limit.
        most: usize,
    },

    /// Histograms of many tags that take more memory together than is kept.
    #[error("the histograms of {tags} tags take more than {most} bytes; choose some of the tags")]
    TooMuch {
        /// How many tags there are.
        tags: usize,
        /// The limit.
        most: u64,
    },

    /// A histogram that the format has no place for.
    #[error("a histogram cannot be written: {reason}")]
    Unwritable {
        /// The reason.
        reason: String,
    },

    /// A line of a log that cannot be read. Reading may go on behind it.
    #[error("line {number}: {flaw}")]
    Line {
        /// The number of the line, counted from 1.
        number: u64,
        /// What is wrong with it.
        flaw: Flaw,
    },

    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What is wrong with a line of a log.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Flaw {
    /// Too few fields, or too many.
    #[error(
        "expected a start, a length, a maximum and a histogram, with commas between them, got \
         {found} fields"
    )]
    Fields {
        /// How many there are.
        found: usize,
    },

    /// Something else than a number.
    #[error("expected {field} in seconds, got {found:?}")]
    Seconds {
        /// Which field it is.
        field: &'static str,
        /// Its first characters.
        found: String,
    },

    /// A maximum that is no number.
    #[error("expected a maximum, a number, got {found:?}")]
    Maximum {
        /// Its first characters.
        found: String,
    },

    /// A time that is not between 1970 and 2262, after BaseTime was added.
    #[error("expected a time from 1970 to 2262, got {seconds} s since 1970; look at BaseTime")]
    Time {
        /// The time in whole seconds.
        seconds: i64,
    },

    /// A line that is longer than what is read of one.
    #[error("the line is longer than {most} bytes; allow longer lines if it is meant")]
    TooLong {
        /// The limit.
        most: usize,
    },

    /// Something else than base64.
    #[error("the histogram is no base64: {reason}")]
    Base64 {
        /// The reason.
        reason: String,
    },

    /// A histogram of another encoding.
    #[error("expected a histogram of encoding V0, V1 or V2, got {found}")]
    Encoding {
        /// The encoding, or the first bytes.
        found: String,
    },

    /// A field in the header of the histogram that cannot be so.
    #[error("the histogram says {found} {field}, expected {expected}")]
    Header {
        /// The field.
        field: &'static str,
        /// What it says.
        found: String,
        /// What it may say.
        expected: &'static str,
    },

    /// A histogram that takes more memory than allowed.
    #[error("the histogram takes {bytes} bytes, more than {most}; allow more if it is meant")]
    TooLarge {
        /// The memory that it takes.
        bytes: u64,
        /// The limit.
        most: u64,
    },

    /// A histogram that ends before its end, or goes on behind it.
    #[error("expected {expected} bytes of a histogram, got {found}")]
    Bytes {
        /// The number that its header says.
        expected: u64,
        /// The number that are there.
        found: u64,
    },

    /// Something else than compressed data.
    #[error("the histogram cannot be expanded: {reason}")]
    Deflate {
        /// The reason.
        reason: String,
    },

    /// Counts that the histogram has no place for.
    #[error("the counts of the histogram are damaged at byte {at}: {reason}")]
    Counts {
        /// The place, counted from the first count.
        at: usize,
        /// What is wrong there.
        reason: &'static str,
    },
}
