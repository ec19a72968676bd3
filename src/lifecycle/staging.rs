//! The file in which a timeline is built, beside its final name.
//!
//! Its name cannot be guessed, so no other user can put a file there beforehand or wait for it. Its
//! creator holds its lifecycle lock: an unlocked file of our own user was left by a creator that
//! was killed.
//!
//! **Why is a timeline built under a name that cannot be guessed, and renamed?** NAME never leads
//! to an unfinished timeline, and a failure (no space) leaves the file at NAME as it was. In a
//! folder that all users may write to, any user can put a file at a name that is known in advance,
//! and a creator that builds in that file works in another user's memory. So each creator builds in
//! a file of its own, `NAME.creating-` and a random number, created exclusively and with mode 0600
//! whatever the umask. The final rename replaces nothing: of several creators one comes first, and
//! the others find the name in use. They do not wait for one another, unless there is room for only
//! one: then each gives its space back and tries again a little later. A creator holds the
//! lifecycle lock of its file, so the next creator of the same user can tell which files were left
//! by killed creators, and removes them; so does who removes NAME. An unnamed file (`O_TMPFILE`)
//! would leave nothing behind. But not every file system has them, linking one into place needs
//! /proc, and /proc/PID/maps would show every ring as deleted.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::LOOKS;
use crate::error::{Error, Result};
use crate::layout::{self, Header};
use crate::shm::{self, Lock, LockFile, Name, Opening, Patience, Record, Temporary, load_bytes};
use crate::sync::Ordering;

/// Between the name and a number.
const MARK: &str = ".creating-";

/// Whether a name is that of a timeline that is being created.
pub fn is_staging(name: &Path) -> bool {
    shm::without_number(name.as_os_str().as_bytes(), MARK).is_some()
}

/// Whether a process is creating a timeline at that staging name now; if not, its creator died.
pub fn is_being_created(name: &Name) -> bool {
    shm::open(name.file(), false).is_ok_and(|file| Lock::Lifecycle.is_held_elsewhere(&file))
}

/// A locked file under a name of its own; removed when dropped, unless it was renamed.
pub struct Staging {
    place: Temporary,
    lock: LockFile,
}

impl Staging {
    /// A new file for a timeline that will be at `name`. Files of killed creators of our own user
    /// are removed.
    pub fn new(name: &Name) -> Result<Staging> {
        sweep(name, None);
        let fail = |doing, e| Error::io(doing, name.given(), e);
        for _ in 0..LOOKS {
            let path = name.sibling(&shm::numbered(MARK));
            let file = match shm::create(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(|e| fail("create", e))?,
            };
            // First of all, so that every failure removes the file.
            let place = Temporary::new(path);
            let lock = LockFile::acquire(Opening::own(file), Lock::Lifecycle, Patience::SECONDS)
                .map_err(|e| fail("lock", e))?;
            // Another creator may have removed it before it was locked, as if its creator had died.
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

    /// Gives back its space.
    pub fn empty(&self, name: &Name) -> Result<()> {
        let fail = |e| Error::io("empty", name.given(), e);
        self.file().set_len(0).map_err(fail)
    }

    /// Whether another process of our own user is creating a timeline for `name`.
    pub fn has_rivals(&self, name: &Name) -> bool {
        sweep(name, Some(self.place.path()))
    }

    /// Renames the file to `name`, if that is free. Otherwise it can be tried again.
    pub fn place(&self, name: &Name) -> io::Result<()> {
        shm::rename_new(self.place.path(), name.file())
    }

    /// The lock, once the file has its name.
    pub fn into_lock(self) -> LockFile {
        self.place.keep();
        self.lock
    }
}

/// Removes what killed creators of our own user left for `name`.
pub fn clear(name: &Name) {
    sweep(name, None);
}

/// Removes the file at a staging name if a creator left it that was killed, whoever that was.
/// Returns whether it did; if not, no creator made the file, or we may not lock it.
///
/// # Errors
/// `InCreation` if its creator lives; `Io` if it cannot be locked or removed.
pub fn remove(name: &Name) -> Result<bool> {
    let path = name.given();
    if !is_staging(name.file()) {
        return Ok(false);
    }
    let Ok(file) = shm::open(name.file(), true) else {
        return Ok(false);
    };
    if !is_left_over(&file) {
        return Ok(false);
    }
    match found(name.file(), file).map_err(|e| Error::io("lock", path, e))? {
        StagingState::Alive => Err(Error::InCreation { path: path.into() }),
        StagingState::Left(_lock) => match std::fs::remove_file(name.file()) {
            Ok(()) => Ok(true),
            Err(e) => Err(Error::io("remove", path, e)),
        },
        StagingState::Other => Ok(false),
    }
}

/// Removes files of killed creators of our own user for `name`. Returns whether there is another
/// creator than that of `except`.
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

/// Whether another process of our own user is creating a timeline there. If that process died, the
/// file is removed. If files cannot be locked, no timeline can be created either, and it is not
/// known whether the creator died.
fn is_alive(path: &Path) -> bool {
    let Ok(file) = shm::open(path, true) else {
        return false;
    };
    if !shm::is_own(&file) {
        return false;
    }
    match found(path, file) {
        Ok(StagingState::Alive) => true,
        Ok(StagingState::Left(_lock)) => {
            // A file that cannot be removed stays, and does no harm.
            let _ = std::fs::remove_file(path);
            false
        }
        Ok(StagingState::Other) | Err(_) => false,
    }
}

/// What stands at a staging name.
enum StagingState {
    /// A creator has its lock.
    Alive,
    /// A creator left it that was killed. Held, so that no other takes it for its own.
    Left(LockFile),
    /// A timeline that a program has created at such a name is none of ours: writers have joined
    /// it, as nobody joins one that is being created.
    Other,
}

fn found(path: &Path, file: File) -> io::Result<StagingState> {
    let Some(lock) = LockFile::try_acquire(Opening::own(file), Lock::Lifecycle)? else {
        return Ok(StagingState::Alive);
    };
    let is_left = shm::is_at(lock.file(), path) && is_left_over(lock.file());
    Ok(match is_left {
        true => StagingState::Left(lock),
        false => StagingState::Other,
    })
}

/// Whether a file is what a creator leaves that is killed: nothing or a part of a timeline, or a
/// whole one that no writer has ever joined.
fn is_left_over(file: &File) -> bool {
    let mut head = Header::zeroed();
    let Ok(have) = file.read_at(head.bytes_mut(), 0) else {
        return false;
    };
    let magic = load_bytes(&head.magic);
    // Relaxed: the copy is not shared.
    let is_used = || head.process_serial.load(Ordering::Relaxed) != 0;
    have == 0 || magic == [0; 8] || (magic == layout::MAGIC && !is_used())
}
