//! Saves snapshots, each a while after its firing, to files with names of their own.

use std::collections::VecDeque;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use timeline::{Attached, Error, SaveTotals};

use super::commands::Environment;
use crate::failure::{Failure, Result};
use crate::format::{Bytes, things};
use crate::output;
use crate::permission;

/// How many are saved at the same time.
const AT_ONCE: usize = 2;
/// How many may wait to be saved. Each holds its timeline, and will be as large as that.
pub const MOST_PENDING: usize = 100;

/// Saves snapshots.
pub struct Snapshots {
    folder: PathBuf,
    after: Duration,
    /// By the times when they are due.
    pending: VecDeque<Snapshot>,
    saving: Vec<JoinHandle<Snapshot>>,
    /// The last number that a name was given: no two snapshots are given the same.
    number: Arc<AtomicU64>,
    /// Firings without a snapshot, because too many were pending.
    refused: u64,
    /// Snapshots that could not be saved.
    failed: u64,
}

/// A snapshot, before and after it was saved.
pub struct Snapshot {
    at: Arc<Attached>,
    due: Instant,
    /// The name without its number, and the number.
    name: (String, u64),
    folder: PathBuf,
    last_number: Arc<AtomicU64>,
    saved: Option<std::result::Result<SaveTotals, Error>>,
    /// For the commands that follow.
    pub environment: Environment,
}

impl Snapshots {
    /// Into this folder, which is made if it is missing: only its owner may look into it. Fails if
    /// no file can be made there.
    pub fn new(folder: &Path, after: Duration) -> Result<Snapshots> {
        if folder.metadata().is_ok_and(|found| !found.is_dir()) {
            return Err(Failure::Message(format!(
                "expected a directory for snapshots, and {} is a file; choose another one",
                folder.display()
            )));
        }
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder);
        let failed = |doing, error| Failure::Message(permission::failed(doing, folder, &error));
        made.map_err(|error| failed("create", error))?;
        // Gone at once.
        tempfile::tempfile_in(folder).map_err(|error| failed("write to", error))?;
        Ok(Snapshots {
            folder: folder.into(),
            after,
            pending: VecDeque::new(),
            saving: Vec::new(),
            number: Arc::default(),
            refused: 0,
            failed: 0,
        })
    }

    /// Plans one, and returns the name that it will have, unless another file takes it. `None` if
    /// too many are pending: that is counted.
    pub fn plan(
        &mut self,
        at: &Arc<Attached>,
        path: &Path,
        environment: &Environment,
    ) -> Option<PathBuf> {
        if self.pending.len() >= MOST_PENDING {
            self.refused += 1;
            return None;
        }
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy();
        let stem = name.strip_suffix(".timeline").unwrap_or(&name);
        let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let mut snapshot = Snapshot {
            at: Arc::clone(at),
            due: Instant::now() + self.after,
            name: (format!("{stem}-{time}"), 0),
            folder: self.folder.clone(),
            last_number: Arc::clone(&self.number),
            saved: None,
            environment: environment.clone(),
        };
        snapshot.take_number();
        while snapshot.path().exists() {
            snapshot.take_number();
        }
        let path = snapshot.path();
        self.pending.push_back(snapshot);
        Some(path)
    }

    /// How many firings have no snapshot, because too many were pending.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// How many snapshots could not be saved.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Begins to save what is due. Returns those that are done, and says of each what became of it.
    pub fn work(&mut self) -> Vec<Snapshot> {
        let now = Instant::now();
        let is_due = |one: &Snapshot| one.due <= now;
        while self.saving.len() < AT_ONCE
            && self.pending.front().is_some_and(is_due)
            && let Some(one) = self.pending.pop_front()
        {
            self.saving.push(std::thread::spawn(|| one.save()));
        }
        let (done, saving) = std::mem::take(&mut self.saving)
            .into_iter()
            .partition(JoinHandle::is_finished);
        self.saving = saving;
        let done: Vec<JoinHandle<Snapshot>> = done;
        let mut told = Vec::new();
        for one in done {
            // One that panicked has said so.
            let one = one.join().ok();
            self.failed += u64::from(!one.as_ref().is_some_and(Snapshot::is_saved));
            told.extend(one.map(Snapshot::told));
        }
        told
    }

    /// The time until the next one is due.
    pub fn rest(&self) -> Option<Duration> {
        // Otherwise one that is saved must be done before.
        let next = self.pending.front().filter(|_| self.saving.len() < AT_ONCE);
        next.map(|one| one.due.saturating_duration_since(Instant::now()))
    }

    /// Whether any is not saved yet.
    pub fn are_left(&self) -> bool {
        !self.pending.is_empty() || !self.saving.is_empty()
    }

    /// Does not wait any longer.
    pub fn hurry(&mut self) {
        let now = Instant::now();
        self.pending.iter_mut().for_each(|one| one.due = now);
    }
}

impl Snapshot {
    fn path(&self) -> PathBuf {
        let (name, number) = &self.name;
        self.folder.join(format!("{name}-{number}.timeline"))
    }

    /// Gives it the next number.
    fn take_number(&mut self) {
        // Relaxed: nothing else depends on the number.
        self.name.1 = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
    }

    /// Saves it. If another process has taken the name meanwhile, it gets the next one.
    fn save(mut self) -> Snapshot {
        let saved = loop {
            match self.at.save_new(self.path()) {
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                    self.take_number();
                }
                other => break other,
            }
        };
        self.saved = Some(saved);
        self
    }

    fn is_saved(&self) -> bool {
        matches!(self.saved, Some(Ok(_)))
    }

    fn told(mut self) -> Snapshot {
        let path = self.path();
        match &self.saved {
            Some(Ok(saved)) => {
                let (events, bytes) = (things(saved.events, "event"), Bytes(saved.bytes));
                let shown = path.display();
                output::say(format_args!("saved {events} to {shown} ({bytes})"));
                self.environment.push(("TIMELINE_SNAPSHOT", path.into()));
            }
            Some(Err(error)) => output::say(permission::told(error)),
            None => {}
        }
        self
    }
}
