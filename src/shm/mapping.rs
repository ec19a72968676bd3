//! The bytes of a timeline, and the one cast that makes records of them.
//!
//! Other processes change this memory at any time, so nothing here hands out plain references to
//! it: a record is made of atomics, and the cast is checked against the length of the file.
//!
//! A file that others could cut short is not mapped for reading, because the kernel ends a process
//! that touches a lost page. It is read piece by piece (pieces.rs), and lost bytes read as zeros.
//!
//! **What does a program pay that locks all its memory?** After `mlockall(MCL_FUTURE)` the kernel
//! touches and locks all of each new mapping, and refuses those for which `RLIMIT_MEMLOCK` has no
//! room. So a ring is locked once, where its program logs, as far as there is room. All other
//! mappings of it are made so that they are neither touched nor locked: they begin as one page,
//! whose lock is taken off, and grow from there on.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{MmapOptions, MmapRaw, RemapOptions};

use super::pieces::{Loss, Pieces};
use super::record::{Record, RecordAccess};
use crate::layout::{HEADER_SIZE, Header, Region};
use crate::sync::{AtomicU8, AtomicU64, Ordering};

/// What a mapping is at first that is not to be locked: a page, or a part of one.
const FIRST: usize = 4096;

/// A mapping of so many bytes that is neither touched nor locked. `map` makes one of some options.
fn unlocked(
    length: usize,
    map: impl Fn(&mut MmapOptions) -> io::Result<MmapRaw>,
) -> io::Result<MmapRaw> {
    let first = map(MmapOptions::new().len(length.min(FIRST)));
    let grown = first.and_then(|mut raw| {
        raw.unlock()?;
        // SAFETY: nobody has an address in it yet. The kernel bounds the file, not its mapping, and
        // the caller of `map` has looked how long the file is.
        unsafe { raw.remap(length, RemapOptions::new().may_move(true))? };
        Ok(raw)
    });
    // Where a filter of system calls forbids that.
    grown.or_else(|_| map(MmapOptions::new().len(length)))
}

/// Moves a mapping to the place of another one of the same length. Returns whether it did.
fn put(new: &MmapRaw, old: &MmapRaw) -> bool {
    // SAFETY: the ranges are those of two mappings. All that lies in the old one is atomic, and any
    // bytes are valid. The kernel changes all of it at once, for all processors, before the call
    // returns; it asks for no memory that it could lack once the old one is gone.
    let place = unsafe {
        libc::mremap(
            new.as_mut_ptr().cast(),
            new.len(),
            old.len(),
            libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
            old.as_mut_ptr(),
        )
    };
    place != libc::MAP_FAILED
}

/// Maps zeros over a mapping.
fn cover(raw: &MmapRaw) -> io::Result<()> {
    // SAFETY: the range is that of this mapping, which stays one until it is dropped. The rest as
    // in `put`.
    let found = unsafe {
        libc::mmap(
            raw.as_mut_ptr().cast(),
            raw.len(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    match found == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}

/// Stores a byte in each of these places of a new mapping.
fn fill(new: &MmapRaw, places: &Range<usize>, byte: u8) {
    let length = places.end.min(new.len()).saturating_sub(places.start);
    if length > 0 {
        // SAFETY: the range lies in the mapping, in which nobody else has an address yet.
        unsafe { new.as_mut_ptr().add(places.start).write_bytes(byte, length) };
    }
}

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
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let unlocked = || unlocked(length, |options| options.map_raw(file));
        let raw = match touch {
            false => unlocked()?,
            true => match MmapOptions::new().len(length).populate().map_raw(file) {
                // So much may not be locked.
                Err(e) if e.raw_os_error() == Some(libc::EAGAIN) => unlocked()?,
                other => other?,
            },
        };
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
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let raw = unlocked(length, |options| options.map_raw_read_only(file))?;
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

    /// Takes off the lock of a program that has locked all its memory. What is here then takes
    /// nothing of what may be locked.
    pub fn unlock(&self) {
        if let Bytes::Mapped { raw, .. } = &self.bytes {
            // Where the system forbids it, it stays locked.
            let _ = raw.unlock();
        }
    }

    /// Puts zeros that belong to this process alone in the place of the file. So a thread that
    /// still has an address in it harms nobody. Other mappings of the file stay as they are. A
    /// forked child finds zeros where the header was, whatever its parent has counted there. In
    /// these places stands `byte` from the first moment on, unless addresses are few.
    ///
    /// # Errors
    /// Those of the system: then it is mapped as before. `Unsupported` if it is not mapped.
    pub fn forget(&self, places: &Range<usize>, byte: u8) -> io::Result<()> {
        let Bytes::Mapped { raw, .. } = &self.bytes else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let zeros = unlocked(raw.len(), |options| {
            options.no_reserve_swap().map_anon().map(MmapRaw::from)
        });
        if let Ok(zeros) = &zeros {
            fill(zeros, places, byte);
        }
        match zeros {
            Ok(zeros) if put(&zeros, raw) => {
                // It is this mapping now.
                std::mem::forget(zeros);
            }
            // There are not as many addresses besides (RLIMIT_AS).
            _ => {
                cover(raw)?;
                for place in places.clone() {
                    // Relaxed: whoever reads it reads this byte alone.
                    let at = self.record::<AtomicU8>(place as u64);
                    at.shared().store(byte, Ordering::Relaxed);
                }
            }
        }
        let header = raw.len().min(HEADER_SIZE as usize);
        // SAFETY: the range is the beginning of this mapping; the call changes nothing in it here.
        unsafe { libc::madvise(raw.as_mut_ptr().cast(), header, libc::MADV_WIPEONFORK) };
        Ok(())
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        match &self.bytes {
            Bytes::Mapped { raw, .. } => raw.len() as u64,
            Bytes::Read(pieces) => pieces.len(),
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

    /// The record, or the word, at `offset`. Writers must have it mapped.
    #[inline]
    pub fn record<T: Record>(&self, offset: u64) -> RecordAccess<'_, T> {
        let end = offset.checked_add(size_of::<T>() as u64);
        let fits = end.is_some_and(|end| end <= self.len());
        assert!(
            fits && offset.is_multiple_of(align_of::<T>() as u64),
            "offset {offset} in {} bytes",
            self.len()
        );
        match &self.bytes {
            Bytes::Mapped { raw, .. } => {
                // SAFETY: inside of the mapping and aligned, as asserted just now; alive as long as
                // `self`; any bytes are a valid record, and every access to them is atomic. On a
                // read-only mapping there are only plain loads.
                RecordAccess::Mapped(unsafe { &*raw.as_mut_ptr().add(offset as usize).cast() })
            }
            Bytes::Read(pieces) => RecordAccess::Read(pieces, offset),
        }
    }

    /// The header.
    #[inline]
    pub fn header(&self) -> RecordAccess<'_, Header> {
        self.record(0)
    }

    /// The first record of a region, if it is mapped. For the hot path, which checks no more: all
    /// of the region is inside of the mapping, and its records are aligned.
    pub fn first<T: Record>(&self, region: Region) -> Option<*const T> {
        let end = region.offset.checked_add(region.length);
        assert!(end.is_some_and(|end| end <= self.len()), "{region:?}");
        let align = align_of::<T>() as u64;
        assert!(region.offset.is_multiple_of(align) && region.stride.is_multiple_of(align));
        assert!(region.stride >= size_of::<T>() as u64);
        let Bytes::Mapped { raw, .. } = &self.bytes else {
            return None;
        };
        // SAFETY: inside of the mapping, as asserted just now.
        let first = unsafe { raw.as_mut_ptr().add(region.offset as usize) };
        Some(first.cast_const().cast())
    }

    /// The words of a region, if it is mapped. Its offset is a multiple of 8.
    #[inline]
    pub fn words(&self, region: Region) -> Option<&[AtomicU64]> {
        let first = self.first::<AtomicU64>(Region {
            stride: size_of::<AtomicU64>() as u64,
            ..region
        })?;
        let count = region.length as usize / size_of::<AtomicU64>();
        // SAFETY: as many words are inside of the mapping, which `first` has checked, and aligned;
        // alive as long as `self`; any bytes are valid atomics. On a read-only mapping there are
        // only plain loads.
        Some(unsafe { std::slice::from_raw_parts(first, count) })
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
            let value = self.record::<AtomicU64>(at).load(Ordering::Relaxed);
            word.copy_from_slice(&value.to_ne_bytes());
            at += 8;
        }
        let tail = words.into_remainder();
        for (first, bytes) in [(offset, head), (at, tail)] {
            for (i, byte) in bytes.iter_mut().enumerate() {
                let place = self.record::<AtomicU8>(first + i as u64);
                // Relaxed: as the words.
                *byte = place.load(Ordering::Relaxed);
            }
        }
    }

    /// Copies bytes in. Relaxed: a caller that publishes them stores a count with Release after.
    pub fn write(&self, offset: u64, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            let place = self.record::<AtomicU8>(offset + i as u64);
            place.shared().store(*byte, Ordering::Relaxed);
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
