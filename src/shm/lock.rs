//! Open-file-description locks on single bytes far behind the end of the file.
//!
//! The kernel drops such a lock with the last descriptor of its opening, so a killed process never
//! leaves one behind. A process that may open the file may hold its locks, so every wait for one is
//! bounded. Each cold operation locks through an opening of its own (`LockFile`). That excludes
//! other processes and other threads alike, and leaves no mutex that a fork could copy while it is
//! locked.
//!
//! **Why locks on fresh openings of the file, and no mutex?** Defining, levels and anchors need
//! mutual exclusion between processes *and* threads that survives a holder's death, and a fork at
//! any moment. A killed process leaves a mutex in shared memory locked; a fork copies a locked
//! mutex of the process. An open-file-description lock is dropped by the kernel, and belongs to an
//! opening of the file: an operation that opens the file for itself excludes all others, including
//! threads of its own process. It costs a few system calls, in cold operations.
//!
//! **Why does no process wait for a lock longer than five seconds?** A user who may open a file may
//! lock it, even for reading. The library holds a lock for microseconds. If one is still held after
//! five seconds, its holder is malicious or was stopped. The library waits by trying again, because
//! the kernel's own waiting has no bound. It counts attempts instead of reading a clock: the time
//! of a suspended machine is no waiting.
//!
//! **What does a daemon do that gave its rights away?** It may not open the file again, so it has
//! no opening of its own to lock through. It takes locks of the process (`F_SETLK`) on the
//! descriptor that it has. They exclude all who lock an opening, and a mark in the process keeps
//! its threads apart. Such a lock ends when the process closes any descriptor of the file, so
//! nothing depends on it alone if /proc shows the process. In another pid namespace, or if it first
//! logged without a /proc, such a daemon looks dead to others once it has closed its descriptors.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};

use super::descriptor::{identity, keep_high};
use super::inherited::{OpeningNote, note};
use crate::sync::{AtomicU32, Ordering};

/// The first lock byte.
const BASE: i64 = 1 << 62;
/// The first lock byte of process slots.
const SLOTS: i64 = BASE + 4096;
/// The most process slots.
const SLOT_COUNT: i64 = 65536;

/// What a lock byte protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Defining events, changing the level, adding anchors.
    Define,
    /// Creating, joining, renaming.
    Lifecycle,
    /// Being the only sampler.
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

    /// Waits for the lock: `TimedOut` if others hold it for longer than `patience`.
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

    /// Takes the lock if it is free. Returns whether it is ours now.
    pub fn try_acquire(self, opening: &Opening) -> bool {
        self.take(opening).is_ok_and(|taken| taken)
    }

    /// Takes the lock, or returns false if others hold it. An error says that no process can take
    /// it, as on a file system without locks.
    fn take(self, opening: &Opening) -> io::Result<bool> {
        match opening.set(self.flock(libc::F_WRLCK)) {
            Ok(()) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Releases the lock. After `acquire`, the opening is to be left as well.
    pub fn release(self, opening: &Opening) {
        // Unlocking a valid descriptor cannot fail, and an invalid one holds no lock.
        let _ = opening.set(self.flock(libc::F_UNLCK));
    }

    /// Whether another opening holds the lock.
    pub fn is_held_elsewhere(self, file: &File) -> bool {
        held(file, self.flock(libc::F_RDLCK))
    }

    /// Whether the lock is free, but cannot be taken because readers lock its byte.
    pub fn is_held_by_readers(self, file: &File) -> bool {
        held(file, self.flock(libc::F_WRLCK)) && !self.is_held_elsewhere(file)
    }
}

/// How long to wait for a lock, or for another thread, counted in attempts because a clock may
/// jump.
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
    /// About two milliseconds: a process that holds the lock as briefly as usual may lose its CPU
    /// meanwhile.
    pub const MOMENT: Patience = Patience {
        looks: 0,
        most: Patience::SPINS + 5,
    };

    const SPINS: u32 = 32;
    const SHORTEST: Duration = Duration::from_micros(50);
    const LONGEST: Duration = Duration::from_millis(10);

    /// Waits a little; `TimedOut` after the last attempt. Does not allocate.
    pub fn wait(&mut self) -> io::Result<()> {
        self.looks += 1;
        match self.looks {
            looks if looks >= self.most => return Err(io::ErrorKind::TimedOut.into()),
            // Most locks are held for some microseconds.
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

/// Whether a lock of another opening conflicts with `lock`. If `lock` is shared (`F_RDLCK`), locks
/// of openings that can only read do not conflict.
fn held(file: &File, mut lock: libc::flock) -> bool {
    let asked = fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock));
    asked.is_ok() && lock.l_type != libc::F_UNLCK as i16
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

/// An opening of the file through which locks are taken.
pub struct Opening {
    file: ManuallyDrop<File>,
    /// Whether we close the file, and no other process shares its locks.
    own: bool,
    /// The identity of the file. A host program may close descriptors that it does not know, and
    /// open other files under their numbers.
    identity: Option<(u64, u64)>,
    /// Whether its locks belong to the process, because the parent has the same opening.
    process_wide: bool,
    /// Forked children close noted openings.
    noted: Option<OpeningNote>,
}

impl Opening {
    /// An opening that is not shared: locks belong to it.
    pub fn own(file: File) -> Opening {
        let identity = identity(&file).ok();
        Opening {
            noted: identity.and_then(|identity| note(&file, identity)),
            file: ManuallyDrop::new(file),
            own: true,
            identity,
            process_wide: false,
        }
    }

    /// An opening that is kept anyway, and not shared.
    pub fn kept(file: ManuallyDrop<File>) -> Opening {
        Opening {
            identity: identity(&file).ok(),
            file,
            own: false,
            process_wide: false,
            noted: None,
        }
    }

    /// An opening shared with the parent that cannot be replaced (a daemon that gave its rights
    /// away may not open the file again). Locks belong to the process. They end when the process
    /// closes any descriptor of the file, so nothing depends on them alone.
    pub fn inherited(file: ManuallyDrop<File>) -> Opening {
        Opening {
            identity: identity(&file).ok(),
            file,
            own: false,
            process_wide: true,
            noted: None,
        }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether the descriptor still leads to the file, and not to one that the host has opened
    /// since under its number.
    fn is_open(&self) -> bool {
        identity(&self.file).ok() == self.identity
    }

    /// The file, if it is an own opening; otherwise returns the opening.
    pub fn into_own(mut self) -> Result<File, Opening> {
        if !self.own {
            return Err(self);
        }
        self.noted = None;
        self.own = false;
        // SAFETY: taken at most once: `self.own` is cleared, so `drop` leaves it alone.
        Ok(unsafe { ManuallyDrop::take(&mut self.file) })
    }

    /// The same for a lock that is held for long, under a number that no short opening gets. If the
    /// host closes our descriptors, the number may be reused for another opening of the same file:
    /// device and inode do not tell them apart, and dropping this one would close the other in the
    /// middle of its work.
    pub fn for_long(self) -> Opening {
        match self.into_own() {
            Ok(file) => Opening::own(keep_high(file)),
            Err(inherited) => inherited,
        }
    }

    /// Takes or releases a lock, without waiting.
    fn set(&self, lock: libc::flock) -> Result<(), Errno> {
        let lock = match self.process_wide {
            true => FcntlArg::F_SETLK(&lock),
            false => FcntlArg::F_OFD_SETLK(&lock),
        };
        fcntl(self.file(), lock).map(|_| ())
    }

    /// Locks of the process do not keep its threads apart, but this does. A forked child may have
    /// copied the mark of a thread that it does not have: then it finds another process id in the
    /// mark.
    fn enter(&self, patience: &mut Patience) -> io::Result<()> {
        if !self.process_wide {
            return Ok(());
        }
        let me = std::process::id();
        loop {
            // Relaxed: the exchange below looks again.
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
        if self.process_wide {
            // Release, pairs with the Acquire in `enter`.
            HOLDER.store(0, Ordering::Release);
        }
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        // Before another file can get its number.
        self.noted = None;
        if self.own && self.is_open() {
            // SAFETY: an own opening, dropped only here.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// The process with a thread that waits for, or has, a lock of the process; 0 = none.
static HOLDER: AtomicU32 = AtomicU32::new(0);

/// A lock held through an opening. Dropping it releases the lock.
pub struct LockFile {
    opening: Opening,
    lock: Lock,
    waited: bool,
}

impl LockFile {
    /// Waits for `lock`, like [`Lock::acquire`].
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
    /// No process can take it, as on a file system without locks.
    pub fn try_acquire(opening: Opening, lock: Lock) -> io::Result<Option<LockFile>> {
        Ok(lock.take(&opening)?.then_some(LockFile {
            opening,
            lock,
            waited: false,
        }))
    }

    /// The file, which is locked as long as this lives.
    pub fn file(&self) -> &File {
        self.opening.file()
    }
}

impl Drop for LockFile {
    // Releases explicitly, because a child forked meanwhile has a copy of the descriptor.
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
        // It cannot be taken through an opening that cannot write.
        let tried = LockFile::try_acquire(open(false), Lock::Lifecycle);
        let error = tried.err().expect("refused");
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }
}
