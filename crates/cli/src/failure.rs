//! The failures of verbs.

use std::path::{Path, PathBuf};
use std::{fs, io};

use timeline_archive::has_archive_name;

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

/// What there is in a directory that is no archive: it may have the snapshots of a watch, or be
/// that of a store.
fn no_archive_in(folder: &Path) -> String {
    let is_snapshot = |path: &PathBuf| path.extension().is_some_and(|end| end == "timeline");
    // Their names have times, so the last one is the newest.
    let newest = inside(folder).filter(is_snapshot).max();
    if let Some(newest) = newest {
        return format!(
            "{} has snapshots, and no archive; name one of them, such as {}",
            folder.display(),
            newest.display()
        );
    }
    let runs = || inside(folder).chain(inside(folder).flat_map(|host| inside(&host)));
    let has_archives = |run: &PathBuf| inside(run).any(|path| has_archive_name(&path));
    let folder = folder.display();
    match runs().find(has_archives) {
        Some(run) => format!(
            "{folder} has runs that a store received, and no archive itself; name one of them, \
             such as {}",
            run.display()
        ),
        None => format!(
            "no archive in the directory {folder}: expected files of `timeline record -o \
             {folder}/`, which end in .tla"
        ),
    }
}

/// The paths in a directory.
fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
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
