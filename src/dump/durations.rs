//! Adds to the events that end spans how long these took, in a stream of events, newest first.
//!
//! The begin of a span comes behind its end in such a stream, so events wait for it, in a list of
//! limited length.

use std::collections::{HashMap, VecDeque};

use crate::event::{Edge, Layout, Pairing, PerEvent, SpanKey};
use crate::source::{Event, Passage, Source, ThreadRef};

/// Events that wait at most. Longer spans have no duration.
const MOST_WAITING: usize = 1 << 16;

/// Events, newest first, with the durations of the spans that they end: [`Event::duration`].
///
/// A span has no duration if more than 65,536 events were logged before it ended, if its begin or
/// any entries after that are missing, or if spans of its thread do not nest. A duration that is
/// found here is the one that is found from oldest to newest.
pub struct DumpDurations<'a, I> {
    events: I,
    source: &'a dyn Source,
    /// By the number of the event, of those that are defined.
    parts: PerEvent<Option<Part>>,
    /// The spans by their names.
    spans: HashMap<String, u32>,
    waiting: VecDeque<Waiting>,
    /// How many events were returned.
    returned: u64,
    open: Open,
    /// That of the last event.
    passage: Passage,
    /// Whether there are spans at all.
    are_there: bool,
}

/// The part of a definition in a span.
struct Part {
    span: u32,
    edge: Edge,
    /// `None` for a span of one thread.
    key: Option<Layout>,
}

struct Waiting {
    event: Event,
    /// Whether its begin may still come.
    is_open: bool,
}

/// A thread, and its id in the kernel.
type Thread = (ThreadRef, u32);

/// An end: its span and its number.
type End = (u32, u64);

/// The numbers of the ends whose begins have not come yet.
#[derive(Default)]
struct Open {
    /// Of each thread that is known, the oldest end last.
    threads: HashMap<Thread, Option<Vec<End>>>,
    keys: HashMap<(u32, SpanKey), u64>,
}

impl<'a, I: Iterator<Item = Event>> DumpDurations<'a, I> {
    /// For the events of `source`, newest first.
    pub fn new(source: &'a dyn Source, events: I) -> DumpDurations<'a, I> {
        let mut definitions = source.definitions();
        DumpDurations {
            events,
            source,
            parts: PerEvent::new(),
            spans: HashMap::new(),
            waiting: VecDeque::new(),
            returned: 0,
            open: Open::default(),
            passage: Passage::default(),
            are_there: definitions.any(|definition| definition.span_part().is_some()),
        }
    }

    /// The events without their durations. Those that wait are not among them any more.
    pub fn get_ref(&self) -> &I {
        &self.events
    }

    /// Reads the next event into the list. Returns `false` at the end.
    fn read(&mut self) -> bool {
        let Some(event) = self.events.next() else {
            return false;
        };
        self.learn(&event);
        if !event.important && !event.passage.goes_on(self.passage) {
            self.give_up();
            self.passage = event.passage;
        }
        let number = self.returned + self.waiting.len() as u64;
        let is_open = !event.important && self.pair(&event, number);
        let has_gap = event.missed > 0;
        self.waiting.push_back(Waiting { event, is_open });
        if has_gap {
            self.give_up();
        }
        true
    }

    /// Looks at the definition of an event, unless it is known.
    fn learn(&mut self, event: &Event) {
        if self.parts.get(event.id).is_some() {
            return;
        }
        let Some(definition) = self.source.definition(event.id) else {
            return;
        };
        let part = definition.span_part().map(|part| {
            let next = self.spans.len() as u32;
            Part {
                span: *self.spans.entry(part.span).or_insert(next),
                edge: part.edge,
                key: (part.pairing == Pairing::Key).then(|| Layout::of(definition)),
            }
        });
        self.parts.insert(event.id, definition, part);
    }

    /// Notes an end, or finds the end of a begin. Returns whether it is an end that waits.
    fn pair(&mut self, event: &Event, number: u64) -> bool {
        let Some(Some(part)) = self.parts.get(event.id) else {
            return false;
        };
        let (span, edge) = (part.span, part.edge);
        let found = match &part.key {
            None => {
                let source = self.source;
                let thread = self.open.threads.entry((event.thread, event.tid));
                let thread = thread.or_insert_with(|| source.thread(event).map(|_| Vec::new()));
                let Some(ends) = thread else {
                    return false;
                };
                match edge {
                    Edge::End => {
                        ends.push((span, number));
                        return true;
                    }
                    Edge::Begin => {
                        let place = ends.iter().rposition(|end| end.0 == span);
                        match place {
                            None => None,
                            Some(place) if place + 1 == ends.len() => ends.pop(),
                            // Where spans do not nest, nobody knows yet which end is whose.
                            Some(_) => {
                                let open = std::mem::take(ends);
                                open.iter().for_each(|(_, end)| self.settle(*end, None));
                                None
                            }
                        }
                        .map(|(_, end)| end)
                    }
                }
            }
            Some(layout) => {
                let value = event.values(layout).next();
                let Some(key) = value.as_ref().and_then(SpanKey::of) else {
                    return false;
                };
                match edge {
                    Edge::End => {
                        // Of two ends, the older one is that of the begin.
                        let newer = self.open.keys.insert((span, key), number);
                        if let Some(newer) = newer {
                            self.settle(newer, None);
                        }
                        return true;
                    }
                    Edge::Begin => self.open.keys.remove(&(span, key)),
                }
            }
        };
        if let Some(end) = found {
            self.settle(end, Some(event));
        }
        false
    }

    /// Ends the waiting of an end, whose begin was found or will not be.
    fn settle(&mut self, end: u64, begin: Option<&Event>) {
        let place = end.checked_sub(self.returned);
        let waiting = place.and_then(|place| self.waiting.get_mut(place as usize));
        let Some(waiting) = waiting else {
            return;
        };
        waiting.is_open = false;
        let began = begin.and_then(|begin| self.source.time(begin));
        let ended = self.source.time(&waiting.event);
        let times = ended.zip(began);
        waiting.event.duration = times.and_then(|(ended, began)| ended.checked_sub(began));
    }

    /// Begins that come from here on may have other ends than those that wait.
    fn give_up(&mut self) {
        self.open.keys.clear();
        self.open.threads.clear();
        self.waiting
            .iter_mut()
            .for_each(|waiting| waiting.is_open = false);
    }
}

impl<I: Iterator<Item = Event>> Iterator for DumpDurations<'_, I> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        if !self.are_there {
            return self.events.next();
        }
        while self.waiting.len() < MOST_WAITING
            && self.waiting.front().is_none_or(|first| first.is_open)
        {
            if !self.read() {
                break;
            }
        }
        let first = self.waiting.pop_front()?;
        self.returned += 1;
        Some(first.event)
    }
}
