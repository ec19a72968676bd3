//! Bursts of detail: the level goes up for a moment, at a fixed period.
//!
//! A sampler never changes the level that was asked for. It sets a second level, the boost, and the
//! higher of the two is in force. So a level that is set meanwhile is kept, and stopping only
//! clears the boost. If the sampler dies during a burst, the next process that locks the timeline
//! clears the boost.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Control;
use crate::error::{Error, Result};
use crate::event::Level;
use crate::shm::{LockFile, without_signals};

/// Raises the level in bursts until it is dropped.
pub struct Sampler {
    process: u32,
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    pub(super) fn start(
        control: Control,
        level: Level,
        for_: Duration,
        every: Duration,
    ) -> Result<Sampler> {
        if for_.is_zero() || for_ >= every {
            return Err(Error::BadSize {
                what: "the length of a burst in nanoseconds",
                expected: "more than 0 and less than the period",
                found: u64::try_from(for_.as_nanos()).unwrap_or(u64::MAX),
            });
        }
        let lock = control.become_sampler()?;
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let burst = Burst {
            control,
            level,
            for_,
            every,
            stop: Arc::clone(&stop),
            _lock: lock,
        };
        let spawn = || {
            std::thread::Builder::new()
                .name("timeline-sample".to_string())
                .spawn(move || burst.run())
        };
        let thread = without_signals(spawn)
            .map_err(|e| Error::io("start a thread to sample", "".as_ref(), e))?;
        Ok(Sampler {
            process: std::process::id(),
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // A forked child has a copy of the locks that the thread held, but not the thread.
        if self.process != std::process::id() {
            std::mem::forget(self.thread.take());
            return;
        }
        let (stopped, changed) = &*self.stop;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // Its thread has reported a panic; the next process that locks the timeline clears the
            // boost.
            let _ = thread.join();
        }
    }
}

struct Burst {
    control: Control,
    level: Level,
    for_: Duration,
    every: Duration,
    stop: Arc<(Mutex<bool>, Condvar)>,
    _lock: Option<LockFile>,
}

impl Burst {
    fn run(self) {
        let mut next = Instant::now();
        loop {
            self.boost(self.level);
            let stopped = self.wait_until(next + self.for_);
            self.boost(Level::NONE);
            if stopped {
                break;
            }
            next += self.every;
            // After a stop (SIGSTOP, suspend), go on from now instead of making up for missed
            // bursts.
            next = next.max(Instant::now());
            if self.wait_until(next) {
                break;
            }
        }
        if let Ok(_lock) = self.control.lock() {
            self.control.segment().set_sampler(false);
        }
    }

    fn boost(&self, level: Level) {
        // A timeline that can no longer be locked has lost its file, and has no more readers.
        if let Ok(_lock) = self.control.lock() {
            self.control.segment().definitions.set_boost(level);
        }
    }

    /// Whether it was told to stop before that time.
    fn wait_until(&self, time: Instant) -> bool {
        let (stopped, changed) = &*self.stop;
        let mut guard = stopped.lock().unwrap_or_else(PoisonError::into_inner);
        while !*guard {
            let left = time.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            guard = changed
                .wait_timeout(guard, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }
}
