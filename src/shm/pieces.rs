//! A file that is not mapped, because somebody could cut it short: read piece by piece, by system calls.
//!
//! Bytes that are gone read as zeros, which mean nothing anywhere in a timeline, and the loss is remembered.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

/// A file, read where and when it is asked for.
pub struct Pieces {
    file: File,
    length: u64,
    /// Where the file ended, if that was before its end.
    cut: AtomicU64,
    /// How many more times it is read.
    left: AtomicU64,
}

impl Pieces {
    /// So many bytes of a file.
    pub fn new(file: File, length: u64) -> Pieces {
        Pieces {
            file,
            length,
            cut: AtomicU64::new(u64::MAX),
            left: AtomicU64::new(u64::MAX),
        }
    }

    /// How many bytes it had.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// How many it had when some were to be read that were gone.
    pub fn cut_to(&self) -> Option<u64> {
        let cut = self.cut.load(Ordering::Relaxed);
        (cut != u64::MAX).then_some(cut)
    }

    /// Reads it only so many more times. What is not read any more is zeros.
    pub fn limit(&self, reads: u64) {
        self.left.store(reads, Ordering::Relaxed);
    }

    /// Whether it is not read any more.
    pub fn is_exhausted(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Copies bytes out, zeros for those that are gone.
    ///
    /// As strong as any load: nothing that follows is read before.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        // Relaxed: only a bound, and not an exact one.
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return out.fill(0);
        }
        self.left.store(left - 1, Ordering::Relaxed);
        let mut done = 0;
        while done < out.len() {
            match self.file.read_at(&mut out[done..], offset + done as u64) {
                Ok(read @ 1..) => done += read,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                _ => {
                    out[done..].fill(0);
                    // Relaxed: it says only that it happened some time.
                    self.cut.store(offset + done as u64, Ordering::Relaxed);
                    break;
                }
            }
        }
        // Acquire, pairs with the Release of whoever stored what was read.
        fence(Ordering::Acquire);
    }

    /// A word. The kernel copies one in one piece, but does not promise to: so it is read until two looks agree. One that
    /// changes all the time is a count that rises, and has been at least the smaller of two.
    fn word<const N: usize>(&self, offset: u64) -> u64 {
        let look = || {
            let mut bytes = [0; 8];
            self.read(offset, &mut bytes[..N]);
            u64::from_le_bytes(bytes)
        };
        let (mut before, mut now) = (look(), look());
        for _ in 0..3 {
            if before == now {
                break;
            }
            (before, now) = (now, look());
        }
        before.min(now)
    }
}

/// A word of a file. A load gets the value that the file has then.
#[derive(Clone, Copy)]
pub enum Word<'a, A> {
    /// In memory that is shared.
    Mapped(&'a A),
    /// At an offset of a file that is only read.
    Read(&'a Pieces, u64),
}

impl<'a, A> Word<'a, A> {
    /// The word itself, for writers: a file that is only read has none.
    pub fn shared(&self) -> &'a A {
        match self {
            Word::Mapped(word) => word,
            Word::Read(..) => unreachable!("nobody writes to what he only reads"),
        }
    }
}

macro_rules! words {
    ($($atomic:ident of $value:ident),+) => {$(
        impl Word<'_, $atomic> {
            /// What stands there.
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                match self {
                    Word::Mapped(word) => word.load(order),
                    Word::Read(pieces, offset) => {
                        pieces.word::<{ size_of::<$value>() }>(*offset) as $value
                    }
                }
            }

            /// Stores a value.
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                self.shared().store(value, order);
            }

            /// Adds to it.
            #[inline]
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.shared().fetch_add(value, order)
            }

            /// Stores a value where it is the expected one.
            #[inline]
            pub fn compare_exchange(
                &self,
                expected: $value,
                value: $value,
                done: Ordering,
                failed: Ordering,
            ) -> Result<$value, $value> {
                self.shared().compare_exchange(expected, value, done, failed)
            }
        }
    )+};
}

words!(AtomicU8 of u8, AtomicU32 of u32, AtomicU64 of u64);
