//! The ring in shared memory: [`Storage`] over a mapped timeline whose bounds were checked before.

use std::ops::Range;
use std::sync::Arc;

use super::{Storage, important};
use crate::layout::records::{Chunk, Lane};
use crate::layout::words::Entry;
use crate::layout::{ENTRY_SIZE, ENTRY_WORDS, Geometry, Header};
use crate::shm::{Mapping, RecordAccess};
use crate::sync::{AtomicU64, Ordering};

/// The words of a mapped ring.
///
/// Copies of the pointers and masks that the hot path needs are side by side here, so that an
/// append touches one line of this and never the header.
#[derive(Clone)]
pub struct SharedRing {
    pub(super) entries: *const [AtomicU64; ENTRY_WORDS],
    pub(super) lanes: *const Lane,
    lane_stride: usize,
    chunk_shift: u32,
    chunk_mask: u32,
    lane_count: u32,
    chunks: *const Chunk,
    chunk_stride: usize,
    important: *const [AtomicU64; ENTRY_WORDS],
    important_entries: u32,
    header: *const Header,
    // Keeps the memory mapped.
    mapping: Arc<Mapping>,
}

// SAFETY: the pointers lead into a mapping that is kept alive here, and all access is by atomics.
unsafe impl Send for SharedRing {}
// SAFETY: as above.
unsafe impl Sync for SharedRing {}

impl SharedRing {
    /// The ring of a mapping whose geometry was checked against its length; `None` if it is not
    /// mapped.
    pub fn new(mapping: &Arc<Mapping>, geometry: &Geometry) -> Option<SharedRing> {
        Some(SharedRing {
            entries: mapping.first(geometry.entry())?,
            lanes: mapping.first(geometry.lane())?,
            lane_stride: geometry.lane().stride as usize,
            chunk_shift: geometry.chunk_entries.trailing_zeros(),
            chunk_mask: geometry.chunks - 1,
            lane_count: geometry.lanes(),
            chunks: mapping.first(geometry.chunk())?,
            chunk_stride: geometry.chunk().stride as usize,
            important: mapping.first(geometry.important())?,
            important_entries: geometry.important_entries(),
            header: mapping.header().shared(),
            mapping: Arc::clone(mapping),
        })
    }

    /// The mapping of the ring.
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    /// The header.
    #[inline(always)]
    pub fn header(&self) -> &Header {
        // SAFETY: the pointer is from `mapping`, which is kept.
        unsafe { &*self.header }
    }

    /// The record of a lane.
    #[inline(always)]
    pub fn lane(&self, lane: u32) -> &Lane {
        debug_assert!(lane < self.lane_count);
        // SAFETY: Geometry::load put lane_count records of this stride inside the mapping, aligned
        // to 8; lanes are below lane_count (checked where they are taken from shared memory).
        unsafe { &*self.lanes.byte_add(lane as usize * self.lane_stride) }
    }

    #[inline(always)]
    fn chunk(&self, chunk: u32) -> &Chunk {
        let index = (chunk & self.chunk_mask) as usize;
        // SAFETY: as for lanes; the mask keeps any number below the count of chunks.
        unsafe { &*self.chunks.byte_add(index * self.chunk_stride) }
    }

    #[inline(always)]
    fn entry(&self, chunk: u32, index: u32) -> &[AtomicU64; ENTRY_WORDS] {
        let mask = (1usize << self.chunk_shift) - 1;
        let first = ((chunk & self.chunk_mask) as usize) << self.chunk_shift;
        let entry = first + (index as usize & mask);
        // SAFETY: the masks keep the entry below the count of entries whatever the indices are;
        // Geometry::load put that many entries of 64 bytes inside the mapping.
        unsafe { &*self.entries.add(entry) }
    }
}

impl Storage for SharedRing {
    type Word<'a> = &'a AtomicU64;

    #[inline(always)]
    fn chunk_entries(&self) -> u32 {
        1 << self.chunk_shift
    }
    #[inline(always)]
    fn chunks(&self) -> u32 {
        self.chunk_mask + 1
    }
    #[inline(always)]
    fn lanes(&self) -> u32 {
        self.lane_count
    }
    fn next_ticket(&self) -> &AtomicU64 {
        &self.header().next_ticket
    }
    #[inline(always)]
    fn cursor(&self, lane: u32) -> &AtomicU64 {
        &self.lane(lane).cursor
    }
    fn state(&self, chunk: u32) -> &AtomicU64 {
        &self.chunk(chunk).state
    }
    fn before(&self, chunk: u32) -> &AtomicU64 {
        &self.chunk(chunk).before
    }
    fn chunk_lane(&self, chunk: u32) -> &AtomicU64 {
        &self.chunk(chunk).lane
    }
    fn opened(&self, chunk: u32) -> &AtomicU64 {
        &self.chunk(chunk).opened
    }
    fn prefetch(&self, chunk: u32) {
        #[cfg(target_arch = "x86_64")]
        for index in 0..PREFETCHED.min(self.chunk_entries()) {
            use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            // SAFETY: a hint, for an address inside the mapping; processors without it do nothing.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(self.word(chunk, index, 0).as_ptr().cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (chunk, PREFETCHED);
    }
    #[inline(always)]
    fn word(&self, chunk: u32, index: u32, word: usize) -> &AtomicU64 {
        &self.entry(chunk, index)[word % ENTRY_WORDS]
    }
}

impl important::ImportantRegion for SharedRing {
    type Word<'a> = &'a AtomicU64;

    fn capacity(&self) -> u32 {
        self.important_entries
    }
    fn taken(&self) -> &AtomicU64 {
        &self.header().important_taken
    }
    fn word(&self, index: u32, word: usize) -> &AtomicU64 {
        let index = index.min(self.important_entries - 1) as usize;
        // SAFETY: below the count of entries, which is at least 1, and which Geometry::load put
        // inside the mapping.
        let entry = unsafe { &*self.important.add(index) };
        &entry[word % ENTRY_WORDS]
    }
}

/// A ring for readers: mapped, or read piece by piece if others could cut the file short.
pub struct ReaderRing {
    mapped: Option<SharedRing>,
    mapping: Arc<Mapping>,
    geometry: Geometry,
}

impl ReaderRing {
    /// The ring of a mapping whose geometry was checked against its length.
    pub fn new(mapping: &Arc<Mapping>, geometry: &Geometry) -> ReaderRing {
        ReaderRing {
            mapped: SharedRing::new(mapping, geometry),
            mapping: Arc::clone(mapping),
            geometry: *geometry,
        }
    }

    /// The record of a lane.
    #[inline]
    pub fn lane(&self, lane: u32) -> RecordAccess<'_, Lane> {
        match &self.mapped {
            Some(ring) => RecordAccess::Mapped(ring.lane(lane)),
            None => self.mapping.record(self.geometry.lane().at(lane)),
        }
    }

    #[inline]
    fn chunk(&self, chunk: u32) -> RecordAccess<'_, Chunk> {
        match &self.mapped {
            Some(ring) => RecordAccess::Mapped(ring.chunk(chunk)),
            None => {
                let index = chunk & (self.geometry.chunks - 1);
                self.mapping.record(self.geometry.chunk().at(index))
            }
        }
    }

    /// The offset of an entry. The masks keep it inside of the ring, whatever the indices are.
    fn entry_at(&self, chunk: u32, index: u32) -> u64 {
        let size = u64::from(self.geometry.chunk_entries);
        let chunk = u64::from(chunk & (self.geometry.chunks - 1));
        let entry = chunk * size + (u64::from(index) & (size - 1));
        self.geometry.entry().offset + entry * ENTRY_SIZE
    }
}

impl super::Word for RecordAccess<'_, AtomicU64> {
    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.shared().store(value, order);
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.shared().fetch_add(value, order)
    }
    fn compare_exchange(
        &self,
        expected: u64,
        value: u64,
        done: Ordering,
        failed: Ordering,
    ) -> Result<u64, u64> {
        self.shared()
            .compare_exchange(expected, value, done, failed)
    }
}

impl Storage for ReaderRing {
    type Word<'a> = RecordAccess<'a, AtomicU64>;

    fn chunk_entries(&self) -> u32 {
        self.geometry.chunk_entries
    }
    fn chunks(&self) -> u32 {
        self.geometry.chunks
    }
    fn lanes(&self) -> u32 {
        self.geometry.lanes()
    }
    fn next_ticket(&self) -> RecordAccess<'_, AtomicU64> {
        self.mapping.header().field(|header| &header.next_ticket)
    }
    #[inline]
    fn cursor(&self, lane: u32) -> RecordAccess<'_, AtomicU64> {
        self.lane(lane).field(|lane| &lane.cursor)
    }
    #[inline]
    fn state(&self, chunk: u32) -> RecordAccess<'_, AtomicU64> {
        self.chunk(chunk).field(|chunk| &chunk.state)
    }
    #[inline]
    fn before(&self, chunk: u32) -> RecordAccess<'_, AtomicU64> {
        self.chunk(chunk).field(|chunk| &chunk.before)
    }
    #[inline]
    fn chunk_lane(&self, chunk: u32) -> RecordAccess<'_, AtomicU64> {
        self.chunk(chunk).field(|chunk| &chunk.lane)
    }
    #[inline]
    fn opened(&self, chunk: u32) -> RecordAccess<'_, AtomicU64> {
        self.chunk(chunk).field(|chunk| &chunk.opened)
    }
    #[inline]
    fn word(&self, chunk: u32, index: u32, word: usize) -> RecordAccess<'_, AtomicU64> {
        let entry: RecordAccess<'_, [AtomicU64; ENTRY_WORDS]> = match &self.mapped {
            Some(ring) => RecordAccess::Mapped(ring.entry(chunk, index)),
            None => self.mapping.record(self.entry_at(chunk, index)),
        };
        entry.field(|words| &words[word % ENTRY_WORDS])
    }
    fn entries(&self, chunk: u32, range: Range<u32>, out: &mut Vec<Entry>) {
        if let Some(ring) = &self.mapped {
            return ring.entries(chunk, range, out);
        }
        // All at once, by one system call.
        let mut bytes = vec![0; range.len() * ENTRY_SIZE as usize];
        self.mapping
            .read(self.entry_at(chunk, range.start), &mut bytes);
        let (entries, _) = bytes.as_chunks::<{ ENTRY_SIZE as usize }>();
        out.extend(entries.iter().map(entry));
    }
}

impl ReaderRing {
    /// The offset of an entry of important events.
    fn important_at(&self, index: u32) -> u64 {
        let index = index.min(self.geometry.important_entries() - 1);
        self.geometry.important().at(index)
    }
}

impl important::ImportantRegion for ReaderRing {
    type Word<'a> = RecordAccess<'a, AtomicU64>;

    fn capacity(&self) -> u32 {
        self.geometry.important_entries()
    }
    fn taken(&self) -> RecordAccess<'_, AtomicU64> {
        self.mapping
            .header()
            .field(|header| &header.important_taken)
    }
    fn word(&self, index: u32, word: usize) -> RecordAccess<'_, AtomicU64> {
        let entry: RecordAccess<'_, [AtomicU64; ENTRY_WORDS]> =
            self.mapping.record(self.important_at(index));
        entry.field(|words| &words[word % ENTRY_WORDS])
    }
    fn copy(&self, index: u32) -> Entry {
        if let Some(ring) = &self.mapped {
            return important::ImportantRegion::copy(ring, index);
        }
        // All at once, by one system call.
        let mut bytes = [0; ENTRY_SIZE as usize];
        self.mapping.read(self.important_at(index), &mut bytes);
        entry(&bytes)
    }
}

/// The words of an entry.
fn entry(bytes: &[u8; ENTRY_SIZE as usize]) -> Entry {
    let (words, _) = bytes.as_chunks::<8>();
    Entry(std::array::from_fn(|i| u64::from_le_bytes(words[i])))
}

/// Entries at the beginning of a chunk that are prefetched when it is taken. The processor detects
/// the sequence by itself, but only after some entries; without this, each of those is a cache miss
/// (docs/performance.md).
const PREFETCHED: u32 = 16;
