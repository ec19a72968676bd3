//! Defines what a store is told, and the errors of starting it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error as ThisError;
use timeline_archive::Keeping;

/// Where a store keeps what it receives, and how.
#[derive(Clone)]
pub struct StoreOptions {
    /// The directory. It is made if it is not there.
    pub folder: PathBuf,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// When another file of a run is begun, and how much is kept of it.
    pub keeping: Keeping,
    /// Is told what happens, a line each.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl StoreOptions {
    /// Tells what happens.
    pub(crate) fn say(&self, what: fmt::Arguments) {
        (self.log)(&what.to_string());
    }
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

    /// Another store keeps its traces there.
    #[error("another store keeps its traces in {}; one directory has one store", .path.display())]
    Taken {
        /// The directory.
        path: PathBuf,
    },

    /// The system refused something that the store needs.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
}
