//! The file in which a timeline is built, beside the name it is to have.
//!
//! Its name cannot be guessed, so nobody can put a file there beforehand or wait for it. Its
//! creator has its lifecycle lock: a file of our own user that is not locked was left by a creator
//! that was killed.
//!
//! **Why is a timeline built under a name that nobody can guess, and renamed?** NAME never leads to
//! half of a timeline, and a failure (no space) leaves the file at NAME as it was. In a folder that
//! all may write to, anybody can put a file at a name that is known beforehand, and whoever builds
//! in that file works in another user's memory. So each creator builds in a file of its own,
//! `NAME.creating-` and a random number, made exclusively and with mode 0600 whatever the umask.
//! The rename that gives the name replaces nothing: of several creators one comes first, and the
//! others find the name in use. They do not wait for one another, unless there is room for only
//! one: then each gives its space back and tries again a little later. A creator holds the
//! lifecycle lock of its file, so the next creator of the same user can tell which files the killed
//! have left, and removes them. An unnamed file (`O_TMPFILE`) would leave nothing behind. But not
//! every file system has them, linking one into place needs /proc, and /proc/PID/maps would show
//! every ring as deleted.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::LOOKS;
use crate::error::{Error, Result};
use crate::shm::{self, Lock, LockFile, Name, Opening, Patience, Temporary};

/// Between the name and a number.
const MARK: &str = ".creating-";

/// Whether a name is that of a timeline which is just being created.
pub fn is_staging(name: &Path) -> bool {
    shm::without_number(name.as_os_str().as_bytes(), MARK).is_some()
}

/// Whether somebody is creating a timeline at that staging name just now; else its creator died.
pub fn is_being_created(name: &Name) -> bool {
    shm::open(name.file(), false).is_ok_and(|file| Lock::Lifecycle.is_held_elsewhere(&file))
}

/// A file under a name of its own, locked by us; removed when dropped, unless it was given its
/// name.
pub struct Staging {
    place: Temporary,
    lock: LockFile,
}

impl Staging {
    /// A new one for a timeline that is to be at `name`. What killed creators of our own user left
    /// is removed.
    pub fn new(name: &Name) -> Result<Staging> {
        sweep(name, None);
        let fail = |doing, e| Error::io(doing, name.given(), e);
        for _ in 0..LOOKS {
            let path = name.sibling(&shm::numbered(MARK));
            let file = match shm::create(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(|e| fail("create", e))?,
            };
            // Before anything can fail.
            let place = Temporary::new(path);
            let lock = LockFile::acquire(Opening::own(file), Lock::Lifecycle, Patience::SECONDS)
                .map_err(|e| fail("lock", e))?;
            // Another creator that came upon it before it was locked took it for a dead one's.
            if shm::is_at(lock.file(), place.path()) {
                return Ok(Staging { place, lock });
            }
        }
        let why = "other processes remove what is created there again and again";
        Err(fail("create", io::Error::other(why)))
    }

    /// The file.
    pub fn file(&self) -> &File {
        self.lock.file()
    }

    /// Gives back the space it has.
    pub fn empty(&self, name: &Name) -> Result<()> {
        let fail = |e| Error::io("empty", name.given(), e);
        self.file().set_len(0).map_err(fail)
    }

    /// Whether another process of our own user is creating a timeline that is to be at `name`.
    pub fn has_rivals(&self, name: &Name) -> bool {
        sweep(name, Some(self.place.path()))
    }

    /// Gives the file its name, if nothing has that; else it can be tried again.
    pub fn place(&self, name: &Name) -> io::Result<()> {
        shm::rename_new(self.place.path(), name.file())
    }

    /// The lock, of a file that has its name by now.
    pub fn into_lock(self) -> LockFile {
        self.place.keep();
        self.lock
    }
}

/// Removes what killed creators of our own user left of timelines that were to be at `name`;
/// whether there is another creator than that of `except`.
fn sweep(name: &Name, except: Option<&Path>) -> bool {
    let mut others = false;
    for suffix in name.numbered_siblings(MARK) {
        let path = name.sibling(&suffix);
        if Some(&*path) != except {
            others |= is_alive(&path);
        }
    }
    others
}

/// Whether another process of our own user is creating a timeline there; what a dead one left is
/// removed. Where nobody can lock a file, nobody creates a timeline, and it is not known who left
/// one.
fn is_alive(path: &Path) -> bool {
    let Ok(file) = shm::open(path, true) else {
        return false;
    };
    if !shm::is_own(&file) {
        return false;
    }
    let lock = match LockFile::try_acquire(Opening::own(file), Lock::Lifecycle) {
        Ok(Some(lock)) => lock,
        Ok(None) => return true,
        Err(_) => return false,
    };
    if shm::is_at(lock.file(), path) {
        // If it cannot be removed, it stays, and stands in nobody's way.
        let _ = std::fs::remove_file(path);
    }
    false
}
