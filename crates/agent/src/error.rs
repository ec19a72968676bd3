//! Defines the errors of an agent.

use thiserror::Error as ThisError;

/// The result of what an agent is asked.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an agent does not do what it is asked.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The name of a file that would not lie below the directory of the agent.
    #[error("expected the name of a file such as flight.tla, got {name:?}: {why}")]
    FileName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },

    /// There is no timeline of this name in shared memory.
    #[error("there is no timeline {name:?} in shared memory")]
    NoTimeline {
        /// The name.
        name: String,
    },

    /// A label that makes no sense.
    #[error("expected labels with names, and without control characters, got {name:?}")]
    Label {
        /// Its name.
        name: String,
    },

    /// The agent has no directory for files.
    #[error("this agent writes no files; start it with --dir DIR, or record to a store")]
    NoFolder,

    /// There is no such recording.
    #[error("there is no recording {number}; `timeline remote HOST recordings` lists them")]
    NoRecording {
        /// Its number.
        number: u64,
    },

    /// There are too many of them.
    #[error("{most} recordings are running already; stop one first")]
    TooMany {
        /// The limit.
        most: usize,
    },

    /// The timeline cannot be read.
    #[error(transparent)]
    Timeline(#[from] timeline::Error),

    /// It cannot be recorded.
    #[error(transparent)]
    Worker(#[from] timeline_worker::Error),
}
