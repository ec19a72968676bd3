//! Defines the errors of recording inside a program.

use std::io;

use thiserror::Error as ThisError;
use timeline::ErrorKind;

/// The result of a call about a worker or a pump.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of recording inside a program.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An error of the archive that is written, or of the library.
    #[error(transparent)]
    Archive(#[from] timeline_archive::Error),

    /// The process that calls is a forked child of the one that records.
    #[error(
        "process {process} records, which forked this one, and it records what this process \
        logs as well; a recording that a child begins by itself goes to another file"
    )]
    ForkedProcess {
        /// The process that records.
        process: u32,
    },

    /// An option has a value that it cannot have.
    #[error("{option}: {why}")]
    BadOption {
        /// What it is called where it was given.
        option: String,
        /// What was expected, and what came.
        why: String,
    },

    /// The system gave no thread.
    #[error("cannot start a thread that records: {0}")]
    Thread(#[from] io::Error),

    /// The thread that records has panicked, and has told why on standard error.
    #[error(
        "the thread that records has ended by a bug of timeline: please report what it wrote \
        to standard error; the archive is as after a kill"
    )]
    DeadThread,
}

impl Error {
    /// The broad class of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Archive(error) => error.kind(),
            Error::ForkedProcess { .. } | Error::BadOption { .. } => ErrorKind::Argument,
            Error::Thread(_) | Error::DeadThread => ErrorKind::Io,
        }
    }

    /// An option that cannot be used.
    pub(crate) fn option(option: impl Into<String>, why: impl Into<String>) -> Error {
        Error::BadOption {
            option: option.into(),
            why: why.into(),
        }
    }
}

impl From<timeline::Error> for Error {
    fn from(error: timeline::Error) -> Error {
        Error::Archive(error.into())
    }
}
