//! Defines what a store is told, and the errors of starting it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error as ThisError;
use timeline_archive::Keeping;

/// Where a store keeps what it receives, and how.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The directory. It is made if it is not there.
    pub folder: PathBuf,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// When another file of a run is begun, and how much is kept of it.
    pub keeping: Keeping,
}

/// A failure of a store.
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

    /// The directory cannot be used.
    #[error("cannot keep traces in {}: {reason}", .path.display())]
    Folder {
        /// The directory.
        path: PathBuf,
        /// The reason.
        reason: io::Error,
    },

    /// The system refused something that the store needs.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
}
