//! Says how long spans took that end among some of the events of an archive, oldest first.
//!
//! Their begins may be among the events that are not read. So a second reading gives the begins and
//! ends alone. It starts [`EVENTS_BEFORE_END`] events earlier.

use std::iter::Peekable;

use timeline::{Definition, Event, Order, Source};
use timeline_archive::{Archive, ArchiveEvents};

use super::edges::{EVENTS_BEFORE_END, EdgeSelect};
use super::pairing::SpanPairer;

/// Gives durations to events that are some of an archive, the important ones first.
pub struct PartialPairing<'a> {
    archive: &'a Archive,
    pairing: SpanPairer<'a>,
    has_one_ring: bool,
    /// The begins and ends that were not paired yet; `None` before the first of the events is one.
    edges: Option<Peekable<ArchiveEvents<'a>>>,
}

impl<'a> PartialPairing<'a> {
    pub fn new(archive: &'a Archive) -> PartialPairing<'a> {
        PartialPairing {
            archive,
            pairing: SpanPairer::new(archive),
            has_one_ring: archive.has_one_ring(),
            edges: None,
        }
    }

    /// Takes the next event, and gives it its duration if it ends a span.
    pub fn add(&mut self, event: &mut Event) {
        if event.important {
            return self.pairing.add(event);
        }
        if !self.archive.definition(event.id).is_some_and(is_edge) {
            return;
        }
        let archive = self.archive;
        let edges = self.edges.get_or_insert_with(|| {
            let times = reach(archive, event)..u64::MAX;
            let edges = EdgeSelect::in_times(archive, times, &|| false, is_edge);
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

fn is_edge(definition: &Definition) -> bool {
    definition.span_part().is_some()
}

/// The first time of the units that have the [`EVENTS_BEFORE_END`] events before an event.
fn reach(archive: &Archive, event: &Event) -> u64 {
    let time = archive.time(event).unwrap_or(0);
    let units = archive.units().filter(|unit| unit.unix.0 <= time);
    let mut units: Vec<_> = units.map(|unit| (unit.unix.0, unit.count)).collect();
    units.sort_unstable_by(|one, other| other.cmp(one));
    let (mut since, mut count) = (time, 0);
    // The last one has the event itself.
    for (first, events) in units {
        since = first;
        if count >= EVENTS_BEFORE_END as u64 {
            break;
        }
        count += events;
    }
    since
}
