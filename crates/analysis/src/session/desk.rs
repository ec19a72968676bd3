//! Knows what events mean, and gives them to analysers.

use std::cell::OnceCell;
use std::fs;

use timeline::internal::PerEvent;
use timeline::{Definition, Event, Layout, Passage};
use timeline_reading::{Holder, Log};

use super::item::StreamItem;
use super::seat::Seat;
use crate::analyzer::{AnalysisEnd, Analyzer};
use crate::context::{EventView, LogOrigin};
use crate::error::Result;
use crate::gap::StreamGap;

/// What is known of the logs, and who is told of their events.
pub struct Desk<'a, A: ?Sized> {
    logs: Vec<LogDesk<'a>>,
    pub seats: Vec<Seat<'a, A>>,
}

/// What is known of a log.
struct LogDesk<'a> {
    log: &'a Log,
    origin: LogOrigin,
    definitions: PerEvent<DefinitionFacts<'a>>,
    unknown: Layout,
    /// That of the last event that is not important.
    passage: Option<Passage>,
}

/// What is known of the events of a definition.
struct DefinitionFacts<'a> {
    definition: &'a Definition,
    name: String,
    layout: Layout,
}

impl<'a, A: Analyzer + ?Sized> Desk<'a, A> {
    pub fn new(logs: &[&'a Log]) -> Desk<'a, A> {
        Desk {
            logs: logs.iter().map(|log| LogDesk::new(log)).collect(),
            seats: Vec::new(),
        }
    }

    /// Whether nobody wants anything more.
    pub fn has_enough(&self) -> bool {
        self.seats.iter().all(Seat::has_enough)
    }

    /// Gives an item to all who want it.
    #[inline]
    pub fn give(&mut self, item: &StreamItem) -> Result {
        match item {
            StreamItem::Event(event) => self.event(event.log, &event.event),
            StreamItem::Lack(log, what) => {
                let mut seats = self.seats.iter_mut().filter(|seat| !seat.has_enough());
                seats.try_for_each(|seat| seat.analyzer.loss(*log, *what))
            }
        }
    }

    #[inline]
    pub fn event(&mut self, number: usize, event: &Event) -> Result {
        if let Some(gap) = self.logs[number].gap_before(number, event) {
            let mut seats = self.seats.iter_mut().filter(|seat| !seat.has_enough());
            seats.try_for_each(|seat| seat.analyzer.gap(&gap))?;
        }
        let desk = &mut self.logs[number];
        if desk.definitions.get(event.id).is_none() {
            desk.learn(event);
        }
        let facts = desk.definitions.get(event.id);
        let definition = facts.map(|facts| facts.definition);
        let view = EventView {
            event,
            number,
            log: desk.log,
            origin: &desk.origin,
            definition,
            name: facts.map_or("", |facts| &facts.name),
            layout: facts.map_or(&desk.unknown, |facts| &facts.layout),
            values: OnceCell::new(),
        };
        let mut seats = self.seats.iter_mut().filter(|seat| !seat.has_enough());
        seats.try_for_each(|seat| seat.event(&view, definition))
    }

    /// Nothing more comes.
    pub fn end(&mut self, end: AnalysisEnd) -> Result {
        self.seats
            .iter_mut()
            .try_for_each(|seat| seat.analyzer.end(end))
    }
}

impl<'a> LogDesk<'a> {
    fn new(log: &'a Log) -> LogDesk<'a> {
        LogDesk {
            log,
            origin: origin(log),
            definitions: PerEvent::new(),
            unknown: Layout::unknown(),
            passage: None,
        }
    }

    /// What is missing before an event, if anything is.
    #[inline]
    fn gap_before(&mut self, log: usize, event: &Event) -> Option<StreamGap> {
        if event.important {
            return None;
        }
        let goes_on = match self.passage.replace(event.passage) {
            Some(before) => event.passage.goes_on(before),
            None => event.passage != Passage::HOLE,
        };
        if goes_on && event.missed == 0 {
            return None;
        }
        Some(StreamGap {
            log,
            entries: event.missed,
            before: self.log.source().time(event),
        })
    }

    #[cold]
    fn learn(&mut self, event: &Event) {
        if let Some(definition) = self.log.source().definition(event.id) {
            let facts = DefinitionFacts {
                definition,
                name: definition.name(),
                layout: Layout::of(definition),
            };
            self.definitions.insert(event.id, definition, facts);
        }
    }
}

/// Where the events of a timeline come from: of one that programs log to, from this machine.
fn origin(log: &Log) -> LogOrigin {
    let Holder::Ring(at) = log.holder() else {
        return LogOrigin::default();
    };
    let info = at.info();
    let host = log.live().and_then(|_| {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
        Some(name.trim_end().to_owned())
    });
    LogOrigin {
        host,
        boot_id: Some(info.boot_id),
        clock: Some(info.clock.to_string()),
    }
}
