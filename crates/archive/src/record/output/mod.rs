//! Writes the archive of a recorder: to files, or to any other destination.
//! A disk may be full for a time.
//!
//! destination.rs says what takes frames. disk.rs writes them to files, current.rs to the one that
//! is written, and reopen.rs opens one again that somebody removed or cut; keeping.rs has the
//! options of files. rotation.rs says when another one is begun, and trouble.rs when a step that
//! failed is tried again. history.rs says where an earlier recorder of each run stopped.

mod current;
mod destination;
pub(crate) mod disk;
mod history;
mod keeping;
mod reopen;
mod rotation;
mod trouble;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use timeline::Attached;

use crate::error::{Error, Result};
use crate::format::preamble::Preamble;
use crate::record::resume::ResumeState;
use disk::Disk;
use history::{History, Resume};
use rotation::Rotation;

pub use current::FileChange;
pub use destination::{Destination, FileLimits, ReferenceClock};
pub(crate) use history::Handover;
pub use keeping::{Fsync, Keeping};
pub(crate) use rotation::NextWrite;
pub use trouble::OutputTrouble;

/// An archive that recorders write, one after the other.
pub struct ArchiveOutput {
    /// The path that the caller gave, or the name of the destination.
    path: PathBuf,
    rotation: Rotation,
    history: History,
    /// Whether the destination knows how far each run is recorded, and its files are not here.
    is_remote: bool,
    /// The preamble of the run that was asked for last: making it costs the digest of an
    /// executable.
    run: Option<Preamble>,
    /// The last file of the directory, if that was no archive, or nobody may change it, and the
    /// file behind it.
    passed_over: Option<(PathBuf, PathBuf)>,
}

impl ArchiveOutput {
    /// Opens the file at `path`, or the directory if there is one or the path ends in `/`. Both are
    /// created with access for their owner alone if they are not there, and locked against other
    /// recorders. If the last file of a directory is no archive, another one is begun: see
    /// [`ArchiveOutput::passed_over`].
    ///
    /// # Errors
    /// `Io`; `RecorderBusy`; `NotADirectory` for a file that is to be rotated.
    pub fn open(path: impl AsRef<Path>, keeping: Keeping) -> Result<ArchiveOutput> {
        let path = path.as_ref();
        let mut disk = Disk::open(path, keeping)?;
        let begun = disk.begun();
        let mut found = disk.read()?;
        let mut passed_over = disk.passed_over().map(Path::to_path_buf);
        if found.is_foreign() {
            passed_over = disk.pass_over()?;
            found = disk.read()?;
        }
        let history = History::new(found, disk.older(), passed_over.is_some());
        disk.file().go_on_at(history.end());
        let passed_over = passed_over.map(|passed| (passed, disk.present().to_path_buf()));
        Ok(ArchiveOutput {
            path: path.to_path_buf(),
            rotation: Rotation::new(Box::new(disk), begun),
            history,
            is_remote: false,
            run: None,
            passed_over,
        })
    }

    /// Writes to another destination than files here. `name` is what messages call it.
    pub fn to(name: impl Into<PathBuf>, destination: Box<dyn Destination>) -> ArchiveOutput {
        ArchiveOutput {
            path: name.into(),
            rotation: Rotation::new(destination, Instant::now()),
            history: History::new(ResumeState::nothing(), std::iter::empty(), false),
            is_remote: true,
            run: None,
            passed_over: None,
        }
    }

    /// The last file of the directory, if it has something else in it than an archive, as a power
    /// cut may leave it. It is left alone, and the recording goes on in the file after it: the
    /// second path.
    pub fn passed_over(&self) -> Option<(&Path, &Path)> {
        let (passed, present) = self.passed_over.as_ref()?;
        Some((passed, present))
    }

    /// Whether a path names a directory of files, and not one file.
    pub fn is_directory(path: &Path) -> bool {
        disk::is_directory(path)
    }

    /// Bytes written.
    pub fn written(&self) -> u64 {
        self.rotation.written()
    }

    /// The step that fails at present.
    pub fn trouble(&self) -> Option<&OutputTrouble> {
        self.rotation.present().trouble()
    }

    /// Whether nothing will ever be written again: see [`Recorder::is_over`].
    ///
    /// [`Recorder::is_over`]: crate::Recorder::is_over
    pub fn is_over(&self) -> bool {
        self.rotation.present().is_over()
    }

    /// Bytes that lie on this machine until another one has them: see [`Destination::waiting`].
    pub fn waiting(&self) -> u64 {
        self.rotation.present().waiting()
    }

    /// Has the destination send what lies on this machine, as far as that goes without waiting.
    pub fn attend(&mut self) {
        self.rotation.destination().is_settled();
    }

    /// Has the destination say how far a run is recorded there, which another machine may have to
    /// be asked for. Files have it at once.
    ///
    /// # Errors
    /// [`Error::is_pending`] as long as there is no answer.
    pub fn prepare(&mut self, at: &Attached) -> Result<()> {
        match self.is_remote {
            true => self.ask_destination(at),
            false => Ok(()),
        }
    }

    /// The bytes that the current file may still get; `u64::MAX` if that has no limit.
    pub(crate) fn room(&self) -> u64 {
        self.rotation.room()
    }

    /// What takes the frames. To begin another file, use [`rotate`](Self::rotate) and
    /// [`reopen`](Self::reopen).
    pub(crate) fn destination(&mut self) -> &mut dyn Destination {
        self.rotation.destination()
    }

    /// Whether another file is to be begun before `next`. From `least` to `most` bytes are waiting,
    /// and belong to this file.
    pub(crate) fn is_due(&self, waiting: (u64, u64), next: NextWrite) -> bool {
        self.rotation.is_due(waiting, next)
    }

    /// Whether the run `before` is to be recorded as well: the archive holds a part of it, or holds
    /// runs before it and nothing of the present run. An archive without runs does not need those
    /// before its first.
    ///
    /// # Errors
    /// `Io`; `OtherRing` if the archive is of another timeline.
    pub fn continues_with(&mut self, before: &Attached, at: &Attached) -> Result<bool> {
        if self.is_remote {
            // Elsewhere, each run has an archive of its own.
            return Ok(true);
        }
        let before = self.resume(before).map_err(|error| match error {
            // The run before it was not named by anybody.
            Error::OtherRing { path, .. } => Error::OtherRing {
                path,
                timeline: at.path().to_path_buf(),
            },
            other => other,
        })?;
        Ok(!before.is_new || (before.later && self.resume(at)?.is_new))
    }

    /// The run that the archive ends with, if it holds nothing of this run, and ends with another
    /// one than the run `before` this: events between these runs may be missing.
    ///
    /// # Errors
    /// `Io`; `OtherRing` if the archive is of another timeline.
    pub(crate) fn gap(
        &mut self,
        at: &Attached,
        before: Option<&Attached>,
    ) -> Result<Option<Preamble>> {
        if at.is_snapshot() || !self.resume(at)?.is_new {
            return Ok(None);
        }
        let last = self.history.last_of(at);
        let is_before = |last: &&Preamble| before.is_some_and(|before| last.is_of(before));
        Ok(last.filter(|last| !is_before(last)).cloned())
    }

    /// Where to continue with a ring.
    pub(crate) fn resume(&mut self, at: &Attached) -> Result<Resume> {
        if self.is_remote {
            self.ask_destination(at)?;
        }
        let resume = self.history.resume(at, &self.path, self.run.as_ref())?;
        self.rotation.destination().cut_off_rest();
        Ok(resume)
    }

    /// Learns how far a run is recorded.
    fn ask_destination(&mut self, at: &Attached) -> Result<()> {
        let run = self.run.take().filter(|run| run.is_of(at));
        let run = run.unwrap_or_else(|| Preamble::of(at));
        let state = self.rotation.destination().begin_run(&run);
        self.run = Some(run.clone());
        self.history = History::of_run(run, state?);
        self.rotation.begin();
        Ok(())
    }

    /// Notes that `bytes` bytes in the current file introduce a run.
    pub(crate) fn introduce(&mut self, run: &Preamble, bytes: u64) {
        self.history.introduce(run);
        self.rotation.introduce(bytes);
    }

    /// The newest of the runs that are newer than this one, and how far it is recorded.
    pub(crate) fn newest_after(&self, run: &Preamble) -> Option<(Preamble, Vec<(u64, u64)>)> {
        self.history.newest_after(run)
    }

    /// Notes how far a run is recorded, and its strings in the current file, for the next recorder.
    pub(crate) fn leave(&mut self, magic: u64, left: Handover) {
        self.history.leave(magic, left);
    }

    /// Begins another file. Everything that belongs to this one has been written. Returns whether
    /// that worked.
    pub(crate) fn rotate(&mut self) -> bool {
        let begun = self.rotation.begin_next();
        if begun {
            self.history.go_on_in(ResumeState::default());
        }
        begun
    }

    /// Opens the file again after a change. Returns whether it can be written to.
    pub(crate) fn reopen(&mut self, change: FileChange) -> bool {
        let found = self.rotation.reopen(change);
        found.map(|found| self.history.go_on_in(found)).is_some()
    }
}

/// Writes whole frames, as many as there is room for.
impl Write for ArchiveOutput {
    fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        self.rotation.write(frames)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
