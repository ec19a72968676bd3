//! New events as they come, with an exact account of those that were overwritten unread.
//!
//! Every event has a place in the count of its lane: the chunk says how many its lane committed before
//! it. A follower remembers the next place for each lane. A lane never loses its current chunk, so what
//! is not there any more is known to the last event.

use super::Event;
use crate::layout::words::Entry;
use crate::ring::Storage;
use crate::ring::reader::{self, Chunk};
use crate::segment::Segment;

/// Where a follower starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// With the oldest event that is still there.
    Oldest,
    /// With the first event from now on.
    Now,
}

/// Follows a live ring.
pub struct Follow<'a> {
    segment: &'a Segment,
    /// For each lane, how many of its events are behind us.
    next: Vec<u64>,
    missed: u64,
    fresh: Vec<Chunk>,
    entries: Vec<Entry>,
}

impl<'a> Follow<'a> {
    pub(crate) fn new(segment: &'a Segment, from: From) -> Follow<'a> {
        let ring = &segment.ring;
        let mut next = vec![None; ring.lanes() as usize];
        for chunk in (0..ring.chunks()).filter_map(|c| reader::inspect(ring, c)) {
            let place = &mut next[chunk.lane as usize];
            let here = match from {
                From::Oldest => chunk.before,
                From::Now => chunk.before.saturating_add(chunk.count.into()),
            };
            *place = Some(match (*place, from) {
                (None, _) => here,
                (Some(there), From::Oldest) => here.min(there),
                (Some(there), From::Now) => here.max(there),
            });
        }
        Follow {
            segment,
            next: next.into_iter().map(Option::unwrap_or_default).collect(),
            missed: 0,
            fresh: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// How many events have been missed since the start.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Appends what was committed since the last call to `out`, sorted by time; returns how many events
    /// were overwritten before this call could read them. Does not wait.
    ///
    /// An event can be a little older than the last one of the call before, if its writer was
    /// interrupted between reading the clock and committing it.
    pub fn poll(&mut self, out: &mut Vec<Event>) -> u64 {
        let ring = &self.segment.ring;
        let next = &self.next;
        self.fresh.clear();
        self.fresh.extend(
            (0..ring.chunks())
                .filter_map(|chunk| reader::inspect(ring, chunk))
                .filter(|c| c.before.saturating_add(c.count.into()) > next[c.lane as usize]),
        );
        self.fresh.sort_by_key(|c| (c.lane, c.before));
        let missed_before = self.missed;
        self.entries.clear();
        for chunk in &self.fresh {
            let next = &mut self.next[chunk.lane as usize];
            if chunk.before > *next {
                self.missed = self.missed.saturating_add(chunk.before - *next);
                *next = chunk.before;
            }
            let from = u32::try_from(*next - chunk.before).unwrap_or(u32::MAX);
            // If it is gone, its lane has gone on, and the next poll finds by how much.
            if reader::copy(ring, chunk, from, &mut self.entries).is_ok() {
                *next = chunk.before.saturating_add(chunk.count.into());
            }
        }
        let segment = self.segment;
        let start = out.len();
        out.extend(
            self.entries
                .iter()
                .map(|e| Event::new(e, segment.node(e.core()))),
        );
        out[start..].sort_by_key(|e| e.ticks);
        self.missed - missed_before
    }
}
