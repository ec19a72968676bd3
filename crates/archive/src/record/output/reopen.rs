//! Opens a file again that was removed, moved or cut while it was written.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use timeline::internal::files;

use super::current::{CurrentFile, FileChange};
use super::disk::Disk;
use super::trouble::OutputTrouble;
use crate::error::{Error, Result};
use crate::record::numbered_files::{self, Files, LockedFile, is_taken};
use crate::record::resume::ResumeState;

impl Disk {
    /// Opens the name again, cuts off what is no whole frame, and returns the contents. If that
    /// fails, nothing is written until a later attempt succeeds.
    pub fn open_changed(&mut self, change: FileChange) -> Option<ResumeState> {
        if self.away && self.writing.as_ref().is_some_and(OutputTrouble::waits) {
            return None;
        }
        match self.open_again(change) {
            Ok(found) => {
                let found = match found.is_nothing_yet() {
                    true => ResumeState::default(),
                    false => found,
                };
                self.file.go_on_at(found.end);
                self.file.cut_off_rest();
                (self.writing, self.away) = (None, false);
                Some(found)
            }
            Err(error) => {
                self.writing = Some(OutputTrouble::of("begin anew", self.file.path(), error));
                self.away = true;
                None
            }
        }
    }

    fn open_again(&mut self, change: FileChange) -> Result<ResumeState> {
        let path = self.file.path();
        if change == FileChange::Cut {
            return read(self.file.file(), path);
        }
        let lacks_folder = self.files.as_ref().is_some_and(|files| !files.is_there());
        let (files, file, path) = if lacks_folder {
            let (files, file, path) = Files::open(&self.path)?;
            (Some(files), file, path)
        } else {
            let (file, path) = self.open_same_or_next()?;
            (None, file, path)
        };
        let found = read(&file, &path)?;
        self.file = CurrentFile::new(file, path, found.frames == 0);
        if files.is_some() {
            self.files = files;
        }
        Ok(found)
    }
}

impl Disk {
    /// Opens the name again. If something else than an archive has taken it in a directory, that is
    /// left alone, and the next file is begun.
    fn open_same_or_next(&mut self) -> Result<(LockedFile, PathBuf)> {
        let path = self.file.path();
        let same = numbered_files::open(path);
        let same = same.and_then(|file| read(&file, path).map(|_| file));
        match (same, &mut self.files) {
            (Err(error), Some(files)) if is_taken(&error) => files.next(0),
            (same, _) => Ok((same?, path.to_path_buf())),
        }
    }
}

fn read(file: &File, path: &Path) -> Result<ResumeState> {
    let fail = |error| Error::io("read", path, error);
    let found = ResumeState::read(file).map_err(fail)?;
    if found.is_foreign() {
        let what = "expected an archive or nothing, another file has taken its name";
        return Err(fail(io::Error::new(io::ErrorKind::InvalidData, what)));
    }
    Ok(found)
}

/// Removes a file that was created and not used.
impl Drop for Disk {
    fn drop(&mut self) {
        if self.file.is_unused() {
            // If that fails, an empty file is left, which does no harm.
            let _ = files::remove(self.file.path());
            if let Some(files) = &self.files {
                files.remove_if_made();
            }
        }
    }
}
