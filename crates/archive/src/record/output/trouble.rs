//! Describes a step that fails, and says when it is tried again.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::Error;

/// Time before the next attempt.
const PAUSE: Duration = Duration::from_millis(200);

/// A step that fails at present. It is tried again and again.
#[derive(Debug)]
pub struct OutputTrouble {
    /// The step that failed: `write`, `make durable`, ….
    pub doing: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The error of the system.
    pub error: io::Error,
    since: Instant,
}

impl OutputTrouble {
    /// A step that failed just now.
    pub fn new(doing: &'static str, path: &Path, error: io::Error) -> OutputTrouble {
        OutputTrouble {
            doing,
            path: path.into(),
            error,
            since: Instant::now(),
        }
    }

    /// The same, for an error of the library or of archives.
    pub fn of(doing: &'static str, path: &Path, error: Error) -> OutputTrouble {
        let error = match error {
            Error::Timeline(timeline::Error::Io { source, .. }) => source,
            other => io::Error::other(other),
        };
        OutputTrouble::new(doing, path, error)
    }

    /// Whether it is too early to try again.
    pub(super) fn waits(&self) -> bool {
        self.since.elapsed() < PAUSE
    }
}
