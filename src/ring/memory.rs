//! The ring in shared memory: [`Storage`] over a mapped timeline, with the bounds settled beforehand.

use std::sync::Arc;

use super::Storage;
use crate::layout::{ENTRY_SIZE, Geometry, header, records};
use crate::shm::Mapping;
use crate::sync::AtomicU64;

/// The words of a mapped ring.
///
/// Copies of the pointers and masks that the hot path needs stand side by side here, so that an append
/// touches one line of this and never the header.
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
    /// The ring of a mapping whose geometry was checked against its length.
    pub fn new(mapping: &Arc<Mapping>, geometry: &Geometry) -> Shared {
        assert!(geometry.total <= mapping.len());
        let at = |offset: u64| {
            assert!(offset < geometry.total);
            // SAFETY: inside the mapping, as the assertions say.
            unsafe { mapping.base().add(offset as usize) }
        };
        Shared {
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
        }
    }

    /// The mapping behind it.
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    #[inline(always)]
    fn lane_word(&self, lane: u32, offset: u64) -> &AtomicU64 {
        debug_assert!(lane < self.lane_count);
        // SAFETY: Geometry::load put lane_count records of this stride inside the mapping, aligned to
        // 8; lanes are below lane_count (checked where they are taken from shared memory).
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
        // SAFETY: the masks keep the entry below the count of entries whatever the indices are, and the
        // word below eight; Geometry::load put that many entries of 64 bytes inside the mapping.
        unsafe {
            let place = self.entries.add(entry * ENTRY_SIZE as usize);
            AtomicU64::from_ptr(place.add((word & 7) * 8).cast())
        }
    }
}

/// Entries at the beginning of a chunk that are fetched when it is taken. The processor sees by itself that one comes
/// after the other, but only after some; without this, each of those is a miss of its own (docs/performance.md).
const PREFETCHED: u32 = 16;
