//! Where a follower's events have holes around them: see [`Passage`].
//!
//! What a poll finds missing was logged after all that the poll before could read. So the hole
//! begins with the poll, and ends with the first entry behind the loss in its lane. Where a poll
//! may only give the oldest events, it knows losses that the next one will count.

use std::ops::Range;

use super::Chunk;
use crate::source::lane::Lane;
use crate::source::passage::{Passage, Passages};

/// The holes of the present poll.
#[derive(Default)]
pub struct PollHoles {
    /// Before these ticks the ring had lost entries when the follower began.
    start: u64,
    passages: Passages,
    /// Whether the present poll has a hole, and whether there was one before.
    is_there: bool,
    has_polled: bool,
    /// Entries that are missing and were not counted yet: lanes, and their numbers.
    pub ahead: Vec<(u32, Range<u64>)>,
}

impl PollHoles {
    /// The ring is complete since these ticks.
    pub fn begin_at(&mut self, ticks: u64) {
        self.start = ticks;
    }

    pub fn begin_poll(&mut self) {
        self.passages.since = self.start;
        self.is_there = self.start > 0 && !self.has_polled;
        self.has_polled = true;
    }

    /// Before which ticks the events of this poll are in a hole, if they are.
    pub fn until(&self) -> Option<u64> {
        self.is_there.then_some(self.passages.since)
    }

    /// Entries are missing before these ticks.
    pub fn end_at(&mut self, ticks: u64) {
        self.passages.miss_before(ticks);
        self.is_there = true;
    }

    #[inline]
    pub fn passage(&self, ticks: u64) -> Passage {
        self.passages.of(ticks)
    }

    /// Entries of a lane could not be copied.
    pub fn lack(&mut self, lane: u32, numbers: Range<u64>) {
        self.ahead.push((lane, numbers));
    }

    /// Notes what is missing before and behind these chunks, which are sorted by lane and age.
    pub fn note_ahead(&mut self, chunks: &[Chunk], lanes: &[Lane]) {
        let mut chunks = chunks.iter().peekable();
        for (number, lane) in (0..).zip(lanes) {
            let mut end = lane.next.unwrap_or(0);
            while let Some(chunk) = chunks.next_if(|chunk| chunk.lane == number) {
                if chunk.before > end {
                    self.ahead.push((number, end..chunk.before));
                }
                end = end.max(chunk.end());
            }
            if lane.until > end {
                self.ahead.push((number, end..lane.until));
            }
        }
    }

    /// Whether a lane is read up to a loss that is not counted yet: then all of this poll is in a
    /// hole.
    pub fn look_ahead(&mut self, lanes: &[Lane]) {
        let reaches = |(lane, numbers): &(u32, Range<u64>)| {
            let next = lanes[*lane as usize].next.unwrap_or(0);
            numbers.contains(&next)
        };
        if self.ahead.iter().any(reaches) {
            self.end_at(u64::MAX);
        }
    }
}
