//! The file that is written at present.
//!
//! Only whole frames are written. What a full disk cuts is taken off again, and the caller is told
//! how much of what it gave stands in the file; the rest is its own to keep and to try again.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::format::frame::{Frames, Part};
use crate::record::numbered_files::Locked;

/// What happened to the file, so that it was begun anew. What stood in it belongs to whoever did
/// that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Its name is gone or leads to another file: it was removed or moved.
    Gone,
    /// It is shorter than what was written to it.
    Cut,
}

/// A file, locked against other recorders, and how much of it is written.
pub struct CurrentFile {
    file: Locked,
    path: PathBuf,
    /// Whether it was made by this recorder, and goes if nothing is written.
    made: bool,
    /// Bytes of whole frames.
    size: u64,
}

impl CurrentFile {
    /// A file that was opened at `path`, and of which nothing is known to be written.
    pub fn new(file: Locked, path: PathBuf, made: bool) -> CurrentFile {
        CurrentFile {
            file,
            path,
            made,
            size: 0,
        }
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of whole frames.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Goes on behind so many bytes.
    pub fn go_on_at(&mut self, size: u64) {
        self.size = size;
    }

    /// Cuts off what stands behind the whole frames: a killed recorder was writing it. If that
    /// fails, so does what is written next.
    pub fn cut_off_rest(&self) {
        let _ = self.file.set_len(self.size);
    }

    /// Writes as much as there is room for, in whole frames: how many bytes, and why not all.
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
            // If that fails, what is written next stands over it, from the same place on.
            let _ = self.file.set_len(self.size + done as u64);
        }
        self.size += done as u64;
        (done, failure)
    }

    /// What happened to the file since it was begun, if anything did.
    pub fn change(&self) -> Option<Change> {
        match fs::metadata(&self.path) {
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

    /// Whether somebody cut the file: what is written behind its end would leave a hole.
    pub fn is_cut(&self) -> bool {
        let length = self.file.metadata().map(|metadata| metadata.len());
        length.is_ok_and(|length| length < self.size)
    }

    /// Whether this recorder made it for nothing.
    pub fn is_useless(&self) -> bool {
        let is_empty = self.file.metadata().is_ok_and(|file| file.len() == 0);
        self.made && self.size == 0 && is_empty && self.change().is_none()
    }
}

/// How much of frames that were cut is whole.
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
