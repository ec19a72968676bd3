//! Waits for the last acknowledgements at the end of a run, as long as that is of use.

use std::thread;
use std::time::{Duration, Instant};

use super::Sender;

/// How long the next acknowledgement is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a connection that broke is waited for.
const RETURN: Duration = Duration::from_millis(500);
/// How long all of them are waited for.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// The wait.
pub(crate) struct LastWait {
    begun: Instant,
    /// What waited when something was acknowledged last, and when that was.
    last: Option<(u64, u64)>,
    progress: Instant,
}

impl LastWait {
    pub fn new() -> LastWait {
        let now = Instant::now();
        LastWait {
            begun: now,
            last: None,
            progress: now,
        }
    }

    /// Waits a moment. Returns whether it is of use to wait longer.
    pub fn goes_on(&mut self, sender: &Sender) -> bool {
        let oldest = sender.session.as_ref().map(|session| session.progress());
        if oldest != self.last {
            (self.last, self.progress) = (oldest, Instant::now());
        }
        thread::sleep(Duration::from_millis(1));
        let patience = match sender.is_welcome {
            true => PATIENCE,
            false => RETURN,
        };
        self.progress.elapsed() < patience && self.begun.elapsed() < LAST_WAIT
    }
}
