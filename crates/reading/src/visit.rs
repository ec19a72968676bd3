//! Visits wanted events by their columns, without making them.

use timeline::{Event, EventId, Order, Source, ThreadRef};
use timeline_archive::{Archive, BlockColumns, Places, UnitInfo, UnitVisitor};
use timeline_search::Query;

/// What a visitor is told of an event.
#[derive(Debug, Clone, Copy)]
pub struct EventSummary {
    /// In nanoseconds since 1970.
    pub time: Option<u64>,
    /// Its thread, as the event names it: the kernel's id is 0 if it is not known.
    pub thread: (ThreadRef, u32),
    /// The CPU it was logged on.
    pub core: Option<u16>,
    /// The definition's number.
    pub definition: EventId,
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy)]
pub enum EventOrigin {
    /// A place of a unit all of whose wanted events are read by columns, in the order of places.
    Block(usize, usize),
    /// A place of a unit some of whose events have to be made.
    Columns(usize, usize),
    /// It was made.
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

    /// Takes the next event.
    fn event(&mut self, from: EventOrigin, event: EventSummary);
}

/// Has a visitor take the wanted events of an archive, in no order, until `is_cancelled` says that
/// nobody waits for the rest. Many times faster than making events, which a [`Log::stream`] does.
///
/// # Example
/// ```
/// use timeline_archive::{Archive, Form, RawEvent, Writer};
/// use timeline_reading::{EventOrigin, EventSummary, Visitor, visit};
/// use timeline_search::Query;
///
/// struct Count(u64);
///
/// impl Visitor for Count {
///     fn event(&mut self, _: EventOrigin, _: EventSummary) {
///         self.0 += 1;
///     }
/// }
///
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file, 7, Form::Blocks);
/// writer.event(&RawEvent::default())?;
/// writer.flush()?;
/// let mut count = Count(0);
/// visit(&Archive::from_bytes(file), &Query::default(), &|| false, &mut count);
/// assert_eq!(count.0, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Log::stream`]: crate::Log::stream
pub fn visit(
    archive: &Archive,
    query: &Query,
    is_cancelled: &dyn Fn() -> bool,
    visitor: &mut impl Visitor,
) {
    let mut visit = Visit {
        archive,
        seen: vec![false; archive.units().len()],
        is_cancelled,
        visitor,
    };
    let select = Box::new(query.on(archive));
    archive.visit(Order::OldestFirst, Some(select), &mut visit);
}

/// Takes events by columns, so that they are not made. Where columns do not tell whether an event
/// is wanted, it is left to be made.
struct Visit<'v, V> {
    archive: &'v Archive,
    /// A unit may be read several times.
    seen: Vec<bool>,
    is_cancelled: &'v dyn Fn() -> bool,
    visitor: &'v mut V,
}

impl<V: Visitor> Visit<'_, V> {
    /// Takes those events of a block that columns tell all about.
    fn take_columns(
        &mut self,
        unit: &UnitInfo,
        columns: &mut BlockColumns<'_>,
        places: &mut Places,
    ) {
        let read = (columns.times(), columns.thread_numbers(), columns.cores());
        let (Some(times), Some(threads), Some(cores)) = read else {
            return;
        };
        let shapes = columns.shapes();
        let is_seen = std::mem::replace(&mut self.seen[unit.number], true);
        let count = times.len().min(shapes.len());
        let is_whole = places.iter().all(|at| at < count && !places.asks(at));
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
                let summary = EventSummary {
                    time: (times[at] != 0).then_some(times[at]),
                    thread: columns.threads()[usize::from(threads[at])],
                    core: (cores[at] != u16::MAX).then_some(cores[at]),
                    definition: columns.definitions()[usize::from(shapes[at])],
                };
                self.visitor.event(from, summary);
            }
            places.clear(at);
        }
        if is_whole && !is_seen {
            self.visitor.end(unit);
        }
    }
}

impl<V: Visitor> UnitVisitor for Visit<'_, V> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        !(self.is_cancelled)() && (!unit.block || self.visitor.wants(unit))
    }

    fn pass(&mut self, unit: &UnitInfo) {
        self.visitor.end(unit);
    }

    fn take(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        if let Some(columns) = columns {
            self.take_columns(unit, columns, places);
        }
    }

    fn event(&mut self, event: Event) -> bool {
        if (self.is_cancelled)() {
            return false;
        }
        let summary = EventSummary {
            time: self.archive.time(&event),
            thread: (event.thread, event.tid),
            core: event.known_core(),
            definition: event.id,
        };
        self.visitor.event(EventOrigin::Event, summary);
        true
    }
}
