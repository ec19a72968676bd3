//! Adds to the events that end spans how long these took, in a stream of events in either order.

use timeline::dump::DumpDurations;
use timeline::{Event, Order, Source};
use timeline_archive::Archive;

use super::pairing::SpanPairer;
use super::partial::PartialPairing;

/// Events in either order, with their durations if these are wanted.
pub enum WithDurations<'a, I> {
    /// Without durations.
    None(I),
    /// The newest first.
    Newest(Box<DumpDurations<'a, I>>),
    /// The oldest first.
    Oldest(I, Box<SpanPairer<'a>>),
    /// Some of an archive, the oldest first.
    Part(I, Box<PartialPairing<'a>>),
}

impl<'a, I: Iterator<Item = Event>> WithDurations<'a, I> {
    pub fn new(source: &'a dyn Source, order: Order, events: I) -> WithDurations<'a, I> {
        match order {
            Order::NewestFirst => {
                WithDurations::Newest(Box::new(DumpDurations::new(source, events)))
            }
            Order::OldestFirst => WithDurations::Oldest(events, Box::new(SpanPairer::new(source))),
        }
    }

    /// Events that are some of an archive, oldest first.
    pub fn of_part(archive: &'a Archive, events: I) -> WithDurations<'a, I> {
        WithDurations::Part(events, Box::new(PartialPairing::new(archive)))
    }

    /// The events without their durations.
    pub fn get_ref(&self) -> &I {
        match self {
            WithDurations::Newest(events) => events.get_ref(),
            WithDurations::None(events)
            | WithDurations::Oldest(events, _)
            | WithDurations::Part(events, _) => events,
        }
    }
}

impl<I: Iterator<Item = Event>> Iterator for WithDurations<'_, I> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        match self {
            WithDurations::None(events) => events.next(),
            WithDurations::Newest(events) => events.next(),
            WithDurations::Oldest(events, pairing) => {
                let mut event = events.next()?;
                pairing.add(&mut event);
                Some(event)
            }
            WithDurations::Part(events, pairing) => {
                let mut event = events.next()?;
                pairing.add(&mut event);
                Some(event)
            }
        }
    }
}
