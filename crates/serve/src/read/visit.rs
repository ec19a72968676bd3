//! Visits wanted events by their columns, without making them.

use std::cell::RefCell;

use timeline::{Event, EventId, Order, Source, ThreadRef};
use timeline_archive::{Archive, BlockColumns, BlockRanges, Places, Select, UnitInfo};
use timeline_search::{Filter, Query};

use super::cancel::Cancel;
use crate::error::Result;

/// What is counted of an event.
#[derive(Debug, Clone, Copy)]
pub struct EventSummary {
    /// In nanoseconds since 1970; 0 if it is not known.
    pub time: u64,
    pub thread: (ThreadRef, u32),
    pub core: u16,
    pub definition: EventId,
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy)]
pub enum EventOrigin {
    /// A place of a unit all of whose wanted events are read by columns, in the order of places.
    Block(usize, usize),
    /// A place of a unit some of whose events have to be made.
    Columns(usize, usize),
    Event,
}

/// Takes events.
pub trait Visitor {
    /// Whether to visit a unit.
    fn wants(&mut self, _unit: &UnitInfo) -> bool {
        true
    }

    /// A block was visited, all of whose wanted events were read by columns.
    fn end(&mut self, _block: &UnitInfo) {}

    fn event(&mut self, from: EventOrigin, event: EventSummary);
}

/// Has a visitor take the wanted events, in no order.
///
/// # Errors
/// If it was cancelled.
pub fn visit(
    archive: &Archive,
    query: &Query,
    cancel: &Cancel,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let visitor = RefCell::new(visitor);
    let visit = Visit {
        filter: query.on(archive),
        seen: vec![false; archive.units().len()],
        cancel,
        visitor: &visitor,
    };
    for event in archive.events_by_time_where(Order::OldestFirst, Box::new(visit)) {
        cancel.check()?;
        let counted = EventSummary {
            time: archive.time(&event).unwrap_or(0),
            thread: (event.thread, event.tid),
            core: event.core,
            definition: event.id,
        };
        visitor.borrow_mut().event(EventOrigin::Event, counted);
    }
    cancel.check()
}

/// Takes events by columns, so that they are not made. Where columns do not tell whether an event
/// is wanted, it is left to be made.
struct Visit<'v, V> {
    filter: Filter<'v>,
    /// A unit may be read several times.
    seen: Vec<bool>,
    cancel: &'v Cancel,
    visitor: &'v RefCell<V>,
}

impl<V: Visitor> Visit<'_, &mut V> {
    /// Gives up the events of a block that columns tell all about.
    fn take(&mut self, unit: &UnitInfo, columns: &mut BlockColumns<'_>, places: &mut Places) {
        let read = (columns.times(), columns.thread_numbers(), columns.cores());
        let (Some(times), Some(threads), Some(cores)) = read else {
            return;
        };
        let shapes = columns.shapes();
        let is_seen = std::mem::replace(&mut self.seen[unit.number], true);
        let count = times.len().min(shapes.len());
        let is_whole = places.iter().all(|at| at < count && !places.asks(at));
        let mut visitor = self.visitor.borrow_mut();
        let mut place = 0;
        while let Some(at) = places.next(place) {
            place = at + 1;
            if at >= count || places.asks(at) {
                continue;
            }
            if !is_seen {
                let from = match is_whole {
                    true => EventOrigin::Block(unit.number, at),
                    false => EventOrigin::Columns(unit.number, at),
                };
                let counted = EventSummary {
                    time: times[at],
                    thread: columns.threads()[usize::from(threads[at])],
                    core: cores[at],
                    definition: columns.definitions()[usize::from(shapes[at])],
                };
                visitor.event(from, counted);
            }
            places.clear(at);
        }
        if is_whole && !is_seen {
            visitor.end(unit);
        }
    }
}

impl<V: Visitor> Select for Visit<'_, &mut V> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        !self.cancel.is_set()
            && self.filter.wants_unit(unit)
            && (!unit.block || self.visitor.borrow_mut().wants(unit))
    }

    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        let is_wanted = self.filter.wants_block(unit, ranges);
        if !is_wanted {
            self.visitor.borrow_mut().end(unit);
        }
        is_wanted
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        mut columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        self.filter.choose(unit, columns.as_deref_mut(), places);
        if let Some(columns) = columns {
            self.take(unit, columns, places);
        }
    }

    fn wants(&mut self, event: &Event) -> bool {
        self.filter.wants(event)
    }
}
