//! Defines what a store is told, and the errors of starting it.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error as ThisError;
use timeline_archive::Keeping;
use timeline_net::StoreToken;

use crate::retention::Retention;

/// Where a store keeps what it receives, and how.
#[derive(Clone)]
pub struct StoreOptions {
    /// The directory. It is made if it is not there.
    pub folder: PathBuf,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// A socket that listens already, instead of that address.
    pub socket: Option<Arc<TcpListener>>,
    /// When another file of a run is begun, and how much is kept of it.
    pub keeping: Keeping,
    /// How much is kept of all runs together.
    pub retention: Retention,
    /// The certificate that senders are shown. Without it, the store makes one, and keeps it in the
    /// directory.
    pub certificate: Option<CertificateFiles>,
    /// The secrets of which a sender must know one. If there are none, everybody can send who can
    /// connect.
    pub tokens: Vec<StoreToken>,
    /// Whether other machines may send what everybody in between can read and change.
    pub is_insecure: bool,
    /// Is told what happens, a line each.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl StoreOptions {
    /// Whether a token is one of those that a sender must know.
    pub(crate) fn is_known(&self, token: Option<&StoreToken>) -> bool {
        self.tokens.is_empty() || token.is_some_and(|token| token.is_one_of(&self.tokens))
    }

    /// Tells what happens.
    pub(crate) fn say(&self, what: fmt::Arguments) {
        (self.log)(&what.to_string());
    }
}

/// The files of a certificate that was made by somebody else, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, and those of the authorities between it and the one that is believed.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
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

    /// The certificate cannot be used.
    #[error("cannot use the certificate in {}: {reason}", .path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
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
