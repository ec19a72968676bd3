//! Adds to the events that end spans how long these took, in a stream of events in either order.

use std::sync::LazyLock;

use timeline::dump::Durations;
use timeline::{Event, Order, Source};
use timeline_latency::{Matcher, Measure};

static SPANS: LazyLock<[Measure; 1]> = LazyLock::new(|| [Measure::Spans("*".into())]);

/// Pairs the spans of one source, oldest first.
pub struct Pairing<'a>(Matcher<'a>);

impl<'a> Pairing<'a> {
    pub fn new(source: &'a dyn Source) -> Pairing<'a> {
        Pairing(Matcher::new(&*SPANS, source))
    }

    /// Takes the next event, and gives it its duration if it ends a span.
    pub fn add(&mut self, event: &mut Event) {
        event.duration = self.note(event);
    }

    /// Takes the next event. Returns its duration if it ends a span.
    pub fn note(&mut self, event: &Event) -> Option<u64> {
        let mut duration = None;
        self.0.add(event, |found| duration = Some(found.value));
        duration
    }
}

/// Events in either order, with their durations.
pub enum Paired<'a, I> {
    /// The newest first.
    Newest(Box<Durations<'a, I>>),
    /// The oldest first.
    Oldest(I, Box<Pairing<'a>>),
}

impl<'a, I: Iterator<Item = Event>> Paired<'a, I> {
    pub fn new(source: &'a dyn Source, order: Order, events: I) -> Paired<'a, I> {
        match order {
            Order::NewestFirst => Paired::Newest(Box::new(Durations::new(source, events))),
            Order::OldestFirst => Paired::Oldest(events, Box::new(Pairing::new(source))),
        }
    }

    /// The events without their durations.
    pub fn get_ref(&self) -> &I {
        match self {
            Paired::Newest(events) => events.get_ref(),
            Paired::Oldest(events, _) => events,
        }
    }
}

impl<I: Iterator<Item = Event>> Iterator for Paired<'_, I> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        match self {
            Paired::Newest(events) => events.next(),
            Paired::Oldest(events, pairing) => {
                let mut event = events.next()?;
                pairing.add(&mut event);
                Some(event)
            }
        }
    }
}
