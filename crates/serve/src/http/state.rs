//! What all requests share: the logs, and how much may go on at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::failure::Failure;
use crate::error::Result;
use crate::logs::{Log, Logs};

/// Requests that read at once, and searches. Others wait.
const READS: usize = 8;
const SEARCHES: usize = 8;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// What all requests share.
pub struct State {
    pub logs: Logs,
    /// What a request has to have as its token.
    pub token: Option<String>,
    pub allow_control: bool,
    reads: Arc<Semaphore>,
    searches: Arc<Semaphore>,
}

impl State {
    pub fn new(logs: Logs, token: Option<String>, allow_control: bool) -> State {
        State {
            logs,
            token,
            allow_control,
            reads: Arc::new(Semaphore::new(READS)),
            searches: Arc::new(Semaphore::new(SEARCHES)),
        }
    }

    /// Reads a log, in a thread that may wait for the disk.
    pub async fn read<T: Send + 'static>(
        self: Arc<Self>,
        id: String,
        read: impl FnOnce(&Log) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        let permit = take(&self.reads).await?;
        let work = move || {
            let _permit = permit;
            self.logs.get(&id).and_then(|log| read(&log))
        };
        spawn_blocking(work)
            .await
            .map_err(|_| Failure::broken())?
            .map_err(Failure::from)
    }

    /// The right to search.
    pub async fn search_permit(&self) -> std::result::Result<OwnedSemaphorePermit, Failure> {
        take(&self.searches).await
    }
}

async fn take(semaphore: &Arc<Semaphore>) -> std::result::Result<OwnedSemaphorePermit, Failure> {
    match timeout(PATIENCE, Arc::clone(semaphore).acquire_owned()).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(Failure::busy()),
    }
}
