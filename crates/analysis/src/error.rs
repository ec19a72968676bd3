//! Why an analysis ends early.

use std::error;

/// A result that fails with [`Error`].
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Why an analysis ends early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A log cannot be read.
    #[error(transparent)]
    Reading(#[from] timeline_reading::Error),
    /// An analyser asked for a field by another type than it has.
    #[error("the field {field} of {event} is {has}, and cannot be read as {asked}")]
    FieldType {
        /// The name of the event.
        event: String,
        /// The name of the field.
        field: String,
        /// The type that the field has, as a message names it.
        has: String,
        /// The type of Rust that was asked for.
        asked: &'static str,
    },
    /// An analyser failed for reasons of its own.
    #[error("{0}")]
    Own(Box<dyn error::Error + Send + Sync>),
}

impl Error {
    /// The reason of an analyser that cannot go on: an error, or a text.
    pub fn own(reason: impl Into<Box<dyn error::Error + Send + Sync>>) -> Error {
        Error::Own(reason.into())
    }
}
