//! Typed access to the records of a timeline, in shared memory or in a file that is only read.

use super::pieces::Pieces;
use crate::layout::header::{Anchor, Header, Region};
use crate::layout::records::{Atomics, Chunk, Definition, Lane, Process, Stretch, Thread};
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// A type that bytes are cast to, although others may change each byte at any time.
///
/// # Safety
/// It is made of atomics alone, without padding, and any bytes are a valid value.
pub unsafe trait Record: Atomics + Sized {
    /// A record of zeros.
    fn zeroed() -> Self {
        // SAFETY: any bytes are valid.
        unsafe { std::mem::zeroed() }
    }

    /// The bytes of a record that is not shared.
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: there is no padding, so all bytes have a value; any others are valid as well.
        unsafe { std::slice::from_raw_parts_mut((&raw mut *self).cast(), size_of::<Self>()) }
    }

    /// A copy of the record at the beginning of `bytes`.
    fn of(bytes: &[u8]) -> Self {
        let mut record = Self::zeroed();
        record
            .bytes_mut()
            .copy_from_slice(&bytes[..size_of::<Self>()]);
        record
    }

    /// Changes the record at the beginning of `bytes`.
    fn edit(bytes: &mut [u8], change: impl FnOnce(&mut Self)) {
        let mut record = Self::of(bytes);
        change(&mut record);
        bytes[..size_of::<Self>()].copy_from_slice(record.bytes_mut());
    }
}

macro_rules! records {
    ($($record:ty),+) => {$(
        // SAFETY: an atomic, or a struct that `record!` in layout has checked.
        unsafe impl Record for $record {}
    )+};
}

records!(AtomicU8, AtomicU32, AtomicU64);
records!(Header, Region, Anchor);
records!(Definition, Thread, Process, Lane, Chunk, Stretch);

// SAFETY: there is nothing between the elements of an array.
unsafe impl<T: Record, const N: usize> Record for [T; N] {}

/// The bytes of a text. Relaxed: another field orders these loads.
pub fn load_bytes<const N: usize>(text: &[AtomicU8; N]) -> [u8; N] {
    text.each_ref().map(|byte| byte.load(Ordering::Relaxed))
}

/// Changes the first bytes of a text. Relaxed: they are published by another field.
pub fn store_bytes(text: &[AtomicU8], bytes: &[u8]) {
    for (place, byte) in text.iter().zip(bytes) {
        place.store(*byte, Ordering::Relaxed);
    }
}

/// Access to a record of a timeline, or to a field. A load gets the present value.
pub enum RecordAccess<'a, T> {
    /// In memory that is shared.
    Mapped(&'a T),
    /// At an offset of a file that is only read.
    Read(&'a Pieces, u64),
}

impl<'a, T> RecordAccess<'a, T> {
    /// The memory itself. For writers, which have it mapped.
    #[inline]
    pub fn shared(&self) -> &'a T {
        match self {
            RecordAccess::Mapped(record) => record,
            RecordAccess::Read(..) => unreachable!("a writer has its timeline mapped"),
        }
    }
}

impl<'a, T: Record> RecordAccess<'a, T> {
    /// A field of the record.
    #[inline]
    pub fn field<F>(&self, field: impl FnOnce(&T) -> &F) -> RecordAccess<'a, F> {
        match self {
            RecordAccess::Mapped(record) => RecordAccess::Mapped(field(record)),
            RecordAccess::Read(pieces, offset) => {
                // At the same offset as in any other record.
                let other = T::zeroed();
                let inside = (&raw const *field(&other)).addr() - (&raw const other).addr();
                debug_assert!(inside + size_of::<F>() <= size_of::<T>());
                RecordAccess::Read(pieces, offset + inside as u64)
            }
        }
    }
}

impl<'a, T: Record, const N: usize> RecordAccess<'a, [T; N]> {
    /// Each of the records of an array.
    pub fn each(&self) -> impl Iterator<Item = RecordAccess<'a, T>> {
        (0..N).map(|i| self.field(|records| &records[i]))
    }
}

impl<const N: usize> RecordAccess<'_, [AtomicU8; N]> {
    /// The bytes of a text.
    pub fn bytes(&self) -> [u8; N] {
        match self {
            RecordAccess::Mapped(text) => load_bytes(text),
            RecordAccess::Read(pieces, offset) => {
                let mut bytes = [0; N];
                pieces.read(*offset, &mut bytes);
                bytes
            }
        }
    }

    /// The text up to its first NUL, or all of it.
    pub fn text(&self) -> String {
        let bytes = self.bytes();
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }
}

macro_rules! loads {
    ($($atomic:ident of $value:ident),+) => {$(
        impl RecordAccess<'_, $atomic> {
            /// The present value.
            // Inlined: a reader looks at each chunk whenever it looks for new events.
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $value {
                match self {
                    RecordAccess::Mapped(word) => word.load(order),
                    RecordAccess::Read(pieces, offset) => {
                        pieces.word::<{ size_of::<$value>() }>(*offset) as $value
                    }
                }
            }
        }
    )+};
}

loads!(AtomicU8 of u8, AtomicU32 of u32, AtomicU64 of u64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shm::Mapping;
    use std::mem::offset_of;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn what_is_read_is_what_is_mapped() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..8192_u32).map(|i| ((i * i) >> 5) as u8 | 1).collect();
        std::io::Write::write_all(&mut file, &bytes).unwrap();
        let path = std::ffi::CString::new(file.path().as_os_str().as_bytes()).unwrap();
        let maps = [
            Mapping::read_only(file.as_file(), 8192).unwrap(),
            Mapping::in_pieces(file.as_file(), &path, 8192).unwrap(),
        ];
        for map in maps {
            let header = map.header();
            let level = header.field(|h| &h.level).load(Ordering::Relaxed);
            assert_eq!(level.to_le_bytes(), bytes[offset_of!(Header, level)..][..4]);
            let last = header.field(|h| &h.anchors).each().last().unwrap();
            let realtime = last.field(|a| &a.realtime).load(Ordering::Relaxed);
            let at = offset_of!(Header, anchors) + 16 * size_of::<Anchor>() - 8;
            assert_eq!(realtime.to_le_bytes(), bytes[at..][..8]);
            let nodes = header.field(|h| &h.cpu_nodes).bytes();
            assert_eq!(nodes, bytes[offset_of!(Header, cpu_nodes)..][..1024]);
            let kind = map.record::<Definition>(8192 - 64).field(|d| &d.kind);
            assert_eq!(kind.load(Ordering::Relaxed), bytes[8192 - 64 + 27]);
        }
    }

    #[test]
    fn what_is_not_inside_of_the_file_or_not_aligned_is_no_record() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8192).unwrap();
        let map = Mapping::read_only(&file, 8192).unwrap();
        let is_one = |at| {
            let look = || {
                map.record::<Lane>(at)
                    .shared()
                    .saved
                    .load(Ordering::Relaxed)
            };
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(look)).is_ok()
        };
        assert!(is_one(0) && is_one(8) && is_one(8192 - 64));
        for at in [4, 8192 - 56, 8192, 1 << 40, u64::MAX - 7, u64::MAX] {
            assert!(!is_one(at), "{at}");
        }
    }
}
