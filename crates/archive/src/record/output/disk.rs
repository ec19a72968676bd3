//! Writes frames to a file, or to numbered files in a directory, and removes the oldest of these.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use super::current::{CurrentFile, FileChange};
use super::destination::{Destination, FileLimits};
use super::keeping::{Fsync, Keeping};
use super::trouble::OutputTrouble;
use crate::error::{Error, Result};
use crate::format::preamble::Preamble;
use crate::record::numbered_files::{self, Files};
use crate::record::resume::{ResumeState, RunState};
use crate::record::watch_mark::WatchMark;

/// The current file, and those before it in a directory.
pub(crate) struct Disk {
    /// The file or the directory that the caller named.
    pub(super) path: PathBuf,
    keeping: Keeping,
    /// `None` if the output is a single file.
    pub(super) files: Option<Files>,
    pub(super) file: CurrentFile,
    watched: WatchMark,
    /// Whether the file was removed or moved, and no other could be opened at its name.
    pub(super) away: bool,
    pub(super) writing: Option<OutputTrouble>,
    syncing: Option<OutputTrouble>,
    rotating: Option<OutputTrouble>,
    removing: Option<OutputTrouble>,
}

impl Disk {
    /// Opens the file at `path`, or the last file of the directory.
    pub fn open(path: &Path, keeping: Keeping) -> Result<Disk> {
        let is_new = !path.exists();
        let (files, file) = if is_directory(path) {
            let (files, file, path) = Files::open(path)?;
            let made = files.is_made();
            (Some(files), CurrentFile::new(file, path, made))
        } else if keeping.rotates() {
            return Err(Error::NotADirectory { path: path.into() });
        } else {
            let file = numbered_files::open(path)?;
            (None, CurrentFile::new(file, path.into(), is_new))
        };
        Ok(Disk {
            path: path.to_path_buf(),
            keeping,
            files,
            file,
            watched: WatchMark::new(path),
            away: false,
            writing: None,
            syncing: None,
            rotating: None,
            removing: None,
        })
    }

    /// When the current file was begun.
    pub fn begun(&self) -> Instant {
        let metadata = self.file.file().metadata();
        let created = metadata.and_then(|data| data.created()).ok();
        let age = created.and_then(|created| SystemTime::now().duration_since(created).ok());
        let begun = age.and_then(|age| Instant::now().checked_sub(age));
        begun.unwrap_or_else(Instant::now)
    }

    /// Whether there is nothing in the current file, not even something else than frames.
    pub fn is_empty(&self) -> bool {
        let metadata = self.file.file().metadata();
        metadata.is_ok_and(|metadata| metadata.len() == 0)
    }

    /// The current file.
    pub fn file(&mut self) -> &mut CurrentFile {
        &mut self.file
    }

    /// Its path.
    pub fn present(&self) -> &Path {
        self.file.path()
    }

    /// The files before it, the newest first.
    pub fn older(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().flat_map(Files::older)
    }

    /// The contents of the current file.
    pub fn read(&self) -> Result<ResumeState> {
        let found = ResumeState::read(self.file.file());
        found.map_err(|error| Error::io("read", self.file.path(), error))
    }

    /// The last file of the directory, if nobody may change it.
    pub fn passed_over(&self) -> Option<&Path> {
        self.files.as_ref().and_then(Files::passed_over)
    }

    /// Leaves the last file of a directory alone, which has something else in it than an archive,
    /// and begins another one. Returns that file. `None` if the output is a single file.
    pub fn pass_over(&mut self) -> Result<Option<PathBuf>> {
        let Some(files) = &mut self.files else {
            return Ok(None);
        };
        let size = self.file.file().metadata().map_or(0, |data| data.len());
        let (file, path) = files.next(size)?;
        let passed = self.file.path().to_path_buf();
        self.file = CurrentFile::new(file, path, true);
        Ok(Some(passed))
    }

    /// Makes the file and its name durable.
    pub fn sync(&mut self) {
        let names = self.files.as_ref().map_or(Ok(()), Files::sync);
        let synced = self.file.file().sync_data().and(names);
        let failed = |error| OutputTrouble::new("make durable", self.file.path(), error);
        self.syncing = synced.err().map(failed);
    }

    /// Whether the last attempt to make the file durable worked.
    pub fn is_synced(&self) -> bool {
        self.syncing.is_none()
    }

    /// Removes the oldest files, so that `more` bytes have room.
    fn remove_oldest(&mut self, more: usize) {
        if let (Some(most), Some(files)) = (self.keeping.keep_size, &mut self.files) {
            let removed = files.keep(most, self.file.size().saturating_add(more as u64));
            let failed = |(path, error): (PathBuf, _)| OutputTrouble::new("remove", &path, error);
            self.removing = removed.err().map(failed);
        }
    }
}

impl Destination for Disk {
    /// What the files hold says how far each run is recorded.
    fn begin_run(&mut self, _: &Preamble) -> Result<Option<RunState>> {
        Ok(None)
    }

    fn limits(&self) -> FileLimits {
        FileLimits {
            size: self.keeping.rotate_size,
            age: self.keeping.rotate_every,
        }
    }

    fn size(&self) -> u64 {
        self.file.size()
    }

    fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        let waits = self.writing.as_ref().is_some_and(OutputTrouble::waits);
        // A recorder opens a changed file again before it reads the next event.
        if self.away || waits || self.file.is_cut() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.remove_oldest(frames.len());
        let (done, failure) = self.file.put(frames);
        let failed = |error| OutputTrouble::new("write", self.file.path(), error);
        self.writing = failure.map(failed);
        if done == 0 && !frames.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if self.keeping.fsync == Fsync::Every && done > 0 {
            self.sync();
        }
        Ok(done)
    }

    fn is_full(&self) -> bool {
        self.writing.is_some()
    }

    /// The file may have the largest size that this process may write (`ulimit -f`). Unlike a full
    /// disk, that does not pass by itself.
    fn is_over(&self) -> bool {
        let kind = self.trouble().map(|trouble| trouble.error.kind());
        kind == Some(io::ErrorKind::FileTooLarge)
    }

    fn begin_next(&mut self) -> bool {
        let Some(files) = &mut self.files else {
            return false;
        };
        match files.next(self.file.size()) {
            Ok((file, path)) => {
                self.finish(true);
                self.file = CurrentFile::new(file, path, true);
                self.rotating = None;
            }
            Err(error) => {
                let path = self.file.path();
                self.rotating = Some(OutputTrouble::of("begin a file behind", path, error));
            }
        }
        self.rotating.is_none()
    }

    fn may_begin_next(&self) -> bool {
        !self.is_full() && !self.rotating.as_ref().is_some_and(OutputTrouble::waits)
    }

    fn change(&mut self) -> Option<FileChange> {
        let change = self.file.change();
        if change.is_none() && std::mem::take(&mut self.away) {
            // It was moved back.
            self.writing = None;
        }
        change
    }

    fn reopen(&mut self, change: FileChange) -> Option<ResumeState> {
        self.open_changed(change)
    }

    /// A file that is gone is opened again.
    fn is_cut_off(&self) -> bool {
        false
    }

    /// If that fails, the next write fails as well.
    fn cut_off_rest(&mut self) {
        self.file.cut_off_rest();
    }

    fn is_settled(&mut self) -> bool {
        true
    }

    fn finish(&mut self, waits: bool) {
        if waits && self.keeping.fsync != Fsync::Never {
            self.sync();
        }
    }

    fn take_lost(&mut self) -> u64 {
        0
    }

    fn trouble(&self) -> Option<&OutputTrouble> {
        let all = [&self.writing, &self.syncing, &self.rotating, &self.removing];
        all.into_iter().find_map(Option::as_ref)
    }

    fn is_watched(&self) -> bool {
        self.watched.is_lately()
    }
}

/// Whether a path names a directory of files, and not one file.
pub fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}
