//! The events inside of some spans: those of the thread of each, or of its key.

use std::collections::HashMap;

use timeline::internal::SpanKey;
use timeline::{Event, EventId, Layout, Order, Source, ThreadRef};
use timeline_archive::UnitInfo;
use timeline_latency::{Measurement, Series};
use timeline_reading::{Log, Request, SpanPairer};
use timeline_search::PageSelection;

use crate::failure::Result;
use crate::health;

/// The events inside of spans.
pub struct Inside<'a> {
    source: &'a dyn Source,
    series: &'a [Series],
    spans: &'a [Measurement],
    /// The events of each span, and how many more there are.
    pub events: Vec<(Vec<Event>, u64)>,
    most: usize,
    /// The numbers of the spans of each thread.
    threads: HashMap<(ThreadRef, u32), Vec<usize>>,
    /// The numbers of the spans that have a key.
    keyed: Vec<usize>,
    /// Of each definition and name of a key, where the key is.
    keys: HashMap<(EventId, usize), Option<(Layout, usize)>>,
}

impl<'a> Inside<'a> {
    pub fn new(
        log: &'a Log,
        series: &'a [Series],
        spans: &'a [Measurement],
        most: usize,
    ) -> Inside<'a> {
        let mut threads = HashMap::<_, Vec<usize>>::new();
        let mut keyed = Vec::new();
        for (number, span) in spans.iter().enumerate() {
            match span.key {
                Some(_) => keyed.push(number),
                None => {
                    let thread = threads.entry((span.thread, span.tid));
                    thread.or_default().push(number);
                }
            }
        }
        Inside {
            source: log.source(),
            series,
            spans,
            events: vec![(Vec::new(), 0); spans.len()],
            most,
            threads,
            keyed,
            keys: HashMap::new(),
        }
    }

    /// Reads the events.
    pub fn read(&mut self, log: &Log) -> Result {
        let request = Request::new(Order::OldestFirst);
        let mut stream = match log.archive() {
            Some(archive) => {
                let units = PageSelection::of_units(archive, |unit| self.overlaps(unit));
                log.stream_of(request, units)
            }
            None => log.stream(request),
        };
        let mut pairing = SpanPairer::new(self.source);
        for mut event in stream.by_ref() {
            pairing.add(&mut event);
            self.add(&event);
        }
        health::report_stream(&stream)
    }

    /// Whether a unit may have events of any of the spans.
    fn overlaps(&self, unit: &UnitInfo) -> bool {
        let mut spans = self.spans.iter();
        spans.any(|span| unit.may_have(&(span.begin..span.end.saturating_add(1))))
    }

    fn add(&mut self, event: &Event) {
        if event.important {
            return;
        }
        let of_thread = self.threads.get(&(event.thread, event.tid));
        let mut numbers = of_thread.cloned().unwrap_or_default();
        let keyed = std::mem::take(&mut self.keyed);
        let has_key = keyed.iter().filter(|number| self.has_key(event, **number));
        numbers.extend(has_key);
        self.keyed = keyed;
        if numbers.is_empty() {
            return;
        }
        let Some(time) = self.source.time(event) else {
            return;
        };
        for number in numbers {
            let span = &self.spans[number];
            let (events, more) = &mut self.events[number];
            if !(span.begin..=span.end).contains(&time) {
                continue;
            }
            match events.len() < self.most {
                true => {
                    let mut event = event.clone();
                    // Events are left out before the span, so only what began in it is sure.
                    let began = |nanos: u64| time.saturating_sub(nanos);
                    event.duration = event.duration.filter(|nanos| began(*nanos) >= span.begin);
                    events.push(event);
                }
                false => *more += 1,
            }
        }
    }

    /// Whether an event has the key of a span in a field of the same name.
    fn has_key(&mut self, event: &Event, number: usize) -> bool {
        let span = &self.spans[number];
        let Some(name) = &self.series[span.series].key else {
            return false;
        };
        let source = self.source;
        let place = self.keys.entry((event.id, span.series)).or_insert_with(|| {
            let definition = source.definition(event.id)?;
            let mut names = definition.arguments();
            let position = names.position(|known| known == name);
            let position = position.or_else(|| name.parse().ok())?;
            Some((Layout::of(definition), position))
        });
        let Some((layout, position)) = place else {
            return false;
        };
        let value = event.values(layout).nth(*position);
        value.as_ref().and_then(SpanKey::of) == span.key
    }
}
