//! Open-file-description locks on single bytes far behind the end of the file.
//!
//! The kernel drops such a lock with the last descriptor of its opening, so a killed process never
//! leaves one behind. Whoever may open the file may hold its locks, so every wait for one is
//! bounded. Each cold operation locks through an opening of its own (`LockFile`). That excludes
//! other processes and other threads alike, and leaves no mutex that a fork could copy in the
//! locked state.
//!
//! **Why locks on fresh openings of the file, and no mutex?** Defining, levels and anchors need
//! mutual exclusion between processes *and* threads, survive a holder's death, and survive a fork
//! at any moment. A mutex in shared memory is left locked by a killed process; one in the process
//! is copied locked by a fork. An open-file-description lock is dropped by the kernel, and belongs
//! to an opening of the file: an operation that opens the file for itself excludes everybody else,
//! threads of its own process included. It costs a few system calls, in operations that are cold.
//!
//! **Why does nobody wait for a lock longer than five seconds?** Whoever may open a file may lock
//! it, a reader too. The library holds a lock for microseconds. One that is still held after five
//! seconds is held by somebody who means harm, or who was stopped. The library waits by asking
//! again, since the kernel's own waiting has no bound. It counts looks and does not ask a clock: a
//! machine that was suspended has not waited.
//!
//! **What does a daemon do that gave its rights away?** It may not open the file again, so it has
//! no opening of its own to lock through. It takes locks of the process (`F_SETLK`) on the
//! descriptor it has, which exclude everybody who locks an opening, and an in-process mark keeps
//! its threads apart. Such a lock goes with any descriptor of the file that the process closes, so
//! nothing rests on it alone where /proc shows the process. In another pid namespace, or if it
//! first logged without a /proc, such a daemon looks dead to others once it has closed its
//! descriptors.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::time::Duration;

use super::descriptor::{identity, keep_high};
use super::inherited::{Noted, note};
use crate::sync::{AtomicU32, Ordering};

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

    /// Waits until the lock is ours: `TimedOut` if others have it for longer than we have patience.
    pub fn acquire(self, opening: &Opening, mut patience: Patience) -> io::Result<()> {
        opening.enter(&mut patience)?;
        loop {
            let again = match self.take(opening) {
                Ok(true) => return Ok(()),
                Ok(false) => patience.wait(),
                Err(error) => Err(error),
            };
            if let Err(error) = again {
                opening.leave();
                return Err(error);
            }
        }
    }

    /// Takes the lock if it is free; whether it is ours now.
    pub fn try_acquire(self, opening: &Opening) -> bool {
        self.take(opening).is_ok_and(|taken| taken)
    }

    /// Takes the lock, or false if others have it. The error: nobody can take it, as on a file
    /// system without locks.
    fn take(self, opening: &Opening) -> io::Result<bool> {
        match control(opening.file(), opening.set, self.flock(libc::F_WRLCK)) {
            Ok(_) => Ok(true),
            Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Gives a lock back that was taken at once.
    pub fn release(self, opening: &Opening) {
        // Unlocking a valid descriptor cannot fail, and an invalid one holds no lock.
        let _ = control(opening.file(), opening.set, self.flock(libc::F_UNLCK));
    }

    /// Whether another opening holds the lock.
    pub fn is_held_elsewhere(self, file: &File) -> bool {
        held(file, self.flock(libc::F_RDLCK))
    }

    /// Whether nobody holds the lock, and yet nobody can take it: readers lock its byte.
    pub fn is_held_by_readers(self, file: &File) -> bool {
        held(file, self.flock(libc::F_WRLCK)) && !self.is_held_elsewhere(file)
    }
}

/// How long a lock is waited for, in looks and not by a clock, which may leap.
pub struct Patience {
    looks: u32,
    most: u32,
}

impl Patience {
    /// Five seconds or somewhat more.
    pub const SECONDS: Patience = Patience {
        looks: 0,
        most: 540,
    };
    /// Some two milliseconds: whoever has the lock for as short as usual may lose its CPU
    /// meanwhile.
    pub const MOMENT: Patience = Patience {
        looks: 0,
        most: Patience::SPINS + 5,
    };

    const SPINS: u32 = 32;
    const SHORTEST: Duration = Duration::from_micros(50);
    const LONGEST: Duration = Duration::from_millis(10);

    /// Waits a little; `TimedOut` when that was done often enough.
    fn wait(&mut self) -> io::Result<()> {
        self.looks += 1;
        match self.looks {
            looks if looks >= self.most => return Err(io::ErrorKind::TimedOut.into()),
            // Most are held for some microseconds.
            ..Self::SPINS => std::thread::yield_now(),
            looks => {
                let longer = 1 << (looks - Self::SPINS).min(10);
                std::thread::sleep((Self::SHORTEST * longer).min(Self::LONGEST));
            }
        }
        Ok(())
    }
}

/// Whether any writer other than this opening holds its slot.
pub fn slots_locked(file: &File) -> bool {
    held(file, range(SLOTS, SLOT_COUNT, libc::F_RDLCK))
}

/// Whether another opening stands in the way of `lock`. Asked for one that readers share, it leaves
/// out what those hold who may only read the file.
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

/// An opening of the file to take locks through.
pub struct Opening {
    file: ManuallyDrop<File>,
    /// Whether the file is ours to close, and its locks are ours alone.
    own: bool,
    /// Which file it is: hosts close descriptors that they do not know, and open others under their
    /// numbers.
    identity: Option<(u64, u64)>,
    set: libc::c_int,
    /// So that forked children close it.
    noted: Option<Noted>,
}

impl Opening {
    /// One that nobody shares: locks belong to it.
    pub fn own(file: File) -> Opening {
        let identity = identity(&file).ok();
        Opening {
            noted: identity.and_then(|identity| note(&file, identity)),
            file: ManuallyDrop::new(file),
            own: true,
            identity,
            set: libc::F_OFD_SETLK,
        }
    }

    /// One that we keep anyway and nobody shares.
    pub fn kept(file: ManuallyDrop<File>) -> Opening {
        Opening {
            identity: identity(&file).ok(),
            file,
            own: false,
            set: libc::F_OFD_SETLK,
            noted: None,
        }
    }

    /// One that we share with our parent and cannot replace (a daemon that gave its rights away may
    /// not open the file again): locks belong to the process. They would go with any descriptor of
    /// the file that the process closes, so nothing rests on them alone.
    pub fn inherited(file: ManuallyDrop<File>) -> Opening {
        Opening {
            identity: identity(&file).ok(),
            file,
            own: false,
            set: libc::F_SETLK,
            noted: None,
        }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether the descriptor still leads there, and not to a file that the host has opened since
    /// under its number.
    fn is_open(&self) -> bool {
        identity(&self.file).ok() == self.identity
    }

    /// The file, if it is ours alone to keep; or else the opening as it was.
    pub fn into_own(mut self) -> Result<File, Opening> {
        if !self.own {
            return Err(self);
        }
        self.noted = None;
        self.own = false;
        // SAFETY: taken at most once: `self.own` is cleared, so `drop` leaves it alone.
        Ok(unsafe { ManuallyDrop::take(&mut self.file) })
    }

    /// The same for a lock that is held for long, under a number that no opening for a short time
    /// gets. If the host closes our descriptors, the number may become that of another opening of
    /// the same file: device and inode do not tell them apart, and dropping this one would close
    /// the other in the middle of its work.
    pub fn for_long(self) -> Opening {
        match self.into_own() {
            Ok(file) => Opening::own(keep_high(file)),
            Err(inherited) => inherited,
        }
    }

    fn is_process_wide(&self) -> bool {
        self.set == libc::F_SETLK
    }

    /// Locks of the process do not keep its threads apart, so this does. A forked child that copied
    /// the mark of a thread it does not have finds another process' number in it.
    fn enter(&self, patience: &mut Patience) -> io::Result<()> {
        if !self.is_process_wide() {
            return Ok(());
        }
        let me = std::process::id();
        loop {
            let holder = HOLDER.load(Ordering::Relaxed);
            // Acquire, pairs with the Release in `leave`.
            if holder != me
                && HOLDER
                    .compare_exchange(holder, me, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                return Ok(());
            }
            patience.wait()?;
        }
    }

    fn leave(&self) {
        if self.is_process_wide() {
            HOLDER.store(0, Ordering::Release);
        }
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        // Before its number can be another file's.
        self.noted = None;
        if self.own && self.is_open() {
            // SAFETY: ours, and dropped only here.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// The process one of whose threads waits for, or has, a lock of the process; 0 = none.
static HOLDER: AtomicU32 = AtomicU32::new(0);

/// A lock held through an opening; dropping it gives it back.
pub struct LockFile {
    opening: Opening,
    lock: Lock,
    waited: bool,
}

impl LockFile {
    /// Waits for `lock`, as [`Lock::acquire`] does.
    pub fn acquire(opening: Opening, lock: Lock, patience: Patience) -> io::Result<LockFile> {
        lock.acquire(&opening, patience)?;
        Ok(LockFile {
            opening,
            lock,
            waited: true,
        })
    }

    /// Takes `lock` if it is free; `None` if others have it.
    ///
    /// # Errors
    /// Nobody can take it, as on a file system without locks.
    pub fn try_acquire(opening: Opening, lock: Lock) -> io::Result<Option<LockFile>> {
        Ok(lock.take(&opening)?.then_some(LockFile {
            opening,
            lock,
            waited: false,
        }))
    }

    /// The file, for as long as it is locked.
    pub fn file(&self) -> &File {
        self.opening.file()
    }
}

impl Drop for LockFile {
    // Explicitly, and not by closing: a child forked in the meantime has a copy of the descriptor.
    fn drop(&mut self) {
        if self.opening.is_open() {
            self.lock.release(&self.opening);
        }
        if self.waited {
            self.opening.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_others_have_is_told_from_one_that_nobody_can_take() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("locked");
        let file = super::super::create(&path).expect("created");
        let open = |write| Opening::own(super::super::open(&path, write).expect("opened"));
        let held = LockFile::acquire(Opening::own(file), Lock::Lifecycle, Patience::MOMENT);
        let held = held.expect("free");
        let tried = LockFile::try_acquire(open(true), Lock::Lifecycle);
        assert!(matches!(tried, Ok(None)));
        drop(held);
        let tried = LockFile::try_acquire(open(true), Lock::Lifecycle);
        assert!(matches!(tried, Ok(Some(_))));
        // Through an opening that cannot write, nobody can.
        let tried = LockFile::try_acquire(open(false), Lock::Lifecycle);
        let error = tried.err().expect("refused");
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }
}
