//! The ring in shared memory: [`Storage`] over a mapped timeline, with the bounds settled
//! beforehand.

use std::ops::Range;
use std::sync::Arc;

use super::Storage;
use crate::layout::words::Entry;
use crate::layout::{ENTRY_SIZE, Geometry, header, records};
use crate::shm::{self, Mapping};
use crate::sync::{AtomicU64, Ordering};

/// The words of a mapped ring.
///
/// Copies of the pointers and masks that the hot path needs stand side by side here, so that an
/// append touches one line of this and never the header.
#[derive(Clone)]
pub struct Shared {
    entries: *mut u8,
    lanes: *mut u8,
    lane_stride: usize,
    chunk_shift: u32,
    chunk_mask: u32,
    lane_count: u32,
    chunks: *mut u8,
    chunk_stride: usize,
    next_ticket: *mut u8,
    // Keeps the memory mapped.
    mapping: Arc<Mapping>,
}

// SAFETY: the pointers lead into a mapping that is kept alive here, and all access is by atomics.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// The ring of a mapping whose geometry was checked against its length; `None` of what is not
    /// mapped.
    pub fn new(mapping: &Arc<Mapping>, geometry: &Geometry) -> Option<Shared> {
        let base = mapping.base()?;
        assert!(geometry.total <= mapping.len());
        let at = |offset: u64| {
            assert!(offset < geometry.total);
            // SAFETY: inside the mapping, as the assertions say.
            unsafe { base.add(offset as usize) }
        };
        Some(Shared {
            entries: at(geometry.entry().offset),
            lanes: at(geometry.lane().offset),
            lane_stride: geometry.lane().stride as usize,
            chunk_shift: geometry.chunk_entries.trailing_zeros(),
            chunk_mask: geometry.chunks - 1,
            lane_count: geometry.lanes(),
            chunks: at(geometry.chunk().offset),
            chunk_stride: geometry.chunk().stride as usize,
            next_ticket: at(header::NEXT_TICKET),
            mapping: Arc::clone(mapping),
        })
    }

    /// The mapping behind it.
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    #[inline(always)]
    fn lane_word(&self, lane: u32, offset: u64) -> &AtomicU64 {
        debug_assert!(lane < self.lane_count);
        // SAFETY: Geometry::load put lane_count records of this stride inside the mapping, aligned
        // to 8; lanes are below lane_count (checked where they are taken from shared memory).
        unsafe {
            let record = self.lanes.add(lane as usize * self.lane_stride);
            AtomicU64::from_ptr(record.add(offset as usize).cast())
        }
    }

    #[inline(always)]
    fn chunk_word(&self, chunk: u32, offset: u64) -> &AtomicU64 {
        // SAFETY: as for lanes; the mask keeps any number below the count of chunks.
        unsafe {
            let index = (chunk & self.chunk_mask) as usize;
            let record = self.chunks.add(index * self.chunk_stride);
            AtomicU64::from_ptr(record.add(offset as usize).cast())
        }
    }

    /// Who owns a lane.
    pub fn owner(&self, lane: u32) -> &AtomicU64 {
        self.lane_word(lane, records::lane::OWNER)
    }

    /// Events dropped because they came from a signal handler in the middle of an append.
    pub fn interrupted(&self, lane: u32) -> &AtomicU64 {
        self.lane_word(lane, records::lane::INTERRUPTED)
    }
}

impl Storage for Shared {
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
        // SAFETY: a field of the header, which lies inside the mapping and is aligned to 8.
        unsafe { AtomicU64::from_ptr(self.next_ticket.cast()) }
    }
    #[inline(always)]
    fn cursor(&self, lane: u32) -> &AtomicU64 {
        self.lane_word(lane, records::lane::CURSOR)
    }
    fn state(&self, chunk: u32) -> &AtomicU64 {
        self.chunk_word(chunk, records::chunk::STATE)
    }
    fn before(&self, chunk: u32) -> &AtomicU64 {
        self.chunk_word(chunk, records::chunk::BEFORE)
    }
    fn chunk_lane(&self, chunk: u32) -> &AtomicU64 {
        self.chunk_word(chunk, records::chunk::LANE)
    }
    fn opened(&self, chunk: u32) -> &AtomicU64 {
        self.chunk_word(chunk, records::chunk::OPENED)
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
        let mask = (1usize << self.chunk_shift) - 1;
        let first = ((chunk & self.chunk_mask) as usize) << self.chunk_shift;
        let entry = first + (index as usize & mask);
        // SAFETY: the masks keep the entry below the count of entries whatever the indices are, and
        // the word below eight; Geometry::load put that many entries of 64 bytes inside the
        // mapping.
        unsafe {
            let place = self.entries.add(entry * ENTRY_SIZE as usize);
            AtomicU64::from_ptr(place.add((word & 7) * 8).cast())
        }
    }
}

/// A ring as a reader sees it: mapped, or read piece by piece where others could cut the file
/// short.
pub struct Observed {
    mapped: Option<Shared>,
    mapping: Arc<Mapping>,
    geometry: Geometry,
}

impl Observed {
    /// The ring of a mapping whose geometry was checked against its length.
    pub fn new(mapping: &Arc<Mapping>, geometry: &Geometry) -> Observed {
        Observed {
            mapped: Shared::new(mapping, geometry),
            mapping: Arc::clone(mapping),
            geometry: *geometry,
        }
    }

    /// Who owns a lane.
    pub fn owner(&self, lane: u32) -> shm::Word<'_, AtomicU64> {
        self.lane_word(lane, records::lane::OWNER)
    }

    /// Events dropped because they came from a signal handler in the middle of an append.
    pub fn interrupted(&self, lane: u32) -> shm::Word<'_, AtomicU64> {
        self.lane_word(lane, records::lane::INTERRUPTED)
    }

    /// How many entries a lane had committed, in a snapshot; 0 in a live ring.
    pub fn saved(&self, lane: u32) -> shm::Word<'_, AtomicU64> {
        self.lane_word(lane, records::lane::SAVED)
    }

    fn lane_word(&self, lane: u32, offset: u64) -> shm::Word<'_, AtomicU64> {
        let lanes = self.geometry.lane();
        self.mapping
            .u64(lanes.offset + u64::from(lane) * lanes.stride + offset)
    }

    fn chunk_word(&self, chunk: u32, offset: u64) -> shm::Word<'_, AtomicU64> {
        let chunks = self.geometry.chunk();
        let index = u64::from(chunk & (self.geometry.chunks - 1));
        self.mapping
            .u64(chunks.offset + index * chunks.stride + offset)
    }

    /// Where an entry stands. The masks keep it inside of the ring, whatever the indices are.
    fn entry_at(&self, chunk: u32, index: u32) -> u64 {
        let size = u64::from(self.geometry.chunk_entries);
        let chunk = u64::from(chunk & (self.geometry.chunks - 1));
        let entry = chunk * size + (u64::from(index) & (size - 1));
        self.geometry.entry().offset + entry * ENTRY_SIZE
    }
}

impl super::Word for shm::Word<'_, AtomicU64> {
    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.fetch_add(value, order)
    }
    fn compare_exchange(
        &self,
        expected: u64,
        value: u64,
        done: Ordering,
        failed: Ordering,
    ) -> Result<u64, u64> {
        self.compare_exchange(expected, value, done, failed)
    }
}

impl Storage for Observed {
    type Word<'a> = shm::Word<'a, AtomicU64>;

    fn chunk_entries(&self) -> u32 {
        self.geometry.chunk_entries
    }
    fn chunks(&self) -> u32 {
        self.geometry.chunks
    }
    fn lanes(&self) -> u32 {
        self.geometry.lanes()
    }
    fn next_ticket(&self) -> shm::Word<'_, AtomicU64> {
        self.mapping.u64(header::NEXT_TICKET)
    }
    #[inline]
    fn cursor(&self, lane: u32) -> shm::Word<'_, AtomicU64> {
        match &self.mapped {
            Some(ring) => shm::Word::Mapped(ring.cursor(lane)),
            None => self.lane_word(lane, records::lane::CURSOR),
        }
    }
    #[inline]
    fn state(&self, chunk: u32) -> shm::Word<'_, AtomicU64> {
        match &self.mapped {
            Some(ring) => shm::Word::Mapped(ring.state(chunk)),
            None => self.chunk_word(chunk, records::chunk::STATE),
        }
    }
    #[inline]
    fn before(&self, chunk: u32) -> shm::Word<'_, AtomicU64> {
        match &self.mapped {
            Some(ring) => shm::Word::Mapped(ring.before(chunk)),
            None => self.chunk_word(chunk, records::chunk::BEFORE),
        }
    }
    #[inline]
    fn chunk_lane(&self, chunk: u32) -> shm::Word<'_, AtomicU64> {
        match &self.mapped {
            Some(ring) => shm::Word::Mapped(ring.chunk_lane(chunk)),
            None => self.chunk_word(chunk, records::chunk::LANE),
        }
    }
    fn opened(&self, chunk: u32) -> shm::Word<'_, AtomicU64> {
        self.chunk_word(chunk, records::chunk::OPENED)
    }
    #[inline]
    fn word(&self, chunk: u32, index: u32, word: usize) -> shm::Word<'_, AtomicU64> {
        match &self.mapped {
            Some(ring) => shm::Word::Mapped(ring.word(chunk, index, word)),
            None => self
                .mapping
                .u64(self.entry_at(chunk, index) + (word as u64 & 7) * 8),
        }
    }
    fn entries(&self, chunk: u32, range: Range<u32>, out: &mut Vec<Entry>) {
        if let Some(ring) = &self.mapped {
            return ring.entries(chunk, range, out);
        }
        // All at once, by one system call.
        let mut bytes = vec![0; range.len() * ENTRY_SIZE as usize];
        self.mapping
            .read(self.entry_at(chunk, range.start), &mut bytes);
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let (entries, _) = bytes.as_chunks::<{ ENTRY_SIZE as usize }>();
        out.extend(entries.iter().map(|entry| {
            let (words, _) = entry.as_chunks::<8>();
            Entry(std::array::from_fn(|i| word(&words[i])))
        }));
    }
}

/// Entries at the beginning of a chunk that are fetched when it is taken. The processor sees by
/// itself that one comes after the other, but only after some; without this, each of those is a
/// miss of its own (docs/performance.md).
const PREFETCHED: u32 = 16;
