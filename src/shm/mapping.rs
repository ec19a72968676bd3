//! The bytes of a timeline: bounds-checked atomics at byte offsets.
//!
//! Other processes change this memory at any time, so nothing here hands out plain references to
//! it: every access is an atomic, checked against the length of the file.
//!
//! A file that others could cut short is not mapped for reading, because the kernel ends a process
//! that touches a lost page. It is read piece by piece (pieces.rs), and lost bytes read as zeros.

use std::ffi::CStr;
use std::fs::File;
use std::io;

use memmap2::{MmapOptions, MmapRaw};

use super::pieces::{Loss, Pieces, Word};
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// A whole file.
pub struct Mapping {
    bytes: Bytes,
}

enum Bytes {
    /// Mapped shared.
    Mapped { raw: MmapRaw, writable: bool },
    /// Read on access.
    Read(Pieces),
}

impl Mapping {
    /// Maps `length` bytes for reading and writing. With `touch`, touches every page, so that no
    /// event pays for its first use.
    pub fn writable(file: &File, length: u64, touch: bool) -> io::Result<Mapping> {
        let mut options = MmapOptions::new();
        options.len(usize::try_from(length).map_err(io::Error::other)?);
        if touch {
            options.populate();
        }
        let raw = options.map_raw(file)?;
        if touch {
            // Populating a shared mapping of a file on disk only maps its pages for reading.
            // SAFETY: the range is that of the mapping just made; the call changes nothing in it.
            // If the kernel does not know it (before 5.14), shared memory was populated for writing
            // above.
            unsafe {
                libc::madvise(
                    raw.as_mut_ptr().cast(),
                    raw.len(),
                    libc::MADV_POPULATE_WRITE,
                );
            }
        }
        let writable = true;
        Ok(Mapping {
            bytes: Bytes::Mapped { raw, writable },
        })
    }

    /// Maps `length` bytes for reading.
    pub fn read_only(file: &File, length: u64) -> io::Result<Mapping> {
        let raw = MmapOptions::new()
            .len(usize::try_from(length).map_err(io::Error::other)?)
            .map_raw_read_only(file)?;
        let writable = false;
        Ok(Mapping {
            bytes: Bytes::Mapped { raw, writable },
        })
    }

    /// Reads `length` bytes of the file at `path`. Other users may cut it short at any time.
    pub fn in_pieces(file: &File, path: &CStr, length: u64) -> io::Result<Mapping> {
        let pieces = Pieces::new(file.try_clone()?, path, length)?;
        Ok(Mapping {
            bytes: Bytes::Read(pieces),
        })
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        match &self.bytes {
            Bytes::Mapped { raw, .. } => raw.len() as u64,
            Bytes::Read(pieces) => pieces.len(),
        }
    }

    /// The first byte, if it is mapped; for the hot path, which has checked its bounds beforehand.
    pub fn base(&self) -> Option<*mut u8> {
        match &self.bytes {
            Bytes::Mapped { raw, .. } => Some(raw.as_mut_ptr()),
            Bytes::Read(_) => None,
        }
    }

    /// Whether stores are allowed.
    pub fn is_writable(&self) -> bool {
        matches!(self.bytes, Bytes::Mapped { writable: true, .. })
    }

    /// Why some bytes were missing when they were read.
    pub fn loss(&self) -> Option<Loss> {
        match &self.bytes {
            Bytes::Mapped { .. } => None,
            Bytes::Read(pieces) => pieces.loss(),
        }
    }

    /// Runs a function that reads it. If it is not mapped, it is read by at most this many system
    /// calls; the rest reads as zeros, with a [`Loss`].
    pub fn at_most<T>(&self, calls: u64, look: impl FnOnce() -> T) -> T {
        match &self.bytes {
            Bytes::Mapped { .. } => look(),
            Bytes::Read(pieces) => pieces.at_most(calls, look),
        }
    }

    /// The place of a word if it is mapped, or else where it is read.
    fn place(&self, offset: u64, size: u64) -> Result<*mut u8, &Pieces> {
        let fits = offset
            .checked_add(size)
            .is_some_and(|end| end <= self.len());
        assert!(
            fits && offset.is_multiple_of(size),
            "offset {offset} in {} bytes",
            self.len()
        );
        match &self.bytes {
            // SAFETY: checked just now to lie inside the mapping.
            Bytes::Mapped { raw, .. } => Ok(unsafe { raw.as_mut_ptr().add(offset as usize) }),
            Bytes::Read(pieces) => Err(pieces),
        }
    }

    /// The u64 at `offset`. Of what is only read, it must only be loaded.
    #[inline]
    pub fn u64(&self, offset: u64) -> Word<'_, AtomicU64> {
        match self.place(offset, 8) {
            // SAFETY: inside the mapping and aligned (`place` asserts both), alive as long as
            // `self`, and accessed by everyone as an atomic; on a read-only mapping plain loads are
            // all that happens.
            Ok(place) => Word::Mapped(unsafe { AtomicU64::from_ptr(place.cast()) }),
            Err(pieces) => Word::Read(pieces, offset),
        }
    }

    /// The u32 at `offset`.
    #[inline]
    pub fn u32(&self, offset: u64) -> Word<'_, AtomicU32> {
        match self.place(offset, 4) {
            // SAFETY: as for `u64`.
            Ok(place) => Word::Mapped(unsafe { AtomicU32::from_ptr(place.cast()) }),
            Err(pieces) => Word::Read(pieces, offset),
        }
    }

    /// The byte at `offset`.
    #[inline]
    pub fn u8(&self, offset: u64) -> Word<'_, AtomicU8> {
        match self.place(offset, 1) {
            // SAFETY: as for `u64`.
            Ok(place) => Word::Mapped(unsafe { AtomicU8::from_ptr(place) }),
            Err(pieces) => Word::Read(pieces, offset),
        }
    }

    /// Copies bytes out. Relaxed: a caller that needs an order has loaded a count with Acquire
    /// before.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        if let Bytes::Read(pieces) = &self.bytes {
            return pieces.read(offset, out);
        }
        let ragged = (offset.next_multiple_of(8) - offset).min(out.len() as u64);
        let (head, rest) = out.split_at_mut(ragged as usize);
        let mut words = rest.chunks_exact_mut(8);
        let mut at = offset + ragged;
        for word in words.by_ref() {
            word.copy_from_slice(&self.u64(at).load(Ordering::Relaxed).to_ne_bytes());
            at += 8;
        }
        let tail = words.into_remainder();
        for (first, bytes) in [(offset, head), (at, tail)] {
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = self.u8(first + i as u64).load(Ordering::Relaxed);
            }
        }
    }

    /// Copies bytes in. Relaxed: a caller that publishes them stores a count with Release after.
    pub fn write(&self, offset: u64, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            self.u8(offset + i as u64).store(*byte, Ordering::Relaxed);
        }
    }

    /// The bytes from `offset` up to a NUL or `most` bytes, whichever comes first.
    pub fn read_c_str(&self, offset: u64, most: u64) -> Vec<u8> {
        let end = offset + most.min(self.len().saturating_sub(offset));
        let mut bytes = Vec::new();
        let mut block = [0; 256];
        let mut at = offset;
        while at < end {
            let block = &mut block[..(end - at).min(256) as usize];
            self.read(at, block);
            if let Some(nul) = memchr::memchr(0, block) {
                bytes.extend_from_slice(&block[..nul]);
                break;
            }
            bytes.extend_from_slice(block);
            at += block.len() as u64;
        }
        bytes
    }
}
