//! One recording of an agent.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use timeline::Attached;
use timeline_archive::{Keeping, Totals};
use timeline_worker::{Worker, WorkerOptions};

use crate::error::Result;
use crate::folder::place_below;

/// How long the end of a recording is waited for, each time that it is looked for.
const MOMENT: Duration = Duration::from_millis(10);
/// The longest pause before it is looked for again.
const RARELY: Duration = Duration::from_secs(5);

/// Where a recording goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingTarget {
    /// A file in the directory of the agent; with `/` at the end a directory of numbered files.
    File(String),
    /// A store, as `HOST` or `HOST:PORT`. Beyond this machine, it has to be one that the user of
    /// the agent knows.
    Store(String),
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingRequest {
    /// The name of the timeline.
    pub timeline: String,
    /// Where to.
    pub target: RecordingTarget,
    /// When another file is begun, and which are removed; of a store, that is the store's business.
    pub keeping: KeepingRequest,
    /// What a store keeps with it: names and values.
    pub labels: Vec<(String, String)>,
}

/// How much is kept of files, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeepingRequest {
    /// A new file begins before one becomes larger.
    pub rotate_size: Option<u64>,
    /// The oldest files are removed when all are larger.
    pub keep_size: Option<u64>,
}

/// How far a recording is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingPhase {
    /// It records.
    Running,
    /// Its program has ended, or somebody stopped it, and everything is written.
    Complete,
    /// It ended before everything was written.
    Failure,
}

/// What is known of a recording.
#[derive(Debug, Clone)]
pub struct RecordingState {
    /// Its number, by which it is stopped.
    pub number: u64,
    /// The name of the timeline.
    pub timeline: String,
    /// Where to.
    pub target: RecordingTarget,
    /// Whether the agent started it by itself.
    pub is_of_fleet: bool,
    /// How far it is.
    pub phase: RecordingPhase,
    /// When it began.
    pub since: SystemTime,
    /// What came of it so far.
    pub totals: Totals,
    /// What fails at present, or why it ended.
    pub trouble: Option<String>,
}

/// A recording that runs, or has ended.
pub struct HostRecording {
    pub request: RecordingRequest,
    pub is_of_fleet: bool,
    since: SystemTime,
    /// The timeline as it is watched: the worker has its own view of it.
    at: Attached,
    /// When it is looked next whether everything is written, and the pause before.
    next: Instant,
    pause: Duration,
    /// What was said to fail last.
    told: Option<String>,
    work: RecordingWork,
}

enum RecordingWork {
    Running(Worker),
    Over(Totals, Option<String>),
}

impl HostRecording {
    /// Begins a recording of the timeline that has the name now.
    ///
    /// # Errors
    /// `Timeline`, `Worker`; `FileName`, `NoFolder`.
    pub fn begin(
        request: RecordingRequest,
        options: &WorkerOptions,
        is_of_fleet: bool,
    ) -> Result<HostRecording> {
        let at = Attached::open(&request.timeline)?;
        let worker = Worker::record(Attached::open(&request.timeline)?, options)?;
        Ok(HostRecording {
            request,
            is_of_fleet,
            since: SystemTime::now(),
            at,
            next: Instant::now(),
            pause: MOMENT,
            told: None,
            work: RecordingWork::Running(worker),
        })
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        matches!(self.work, RecordingWork::Running(_))
    }

    /// The run of the program that it records: when it began, and in which process.
    pub fn run(&self) -> (u64, u32) {
        run_of(&self.at)
    }

    /// Ends it if nothing can come any more: the program has ended, or its name leads to another
    /// run, and all is written. Returns whether it has just ended.
    pub fn look(&mut self) -> bool {
        let RecordingWork::Running(worker) = &self.work else {
            return false;
        };
        if Instant::now() < self.next {
            return false;
        }
        let is_done = self.at.replaced() || !is_used(&self.request.timeline);
        // What was logged before the writer was looked for is in the ring.
        if !is_done || !worker.flush(MOMENT).unwrap_or(true) {
            // A store may be away for hours.
            self.pause = if is_done {
                (2 * self.pause).min(RARELY)
            } else {
                MOMENT
            };
            self.next = Instant::now() + self.pause;
            return false;
        }
        self.stop()
    }

    /// What fails at present, if that was not told yet; an empty text if it is over.
    pub fn news(&mut self) -> Option<String> {
        let RecordingWork::Running(worker) = &self.work else {
            return None;
        };
        let now = worker.trouble().ok()?;
        if now == self.told {
            return None;
        }
        self.told.clone_from(&now);
        Some(now.unwrap_or_default())
    }

    /// Ends it. Returns whether it ran.
    pub fn stop(&mut self) -> bool {
        let over = RecordingWork::Over(Totals::default(), None);
        match std::mem::replace(&mut self.work, over) {
            RecordingWork::Running(worker) => {
                let trouble = worker.trouble().ok().flatten();
                self.work = match worker.stop() {
                    Ok(totals) if totals.unsent == 0 => RecordingWork::Over(totals, None),
                    Ok(totals) => RecordingWork::Over(totals, trouble),
                    Err(error) => RecordingWork::Over(Totals::default(), Some(error.to_string())),
                };
                true
            }
            former => {
                self.work = former;
                false
            }
        }
    }

    /// What is known of it.
    pub fn state(&self, number: u64) -> RecordingState {
        let (phase, totals, trouble) = match &self.work {
            RecordingWork::Running(worker) => (
                RecordingPhase::Running,
                worker.totals().unwrap_or_default(),
                worker.trouble().ok().flatten(),
            ),
            RecordingWork::Over(totals, None) => (RecordingPhase::Complete, *totals, None),
            RecordingWork::Over(totals, Some(why)) => {
                (RecordingPhase::Failure, *totals, Some(why.clone()))
            }
        };
        RecordingState {
            number,
            timeline: self.request.timeline.clone(),
            target: self.request.target.clone(),
            is_of_fleet: self.is_of_fleet,
            phase,
            since: self.since,
            totals,
            trouble,
        }
    }
}

/// Whether a process that lives writes to the timeline of this name.
pub fn is_used(name: &str) -> bool {
    timeline::users(name).is_ok_and(|users| !users.is_empty())
}

/// Identifies the run of a program that a timeline is of.
pub fn run_of(at: &Attached) -> (u64, u32) {
    let info = at.info();
    (info.created_unix_nanos, info.creator_pid)
}

/// How a recording is done that somebody asks for.
///
/// # Errors
/// `FileName`; `NoFolder`; those of [`WorkerOptions::to_store`].
pub fn options_of(request: &RecordingRequest, folder: Option<&Path>) -> Result<WorkerOptions> {
    let options = match &request.target {
        RecordingTarget::File(name) => {
            let folder = folder.ok_or(crate::error::Error::NoFolder)?;
            WorkerOptions::to_file(place_below(folder, name)?)
        }
        RecordingTarget::Store(address) => WorkerOptions::to_store(address)?,
    };
    let keeping = Keeping {
        rotate_size: request.keeping.rotate_size,
        keep_size: request.keeping.keep_size,
        ..Keeping::default()
    };
    let labels = request.labels.iter();
    let options = options.keeping(keeping);
    Ok(labels.fold(options, |options, (name, value)| options.label(name, value)))
}
