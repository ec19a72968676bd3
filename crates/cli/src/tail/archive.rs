//! Follows an archive: its newest events, and those that are recorded later.

use timeline::dump::Durations;
use timeline::{Event, Order};
use timeline_archive::Archive;

use super::origin::{Look, Origin};
use crate::durations::{Pairing, events_with_edges};
use crate::failure::Result;
use crate::filters::Wanted;
use crate::growth::Growth;
use crate::health;
use crate::restart::Ended;

/// How many events are read before a signal is looked for.
const LOOKS: u64 = 4096;

/// Reads the events of one archive until no recorder writes any more.
pub struct Recorded<'a> {
    /// The newest, until they are taken.
    first: Option<Vec<Event>>,
    growth: Growth<'a>,
    wanted: Wanted<'a>,
    pairing: Pairing<'a>,
}

impl<'a> Recorded<'a> {
    /// Begins with the newest events that are asked for.
    pub fn new(archive: &'a Archive, origin: &'a Origin<'_>) -> Result<Recorded<'a>> {
        let first = newest(archive, origin);
        let mut pairing = Pairing::new(archive);
        // They have their durations. Those that begin among them may end later.
        for event in &first {
            pairing.note(event);
        }
        Ok(Recorded {
            first: Some(first),
            growth: Growth::of(archive)?,
            wanted: Wanted::new(origin.query, archive),
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
            place <= known || self.wanted.has(event)
        });
        Ok(Look {
            lacks,
            is_idle,
            end: (is_idle && !is_recorded).then_some(Ended::Done),
        })
    }
}

/// The important events and the newest others, oldest first; none if a signal came.
fn newest(archive: &Archive, origin: &Origin) -> Vec<Event> {
    let (mut events, mut are_shown) = events_with_edges(archive, Order::NewestFirst, origin.query);
    let mut left = origin.first.unwrap_or(usize::MAX);
    let mut is_among_newest = |event: &Event| {
        let is_among_newest = event.important || left > 0;
        left -= usize::from(is_among_newest && !event.important);
        is_among_newest
    };
    // All of a large archive is read if few of its events are wanted.
    let mut read = 0_u64;
    let mut is_ended = || {
        read += 1;
        read.is_multiple_of(LOOKS) && origin.signals.count() > 0
    };
    let all = Durations::new(archive, events.by_ref()).take_while(|_| !is_ended());
    let shown = all.filter(|event| are_shown.has(event));
    let mut newest: Vec<Event> = shown.take_while(|event| is_among_newest(event)).collect();
    if origin.signals.count() > 0 {
        return Vec::new();
    }
    let first = newest.iter().take_while(|event| event.important).count();
    newest[..first].reverse();
    newest[first..].reverse();
    health::report(&origin.path, archive, events.lost());
    newest
}
