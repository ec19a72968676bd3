//! A file whose name is about to be given to another, or taken away: held meanwhile.
//!
//! Neither end of a rename, and nothing that is removed, may be a timeline with a writer, unless
//! that is asked for. To look beforehand is not enough: a program may join the timeline, or create
//! another one at its name, right after the look. So a name is given and taken only under the
//! lifecycle lock of the timeline that has it. Who joins a timeline takes that lock as well, and so
//! does who creates one in its place; both look afterwards whether the name still leads to it. What
//! remains are programs that use no lock (`rm`, `mv`), and a timeline that we may not write to,
//! which we cannot lock.

use std::fs::File;
use std::io::ErrorKind;

use super::{LOOKS, magic};
use crate::error::{Error, Result, User};
use crate::layout;
use crate::ring::roster;
use crate::segment::{TimelineMapping, Use};
use crate::shm::{self, Lock, LockFile, Name, Opening, Patience};

/// A file that has, or had, a name. If it is a timeline that can have writers, nobody joins it as
/// long as this lives.
pub enum FileLock {
    /// A timeline or a snapshot, locked.
    Locked(LockFile),
    /// A file that is no timeline, or one that we may not write to.
    Open(File),
}

impl FileLock {
    /// Holds the file at a name, which is about to be removed or replaced, as `doing` says; `None`
    /// if there is none.
    ///
    /// # Errors
    /// `Locked` if others hold its lock for longer than `patience`; `Io` if it cannot be opened, or
    /// is no file.
    pub fn at(
        name: &Name,
        doing: &'static str,
        patience: fn() -> Patience,
    ) -> Result<Option<FileLock>> {
        for _ in 0..LOOKS {
            let Some((file, may_write)) = open(name, doing)? else {
                return Ok(None);
            };
            // Snapshots as well: who creates a timeline in the place of one takes its lock.
            if !may_write || magic(name.given(), &file)? != layout::MAGIC {
                return Ok(Some(FileLock::Open(file)));
            }
            let path = name.given();
            let owner = shm::owner(&file).map_err(|e| Error::io("examine", path, e))?;
            let lock = LockFile::acquire(Opening::own(file), Lock::Lifecycle, patience())
                .map_err(|e| Error::lock(path, &owner, e))?;
            if shm::is_at(lock.file(), name.file()) {
                return Ok(Some(FileLock::Locked(lock)));
            }
        }
        let why = "another process replaces it again and again";
        let error = std::io::Error::other(why);
        Err(Error::io("lock", name.given(), error))
    }

    /// The file.
    pub fn file(&self) -> &File {
        match self {
            FileLock::Locked(lock) => lock.file(),
            FileLock::Open(file) => file,
        }
    }

    /// The same, if nobody writes to it; from here on nobody does.
    ///
    /// # Errors
    /// `InUse` otherwise.
    pub fn unused(self, name: &Name) -> Result<FileLock> {
        refuse_used(name, self.file())?;
        Ok(self)
    }
}

/// Opens the file at a name, for writing if that is permitted and it is no link.
fn open(name: &Name, doing: &'static str) -> Result<Option<(File, bool)>> {
    for write in [true, false] {
        match shm::open(name.file(), write) {
            Ok(file) => return Ok(Some((file, write))),
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(_) if write => {}
            Err(e) => return Err(Error::io(doing, name.given(), e)),
        }
    }
    unreachable!("the second attempt returns")
}

/// An error if somebody writes to the file. The caller holds its lifecycle lock.
pub fn refuse_used(name: &Name, file: &File) -> Result<()> {
    let by = living(name, file);
    match by.is_empty() && !shm::slots_locked(file) {
        true => Ok(()),
        false => Err(Error::InUse {
            path: name.given().to_path_buf(),
            by,
        }),
    }
}

/// The living writers of a file, as far as they are known.
pub fn living(name: &Name, file: &File) -> Vec<User> {
    match TimelineMapping::load(name, file, Use::Read) {
        // A snapshot lists the processes of the timeline that was saved.
        Ok(s) if s.facts.snapshot => Vec::new(),
        Ok(s) => roster::users(&s.map, &s.geometry, file),
        // No timeline, damaged, or of another version: only the locks tell whether it has writers.
        Err(_) => Vec::new(),
    }
}
