//! What does not work at present, and when it is tried again.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use timeline::Error;

/// How long to wait before what failed is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// What does not work at present, and is tried again and again.
#[derive(Debug)]
pub struct Trouble {
    /// The step that failed: `write`, `make durable`, ….
    pub doing: &'static str,
    /// On which file.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
    since: Instant,
}

impl Trouble {
    pub(super) fn new(doing: &'static str, path: &Path, error: io::Error) -> Trouble {
        Trouble {
            doing,
            path: path.into(),
            error,
            since: Instant::now(),
        }
    }

    /// The same, of what the system said to the library.
    pub(super) fn of(doing: &'static str, path: &Path, error: Error) -> Trouble {
        let error = match error {
            Error::Io { source, .. } => source,
            other => io::Error::other(other),
        };
        Trouble::new(doing, path, error)
    }

    /// Whether it is too early to try again.
    pub(super) fn waits(&self) -> bool {
        self.since.elapsed() < PAUSE
    }
}
