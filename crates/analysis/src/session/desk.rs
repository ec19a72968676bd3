//! Gives events and losses to analysers.

use timeline::Event;
use timeline_latency::Lack;
use timeline_reading::Log;

use super::item::StreamItem;
use super::log_desk::{DefinitionFacts, LogDesk};
use super::seat::Seat;
use crate::analyzer::{AnalysisEnd, Analyzer};
use crate::error::Result;

/// What is known of the logs, and who is told of their events.
pub struct Desk<'a, A: ?Sized> {
    logs: Vec<LogDesk<'a>>,
    pub seats: Vec<Seat<'a, A>>,
}

/// Gives an event to all who want those of its definition.
#[inline]
fn hand<'a, A: Analyzer + ?Sized>(
    seats: &mut [Seat<'a, A>],
    desk: &LogDesk<'a>,
    facts: &DefinitionFacts<'a>,
    event: &Event,
) -> Result {
    let view = desk.view(facts, event);
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
        let logs = logs.iter().enumerate();
        Desk {
            logs: logs
                .map(|(number, log)| LogDesk::new(number, log))
                .collect(),
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
        match desk.facts(event) {
            Some(facts) if !facts.is_wanted => Ok(()),
            Some(facts) => hand(&mut self.seats, desk, facts, event),
            None => self.first_event(number, event),
        }
    }

    /// The same, if nothing is known of its definition yet.
    #[cold]
    fn first_event(&mut self, number: usize, event: &Event) -> Result {
        let wishes = self.seats.iter().map(|seat| &seat.wish);
        self.logs[number].learn(event, wishes);
        let desk = &self.logs[number];
        hand(&mut self.seats, desk, desk.learned(event), event)
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
        let gap = self.logs[log].gap_before(event);
        let mut seats = self.seats.iter_mut().filter(|seat| !seat.has_enough());
        seats.try_for_each(|seat| seat.analyzer.gap(&gap))
    }

    /// Nothing more comes.
    pub fn end(&mut self, end: AnalysisEnd) -> Result {
        let mut seats = self.seats.iter_mut();
        seats.try_for_each(|seat| seat.analyzer.end(end))
    }
}
