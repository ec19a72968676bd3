//! Defines the errors of archives: those of the library, and some of their own.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error as ThisError;
use timeline::ErrorKind;
use timeline::internal::{layout::MAGIC, looks_like};

/// The result of a call about an archive.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of reading, writing or recording an archive.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library.
    #[error(transparent)]
    Timeline(#[from] timeline::Error),

    /// There is no archive of this name.
    #[error("no archive at {}: `timeline record` writes one", .path.display())]
    NoArchive {
        /// The path that was given.
        path: PathBuf,
    },

    /// The file has no whole frame.
    #[error("{} is {}", .path.display(), no_archive(found))]
    NotAnArchive {
        /// The file.
        path: PathBuf,
        /// Its first bytes.
        found: Vec<u8>,
    },

    /// The archive is of another ring than the one to be recorded.
    #[error("{} holds something other than a recording of {}, and was not changed; record \
        into another file (`cat` joins archives)", .path.display(), .timeline.display())]
    OtherRing {
        /// The file.
        path: PathBuf,
        /// The timeline to be recorded.
        timeline: PathBuf,
    },

    /// The archive is one file, which cannot be rotated.
    #[error("{} is one file, and only the files of a directory are rotated and removed; name a \
        directory, with a / at its end", .path.display())]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },

    /// Another recorder is writing the file.
    #[error("{} is being written by another recorder; choose another file, or stop that \
        recorder first", .path.display())]
    RecorderBusy {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    /// The broad class of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Timeline(error) => error.kind(),
            Error::NoArchive { .. } => ErrorKind::NotFound,
            Error::NotAnArchive { .. } => ErrorKind::NotATimeline,
            Error::OtherRing { .. } | Error::NotADirectory { .. } => ErrorKind::Argument,
            Error::RecorderBusy { .. } => ErrorKind::Busy,
        }
    }

    /// Whether there was no room, or the file system was read-only. That may pass, so a recorder
    /// waits for it.
    pub fn waits_for_room(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let kind = self.source_of_io().map(io::Error::kind);
        matches!(kind, Some(QuotaExceeded | ReadOnlyFilesystem | StorageFull))
    }

    /// Whether the answer of another machine is still to come: the same call succeeds later.
    pub fn is_pending(&self) -> bool {
        let kind = self.source_of_io().map(io::Error::kind);
        kind == Some(io::ErrorKind::WouldBlock)
    }

    /// Whether a file could not be created because something has its name.
    pub fn is_of_name(&self) -> bool {
        let kind = self.source_of_io().map(io::Error::kind);
        kind == Some(io::ErrorKind::AlreadyExists)
    }

    /// The error of the system, if it is one.
    pub(crate) fn source_of_io(&self) -> Option<&io::Error> {
        match self {
            Error::Timeline(timeline::Error::Io { source, .. }) => Some(source),
            _ => None,
        }
    }

    /// The error of a failed system call, with its refusal if permission was denied.
    pub(crate) fn io(doing: &'static str, path: &Path, source: impl Into<io::Error>) -> Error {
        timeline::Error::io(doing, path, source).into()
    }
}

/// The kind of a file that is not an archive, by its first bytes.
fn no_archive(found: &[u8]) -> String {
    match found.starts_with(&MAGIC) {
        true => "a timeline or a snapshot of one, not an archive; `timeline info` and `timeline \
         dump` read it, and `timeline record --once` makes an archive of it"
            .into(),
        false => format!("not an archive: it is {}", looks_like(found)),
    }
}
