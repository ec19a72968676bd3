//! A file that is not mapped, because somebody could cut it short: read piece by piece, by system
//! calls.
//!
//! Bytes that are gone read as zeros, which mean nothing anywhere in a timeline, and the loss is
//! remembered.
//!
//! **Why do readers not map another user's file?** The kernel ends whoever touches a page of a
//! mapping that its file has lost, and there is no load that fails instead. A handler of that
//! signal would take it from the host, and a copy of the whole ring is out of date at once. So each
//! word is loaded by `pread`, and the entries of a chunk by one call (src/shm/pieces.rs). The
//! protocol stays as it is: state, count, copy, fence, state again. A fence after each call makes
//! the load as strong as an acquire. The kernel copies eight aligned bytes in one piece but does
//! not promise it, so a word is read until two looks agree. Of a cursor that changes all the time
//! the smaller of two looks counts: the cursor has come at least that far. An idle poll of a ring
//! of 1,024 chunks takes some milliseconds in this way; events cost no more than before.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

use memmap2::{MmapOptions, MmapRaw};

use super::shared_file::SharedFile;
use crate::sync::{AtomicU8, AtomicU64, Ordering, fence};

/// A file, read where and when it is asked for.
pub struct Pieces {
    file: SharedFile,
    length: u64,
    /// Where the file ended, if that was before its end.
    cut: AtomicU64,
    /// Whether the host has closed our descriptor, and the name leads elsewhere.
    lost: AtomicU8,
    /// How many more system calls may be made to read it.
    left: AtomicU64,
    /// Whether a look at it was to make more; not 0 then.
    exhausted: AtomicU8,
    /// A page that nobody touches. While it is mapped, no other file can have the inode by which
    /// `file` knows its own. `None` if nobody may map the file.
    _held: Option<MmapRaw>,
}

/// Why bytes are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The file ended there.
    Cut(u64),
    /// The host has closed our descriptor, and the name leads elsewhere.
    Closed,
    /// A look at the file was given up.
    GivenUp,
}

impl Pieces {
    /// So many bytes of a file, found at `path`.
    ///
    /// # Errors
    /// Those of mapping a page of it, as where the limit on memory is reached; not that it cannot
    /// be mapped.
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

    /// How many bytes it had.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Why some bytes that were to be read were not there.
    pub fn loss(&self) -> Option<Loss> {
        if self.lost.load(Ordering::Relaxed) != 0 {
            return Some(Loss::Closed);
        }
        match self.cut.load(Ordering::Relaxed) {
            u64::MAX if self.exhausted.load(Ordering::Relaxed) != 0 => Some(Loss::GivenUp),
            u64::MAX => None,
            cut => Some(Loss::Cut(cut)),
        }
    }

    /// Looks at it, by no more than so many system calls. What is not read any more is zeros, and a
    /// [`Loss`].
    ///
    /// A look within a look has a bound of its own. If several threads look at once, the bound is
    /// that of the last one.
    pub fn at_most<T>(&self, calls: u64, look: impl FnOnce() -> T) -> T {
        // Relaxed: only a bound, and not an exact one.
        self.left.store(calls, Ordering::Relaxed);
        let found = look();
        self.left.store(u64::MAX, Ordering::Relaxed);
        found
    }

    /// Copies bytes out, zeros for those that are gone.
    ///
    /// As strong as any load: nothing that follows is read before.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        if !self.look(2, |file| fill(file, offset, out)) {
            out.fill(0);
        }
    }

    /// A word. The kernel copies one in one piece, but does not promise to: so it is read until two
    /// looks agree. One that changes all the time is a count that rises, and has been at least the
    /// smaller of two.
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
        // Or else it may be of a file of the host.
        if is_read { word } else { 0 }
    }

    /// Runs `f` on the file, by so many system calls at least; an error of `f` says where that
    /// ended. False if it is not read any more.
    fn look(&self, calls: u64, f: impl FnMut(&File) -> Result<(), u64>) -> bool {
        // Relaxed: only a bound, and not an exact one; and what says only that it happened some
        // time.
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
        // Acquire, pairs with the Release of whoever stored what was read.
        fence(Ordering::Acquire);
        looked.is_ok()
    }
}

/// Maps a page of a file; `None` if its file system, or a rule of the system, lets nobody map it.
fn hold(file: &File) -> io::Result<Option<MmapRaw>> {
    match MmapOptions::new().len(1).map_raw_read_only(file) {
        Ok(held) => Ok(Some(held)),
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENODEV | libc::EACCES)) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Copies bytes out of a file, zeros for those that are gone. The error: where it ended.
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
