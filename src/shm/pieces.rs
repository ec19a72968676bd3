//! Reads a file that other users could cut short, by system calls instead of a mapping.
//!
//! Missing bytes read as zeros, which mean nothing anywhere in a timeline, and the loss is
//! recorded.
//!
//! **Why do readers not map another user's file?** If a file is cut short, the kernel ends every
//! process that touches a lost page of its mapping, and there is no load that fails instead. A
//! handler for that signal would take it from the host, and a copy of the whole ring is out of date
//! at once. So each word is loaded by `pread`, and the entries of a chunk by one call
//! (src/shm/pieces.rs). The protocol stays the same: state, count, copy, fence, state again. A
//! fence after each call makes the load as strong as an acquire. The kernel copies eight aligned
//! bytes in one piece but does not promise it, so a word is read until two reads agree. Of a cursor
//! that changes all the time the smaller of two reads counts: the cursor has come at least that
//! far. An idle poll of a ring of 1,024 chunks takes some milliseconds in this way; events cost no
//! more than before.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

use memmap2::{MmapOptions, MmapRaw};

use super::shared_file::SharedFile;
use crate::sync::{AtomicU8, AtomicU64, Ordering, fence};

/// A file that is read on access.
pub struct Pieces {
    file: SharedFile,
    length: u64,
    /// The end of the file, if it was cut short.
    cut: AtomicU64,
    /// Whether the host has closed our descriptor, and the name leads to another file.
    lost: AtomicU8,
    /// How many more system calls may read it.
    left: AtomicU64,
    /// Whether reading was given up for lack of calls; then not 0.
    exhausted: AtomicU8,
    /// A page that is never touched. While it is mapped, no other file can have the inode by which
    /// `file` is recognised. `None` if the file cannot be mapped.
    _held: Option<MmapRaw>,
}

/// The reason why bytes are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The file ended at this offset.
    Cut(u64),
    /// The host has closed our descriptor, and the name leads to another file.
    Closed,
    /// Reading was given up.
    GivenUp,
}

impl Pieces {
    /// Reads `length` bytes of a file, found at `path`.
    ///
    /// # Errors
    /// Those of mapping a page of it, for example at the limit on memory. A file that cannot be
    /// mapped is no error.
    pub fn new(file: File, path: &CStr, length: u64) -> io::Result<Pieces> {
        Ok(Pieces {
            _held: hold(&file)?,
            file: SharedFile::new(file, path)?,
            length,
            cut: AtomicU64::new(u64::MAX),
            lost: AtomicU8::new(0),
            left: AtomicU64::new(u64::MAX),
            exhausted: AtomicU8::new(0),
        })
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Why some bytes were missing when they were read.
    pub fn loss(&self) -> Option<Loss> {
        // Relaxed, here and below: flags that guard nothing.
        if self.lost.load(Ordering::Relaxed) != 0 {
            return Some(Loss::Closed);
        }
        match self.cut.load(Ordering::Relaxed) {
            u64::MAX if self.exhausted.load(Ordering::Relaxed) != 0 => Some(Loss::GivenUp),
            u64::MAX => None,
            cut => Some(Loss::Cut(cut)),
        }
    }

    /// Runs a function that reads it, with at most this many system calls. The rest reads as zeros,
    /// with a [`Loss`].
    ///
    /// A nested call has a bound of its own. If several threads call this at once, the last bound
    /// holds.
    pub fn at_most<T>(&self, calls: u64, look: impl FnOnce() -> T) -> T {
        // Relaxed: only an approximate bound.
        self.left.store(calls, Ordering::Relaxed);
        let found = look();
        self.left.store(u64::MAX, Ordering::Relaxed);
        found
    }

    /// Copies bytes out; zeros for those that are missing.
    ///
    /// As strong as an Acquire load: nothing that follows is read before.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        if !self.look(2, |file| fill(file, offset, out)) {
            out.fill(0);
        }
    }

    /// A word. The kernel copies it in one piece, but does not promise to, so it is read until two
    /// reads agree. A word that changes all the time is a count that rises, and has reached at
    /// least the smaller of two reads.
    #[inline(never)]
    pub fn word<const N: usize>(&self, offset: u64) -> u64 {
        let mut word = 0;
        let is_read = self.look(3, |file| {
            let look = || {
                let mut bytes = [0; 8];
                let whole = fill(file, offset, &mut bytes[..N]);
                whole.map(|()| u64::from_le_bytes(bytes))
            };
            let (mut before, mut now) = (look()?, look()?);
            for _ in 0..3 {
                if before == now {
                    break;
                }
                (before, now) = (now, look()?);
            }
            word = before.min(now);
            Ok(())
        });
        // Otherwise the word may be of a file of the host.
        if is_read { word } else { 0 }
    }

    /// Runs `f` on the file, which takes at least `calls` system calls. An error of `f` says where
    /// the file ended. False if it was not read.
    fn look(&self, calls: u64, f: impl FnMut(&File) -> Result<(), u64>) -> bool {
        // Relaxed: only an approximate bound, and flags that guard nothing.
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            self.exhausted.store(1, Ordering::Relaxed);
        }
        if left == 0 || self.lost.load(Ordering::Relaxed) != 0 {
            return false;
        }
        self.left
            .store(left.saturating_sub(calls), Ordering::Relaxed);
        let looked = self.file.read(f);
        match looked {
            Ok(Ok(())) => {}
            Ok(Err(end)) => self.cut.store(end, Ordering::Relaxed),
            Err(_) => self.lost.store(1, Ordering::Relaxed),
        }
        // Acquire, pairs with the Release of the writer that stored what was read.
        fence(Ordering::Acquire);
        looked.is_ok()
    }
}

/// Maps a page of a file; `None` if its file system, or a rule of the system, forbids it.
fn hold(file: &File) -> io::Result<Option<MmapRaw>> {
    match MmapOptions::new().len(1).map_raw_read_only(file) {
        Ok(held) => Ok(Some(held)),
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENODEV | libc::EACCES)) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Copies bytes out of a file; zeros for those that are missing. The error says where it ended.
fn fill(file: &File, offset: u64, out: &mut [u8]) -> Result<(), u64> {
    let mut done = 0;
    while done < out.len() {
        match file.read_at(&mut out[done..], offset + done as u64) {
            Ok(read @ 1..) => done += read,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            _ => {
                out[done..].fill(0);
                return Err(offset + done as u64);
            }
        }
    }
    Ok(())
}
