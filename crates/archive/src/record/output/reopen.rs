//! What somebody does to a file while it is recorded to: it is removed, moved or cut, and begun
//! anew.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Instant;

use super::{Output, Trouble};
use timeline::{Error, Result};

use crate::record::numbered_files::{self, Files, Locked};
use crate::record::resume::Left;

/// What happened to the file, so that it was begun anew. What stood in it belongs to whoever did
/// that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Its name is gone or leads to another file: it was removed or moved.
    Gone,
    /// It is shorter than what was written to it.
    Cut,
}

impl Output {
    /// What happened to the file since it was begun, if anything did.
    pub(crate) fn change(&self) -> Option<Change> {
        match fs::metadata(&self.present) {
            Ok(there) => {
                let ours = self.file.metadata().ok()?;
                let same = (there.dev(), there.ino()) == (ours.dev(), ours.ino());
                match same {
                    false => Some(Change::Gone),
                    true => (ours.len() < self.size).then_some(Change::Cut),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Change::Gone),
            // Who may not look cannot tell.
            Err(_) => None,
        }
    }

    /// Writes on where it did, since nothing happened to the file, or it was put back.
    pub(crate) fn stay(&mut self) {
        if std::mem::take(&mut self.away) {
            self.writing = None;
        }
    }

    /// Whether somebody cut the file: what is written behind its end would leave a hole.
    pub(crate) fn is_cut(&self) -> bool {
        let length = self.file.metadata().map(|metadata| metadata.len());
        length.is_ok_and(|length| length < self.size)
    }

    /// Goes on at the name, behind what is whole there; whether that works. If not, it is tried
    /// again, and nothing is written meanwhile.
    pub(crate) fn begin_anew(&mut self, change: Change) -> bool {
        let waits = |trouble: &Trouble| !trouble.is_over();
        if self.away && self.writing.as_ref().is_some_and(waits) {
            return false;
        }
        match self.open_anew(change) {
            Ok(left) => {
                self.pass();
                self.here = match left.is_nothing_yet() {
                    true => Left::default(),
                    false => left,
                };
                (self.size, self.beginning) = (self.here.end, 0);
                self.begun = Instant::now();
                // If that fails, so does what is written next.
                let _ = self.file.set_len(self.size);
                (self.writing, self.away) = (None, false);
            }
            Err(error) => {
                let error = match error {
                    Error::Io { source, .. } => source,
                    other => io::Error::other(other),
                };
                let path = self.present.clone();
                self.writing = Some(Trouble::new("begin anew", path, error));
                self.away = true;
            }
        }
        !self.away
    }

    /// What stood in the present file stands in one before from now on.
    pub(crate) fn pass(&mut self) {
        let mut passed = std::mem::take(&mut self.here);
        passed.known.clear();
        passed.add_older(std::mem::take(&mut self.before));
        self.before = passed;
    }

    fn open_anew(&mut self, change: Change) -> Result<Left> {
        if change == Change::Cut {
            return self.read(&self.file);
        }
        let lacks_folder = self.files.as_ref().is_some_and(|files| !files.is_there());
        let (files, file, present): (Option<Files>, Locked, PathBuf) = if lacks_folder {
            let (files, file, present) = Files::open(&self.path)?;
            (Some(files), file, present)
        } else {
            (
                None,
                numbered_files::open(&self.present)?,
                self.present.clone(),
            )
        };
        let left = self.read(&file)?;
        self.made = left.frames == 0;
        (self.file, self.present) = (file, present);
        if files.is_some() {
            self.files = files;
        }
        Ok(left)
    }

    fn read(&self, file: &File) -> Result<Left> {
        let fail = |error| Error::io("read", &self.present, error);
        let left = Left::read(file).map_err(fail)?;
        if left.is_foreign() {
            let what = "expected an archive or nothing, another file has taken its name";
            return Err(fail(io::Error::new(io::ErrorKind::InvalidData, what)));
        }
        Ok(left)
    }
}

/// Leaves no file behind that was made for nothing.
impl Drop for Output {
    fn drop(&mut self) {
        let is_empty = self.file.metadata().is_ok_and(|file| file.len() == 0);
        if self.made && self.size == 0 && is_empty && self.change().is_none() {
            // Nobody misses it if that fails.
            let _ = fs::remove_file(&self.present);
            if let Some(files) = &self.files {
                files.remove_if_made();
            }
        }
    }
}
