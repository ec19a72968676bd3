//! Makes an archive of a ring, for as long as somebody reads it.
//!
//! A ring is overwritten while it is read, and its lines have no numbers that stay. An archive has,
//! and everything that reads archives fast can read it. It lies in a directory of its own, which is
//! removed with it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use timeline::Attached;
use timeline_archive::{Form, Fsync, Keeping, Output, Recorder};

use crate::error::{Error, Result};

/// How long events stay in the ring at most, and how long others wait to be written with them.
const PAUSE: Duration = Duration::from_millis(10);
const FLUSH: Duration = Duration::from_millis(30);
/// The longest time for the events that the ring has at first.
const FIRST: Duration = Duration::from_secs(10);
/// How often it is asked whether another timeline has the name.
const REPLACED: Duration = Duration::from_millis(500);
/// The bytes of a file, and of all files.
const FILE: u64 = 64 << 20;
const FILES: u64 = 1 << 30;

/// A directory of our own, which is removed with it.
pub fn temporary(action: &'static str) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix("timeline-serve-")
        .permissions(Permissions::from_mode(0o700));
    builder.tempdir().map_err(|error| Error::io(action, error))
}

/// The archive of a ring.
pub struct Recording {
    folder: TempDir,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    is_ended: AtomicBool,
    /// Whether the ring was read to its end once, or why that failed.
    first: Mutex<Option<std::result::Result<(), String>>>,
    changed: Condvar,
}

impl Shared {
    fn tell(&self, result: std::result::Result<(), String>) {
        *self.first.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.changed.notify_all();
    }
}

impl Recording {
    /// Begins to record the ring at this path: a timeline, or a snapshot.
    pub fn begin(path: &Path) -> Result<Recording> {
        let at = Attached::open(path)?;
        let folder = temporary("make a directory for a recording")?;
        let keeping = Keeping {
            rotate_size: Some(FILE),
            keep_size: Some(FILES),
            fsync: Fsync::Never,
            ..Keeping::default()
        };
        let output = Output::open(folder.path(), keeping)?;
        let shared = Arc::<Shared>::default();
        let (path, theirs) = (path.to_path_buf(), Arc::clone(&shared));
        let work = move || {
            let result = record(&path, at, output, &theirs);
            if let Err(error) = result {
                theirs.tell(Err(error.to_string()));
            }
        };
        let thread = thread::Builder::new().name("record".into()).spawn(work);
        let thread = thread.map_err(|error| Error::io("start a thread", error))?;
        Ok(Recording {
            folder,
            shared,
            thread: Some(thread),
        })
    }

    /// The directory of the archive.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until the archive has what the ring had.
    pub fn wait(&self) -> Result<()> {
        let first = self
            .shared
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let first = self
            .shared
            .changed
            .wait_while(first, |first| first.is_none());
        match &*first.unwrap_or_else(PoisonError::into_inner) {
            Some(Err(reason)) => Err(Error::request(format!(
                "cannot read the timeline: {reason}"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether it could not be recorded.
    pub fn has_failed(&self) -> bool {
        let first = self
            .shared
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        matches!(*first, Some(Err(_)))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Relaxed: nothing but the thread's end depends on it, and join orders that.
        self.shared.is_ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Records one run of a program after another.
fn record(path: &Path, at: Attached, mut output: Output, shared: &Shared) -> Result<()> {
    let (mut at, mut before) = (at, None::<Attached>);
    loop {
        let next = {
            let mut recorder = Recorder::after(before.as_ref(), &at, &mut output, Form::Blocks)?;
            let next = follow(path, &at, &mut recorder, shared);
            recorder.finish_at_once();
            next
        };
        match next {
            Some(next) => before = Some(std::mem::replace(&mut at, next)),
            None => return Ok(()),
        }
    }
}

/// Records one run. Returns the next one, if another timeline has the name.
fn follow(
    path: &Path,
    at: &Attached,
    recorder: &mut Recorder,
    shared: &Shared,
) -> Option<Attached> {
    // Relaxed: see Recording::drop.
    let is_ended = || shared.is_ended.load(Ordering::Relaxed);
    recorder.wind_up(Instant::now() + FIRST, || !is_ended());
    recorder.flush();
    shared.tell(Ok(()));
    let (mut flushed, mut asked, mut is_waiting) = (Instant::now(), Instant::now(), false);
    while !is_ended() && !at.is_snapshot() {
        is_waiting |= recorder.step();
        if is_waiting && flushed.elapsed() >= FLUSH {
            recorder.flush();
            (flushed, is_waiting) = (Instant::now(), false);
        }
        if asked.elapsed() >= REPLACED {
            asked = Instant::now();
            if at.replaced() {
                while recorder.step() {}
                return Attached::open(path).ok();
            }
        }
        thread::park_timeout(PAUSE);
    }
    None
}
