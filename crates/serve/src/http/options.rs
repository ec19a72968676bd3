//! Defines what a server is told: what it serves, where, and for whom.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use timeline_agent::Agent;
use timeline_net::StoreToken;

/// What is served, and where.
#[derive(Clone)]
pub struct ServerOptions {
    /// Timelines, snapshots, archives, and directories of them. All timelines in shared memory if
    /// there are none.
    pub paths: Vec<PathBuf>,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// A socket that listens already, instead of that address.
    pub socket: Option<Arc<TcpListener>>,
    /// Who may ask.
    pub access: ServerAccess,
    /// Whether requests may change the level and the channels of live timelines.
    pub allow_control: bool,
    /// Whether requests may remove archives that nobody writes.
    pub allow_removal: bool,
    /// What records the timelines of this machine, if somebody may ask for that. Then all timelines
    /// in shared memory are served beside the paths.
    pub agent: Option<Arc<Agent>>,
    /// The command `timeline`, if requests may start processes that watch.
    pub command: Option<PathBuf>,
    /// Where texts and names are looked for that a damaged archive lacks, beside the places that it
    /// names.
    pub executables: Vec<PathBuf>,
}

/// Who may ask a server, and what encrypts the connections.
#[derive(Debug, Clone, Default)]
pub struct ServerAccess {
    /// The secrets of which a request must know one. If there are none, everybody can ask who can
    /// connect.
    pub tokens: Vec<StoreToken>,
    /// What encrypts a connection, if the other side begins to.
    pub encryption: Option<Arc<ServerConfig>>,
    /// Whether other machines may ask by what everybody in between can read and change.
    pub is_insecure: bool,
}
