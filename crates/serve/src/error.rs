//! Defines the errors of serving.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error as ThisError;

/// The result of serving.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the server, or of reading what a request asked for.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        reason: io::Error,
    },

    /// The system refused something that the server needs.
    #[error("cannot {action}: {reason}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The reason.
        reason: io::Error,
    },

    /// There is no such log.
    #[error("there is no log {id:?}")]
    NoLog {
        /// The name that was asked for.
        id: String,
    },

    /// Somebody writes the log.
    #[error("{id} is being received; end its recorder first")]
    Busy {
        /// The log.
        id: String,
    },

    /// A path that is neither a timeline, nor an archive, nor a directory.
    #[error("cannot serve {path}: {reason}")]
    Path {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },

    /// A timeline cannot be read.
    #[error(transparent)]
    Timeline(#[from] timeline::Error),

    /// An archive cannot be read.
    #[error(transparent)]
    Archive(#[from] timeline_archive::Error),

    /// A question that cannot be read.
    #[error(transparent)]
    Query(#[from] timeline_search::Error),

    /// A log that is being indexed, and takes long to read before.
    #[error("the log is being indexed: {:.0} % is done", 100.0 * share)]
    Indexing {
        /// The share that is done.
        share: f64,
    },

    /// The archive of a log cannot be read.
    #[error("{reason}")]
    Unreadable {
        /// What is there instead.
        reason: String,
    },

    /// There is no room for what a live timeline has. Another try may find some.
    #[error("{reason}")]
    NoRoom {
        /// What could not be written.
        reason: String,
    },

    /// A request that cannot be answered.
    #[error("{reason}")]
    Request {
        /// What is wrong with it.
        reason: String,
    },
}

impl Error {
    pub(crate) fn request(reason: impl Into<String>) -> Error {
        let reason = reason.into();
        Error::Request { reason }
    }

    pub(crate) fn io(action: &'static str, reason: io::Error) -> Error {
        Error::Io { action, reason }
    }
}
