//! A descriptor that is kept for long, for a writer's locks or for reading, though hosts close it.
//!
//! Host programs close descriptors that they do not know, as daemons do, and get the number again
//! for files of their own. So the file of a descriptor is compared with that at the start.
//!
//! Locks belong to an *opening* of a file, and a forked child shares its parent's openings. To hold
//! its own lock, a child, or a thread that wants to exclude its siblings, opens the file again.
//!
//! **What if a host closes the descriptor of a reader?** Without a check, the host's next file of
//! that number would be read as a ring, and closed with the reader. So after each access the reader
//! checks by device and inode whether it was to its own file, and otherwise discards the result:
//! one more call for each two or three. A check before the access would not be enough, because the
//! host may close the descriptor in between. Then the file is opened again by its name. If the name
//! leads to another file by then, the file is lost, and `Attached::intact` says so. A mapped page
//! that is never touched keeps the inode from being given to another file meanwhile. If no page can
//! be mapped for lack of memory or of mappings, attaching fails. Some file systems cannot map at
//! all, and a security module can forbid it. Then the inode may be reused, and a host that closes
//! the descriptor of a file that is then removed may be shown another timeline.
//!
//! Device and inode do not distinguish openings of the same ring in one process. So descriptors
//! that writers, readers and samplers keep for long have numbers from 512 on, and an opening for
//! one operation has the lowest free number: neither gets the number of the other, unless a process
//! has more than 500 files open, or may have no more than 512. One case is not covered: a host
//! closes the descriptors of one ring in one thread while another thread opens, defines or sets a
//! level. That operation may then close an opening of the same ring that a third thread has just
//! made under the number, and end its lock early. Of two descriptors kept for long, the one that
//! goes first may close the other, which is opened again by its name.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::descriptor::{identity, keep_high, open_with_flags};
use super::inherited::close_those_of_our_parent;
use super::lock::Opening;
use crate::sync::{AtomicU32, Ordering};

/// How often a file is opened again for one access: a host closes descriptors once, and not again
/// and again.
const LOOKS: u32 = 4;

/// The number of no descriptor, with which every call fails.
const NO_DESCRIPTOR: u32 = i32::MAX as u32;

/// A file known by device and inode, and a descriptor of it.
pub struct SharedFile {
    fd: AtomicU32,
    identity: (u64, u64),
    path: CString,
}

impl SharedFile {
    /// Keeps `file`, found at `path`, above the low numbers that shells and daemons assign
    /// explicitly.
    pub fn new(file: File, path: &CStr) -> io::Result<SharedFile> {
        let identity = identity(&file)?;
        Ok(SharedFile {
            fd: AtomicU32::new(keep_high(file).into_raw_fd() as u32),
            identity,
            path: path.to_owned(),
        })
    }

    fn fd(&self) -> RawFd {
        // Relaxed: any number ever stored here is safe, because each is checked where it is used.
        // `replace` changes it in a forked child before its other threads log.
        self.fd.load(Ordering::Relaxed) as RawFd
    }

    /// Whether an open file is this one.
    fn is(&self, file: &File) -> bool {
        identity(file).is_ok_and(|found| found == self.identity)
    }

    /// The kept descriptor, only borrowed, if it still leads to our file.
    fn kept(&self) -> Option<ManuallyDrop<File>> {
        // SAFETY: the File is never dropped, so the descriptor is only borrowed; whether it is
        // still the one we opened is checked before use.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(self.fd()) });
        self.is(&file).then_some(file)
    }

    /// Whether `path` leads to this file.
    pub fn is_at(&self, path: &Path) -> bool {
        let found = path.metadata();
        found.is_ok_and(|found| (found.dev(), found.ino()) == self.identity)
    }

    /// Runs `f`, which reads the file and changes nothing, and returns its result. If the host has
    /// closed our descriptor, opens the file again by its name, and runs `f` again.
    ///
    /// # Errors
    /// `ESTALE` if the name leads to another file by then; those of opening it.
    pub fn read<T>(&self, mut f: impl FnMut(&File) -> T) -> io::Result<T> {
        for _ in 0..LOOKS {
            let number = self.fd();
            // SAFETY: the File is never dropped, so the descriptor is only borrowed. It may be the
            // host's by now: `f` only reads, at offsets of its own, and then its result is
            // discarded.
            let file = ManuallyDrop::new(unsafe { File::from_raw_fd(number) });
            let result = f(&file);
            // Checked after the access, because the host may close it in between.
            if self.is(&file) {
                return Ok(result);
            }
            self.open_again(number)?;
        }
        Err(io::Error::from_raw_os_error(libc::ESTALE))
    }

    /// Opens the file by its name for reading, and keeps that opening instead of `lost`.
    fn open_again(&self, lost: RawFd) -> io::Result<()> {
        // O_NONBLOCK: the name may lead to a pipe by now.
        let file = open_with_flags(&self.path, libc::O_RDONLY | libc::O_NONBLOCK)?;
        if !self.is(&file) {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        }
        let fd = keep_high(file).into_raw_fd();
        // Relaxed: as in `fd`.
        let (order, lost) = (Ordering::Relaxed, lost as u32);
        let kept = self.fd.compare_exchange(lost, fd as u32, order, order);
        if kept.is_err() {
            // SAFETY: opened here; another thread has stored its own meanwhile.
            drop(unsafe { File::from_raw_fd(fd) });
        }
        Ok(())
    }

    /// Runs `f` on the kept opening, if it still leads to our file. Its locks must be our own.
    pub fn with<T>(&self, f: impl FnOnce(&Opening) -> T) -> Option<T> {
        self.kept().map(|file| f(&Opening::kept(file)))
    }

    /// A new opening of the same file, made without allocating.
    ///
    /// /proc leads to the file even if its name is gone. The name is used if /proc is not mounted,
    /// or the host has closed our descriptor. A process that may not open the file any more uses
    /// the kept opening.
    pub fn reopen(&self) -> io::Result<Opening> {
        close_those_of_our_parent();
        let mut text = [0u8; 32];
        let by_descriptor = (proc_fd_path(self.fd(), &mut text), libc::O_RDWR);
        let by_name = (self.path.as_c_str(), libc::O_RDWR | libc::O_NOFOLLOW);
        for (path, flags) in [by_descriptor, by_name] {
            // O_NONBLOCK: the number may be that of a pipe by now.
            let Ok(file) = open_with_flags(path, flags | libc::O_NONBLOCK) else {
                continue;
            };
            if self.is(&file) {
                return Ok(Opening::own(file));
            }
        }
        match self.kept() {
            Some(file) => Ok(Opening::inherited(file)),
            None => Err(io::Error::from_raw_os_error(libc::ESTALE)),
        }
    }

    /// Keeps `file` from now on instead, and closes the former descriptor. A forked child does
    /// this, so that its parent's locks do not outlive the parent.
    pub fn replace(&self, file: File) {
        self.keep(keep_high(file).into_raw_fd() as u32);
    }

    /// Closes the kept descriptor. The file can still be opened by its name.
    pub fn close(&self) {
        self.keep(NO_DESCRIPTOR);
    }

    /// Takes a number in the place of the former, which is closed. A signal handler may do the same
    /// in between: whoever has taken the former out closes it, and nobody else does.
    fn keep(&self, fd: u32) {
        // Relaxed: as in `fd`; whoever read the number before checks the file behind it.
        let former = self.fd.swap(fd, Ordering::Relaxed);
        if former == NO_DESCRIPTOR {
            return;
        }
        // SAFETY: it is dropped only if it leads to our file: then it is the one that we opened,
        // and it is not used any more.
        let former = ManuallyDrop::new(unsafe { File::from_raw_fd(former as RawFd) });
        if self.is(&former) {
            drop(ManuallyDrop::into_inner(former));
        }
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        self.close();
    }
}

fn proc_fd_path(fd: RawFd, text: &mut [u8; 32]) -> &CStr {
    use std::io::Write;
    // Fourteen bytes and at most ten digits always fit before the last NUL.
    let _ = write!(&mut text[..31], "/proc/self/fd/{fd}");
    CStr::from_bytes_until_nul(text).unwrap_or(c"")
}
