//! The failures of verbs.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::permission;

/// Why a verb failed.
#[derive(Debug)]
pub enum Failure {
    /// Standard output was closed by its reader. This is not reported.
    ClosedPipe,
    /// A search found nothing. This is not reported.
    NothingFound,
    /// Arguments that are each well-formed but make no sense together. The message may have several
    /// lines.
    Misuse(String),
    /// Anything else, as one line for standard error.
    Message(String),
}

impl Failure {
    /// A misuse: what was expected, and what was found.
    pub fn misuse(message: impl Into<String>) -> Failure {
        Failure::Misuse(message.into())
    }

    /// What is said of it on standard error, unless it is a misuse or needs no words.
    pub fn message(&self) -> Option<&str> {
        match self {
            Failure::Message(message) => Some(message),
            _ => None,
        }
    }
}

/// The reason why errors of writing to a `String` are not handled.
pub const INFALLIBLE: &str = "writing to a String cannot fail";

/// The result of every verb.
pub type Result<T = ()> = std::result::Result<T, Failure>;

impl From<timeline::Error> for Failure {
    fn from(error: timeline::Error) -> Self {
        Failure::Message(permission::told(&error))
    }
}

impl From<timeline_archive::Error> for Failure {
    fn from(error: timeline_archive::Error) -> Self {
        match error {
            timeline_archive::Error::Timeline(error) => error.into(),
            timeline_archive::Error::NoArchive { path } if path.is_dir() => {
                Failure::Message(no_archive_in(&path))
            }
            other => Failure::Message(other.to_string()),
        }
    }
}

/// What there is in a directory that is no archive: it may have the snapshots of a watch.
fn no_archive_in(folder: &Path) -> String {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = paths.map(|entry| entry.path());
    let is_snapshot = |path: &PathBuf| path.extension().is_some_and(|end| end == "timeline");
    // Their names have times, so the last one is the newest.
    let newest = paths.filter(is_snapshot).max();
    let folder = folder.display();
    match newest {
        Some(newest) => format!(
            "{folder} has snapshots, and no archive; name one of them, such as {}",
            newest.display()
        ),
        None => format!(
            "no archive in the directory {folder}: expected files of `timeline record -o \
             {folder}/`, which end in .tla"
        ),
    }
}

impl From<timeline_worker::Error> for Failure {
    fn from(error: timeline_worker::Error) -> Self {
        match error {
            timeline_worker::Error::Archive(error) => error.into(),
            other => Failure::Message(other.to_string()),
        }
    }
}

impl From<timeline_reading::Error> for Failure {
    fn from(error: timeline_reading::Error) -> Self {
        match error {
            timeline_reading::Error::Timeline(error) => error.into(),
            timeline_reading::Error::Archive(error) => error.into(),
            other => Failure::Message(other.to_string()),
        }
    }
}

impl From<timeline_analysis::Error> for Failure {
    fn from(error: timeline_analysis::Error) -> Self {
        match error {
            timeline_analysis::Error::Reading(error) => error.into(),
            other => Failure::Message(other.to_string()),
        }
    }
}

impl From<timeline_latency::intervals::Error> for Failure {
    fn from(error: timeline_latency::intervals::Error) -> Self {
        match error {
            timeline_latency::intervals::Error::Io(error) => error.into(),
            other => Failure::Message(other.to_string()),
        }
    }
}

impl From<timeline_latency::plot::Error> for Failure {
    fn from(error: timeline_latency::plot::Error) -> Self {
        Failure::Message(error.to_string())
    }
}

/// `?` is used for standard output only. Other I/O errors name their file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::ClosedPipe
        } else {
            Failure::Message(format!("cannot write to standard output: {error}"))
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
