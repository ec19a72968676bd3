//! For tests: a ring in plain memory that counts accesses.
//!
//! All is Relaxed: one thread has the ring.

use std::cell::Cell;

use proptest::prelude::*;

use super::{Storage, writer};
use crate::layout::words::{ChunkState, Cursor};
use crate::sync::{AtomicU64, Ordering};

/// A ring in plain memory.
#[derive(Debug)]
pub struct Plain {
    words: Vec<AtomicU64>,
    lanes: u32,
    chunks: u32,
    chunk_entries: u32,
    /// How often one of its words was accessed.
    pub looks: Cell<u64>,
}

impl Plain {
    /// A ring without entries.
    pub fn new(lanes: u32, chunks: u32, chunk_entries: u32) -> Plain {
        let count = 1 + lanes + 4 * chunks + 8 * chunks * chunk_entries;
        let words: Vec<_> = (0..count).map(|_| AtomicU64::new(0)).collect();
        let ring = Plain {
            words,
            lanes,
            chunks,
            chunk_entries,
            looks: Cell::new(0),
        };
        let (ticket, cursor) = writer::initial(&ring);
        ring.next_ticket().store(ticket, Ordering::Relaxed);
        (0..lanes).for_each(|lane| ring.cursor(lane).store(cursor, Ordering::Relaxed));
        ring
    }

    fn chunk_word(&self, chunk: u32, word: u32) -> &AtomicU64 {
        self.at(1 + self.lanes + 4 * chunk + word)
    }

    fn at(&self, place: u32) -> &AtomicU64 {
        self.looks.set(self.looks.get() + 1);
        &self.words[place as usize]
    }
}

impl Storage for Plain {
    type Word<'a> = &'a AtomicU64;

    fn chunk_entries(&self) -> u32 {
        self.chunk_entries
    }
    fn chunks(&self) -> u32 {
        self.chunks
    }
    fn lanes(&self) -> u32 {
        self.lanes
    }
    fn next_ticket(&self) -> &AtomicU64 {
        self.at(0)
    }
    fn cursor(&self, lane: u32) -> &AtomicU64 {
        self.at(1 + lane)
    }
    fn state(&self, chunk: u32) -> &AtomicU64 {
        self.chunk_word(chunk, 0)
    }
    fn before(&self, chunk: u32) -> &AtomicU64 {
        self.chunk_word(chunk, 1)
    }
    fn chunk_lane(&self, chunk: u32) -> &AtomicU64 {
        self.chunk_word(chunk, 2)
    }
    fn opened(&self, chunk: u32) -> &AtomicU64 {
        self.chunk_word(chunk, 3)
    }
    fn word(&self, chunk: u32, index: u32, word: usize) -> &AtomicU64 {
        let entry = chunk * self.chunk_entries + index;
        self.at(1 + self.lanes + 4 * self.chunks + 8 * entry + word as u32)
    }
}

/// Rings of words that are valid each, but seldom together.
pub fn damaged() -> impl Strategy<Value = Plain> {
    let chunk = (0..3u32, 0..48u64, 0..9u32, 0..60u64, 0..8u32, 0..4u32);
    let chunks =
        (1..5u32).prop_flat_map(move |shift| proptest::collection::vec(chunk.clone(), 1 << shift));
    let cursor = (0..48u64, 0..5u32);
    let lanes = proptest::collection::vec(cursor, 1..8);
    let ticks = proptest::collection::vec(0..1_000u64, 32);
    (chunks, lanes, ticks).prop_map(|(chunks, lanes, ticks)| {
        let ring = Plain::new(lanes.len() as u32, chunks.len() as u32, 4);
        let put = |word: &AtomicU64, value| word.store(value, Ordering::Relaxed);
        for (lane, (ticket, count)) in (0..).zip(lanes) {
            put(ring.cursor(lane), Cursor::new(ticket, count).0);
        }
        for (chunk, (kind, ticket, lane, before, wrote, opened)) in (0..).zip(chunks) {
            let ticket = ticket.next_multiple_of(ring.chunks.into()) + u64::from(chunk);
            assert_eq!(ring.chunk_of(ticket), chunk);
            put(
                ring.state(chunk),
                match kind {
                    0 => ChunkState::closed(ticket, lane.min(5)).0,
                    _ => ChunkState::open(ticket, lane).0,
                },
            );
            put(ring.before(chunk), before);
            put(ring.chunk_lane(chunk), wrote.into());
            put(
                ring.opened(chunk),
                if opened == 0 { ticket + 1 } else { ticket },
            );
            (0..4).for_each(|index| {
                put(
                    ring.word(chunk, index, 0),
                    ticks[(chunk * 3 + index) as usize % 32],
                )
            });
        }
        ring
    })
}
