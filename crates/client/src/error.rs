//! Defines the errors of requests.

use std::io;

use thiserror::Error as ThisError;

/// The result of a request.
pub type Result<T> = std::result::Result<T, Error>;

/// A request that failed.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// There is no connection, or it broke.
    #[error("cannot ask {address}: {reason}")]
    Connection {
        /// The host and its port.
        address: String,
        /// The reason.
        reason: String,
    },

    /// The other side refused, and says why.
    #[error("{address} says: {sentence}")]
    Refused {
        /// The host and its port.
        address: String,
        /// The status of HTTP.
        status: u16,
        /// What was expected, what came, and what to do.
        sentence: String,
    },

    /// The answer makes no sense.
    #[error("expected an answer of timeline from {address}, got {found}")]
    Answer {
        /// The host and its port.
        address: String,
        /// What came.
        found: String,
    },

    /// An address that makes no sense.
    #[error("{0}")]
    Url(String),

    /// What was received cannot be written.
    #[error("cannot write what {address} sends: {reason}")]
    Output {
        /// The host and its port.
        address: String,
        /// The reason.
        reason: io::Error,
    },
}
