//! Follows a timeline: its newest events, and those that are logged later, until it is replaced.

use timeline::{Attached, Event, Follow, FollowFrom};
use timeline_latency::Lack;
use timeline_reading::{Sieve, SpanPairer};

use super::origin::{PollResult, TailOrigin};
use crate::failure::Result;
use crate::restart::{FollowEnd, Restart};

/// Reads the events of one timeline until it ends.
pub struct RingTail<'a> {
    at: &'a Attached,
    follow: Follow<'a>,
    sieve: Sieve<'a>,
    pairing: SpanPairer<'a>,
    /// How many events to begin with, until they are found among those that the ring holds.
    first: Option<usize>,
    restart: Restart<'a>,
    next: Option<Attached>,
}

impl<'a> RingTail<'a> {
    /// Begins with the newest events that are asked for, or else with all of the ring.
    pub fn new(at: &'a Attached, origin: &'a TailOrigin<'_>) -> RingTail<'a> {
        let sieve = Sieve::new(origin.query, at);
        let from = match origin.first {
            None => FollowFrom::Start,
            Some(count) if sieve.wants_all() => FollowFrom::Newest(count),
            // Nobody knows how far back the newest wanted ones are.
            Some(1..) => FollowFrom::Oldest,
            Some(0) => FollowFrom::Now,
        };
        RingTail {
            at,
            follow: at.follow(from),
            first: origin.first.filter(|_| from == FollowFrom::Oldest),
            sieve,
            pairing: SpanPairer::new(at),
            restart: Restart::new(at, origin.log.path()),
            next: None,
        }
    }

    /// Appends new events to the batch, as far as they are wanted.
    pub fn look(&mut self, batch: &mut Vec<Event>) -> Result<PollResult> {
        // Before the last look, so that no event is left that was logged before this check.
        if !self.at.is_snapshot() && self.next.is_none() && self.restart.is_due() {
            self.next = self.restart.next();
        }
        let (missed, is_idle) = match self.first.take() {
            None => {
                let (_, missed, is_idle) = self.read_more(batch);
                (missed, is_idle)
            }
            Some(count) => self.read_first(count, batch),
        };
        self.at.intact()?;
        let end = match is_idle {
            true if self.next.is_some() => self.next.take().map(Box::new).map(FollowEnd::Replaced),
            true if self.at.is_snapshot() => Some(FollowEnd::Done),
            _ => None,
        };
        let lacks = if missed > 0 {
            vec![Lack::Unread(missed)]
        } else {
            Vec::new()
        };
        Ok(PollResult {
            lacks,
            is_idle,
            end,
        })
    }

    /// Appends new events to the batch, as far as they are wanted. Returns how many there were,
    /// how many entries were missed, and whether nothing was new.
    fn read_more(&mut self, batch: &mut Vec<Event>) -> (usize, u64, bool) {
        let known = batch.len();
        let missed = self.follow.poll(batch);
        let new = batch.len() - known;
        let read = batch[known..].iter_mut();
        read.for_each(|event| self.pairing.add(event));
        self.sieve.notice_renames();
        let mut place = 0;
        batch.retain(|event| {
            place += 1;
            place <= known || self.sieve.wants(event)
        });
        (new, missed, new == 0 && missed == 0)
    }

    /// Reads all that the ring holds now. Leaves the important events and the newest `count` others
    /// of the wanted ones in the batch. Returns how many entries were missed, and whether nothing
    /// was new.
    fn read_first(&mut self, count: usize, batch: &mut Vec<Event>) -> (u64, bool) {
        // A program that goes on logging would have it read forever. Where it logs so much that
        // some entries are never reached, as many others are enough.
        let held = self.follow.committed();
        let most = self.follow.left_of(&held);
        let (mut seen, mut all_missed) = (0, 0_u64);
        loop {
            let (new, missed, is_idle) = self.read_more(batch);
            all_missed = all_missed.saturating_add(missed);
            keep_newest(batch, count);
            seen = missed.saturating_add(seen).saturating_add(new as u64);
            let is_live = !self.at.is_snapshot();
            let has_all = is_live && (seen >= most || self.follow.left_of(&held) == 0);
            if is_idle || has_all {
                return (all_missed, is_idle);
            }
        }
    }
}

/// Leaves the important events and the newest `count` others.
fn keep_newest(events: &mut Vec<Event>, count: usize) {
    let others = events.iter().filter(|event| !event.important).count();
    let mut surplus = others.saturating_sub(count);
    events.retain(|event| {
        let is_kept = event.important || surplus == 0;
        surplus -= usize::from(!is_kept);
        is_kept
    });
}
