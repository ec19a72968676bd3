//! What all requests share: the logs, and how much may go on at once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use timeline_agent::Agent;
use timeline_net::StoreToken;
use tokio::sync::watch::Receiver;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::failure::RequestFailure;
use super::followers::{FollowerMessage, Followers, Growth};
use super::options::ServerOptions;
use crate::error::Result;
use crate::logs::{LogHandle, Logs};
use crate::read::{Cancel, TraceCache};

/// Requests that read at once, searches, and those that measure durations. Others wait.
const READS: usize = 8;
const LONG_READS: usize = 4;
const SEARCHES: usize = 8;
/// Processes that watch at once.
const WATCHES: usize = 32;
const MEASURES: usize = 2;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// What all requests share.
pub struct ServerState {
    pub logs: Logs,
    /// The secrets of which a request must know one, if there are any.
    pub tokens: Vec<StoreToken>,
    pub allow_control: bool,
    pub allow_removal: bool,
    /// What records the timelines of this machine.
    pub agent: Option<Arc<Agent>>,
    /// The command `timeline`, if processes that watch may be started.
    pub command: Option<PathBuf>,
    pub followers: Arc<Followers>,
    /// What is known of archives that nobody has opened.
    pub traces: TraceCache,
    reads: Arc<Semaphore>,
    /// Those that may read all of a log, and must not keep the others waiting.
    long_reads: Arc<Semaphore>,
    searches: Arc<Semaphore>,
    watches: Arc<Semaphore>,
    /// Those that find durations, and hold much in memory.
    measures: Arc<Semaphore>,
}

impl ServerState {
    pub fn new(logs: Logs, options: &ServerOptions) -> ServerState {
        ServerState {
            logs,
            tokens: options.access.tokens.clone(),
            allow_control: options.allow_control,
            allow_removal: options.allow_removal,
            agent: options.agent.clone(),
            command: options.command.clone(),
            followers: Arc::default(),
            watches: Arc::new(Semaphore::new(WATCHES)),
            traces: TraceCache::default(),
            reads: Arc::new(Semaphore::new(READS)),
            long_reads: Arc::new(Semaphore::new(LONG_READS)),
            searches: Arc::new(Semaphore::new(SEARCHES)),
            measures: Arc::new(Semaphore::new(MEASURES)),
        }
    }

    /// Reads a log, in a thread that may wait for the disk. It stops when the client goes.
    pub async fn read<T: Send + 'static>(
        self: Arc<Self>,
        id: String,
        read: impl FnOnce(&LogHandle, &Cancel) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, RequestFailure> {
        let permit = take(&self.reads).await?;
        self.read_with(permit, id, read).await
    }

    /// Likewise, of what may be all of a log.
    pub async fn read_long<T: Send + 'static>(
        self: Arc<Self>,
        id: String,
        read: impl FnOnce(&LogHandle, &Cancel) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, RequestFailure> {
        let permit = take(&self.long_reads).await?;
        self.read_with(permit, id, read).await
    }

    /// Likewise, to find durations.
    pub async fn measure<T: Send + 'static>(
        self: Arc<Self>,
        id: String,
        read: impl FnOnce(&LogHandle, &Cancel) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, RequestFailure> {
        let permit = take(&self.measures).await?;
        self.read_with(permit, id, read).await
    }

    async fn read_with<T: Send + 'static>(
        self: Arc<Self>,
        permit: OwnedSemaphorePermit,
        id: String,
        read: impl FnOnce(&LogHandle, &Cancel) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, RequestFailure> {
        let cancel = Cancel::default();
        // Dropped with this request, if its client goes.
        let _guard = CancelGuard(cancel.clone());
        let work = move || {
            let _permit = permit;
            self.logs.get(&id).and_then(|log| read(&log, &cancel))
        };
        let done = spawn_blocking(work).await;
        done.map_err(|_| RequestFailure::broken())?
            .map_err(RequestFailure::from)
    }

    /// The log of a name.
    pub async fn log(
        self: Arc<Self>,
        id: String,
    ) -> std::result::Result<Arc<LogHandle>, RequestFailure> {
        let found = spawn_blocking(move || self.logs.get(&id)).await;
        found
            .map_err(|_| RequestFailure::broken())?
            .map_err(RequestFailure::from)
    }

    /// What is told of a log that grows.
    pub async fn follow(
        self: Arc<Self>,
        id: String,
    ) -> std::result::Result<Receiver<FollowerMessage>, RequestFailure> {
        // That there is such a log is said by the status.
        let first = Arc::clone(&self)
            .read(id.clone(), |log, _| Growth::of(log))
            .await?;
        let (followers, name) = (Arc::clone(&self.followers), id.clone());
        let look = move || {
            let read = Arc::clone(&self).read(id.clone(), |log, _| Growth::of(log));
            async move { read.await.map_err(|failure| failure.message().to_string()) }
        };
        Ok(followers.join(&name, Ok(first), look))
    }

    /// The right to watch.
    pub async fn watch_permit(&self) -> std::result::Result<OwnedSemaphorePermit, RequestFailure> {
        take(&self.watches).await
    }

    /// The right to search.
    pub async fn search_permit(&self) -> std::result::Result<OwnedSemaphorePermit, RequestFailure> {
        take(&self.searches).await
    }
}

/// Cancels when it is dropped.
struct CancelGuard(Cancel);

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

async fn take(
    semaphore: &Arc<Semaphore>,
) -> std::result::Result<OwnedSemaphorePermit, RequestFailure> {
    match timeout(PATIENCE, Arc::clone(semaphore).acquire_owned()).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(RequestFailure::busy()),
    }
}
