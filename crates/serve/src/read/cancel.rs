//! Ends what takes long if nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Whether nobody waits for an answer any more.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Nobody waits any more.
    pub fn cancel(&self) {
        // Relaxed: what is being read does not depend on it, and nobody sees the answer.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    pub fn is_set(&self) -> bool {
        // Relaxed: who sees it late reads a little more.
        self.0.load(Ordering::Relaxed)
    }

    /// Fails if what was read may not be all, because reading was stopped.
    pub fn check(&self) -> Result<()> {
        match self.is_set() {
            true => Err(Error::request("the client went")),
            false => Ok(()),
        }
    }
}
