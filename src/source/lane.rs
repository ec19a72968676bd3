//! How far a lane is read, and which of its entries are missing before the next event.

use super::chunk_loss::ChunkLoss;
use crate::ring::reader::Chunk;

/// Entries of a lane that were overwritten.
#[derive(Debug, Clone, Copy, Default)]
pub struct LaneLoss {
    /// Before the follower began.
    pub earlier: u64,
    /// Since then.
    pub unread: u64,
}

impl LaneLoss {
    /// Whether any are missing.
    pub fn is_any(&self) -> bool {
        self.unread > 0 || self.earlier > 0
    }
}

/// How far a lane is read.
#[derive(Clone, Copy)]
pub struct Lane {
    /// How many of its entries are read. `None` if it has entries, but was changing chunks each
    /// time we looked.
    pub next: Option<u64>,
    /// Up to which number this poll may read.
    pub until: u64,
    /// The entries missing before its next event.
    pub missing: LaneLoss,
}

impl Lane {
    /// Counts the entries missing before this number. Returns how many of them were overwritten
    /// since the follower began.
    pub fn miss(&mut self, lane: u32, end: u64, gone: &ChunkLoss) -> u64 {
        let next = self.next.unwrap_or(end);
        let gap = end.saturating_sub(next);
        if gap == 0 {
            return 0;
        }
        let earlier = gone.count(lane, next, end).min(gap);
        let missing = &mut self.missing;
        missing.earlier = missing.earlier.saturating_add(earlier);
        missing.unread = missing.unread.saturating_add(gap - earlier);
        gap - earlier
    }

    /// The part of a chunk that this poll may read, if any of it is unread.
    pub fn unread(&self, chunk: Chunk) -> Option<Chunk> {
        let chunk = chunk.up_to(Some(self.until))?;
        (chunk.end() > self.next.unwrap_or(0)).then_some(chunk)
    }
}
