//! Knows what the events of a log mean, and how they come to those who want them.

use std::cell::{OnceCell, RefCell};
use std::fs;

use timeline::dump::Messages;
use timeline::internal::PerEvent;
use timeline::{Definition, Event, Layout, Passage};
use timeline_reading::{Holder, Log};

use super::wish::SeatWish;
use crate::context::{EventView, LogOrigin, MessageMaker, Route};
use crate::gap::StreamGap;

/// What is known of a log.
pub struct LogDesk<'a> {
    number: usize,
    log: &'a Log,
    origin: LogOrigin,
    messages: LogMessages<'a>,
    definitions: PerEvent<DefinitionFacts<'a>>,
    /// Of events without a definition.
    undefined: DefinitionFacts<'a>,
    /// That of the last event that is not important.
    passage: Option<Passage>,
}

/// What is known of the events of a definition.
pub struct DefinitionFacts<'a> {
    definition: Option<&'a Definition>,
    name: String,
    layout: Layout,
    /// How they come to each of those who want events; none if nobody was asked yet.
    pub routes: Box<[Option<Route<'a>>]>,
    /// Whether anybody wants them.
    pub is_wanted: bool,
}

/// The messages of the events of a log.
struct LogMessages<'a> {
    log: &'a Log,
    messages: RefCell<Messages<'a>>,
}

impl MessageMaker for LogMessages<'_> {
    fn message(&self, event: &Event) -> String {
        let definition = self.log.source().definition(event.id);
        let mut messages = self.messages.borrow_mut();
        messages.text(event, definition).into_owned()
    }
}

impl<'a> LogDesk<'a> {
    /// Of a log by its number.
    pub fn new(number: usize, log: &'a Log) -> LogDesk<'a> {
        LogDesk {
            number,
            log,
            origin: origin(log),
            messages: LogMessages {
                log,
                messages: RefCell::new(Messages::new(log.source())),
            },
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

    /// Whether something is missing before the next event. To be asked of each event once.
    #[inline]
    pub fn is_behind_gap(&mut self, event: &Event) -> bool {
        if event.important {
            return false;
        }
        let goes_on = match self.passage.replace(event.passage) {
            Some(before) => event.passage.goes_on(before),
            None => event.passage != Passage::HOLE,
        };
        !goes_on || event.missed > 0
    }

    /// What is missing before an event that is behind a gap.
    pub fn gap_before(&self, event: &Event) -> StreamGap {
        StreamGap {
            log: self.number,
            entries: event.missed,
            before: self.log.source().time(event),
        }
    }

    /// What is known of events like this one; `None` if it is to be learned first.
    #[inline]
    pub fn facts(&self, event: &Event) -> Option<&DefinitionFacts<'a>> {
        self.definitions.get(event.id)
    }

    /// Looks what events like this one mean, and who wants them.
    #[cold]
    pub fn learn<'s>(
        &mut self,
        event: &Event,
        wishes: impl ExactSizeIterator<Item = &'s SeatWish> + Clone,
    ) -> &DefinitionFacts<'a> {
        let routes = |definition, layout: &Layout| {
            let routes = wishes.clone().map(|wish| wish.route(definition, layout));
            routes.collect::<Box<[_]>>()
        };
        let Some(definition) = self.log.source().definition(event.id) else {
            if self.undefined.routes.len() < wishes.len() {
                self.undefined.routes = routes(None, &self.undefined.layout);
            }
            return &self.undefined;
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
        self.definitions.insert(event.id, definition, facts)
    }

    /// What was learned of events like this one.
    #[inline]
    pub fn learned(&self, event: &Event) -> &DefinitionFacts<'a> {
        self.facts(event).unwrap_or(&self.undefined)
    }

    /// An event as those see it who want it.
    #[inline]
    pub fn view<'e>(&'e self, facts: &'e DefinitionFacts<'a>, event: &'e Event) -> EventView<'e> {
        EventView {
            event,
            number: self.number,
            log: self.log,
            origin: &self.origin,
            messages: &self.messages,
            definition: facts.definition,
            name: &facts.name,
            layout: &facts.layout,
            values: OnceCell::new(),
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
