//! Writes the archive of a recorder: a file, or numbered files in a directory.
//! The disk may be full for a time.
//!
//! current.rs is the file that is written, rotation.rs says when another one is begun, reopen.rs
//! opens one again that somebody removed or cut, trouble.rs says when a step that failed is tried
//! again. history.rs says where an earlier recorder of each run stopped, and keeping.rs has the
//! options.

mod current;
mod history;
mod keeping;
mod reopen;
mod rotation;
mod trouble;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use timeline::Attached;

use crate::error::{Error, Result};
use crate::format::preamble::Preamble;
use crate::record::resume::ResumeState;
use history::{History, Resume};
use rotation::Rotation;

pub use current::FileChange;
pub(crate) use history::Handover;
pub use keeping::{Fsync, Keeping};
pub(crate) use rotation::NextWrite;
pub use trouble::OutputTrouble;

/// An archive that recorders write, one after the other.
pub struct ArchiveOutput {
    /// The path that the caller gave.
    path: PathBuf,
    rotation: Rotation,
    history: History,
    /// The last file of the directory, if that was no archive, or nobody may change it.
    passed_over: Option<PathBuf>,
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
        let mut rotation = Rotation::open(path, keeping)?;
        let mut found = rotation.read()?;
        let mut passed_over = rotation.passed_over().map(Path::to_path_buf);
        if found.is_foreign() {
            passed_over = rotation.pass_over()?;
            found = rotation.read()?;
        }
        let history = History::new(found, rotation.older(), passed_over.is_some());
        rotation.file().go_on_at(history.end());
        Ok(ArchiveOutput {
            path: path.to_path_buf(),
            rotation,
            history,
            passed_over,
        })
    }

    /// The last file of the directory, if it has something else in it than an archive, as a power
    /// cut may leave it. It is left alone, and the recording goes on in the file after it: the
    /// second path.
    pub fn passed_over(&self) -> Option<(&Path, &Path)> {
        let passed = self.passed_over.as_deref()?;
        Some((passed, self.rotation.present()))
    }

    /// Whether a path names a directory of files, and not one file.
    pub fn is_directory(path: &Path) -> bool {
        rotation::is_directory(path)
    }

    /// The path that the caller gave.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes written.
    pub fn written(&self) -> u64 {
        self.rotation.written()
    }

    /// The step that fails at present.
    pub fn trouble(&self) -> Option<&OutputTrouble> {
        self.rotation.trouble()
    }

    /// The bytes that the current file may still get; `u64::MAX` if that has no limit.
    pub(crate) fn room(&self) -> u64 {
        self.rotation.room()
    }

    /// The files. To begin another one, use [`rotate`](Self::rotate) and [`reopen`](Self::reopen).
    pub(crate) fn rotation(&mut self) -> &mut Rotation {
        &mut self.rotation
    }

    /// Whether the run `before` is to be recorded as well: the archive holds a part of it, or holds
    /// runs before it and nothing of the present run. An archive without runs does not need those
    /// before its first.
    ///
    /// # Errors
    /// `Io`; `OtherRing` if the archive is of another timeline.
    pub fn continues_with(&mut self, before: &Attached, at: &Attached) -> Result<bool> {
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
        let resume = self.history.resume(at, &self.path)?;
        self.rotation.file().cut_off_rest();
        Ok(resume)
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
        let found = self.rotation.reopen(&self.path, change);
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
