//! Makes an archive of a ring, for as long as somebody reads it.
//!
//! A ring is overwritten while it is read, and its lines have no numbers that stay. An archive has,
//! and everything that reads archives fast can read it. It lies in a directory of its own, which is
//! removed with it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use tempfile::TempDir;
use timeline::Attached;
use timeline_archive::{ArchiveOutput, Form, Fsync, Keeping, Recorder};
use utoipa::ToSchema;

use super::containment::is_same;
use super::discovery::{LogFile, LogSource};
use super::scratch::Scratch;
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

/// The archive of a ring.
pub struct Recording {
    folder: TempDir,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Why nothing is added to the archive of a ring at present.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Trouble {
    /// What failed. It is tried again until it works.
    pub error: String,
    /// How many entries the ring has that wait, or were overwritten meanwhile.
    pub waiting: u64,
}

#[derive(Default)]
struct Shared {
    is_ended: AtomicBool,
    told: Mutex<RecorderState>,
    changed: Condvar,
}

/// What the thread says that records.
#[derive(Default)]
struct RecorderState {
    /// Whether the ring was read to its end once, or why that failed.
    first: Option<std::result::Result<(), String>>,
    /// Whether all that the ring had at first was written.
    is_whole: bool,
    trouble: Option<Trouble>,
}

impl Shared {
    fn told(&self) -> MutexGuard<'_, RecorderState> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, result: std::result::Result<(), String>) {
        self.told().first = Some(result);
        self.changed.notify_all();
    }

    /// Says whether a recorder could write.
    fn tell_trouble(&self, recorder: &mut Recorder) {
        let waiting = match recorder.trouble() {
            Some(_) => recorder.unread(),
            None => 0,
        };
        let trouble = recorder.trouble().map(|trouble| Trouble {
            error: format!(
                "cannot {} {}: {}; what is logged waits until there is room",
                trouble.doing,
                trouble.path.display(),
                trouble.error
            ),
            waiting,
        });
        self.told().trouble = trouble;
    }

    /// Writes what the ring has now, and says whether that worked.
    fn catch_up(&self, recorder: &mut Recorder) {
        // Relaxed: see Recording::drop.
        let is_ended = || self.is_ended.load(Ordering::Relaxed);
        recorder.wind_up(Instant::now() + FIRST, || !is_ended());
        recorder.flush();
        self.tell_trouble(recorder);
        let is_written = recorder.trouble().is_none();
        self.told().is_whole |= is_written;
    }
}

/// A ring that is open, and what leads to it.
struct Ring {
    at: Attached,
    reached: LogFile,
}

impl Ring {
    fn open(found: &LogSource) -> Result<Ring> {
        let reached = found.reached()?;
        let at = Attached::open(reached.path())?;
        Ok(Ring { at, reached })
    }

    /// Whether its name leads to another one by now.
    fn is_replaced(&self, found: &LogSource) -> bool {
        match (&self.reached.file, found.opened()) {
            (Some(file), Ok(Some(now))) => !is_same(&now, file),
            (Some(_), _) => true,
            (None, _) => self.at.replaced(),
        }
    }
}

impl Recording {
    /// Begins to record a ring: a timeline, or a snapshot.
    pub fn begin(found: &LogSource, scratch: &Scratch) -> Result<Recording> {
        let ring = Ring::open(found)?;
        let folder = scratch.folder("make a directory for a recording")?;
        let keeping = Keeping {
            rotate_size: Some(FILE),
            keep_size: Some(FILES),
            fsync: Fsync::Never,
            ..Keeping::default()
        };
        let output = ArchiveOutput::open(folder.path(), keeping)?;
        let shared = Arc::<Shared>::default();
        let (found, theirs) = (found.clone(), Arc::clone(&shared));
        let work = move || {
            let result = record(&found, ring, output, &theirs);
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
    ///
    /// # Errors
    /// `Request` if the ring cannot be read; `NoRoom` if the archive got only a part of it.
    pub fn wait(&self) -> Result<()> {
        let told = self.shared.told();
        let told = self
            .shared
            .changed
            .wait_while(told, |told| told.first.is_none());
        let told = told.unwrap_or_else(PoisonError::into_inner);
        match (&told.first, &told.trouble) {
            (Some(Err(reason)), _) => Err(Error::request(format!(
                "cannot read the timeline: {reason}"
            ))),
            _ if told.is_whole => Ok(()),
            (_, Some(trouble)) => Err(Error::NoRoom {
                reason: trouble.error.clone(),
            }),
            (_, None) => Err(Error::NoRoom {
                reason: "there was no room; what the timeline has is being written now".into(),
            }),
        }
    }

    /// Why nothing is added at present.
    pub fn trouble(&self) -> Option<Trouble> {
        self.shared.told().trouble.clone()
    }

    /// Whether it could not be recorded.
    pub fn has_failed(&self) -> bool {
        matches!(self.shared.told().first, Some(Err(_)))
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
fn record(found: &LogSource, ring: Ring, mut output: ArchiveOutput, shared: &Shared) -> Result<()> {
    let (mut ring, mut before) = (ring, None::<Ring>);
    loop {
        let next = {
            let before = before.as_ref().map(|before| &before.at);
            let mut recorder = Recorder::after(before, &ring.at, &mut output, Form::Blocks)?;
            let next = follow(found, &ring, &mut recorder, shared);
            recorder.finish_at_once();
            next
        };
        match next {
            Some(next) => before = Some(std::mem::replace(&mut ring, next)),
            None => return Ok(()),
        }
    }
}

/// Records one run. Returns the next one, if another timeline has the name.
fn follow(
    found: &LogSource,
    ring: &Ring,
    recorder: &mut Recorder,
    shared: &Shared,
) -> Option<Ring> {
    // Relaxed: see Recording::drop.
    let is_ended = || shared.is_ended.load(Ordering::Relaxed);
    shared.catch_up(recorder);
    shared.tell(Ok(()));
    let (mut flushed, mut asked, mut is_waiting) = (Instant::now(), Instant::now(), false);
    let is_over = || ring.at.is_snapshot() && shared.told().is_whole;
    while !is_ended() && !is_over() {
        is_waiting |= recorder.step();
        if is_waiting && flushed.elapsed() >= FLUSH {
            recorder.flush();
            (flushed, is_waiting) = (Instant::now(), false);
        }
        shared.tell_trouble(recorder);
        if !shared.told().is_whole && recorder.trouble().is_none() {
            shared.catch_up(recorder);
        }
        if asked.elapsed() >= REPLACED {
            asked = Instant::now();
            if ring.is_replaced(found) {
                while recorder.step() {}
                return Ring::open(found).ok();
            }
        }
        thread::park_timeout(PAUSE);
    }
    None
}
