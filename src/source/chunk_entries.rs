//! Entries of one chunk, among those of a poll.

use super::lane::LaneLoss;
use crate::layout::words::Entry;

/// Entries of one chunk.
pub struct ChunkEntries {
    /// The lane of the chunk.
    pub lane: u32,
    /// The index of the first among those of the poll.
    pub start: usize,
    /// The number of the first in its lane.
    pub first: u64,
    /// How many there are.
    pub count: usize,
    /// The entries missing before its first event.
    pub missing: LaneLoss,
}

impl ChunkEntries {
    /// The entries, among those of the poll.
    pub fn entries<'e>(&self, all: &'e [Entry]) -> &'e [Entry] {
        &all[self.start..][..self.count]
    }
    /// The number in its lane of the entry with this index among those of the poll.
    pub fn number(&self, at: usize) -> u64 {
        self.first.saturating_add((at - self.start) as u64)
    }
}
