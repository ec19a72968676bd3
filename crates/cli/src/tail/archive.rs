//! Follows an archive: its newest events, and those that are recorded later.

use timeline::{Event, Order};
use timeline_archive::Archive;
use timeline_reading::{Merge, Pairing, Request, Sieve};

use super::origin::{Look, Origin};
use crate::failure::Result;
use crate::growth::Growth;
use crate::health;
use crate::restart::Ended;

/// Reads the events of one archive until no recorder writes any more.
pub struct Recorded<'a> {
    /// The newest, until they are taken.
    first: Option<Vec<Event>>,
    growth: Growth<'a>,
    sieve: Sieve<'a>,
    pairing: Pairing<'a>,
}

impl<'a> Recorded<'a> {
    /// Begins with the newest events that are asked for.
    pub fn new(archive: &'a Archive, origin: &'a Origin<'_>) -> Result<Recorded<'a>> {
        let first = newest(origin)?;
        let mut pairing = Pairing::new(archive);
        // They have their durations. Those that begin among them may end later.
        for event in &first {
            pairing.note(event);
        }
        Ok(Recorded {
            first: Some(first),
            growth: Growth::of(archive)?,
            sieve: Sieve::new(origin.query, archive),
            pairing,
        })
    }

    /// Appends new events to the batch, as far as they are wanted.
    pub fn look(&mut self, batch: &mut Vec<Event>) -> Result<Look> {
        if let Some(first) = self.first.take() {
            batch.extend(first);
            return Ok(Look::default());
        }
        // Before the last look, so that no event is left that was recorded before this check.
        let is_recorded = self.growth.is_recorded();
        let known = batch.len();
        let lacks = self.growth.poll(batch)?;
        let is_idle = batch.len() == known && lacks.is_empty();
        let new = batch[known..].iter_mut();
        new.for_each(|event| self.pairing.add(event));
        let mut place = 0;
        batch.retain(|event| {
            place += 1;
            place <= known || self.sieve.wants(event)
        });
        Ok(Look {
            lacks,
            is_idle,
            end: (is_idle && !is_recorded).then_some(Ended::Done),
        })
    }
}

/// The important events and the newest others, oldest first; none if a signal came.
fn newest(origin: &Origin) -> Result<Vec<Event>> {
    // All of a large archive is read if few of its events are wanted.
    let is_cancelled = || origin.signals.count() > 0;
    let request = Request::new(Order::OldestFirst).query(origin.query);
    let request = request.with_durations().unless(&is_cancelled);
    let most = origin.first.unwrap_or(usize::MAX);
    let mut merge = Merge::new([&origin.log], request, Some(most));
    let newest: Vec<Event> = merge.by_ref().map(|one| one.event).collect();
    if is_cancelled() {
        return Ok(Vec::new());
    }
    merge.streams().try_for_each(health::report_stream)?;
    Ok(newest)
}
