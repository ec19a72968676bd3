//! Decides when another file is begun, begins it, and removes the oldest files.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use super::current::CurrentFile;
use super::keeping::{Fsync, Keeping};
use super::trouble::OutputTrouble;
use crate::error::{Error, Result};
use crate::record::numbered_files::{self, Files};
use crate::record::resume::ResumeState;

/// The next write, after the bytes that are waiting.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NextWrite {
    /// Events that were read together. Another file is begun if this one is too old.
    Batch,
    /// A record of at most so many bytes.
    Record(u64),
    /// A block that begins with a record of at most so many bytes. If less than an eighth of the
    /// file is left, another file is begun, because a block of few events compresses badly.
    Block(u64),
    /// The introduction of a run, of at most so many bytes.
    Run(u64),
}

/// The current file, and those before it in a directory.
pub(crate) struct Rotation {
    keeping: Keeping,
    /// `None` if the output is a single file.
    pub(super) files: Option<Files>,
    pub(super) file: CurrentFile,
    /// Bytes at the beginning of the file, before any event.
    pub(super) introduction: u64,
    pub(super) begun: Instant,
    /// Bytes written to all files.
    written: u64,
    /// Whether the file was removed or moved, and no other could be opened at its name.
    pub(super) away: bool,
    pub(super) writing: Option<OutputTrouble>,
    syncing: Option<OutputTrouble>,
    rotating: Option<OutputTrouble>,
    removing: Option<OutputTrouble>,
}

impl Rotation {
    /// Opens the file at `path`, or the last file of the directory.
    pub fn open(path: &Path, keeping: Keeping) -> Result<Rotation> {
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
        let created = file.file().metadata().and_then(|data| data.created()).ok();
        let age = created.and_then(|created| SystemTime::now().duration_since(created).ok());
        let begun = age.and_then(|age| Instant::now().checked_sub(age));
        Ok(Rotation {
            keeping,
            files,
            file,
            introduction: 0,
            begun: begun.unwrap_or_else(Instant::now),
            written: 0,
            away: false,
            writing: None,
            syncing: None,
            rotating: None,
            removing: None,
        })
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

    /// Bytes written to all files.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The step that fails at present.
    pub fn trouble(&self) -> Option<&OutputTrouble> {
        let all = [&self.writing, &self.syncing, &self.rotating, &self.removing];
        all.into_iter().find_map(Option::as_ref)
    }

    /// Whether nothing can be written at present.
    pub fn is_full(&self) -> bool {
        self.writing.is_some()
    }

    /// The bytes that the file may still get; `u64::MAX` if that has no limit.
    pub fn room(&self) -> u64 {
        let most = self.keeping.rotate_size;
        most.map_or(u64::MAX, |most| most.saturating_sub(self.file.size()))
    }

    /// Whether another file is to be begun before `next`. From `least` to `most` bytes are waiting,
    /// and belong to this file. A file without events stays the current one, except that the
    /// introduction of a run needs only some bytes before it.
    pub fn is_due(&self, (least, most): (u64, u64), next: NextWrite) -> bool {
        let has_room = |more: u64| most.saturating_add(more) <= self.room();
        let fits = match next {
            NextWrite::Batch => !self.is_old(),
            NextWrite::Record(more) | NextWrite::Run(more) => has_room(more),
            NextWrite::Block(more) => has_room(more.max(self.keeping.rotate_size.unwrap_or(0) / 8)),
        };
        let may_stay_alone = match next {
            NextWrite::Run(_) => 0,
            _ => self.introduction,
        };
        let has_failed = self.is_full() || self.rotating.as_ref().is_some_and(OutputTrouble::waits);
        !fits && self.file.size().saturating_add(least) > may_stay_alone && !has_failed
    }

    fn is_old(&self) -> bool {
        let most = self.keeping.rotate_every;
        most.is_some_and(|most| self.begun.elapsed() >= most)
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
        self.go_on_in(CurrentFile::new(file, path, true));
        Ok(Some(passed))
    }

    /// Counts `bytes` bytes as written before any event, unless the file has events.
    pub fn introduce(&mut self, bytes: u64) {
        if self.file.size() == self.introduction {
            self.introduction += bytes;
        }
    }

    /// Begins another file. Everything that belongs to this one has been written. Returns whether
    /// that worked.
    pub fn begin_next(&mut self) -> bool {
        let Some(files) = &mut self.files else {
            return false;
        };
        match files.next(self.file.size()) {
            Ok((file, path)) => {
                self.finish();
                self.go_on_in(CurrentFile::new(file, path, true));
                self.rotating = None;
            }
            Err(error) => {
                let path = self.file.path();
                self.rotating = Some(OutputTrouble::of("begin a file behind", path, error));
            }
        }
        self.rotating.is_none()
    }

    fn go_on_in(&mut self, file: CurrentFile) {
        self.file = file;
        self.introduction = 0;
        self.begun = Instant::now();
    }

    /// Writes whole frames, as many as there is room for.
    pub fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        let waits = self.writing.as_ref().is_some_and(OutputTrouble::waits);
        // A recorder opens a changed file again before it reads the next event.
        if self.away || waits || self.file.is_cut() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.remove_oldest(frames.len());
        let (done, failure) = self.file.put(frames);
        let failed = |error| OutputTrouble::new("write", self.file.path(), error);
        self.writing = failure.map(failed);
        self.written += done as u64;
        if done == 0 && !frames.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if self.keeping.fsync == Fsync::Every && done > 0 {
            self.sync();
        }
        Ok(done)
    }

    /// Makes the file durable, unless `Fsync::Never` was asked for.
    pub fn finish(&mut self) {
        if self.keeping.fsync != Fsync::Never {
            self.sync();
        }
    }

    fn sync(&mut self) {
        let names = self.files.as_ref().map_or(Ok(()), Files::sync);
        let synced = self.file.file().sync_data().and(names);
        let failed = |error| OutputTrouble::new("make durable", self.file.path(), error);
        self.syncing = synced.err().map(failed);
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

/// Whether a path names a directory of files, and not one file.
pub fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}
