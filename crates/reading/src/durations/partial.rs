//! Says how long spans took that end among some of the events of an archive, oldest first.
//!
//! Their begins may be among the events that are not read. So a second reading gives the begins and
//! ends alone. It starts as many events earlier as a dump looks for the begin of a span.

use std::collections::HashMap;
use std::iter::Peekable;

use timeline::{Event, EventId, Order, Source};
use timeline_archive::{
    Archive, ArchiveEvents, BlockColumns, BlockRanges, Places, Select, UnitInfo,
};

use super::edges::REACH;
use super::pairing::Pairing;

/// Gives durations to events that are some of an archive, the important ones first.
pub struct PartialPairing<'a> {
    archive: &'a Archive,
    pairing: Pairing<'a>,
    has_one_ring: bool,
    /// The begins and ends that were not paired yet; `None` before the first of the events is one.
    edges: Option<Peekable<ArchiveEvents<'a>>>,
}

impl<'a> PartialPairing<'a> {
    pub fn new(archive: &'a Archive) -> PartialPairing<'a> {
        PartialPairing {
            archive,
            pairing: Pairing::new(archive),
            has_one_ring: archive.has_one_ring(),
            edges: None,
        }
    }

    /// Takes the next event, and gives it its duration if it ends a span.
    pub fn add(&mut self, event: &mut Event) {
        if event.important {
            return self.pairing.add(event);
        }
        if !is_edge(self.archive, event.id) {
            return;
        }
        let archive = self.archive;
        let edges = self.edges.get_or_insert_with(|| {
            let edges = Edges::before(archive, event);
            let edges = archive.events_by_time_where(Order::OldestFirst, Box::new(edges));
            edges.peekable()
        });
        let has_one_ring = self.has_one_ring;
        let moment = |event: &Event| match has_one_ring {
            true => event.ticks,
            false => event.time.map_or(0, u64::from),
        };
        let reached = moment(event);
        while let Some(next) = edges.next_if(|next| moment(next) <= reached) {
            let duration = self.pairing.note(&next);
            if next == *event {
                event.duration = duration;
                return;
            }
        }
    }
}

fn is_edge(archive: &Archive, id: EventId) -> bool {
    let definition = archive.definition(id);
    definition.is_some_and(|definition| definition.span_part().is_some())
}

/// Chooses begins and ends, and events behind gaps, from a time on.
struct Edges<'a> {
    archive: &'a Archive,
    since: u64,
    known: HashMap<EventId, bool>,
}

impl<'a> Edges<'a> {
    /// Those of the units that have the [`REACH`] events before an event, and of all later ones.
    fn before(archive: &'a Archive, event: &Event) -> Edges<'a> {
        let time = archive.time(event).unwrap_or(0);
        let units = archive.units().filter(|unit| unit.unix.0 <= time);
        let mut units: Vec<_> = units.map(|unit| (unit.unix.0, unit.count)).collect();
        units.sort_unstable_by(|one, other| other.cmp(one));
        let (mut since, mut count) = (time, 0);
        // The last one has the event itself.
        for (first, events) in units {
            since = first;
            if count >= REACH as u64 {
                break;
            }
            count += events;
        }
        Edges {
            archive,
            since,
            known: HashMap::new(),
        }
    }

    fn has(&mut self, id: EventId) -> bool {
        let archive = self.archive;
        *(self.known.entry(id)).or_insert_with(|| is_edge(archive, id))
    }
}

impl Select for Edges<'_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        // 0 is a time that is not known.
        unit.unix.1 == 0 || unit.unix.1 >= self.since
    }

    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        unit.has_gap || ranges.definitions().iter().any(|id| self.has(*id))
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        let Some(columns) = columns else {
            return places.ask_all();
        };
        let mut edges = places.none_of();
        if unit.has_gap && !places.is_empty() {
            edges.add(0);
        }
        let shapes = columns.definitions().iter().map(|id| self.has(*id));
        let shapes: Vec<bool> = shapes.collect();
        for (shape, _) in shapes.iter().enumerate().filter(|(_, is_edge)| **is_edge) {
            let of_shape = columns.places(shape).iter();
            of_shape.for_each(|place| edges.add(usize::from(*place)));
        }
        places.intersect(&edges);
    }

    fn wants(&mut self, event: &Event) -> bool {
        !event.important && (event.missed > 0 || self.has(event.id))
    }
}
