//! Open-file-description locks on single bytes far behind the end of the file.
//!
//! The kernel drops such a lock with the last descriptor of its opening, so a killed process never
//! leaves one behind. Each cold operation locks through an opening of its own (`LockFile`): that
//! excludes other processes and other threads alike, and leaves no mutex that a fork could copy in the
//! locked state.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// First of the lock bytes.
const BASE: i64 = 1 << 62;
/// Lock bytes of process slots.
const SLOTS: i64 = BASE + 4096;
/// Process slots there can be.
const SLOT_COUNT: i64 = 65536;

/// What a lock byte protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Defining events, changing the level, adding anchors.
    Define,
    /// Creating, joining, renaming.
    Lifecycle,
    /// Being the one sampler.
    Sample,
    /// Held by the process in that slot of the process table for as long as it writes.
    Slot(u32),
}

impl Lock {
    fn byte(self) -> i64 {
        match self {
            Lock::Define => BASE,
            Lock::Lifecycle => BASE + 1,
            Lock::Sample => BASE + 2,
            Lock::Slot(slot) => SLOTS + i64::from(slot),
        }
    }

    fn flock(self, kind: libc::c_int) -> libc::flock {
        range(self.byte(), 1, kind)
    }

    /// Waits until the lock is ours.
    pub fn acquire(self, file: &File) -> io::Result<()> {
        let lock = self.flock(libc::F_WRLCK);
        loop {
            match control(file, libc::F_OFD_SETLKW, lock) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                other => return other.map(drop),
            }
        }
    }

    /// Takes the lock if it is free; whether it is ours now.
    pub fn try_acquire(self, file: &File) -> bool {
        control(file, libc::F_OFD_SETLK, self.flock(libc::F_WRLCK)).is_ok()
    }

    /// Gives the lock back.
    pub fn release(self, file: &File) {
        // Unlocking a valid descriptor cannot fail, and an invalid one holds no lock.
        let _ = control(file, libc::F_OFD_SETLK, self.flock(libc::F_UNLCK));
    }

    /// Whether another opening holds the lock.
    pub fn is_held_elsewhere(self, file: &File) -> bool {
        held(file, self.flock(libc::F_WRLCK))
    }
}

/// Whether any writer other than this opening holds its slot.
pub fn slots_locked(file: &File) -> bool {
    held(file, range(SLOTS, SLOT_COUNT, libc::F_WRLCK))
}

fn held(file: &File, lock: libc::flock) -> bool {
    control(file, libc::F_OFD_GETLK, lock).is_ok_and(|l| l.l_type != libc::F_UNLCK as i16)
}

fn range(start: i64, length: i64, kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as i16,
        l_whence: libc::SEEK_SET as i16,
        l_start: start,
        l_len: length,
        l_pid: 0,
    }
}

fn control(file: &File, command: libc::c_int, mut lock: libc::flock) -> io::Result<libc::flock> {
    // SAFETY: the descriptor is open as long as `file`, and `lock` is a valid flock for the call.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), command, &mut lock) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(lock)
}

/// A lock held through an opening of its own; dropping it gives it back.
pub struct LockFile {
    file: File,
    lock: Lock,
}

impl LockFile {
    /// Waits for `lock` on `file`, which must be an opening that holds no other lock of this kind.
    pub fn acquire(file: File, lock: Lock) -> io::Result<LockFile> {
        lock.acquire(&file)?;
        Ok(LockFile { file, lock })
    }

    /// Takes `lock` if it is free.
    pub fn try_acquire(file: File, lock: Lock) -> Option<LockFile> {
        lock.try_acquire(&file).then_some(LockFile { file, lock })
    }

    /// The file, for as long as it is locked.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for LockFile {
    // Explicitly, and not by closing: a child forked in the meantime has a copy of the descriptor.
    fn drop(&mut self) {
        self.lock.release(&self.file);
    }
}
