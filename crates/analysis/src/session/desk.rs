//! Knows what events mean, and gives them to analysers.

use std::cell::OnceCell;
use std::fs;

use timeline::internal::PerEvent;
use timeline::{Definition, Event, Layout, Passage};
use timeline_latency::Lack;
use timeline_reading::{Holder, Log};

use super::item::StreamItem;
use super::seat::Seat;
use crate::analyzer::{AnalysisEnd, Analyzer};
use crate::context::{EventView, LogOrigin, Route};
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
    /// Of events without a definition.
    undefined: DefinitionFacts<'a>,
    /// That of the last event that is not important.
    passage: Option<Passage>,
}

/// What is known of the events of a definition.
struct DefinitionFacts<'a> {
    definition: Option<&'a Definition>,
    name: String,
    layout: Layout,
    /// How they come to each analyser; none if nobody was asked yet.
    routes: Box<[Option<Route<'a>>]>,
    /// Whether anybody wants them.
    is_wanted: bool,
}

/// Gives an event to all who want those of its definition.
#[inline]
fn hand<'a, A: Analyzer + ?Sized>(
    seats: &mut [Seat<'a, A>],
    (number, desk): (usize, &LogDesk<'a>),
    facts: &DefinitionFacts<'a>,
    event: &Event,
) -> Result {
    let view = EventView {
        event,
        number,
        log: desk.log,
        origin: &desk.origin,
        definition: facts.definition,
        name: &facts.name,
        layout: &facts.layout,
        values: OnceCell::new(),
    };
    for (seat, route) in seats.iter_mut().zip(&facts.routes) {
        if let Some(route) = route
            && !seat.has_enough()
        {
            seat.event(&view, route)?;
        }
    }
    Ok(())
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
    pub fn give(&mut self, item: &StreamItem) -> Result {
        match item {
            StreamItem::Event(log, event) => self.event(*log, event),
            StreamItem::Lack(log, what) => self.lack(*log, *what),
        }
    }

    /// Gives an event to all who want it.
    #[inline(always)]
    pub fn event(&mut self, number: usize, event: &Event) -> Result {
        if self.logs[number].is_behind_gap(event) {
            self.gap(number, event)?;
        }
        let desk = &self.logs[number];
        match desk.definitions.get(event.id) {
            Some(facts) if !facts.is_wanted => Ok(()),
            Some(facts) => hand(&mut self.seats, (number, desk), facts, event),
            None => self.first_event(number, event),
        }
    }

    /// The same, if nothing is known of its definition yet.
    #[cold]
    fn first_event(&mut self, number: usize, event: &Event) -> Result {
        self.learn(number, event);
        let desk = &self.logs[number];
        let facts = desk.definitions.get(event.id).unwrap_or(&desk.undefined);
        hand(&mut self.seats, (number, desk), facts, event)
    }

    /// Tells all what a log lacks.
    #[cold]
    pub fn lack(&mut self, log: usize, what: Lack) -> Result {
        let mut seats = self.seats.iter_mut().filter(|seat| !seat.has_enough());
        seats.try_for_each(|seat| seat.analyzer.loss(log, what))
    }

    /// Tells all that something is missing before an event.
    #[cold]
    fn gap(&mut self, log: usize, event: &Event) -> Result {
        let gap = StreamGap {
            log,
            entries: event.missed,
            before: self.logs[log].log.source().time(event),
        };
        let mut seats = self.seats.iter_mut().filter(|seat| !seat.has_enough());
        seats.try_for_each(|seat| seat.analyzer.gap(&gap))
    }

    /// Looks what the events of a definition mean, and who wants them.
    #[cold]
    fn learn(&mut self, number: usize, event: &Event) {
        let (seats, desk) = (&self.seats, &mut self.logs[number]);
        let routes = |definition, layout: &Layout| {
            let routes = seats.iter().map(|seat| seat.route(definition, layout));
            routes.collect::<Box<[_]>>()
        };
        let Some(definition) = desk.log.source().definition(event.id) else {
            if desk.undefined.routes.len() < seats.len() {
                desk.undefined.routes = routes(None, &desk.undefined.layout);
            }
            return;
        };
        let layout = Layout::of(definition);
        let routes = routes(Some(definition), &layout);
        let facts = DefinitionFacts {
            definition: Some(definition),
            name: definition.name(),
            layout,
            is_wanted: routes.iter().any(Option::is_some),
            routes,
        };
        desk.definitions.insert(event.id, definition, facts);
    }

    /// Nothing more comes.
    pub fn end(&mut self, end: AnalysisEnd) -> Result {
        let mut seats = self.seats.iter_mut();
        seats.try_for_each(|seat| seat.analyzer.end(end))
    }
}

impl<'a> LogDesk<'a> {
    fn new(log: &'a Log) -> LogDesk<'a> {
        LogDesk {
            log,
            origin: origin(log),
            definitions: PerEvent::new(),
            undefined: DefinitionFacts {
                definition: None,
                name: String::new(),
                layout: Layout::unknown(),
                routes: Box::new([]),
                is_wanted: true,
            },
            passage: None,
        }
    }

    /// Whether something is missing before an event.
    #[inline]
    fn is_behind_gap(&mut self, event: &Event) -> bool {
        if event.important {
            return false;
        }
        let goes_on = match self.passage.replace(event.passage) {
            Some(before) => event.passage.goes_on(before),
            None => event.passage != Passage::HOLE,
        };
        !goes_on || event.missed > 0
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
