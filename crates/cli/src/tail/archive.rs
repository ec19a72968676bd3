//! Follows an archive: its newest events, and those that are recorded later.

use timeline::{Event, FollowFrom, Order};
use timeline_archive::Archive;
use timeline_reading::{LogFollow, LogMerge, Request, Sieve, SpanPairer};

use super::origin::{PollResult, TailOrigin};
use crate::failure::Result;
use crate::health;
use crate::restart::FollowEnd;

/// Reads the events of one archive until no recorder writes any more.
pub struct ArchiveTail<'a> {
    /// The newest, until they are taken.
    first: Option<Vec<Event>>,
    growth: LogFollow<'a>,
    sieve: Sieve<'a>,
    pairing: SpanPairer<'a>,
}

impl<'a> ArchiveTail<'a> {
    /// Begins with the newest events that are asked for.
    pub fn new(archive: &'a Archive, origin: &'a TailOrigin<'_>) -> Result<ArchiveTail<'a>> {
        let first = newest(origin)?;
        let mut pairing = SpanPairer::new(archive);
        // They have their durations. Those that begin among them may end later.
        for event in &first {
            pairing.note(event);
        }
        Ok(ArchiveTail {
            first: Some(first),
            growth: origin.log.follow(FollowFrom::Now)?,
            sieve: Sieve::new(origin.query, archive),
            pairing,
        })
    }

    /// Appends new events to the batch, as far as they are wanted.
    pub fn look(&mut self, batch: &mut Vec<Event>) -> Result<PollResult> {
        if let Some(first) = self.first.take() {
            batch.extend(first);
            return Ok(PollResult::default());
        }
        // Before the last look, so that no event is left that was recorded before this check.
        let is_recorded = self.growth.goes_on();
        let known = batch.len();
        let look = self.growth.look(batch)?;
        let new = batch[known..].iter_mut();
        new.for_each(|event| self.pairing.add(event));
        let mut place = 0;
        batch.retain(|event| {
            place += 1;
            place <= known || self.sieve.wants(event)
        });
        Ok(PollResult {
            lacks: look.lacks,
            is_idle: look.is_idle,
            end: (look.is_idle && !is_recorded).then_some(FollowEnd::Done),
        })
    }
}

/// The important events and the newest others, oldest first; none if a signal came.
fn newest(origin: &TailOrigin) -> Result<Vec<Event>> {
    // All of a large archive is read if few of its events are wanted.
    let is_cancelled = || origin.signals.count() > 0;
    let request = Request::new(Order::OldestFirst).query(origin.query);
    let request = request.with_durations().unless(&is_cancelled);
    let most = origin.first.unwrap_or(usize::MAX);
    let mut merge = LogMerge::new([&origin.log], request, Some(most));
    let newest: Vec<Event> = merge.by_ref().map(|one| one.event).collect();
    if is_cancelled() {
        return Ok(Vec::new());
    }
    merge.streams().try_for_each(health::report_stream)?;
    Ok(newest)
}
