//! Records a timeline in a thread of its own, until it is dropped.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use timeline::internal::without_signals;
use timeline::{Attached, Timeline};
use timeline_archive::Totals;

use crate::error::{Error, Result};
use crate::options::WorkerOptions;
use crate::pause::Pause;
use crate::pump::Pump;

/// For this time the thread records before it hears whether it is to end.
const TURN: Duration = Duration::from_millis(20);
/// The longest pause while somebody watches the archive.
const WATCHED: Duration = Duration::from_millis(10);

/// A thread that records a timeline of this process. Dropping it stops it, as
/// [`Worker::stop`] does.
///
/// The thread looks into the ring now and then, as any recorder does: threads that log do nothing
/// for it. It has all signals blocked. If the program is killed, the archive has what was written
/// by then, and the ring the rest: whoever records the timeline next into the same archive, with
/// `timeline record` or by starting the program again, takes that from there.
///
/// After a fork, the thread goes on in the parent, and records what the child logs to the same
/// timeline as well. The child's copy of this does nothing when it is dropped, and its functions
/// fail with [`Error::ForkedProcess`]. A child that is to record by itself starts a worker of its
/// own, to another file. A child that does not call `exec` keeps the file locked for as long as it
/// runs, if its parent is killed; stopping the worker unlocks the file at once.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use timeline::{Priority, Timeline};
/// use timeline_archive::Archive;
/// use timeline_worker::{Worker, WorkerOptions};
/// # let path = format!("/timeline-doc-worker-{}", std::process::id());
/// # let path = path.as_str();
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("flight.tla");
/// let timeline = Timeline::with_size(path, 1024, 4096)?;
/// let got = timeline.define("net", Priority::Info, "got $bytes")?;
/// timeline.log(got, [1500]);
///
/// let worker = Worker::start(&timeline, &WorkerOptions::to_file(&file))?; // flight.tla, say
/// timeline.log(got, [700]);
/// assert!(worker.flush(Duration::from_secs(60))?);
/// assert_eq!(Archive::open(&file)?.events().count(), 2);
///
/// let totals = worker.stop()?;
/// assert_eq!((totals.events, totals.overwritten, totals.missed), (2, 0, 0));
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Worker {
    process: u32,
    shared: Arc<WorkerChannel>,
    thread: Option<JoinHandle<Result<Totals>>>,
}

/// What the thread and its owner tell each other.
#[derive(Default)]
struct WorkerChannel {
    state: Mutex<WorkerState>,
    changed: Condvar,
}

#[derive(Default)]
struct WorkerState {
    is_ended: bool,
    /// How many flushes were asked for, until when the last one may take, and how many are done.
    flushes: u64,
    until: Option<Instant>,
    flushed: u64,
    /// Whether the last one that was done wrote everything.
    is_whole: bool,
    /// Whether the thread has ended.
    is_over: bool,
    totals: Totals,
    trouble: Option<String>,
}

/// What the thread is to do next.
enum WorkerTask {
    Look,
    Flush(u64, Instant),
    End,
}

impl WorkerChannel {
    fn state(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut WorkerState)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Waits for something to do, for this time at most.
    fn wait(&self, pause: Duration) -> WorkerTask {
        let idle = |state: &mut WorkerState| !state.is_ended && state.flushes == state.flushed;
        let waited = self.changed.wait_timeout_while(self.state(), pause, idle);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.until {
            _ if state.is_ended => WorkerTask::End,
            Some(until) if state.flushes > state.flushed => WorkerTask::Flush(state.flushes, until),
            _ => WorkerTask::Look,
        }
    }

    /// Says how far the recording is.
    fn tell(&self, pump: &mut Pump) {
        let (trouble, totals) = (pump.told_trouble(), pump.totals());
        let mut state = self.state();
        (state.totals, state.trouble) = (totals, trouble);
    }
}

impl Worker {
    /// Starts to record a timeline. An archive that has a part of this run is continued. What the
    /// ring of the last run still has that the archive lacks is recorded before.
    ///
    /// If it records to a file, it begins before this returns, so that all that is wrong with the
    /// file is an error here. That takes the time to read and hash the file of the program.
    ///
    /// # Errors
    /// Those of [`Pump::start`]; `Thread` if the system gives no thread.
    pub fn start(timeline: &Timeline, options: &WorkerOptions) -> Result<Worker> {
        Worker::record(timeline.attach()?, options)
    }

    /// Likewise, of a timeline that is attached already.
    ///
    /// # Errors
    /// Those of [`Worker::start`].
    pub fn record(at: Attached, options: &WorkerOptions) -> Result<Worker> {
        let mut pump = Pump::record(at, options)?;
        let shared = Arc::<WorkerChannel>::default();
        shared.tell(&mut pump);
        let (theirs, pause) = (Arc::clone(&shared), options.pause.clone());
        let work = move || {
            let ended = EndNotice(&theirs);
            let result = work(pump, pause, &theirs);
            drop(ended);
            result
        };
        let spawn = || {
            thread::Builder::new()
                .name("timeline-worker".into())
                .spawn(work)
        };
        Ok(Worker {
            process: std::process::id(),
            shared,
            thread: Some(without_signals(spawn)?),
        })
    }

    /// Has the thread write what was logged before this call, and waits until it is written, or has
    /// arrived if it is sent. Returns whether that was done within this time.
    ///
    /// # Errors
    /// `ForkedProcess`.
    pub fn flush(&self, most: Duration) -> Result<bool> {
        self.refuse_child()?;
        let until = Instant::now() + most;
        let mut mine = 0;
        self.shared.change(|state| {
            state.flushes += 1;
            state.until = Some(state.until.map_or(until, |other| other.max(until)));
            mine = state.flushes;
        });
        let waits = |state: &mut WorkerState| state.flushed < mine && !state.is_over;
        let state = self.shared.state();
        let waited = self.shared.changed.wait_timeout_while(state, most, waits);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Ok(state.flushed >= mine && state.is_whole)
    }

    /// The results so far, as the thread told them last. What was overwritten before it began is
    /// among them, once it has begun.
    ///
    /// # Errors
    /// `ForkedProcess`.
    pub fn totals(&self) -> Result<Totals> {
        self.refuse_child()?;
        Ok(self.shared.state().totals)
    }

    /// What fails at present, in a sentence: the disk is full, or there is no store, say. It is
    /// tried again and again, and what is logged stays in the ring meanwhile.
    ///
    /// # Errors
    /// `ForkedProcess`.
    pub fn trouble(&self) -> Result<Option<String>> {
        self.refuse_child()?;
        Ok(self.shared.state().trouble.clone())
    }

    /// Records what was logged before this call, for at most a second and a half, writes it, makes
    /// it durable, and waits for a store for at most two seconds. Returns the results.
    ///
    /// # Errors
    /// `ForkedProcess`; `Truncated` and `Io` if the file of the timeline was cut; `DeadThread`.
    pub fn stop(mut self) -> Result<Totals> {
        self.refuse_child()?;
        self.end()
    }

    fn end(&mut self) -> Result<Totals> {
        self.shared.change(|state| state.is_ended = true);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(Error::DeadThread),
            None => Ok(self.shared.state().totals),
        }
    }

    fn refuse_child(&self) -> Result<()> {
        match self.is_child() {
            false => Ok(()),
            true => Err(Error::ForkedProcess {
                process: self.process,
            }),
        }
    }

    fn is_child(&self) -> bool {
        self.process != std::process::id()
    }
}

/// Stops the thread, and waits for it. In a forked child it does nothing.
impl Drop for Worker {
    fn drop(&mut self) {
        match self.is_child() {
            // The thread is not here, and may have held the lock when the process was forked.
            true => mem::forget(self.thread.take()),
            // Nobody is left to be told.
            false => drop(self.end()),
        }
    }
}

/// Says that the thread has ended, also by a panic, so that nobody waits for it.
struct EndNotice<'a>(&'a WorkerChannel);

impl Drop for EndNotice<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.is_over = true);
    }
}

/// What the thread does.
fn work(mut pump: Pump, mut pause: Pause, shared: &WorkerChannel) -> Result<Totals> {
    let mut rest = Duration::ZERO;
    loop {
        match shared.wait(rest) {
            WorkerTask::End => break,
            WorkerTask::Flush(number, until) => {
                let is_whole = pump.flush_until(until, &mut |pump| shared.tell(pump))?;
                shared.tell(&mut pump);
                shared.change(|state| (state.flushed, state.is_whole) = (number, is_whole));
            }
            WorkerTask::Look => {
                let before = pump.totals();
                pump.update(TURN)?;
                let after = pump.totals();
                let is_new = before != after;
                shared.tell(&mut pump);
                rest = pause.after(is_new);
                if pump.is_watched() {
                    rest = rest.min(WATCHED);
                }
            }
        }
    }
    let result = pump.end();
    shared.tell(&mut pump);
    result
}
