//! Important events: all of them, or those that came since.
//!
//! An event is in the region once, so its number there is its name for ever. A reader that has
//! looked at an entry without ticks looks at it again, because its writer may only have been
//! interrupted; a reader that is not to come back passes over it.

use super::groups::Groups;
use super::{Event, PlacedEvent};
use crate::layout::words::{Entry, IMPORTANT_LANE};
use crate::ring::important::{self, ImportantRegion};
use crate::segment::TimelineMapping;

/// How far the important events of a timeline are read.
#[derive(Default)]
pub struct Important {
    /// Entries below this were looked at.
    next: u32,
    /// Those of them that were not written by then.
    unwritten: Vec<u32>,
}

/// The important events that a timeline has now, in the order of time.
pub fn all(segment: &TimelineMapping) -> Vec<PlacedEvent> {
    let mut found = Vec::new();
    Important::default().poll(segment, &mut found);
    found
}

/// The entries of the important events that a timeline has now, each with its number. Entries that
/// were not written are left out.
pub fn entries(segment: &TimelineMapping) -> Vec<(u32, Vec<Entry>)> {
    let ring = &segment.ring;
    let events = (0..important::taken(ring)).filter_map(|index| event(segment, index));
    events.collect()
}

/// The entries of the event that begins at `index`. `None` if no event begins there, or if it was
/// not committed yet.
fn event(segment: &TimelineMapping, index: u32) -> Option<(u32, Vec<Entry>)> {
    let ring = &segment.ring;
    let first = important::entry(ring, index)?;
    if first.event() == 0 || first.is_continuation() {
        return None;
    }
    // Bounded, because other processes write this memory.
    let end = index.saturating_add(first.slots().into());
    let rest = (index + 1..end.min(ring.capacity())).map(|index| ring.copy(index));
    let entries: Vec<Entry> = std::iter::once(first).chain(rest).collect();
    let taken = Groups::new(&entries).next()?.rest.len() + 1;
    Some((index, entries[..taken].to_vec()))
}

impl Important {
    /// Leaves out the events with these numbers, which the caller has already.
    pub fn leave_out(&mut self, segment: &TimelineMapping, is_known: impl Fn(u64) -> bool) {
        self.next = important::taken(&segment.ring);
        self.unwritten = (0..self.next)
            .filter(|index| !is_known(u64::from(*index)))
            .collect();
    }

    /// Appends the events that were committed since the last call, in the order of time.
    pub fn poll(&mut self, segment: &TimelineMapping, out: &mut Vec<PlacedEvent>) {
        let start = out.len();
        let ring = &segment.ring;
        let taken = important::taken(ring);
        let mut unwritten = std::mem::take(&mut self.unwritten);
        unwritten.extend(self.next..taken);
        self.next = self.next.max(taken);
        unwritten.retain(|index| {
            if important::entry(ring, *index).is_none() {
                return true;
            }
            out.extend(event(segment, *index).and_then(|found| placed(segment, found)));
            false
        });
        self.unwritten = unwritten;
        out[start..].sort_by_key(|placed| placed.event.ticks);
    }

    /// Up to which entry the timeline was read.
    pub fn next(&self) -> u64 {
        self.next.into()
    }
}

/// The event of these entries.
pub fn read(segment: &TimelineMapping, entries: &[Entry]) -> Option<Event> {
    let group = Groups::new(entries).next()?;
    Some(Event {
        important: true,
        ..Event::read(segment, &group)
    })
}

fn placed(segment: &TimelineMapping, (index, entries): (u32, Vec<Entry>)) -> Option<PlacedEvent> {
    Some(PlacedEvent {
        event: read(segment, &entries)?,
        lane: IMPORTANT_LANE,
        number: index.into(),
        next: u64::from(index) + entries.len() as u64,
        missed: 0,
    })
}
