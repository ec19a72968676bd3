//! Counts the entries that a follower has missed, and those that it has yet to read.

use super::super::lane::{Lane, LaneLoss};
use super::Follow;
use crate::ring::important;
use crate::source;

impl Follow<'_> {
    /// How many entries were overwritten unread since the start: an event takes one, or several
    /// with a payload. Entries that fill up a chunk count as well.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How many entries were overwritten before a follower began that starts with
    /// [`FollowFrom::Oldest`](super::FollowFrom::Oldest). They do not count as
    /// [missed](Follow::missed).
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// The entries missing after the last event of each lane: the lane, its next number, how many
    /// were overwritten unread since the follower began, and how many before.
    pub fn untold(&self) -> Vec<(u32, u64, u64, u64)> {
        let lanes = (0..).zip(&self.lanes);
        let untold = lanes.map(|(number, lane)| {
            let LaneLoss { earlier, unread } = lane.missing;
            (number, lane.next.unwrap_or(0), unread, earlier)
        });
        untold.filter(|(.., unread, _)| *unread > 0).collect()
    }

    /// How many entries were committed and not polled yet, including those overwritten since.
    pub fn unread(&self) -> u64 {
        let unread = |(lane, committed): (&Lane, Option<u64>)| {
            let committed = committed?;
            Some(committed.saturating_sub(lane.next.unwrap_or(committed)))
        };
        let committed = (self.segment).look(|| source::committed(&self.segment.ring));
        let lanes = self.lanes.iter().zip(committed);
        let unread = lanes.filter_map(unread).fold(0, u64::saturating_add);
        unread.saturating_add(self.taken().saturating_sub(self.important.next()))
    }

    /// How many entries of important events were taken.
    fn taken(&self) -> u64 {
        important::taken(&self.segment.ring).into()
    }

    /// How many entries each lane has committed; 0 if that is not known. Behind the lanes, how many
    /// entries of important events were taken.
    pub fn committed(&self) -> Vec<u64> {
        let committed = (self.segment).look(|| source::committed(&self.segment.ring));
        let lanes = committed.into_iter().map(Option::unwrap_or_default);
        lanes.chain([self.taken()]).collect()
    }

    /// How many of the entries that [`Follow::committed`] counted are still to be read.
    pub fn left_of(&self, committed: &[u64]) -> u64 {
        let lanes = self.lanes.iter().map(|lane| lane.next);
        let next = lanes.chain([Some(self.important.next())]);
        let left = committed.iter().zip(next);
        let left = left.map(|(until, next)| until.saturating_sub(next.unwrap_or(*until)));
        left.fold(0, u64::saturating_add)
    }
}
