//! Writes whole frames to one file.
//!
//! If the disk gets full, the part of a frame is cut off again, and the caller learns how many
//! bytes are in the file. The caller keeps the rest and tries again.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::format::frame::{Frames, Part};
use crate::record::numbered_files::LockedFile;

/// A change of the file by another process. The recorder opened the file again because of it, and
/// does not restore the bytes that were in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// Its name is gone or leads to another file: it was removed or moved.
    Gone,
    /// It is shorter than what was written to it. Events that the recorder had read, but not
    /// written, count as missed.
    Cut,
}

/// A file that is locked against other recorders, and how much of it is written.
pub struct CurrentFile {
    file: LockedFile,
    path: PathBuf,
    /// Whether this recorder created it. Then it is removed if nothing was written.
    made: bool,
    /// Bytes of whole frames.
    size: u64,
}

impl CurrentFile {
    /// A file opened at `path`. It counts as empty until `go_on_at` is called.
    pub fn new(file: LockedFile, path: PathBuf, made: bool) -> CurrentFile {
        CurrentFile {
            file,
            path,
            made,
            size: 0,
        }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of whole frames.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Continues behind the first `size` bytes.
    pub fn go_on_at(&mut self, size: u64) {
        self.size = size;
    }

    /// Cuts off the bytes behind the whole frames, which a killed recorder was writing. If that
    /// fails, the next write fails as well.
    pub fn cut_off_rest(&self) {
        let _ = self.file.set_len(self.size);
    }

    /// Writes as many whole frames as there is room for. Returns the number of bytes, and the error
    /// if that is not all.
    pub fn put(&mut self, frames: &[u8]) -> (usize, Option<io::Error>) {
        let mut done = 0;
        let failure = loop {
            if done == frames.len() {
                break None;
            }
            match self.file.write_at(&frames[done..], self.size + done as u64) {
                Ok(0) => break Some(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error),
            }
        };
        if failure.is_some() {
            done = whole(&frames[..done]);
            // If that fails, the next write overwrites the part of a frame.
            let _ = self.file.set_len(self.size + done as u64);
        }
        self.size += done as u64;
        (done, failure)
    }

    /// The change of the file, if another process changed it.
    pub fn change(&self) -> Option<FileChange> {
        match fs::metadata(&self.path) {
            Ok(there) => {
                let ours = self.file.metadata().ok()?;
                let same = (there.dev(), there.ino()) == (ours.dev(), ours.ino());
                match same {
                    false => Some(FileChange::Gone),
                    true => (ours.len() < self.size).then_some(FileChange::Cut),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(FileChange::Gone),
            // Without permission to check the name, the change is not known.
            Err(_) => None,
        }
    }

    /// Whether the file is shorter than it should be. A write behind its end would leave a hole.
    pub fn is_cut(&self) -> bool {
        let length = self.file.metadata().map(|metadata| metadata.len());
        length.is_ok_and(|length| length < self.size)
    }

    /// Whether this recorder created the file and wrote nothing to it.
    pub fn is_unused(&self) -> bool {
        let is_empty = self.file.metadata().is_ok_and(|file| file.len() == 0);
        self.made && self.size == 0 && is_empty && self.change().is_none()
    }
}

/// The length of the whole frames at the beginning of `frames`.
fn whole(frames: &[u8]) -> usize {
    let mut end = 0;
    for part in Frames::new(frames) {
        match part {
            Part::Frame { place, .. } => end = place.end,
            Part::Damage(_) => break,
        }
    }
    end
}
