//! Why a log cannot be opened or read.

use std::io;
use std::path::PathBuf;

use timeline::ErrorKind;

/// A result that fails with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a log cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no timeline that can be read.
    #[error(transparent)]
    Timeline(timeline::Error),
    /// It is no archive that can be read.
    #[error(transparent)]
    Archive(timeline_archive::Error),
    /// It is something else.
    #[error("{} is neither a timeline nor an archive: it is {found}", path.display())]
    Neither {
        /// The name that was given.
        path: PathBuf,
        /// What it looks like.
        found: &'static str,
    },
    /// The bytes of an archive that comes cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Bytes {
        /// The name that was given.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There is no place for a copy of a timeline.
    #[error("cannot make a directory: {0}")]
    Directory(io::Error),
}

impl Error {
    /// The broad class of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Timeline(error) => error.kind(),
            Error::Archive(error) => error.kind(),
            Error::Neither { .. } => ErrorKind::NotATimeline,
            Error::Bytes { .. } | Error::Directory(_) => ErrorKind::Io,
        }
    }
}
