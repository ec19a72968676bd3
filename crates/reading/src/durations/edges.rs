//! Reads the wanted events of an archive, and the begins and ends that their durations depend on.
//!
//! A filter may want the end of a span and not its begin. Newest first, all begins and ends are
//! read for a while behind each wanted end. Oldest first, nobody knows yet which ends are wanted.
//! So all begins and ends are read, from ten seconds before the first wanted time on.

use std::collections::HashMap;

use timeline::internal::Edge;
use timeline::{Definition, Event, EventId, Order, Source};
use timeline_archive::{Archive, BlockColumns, BlockRanges, Places, Select, UnitInfo};
use timeline_search::{Filter, Query};

/// Events before a wanted end among which its begin is looked for. Twice as many as a dump lets
/// wait for a begin, because blocks of several lanes overlap.
pub const REACH: usize = 1 << 17;

/// Chooses the wanted events of an archive, and the begins and ends that their durations depend on;
/// `None` if no wanted event ends a span. Drop those that are not wanted once durations are known.
pub fn select_with_edges<'a>(
    archive: &'a Archive,
    order: Order,
    query: &'a Query,
) -> Option<Box<dyn Select + 'a>> {
    let is_end = |definition: &Definition| {
        let part = definition.span_part();
        part.is_some_and(|part| part.edge == Edge::End) && query.may_want(definition)
    };
    let has_ends = archive.definitions().any(is_end);
    has_ends.then(|| Box::new(WithEdges::new(archive, order, query)) as Box<dyn Select>)
}

/// By unit, whether another unit has events of the same time. Such units are not read one after the
/// other in time. So the begins and ends of one may be needed for a wanted end in another one that
/// is read later.
fn overlapping(archive: &Archive) -> Vec<bool> {
    let has_one_ring = archive.has_one_ring();
    let units = archive.units();
    let mut overlap = vec![false; units.len()];
    let units = units.filter(|unit| !unit.important);
    let times = units.map(|unit| match has_one_ring {
        true => (unit.ticks, unit.number),
        false => (unit.unix, unit.number),
    });
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    let mut reached = 0;
    for (place, ((first, last), number)) in times.iter().enumerate() {
        let is_behind = times
            .get(place + 1)
            .is_none_or(|((next, _), _)| next > last);
        // 0 is a time that is not known.
        overlap[*number] = *first == 0 || *last == 0 || *first <= reached || !is_behind;
        reached = reached.max(*last);
    }
    overlap
}

/// Chooses the wanted events, and begins and ends of spans.
struct WithEdges<'a> {
    archive: &'a Archive,
    order: Order,
    query: &'a Query,
    filter: Filter<'a>,
    edges: HashMap<EventId, Option<Edge>>,
    /// How many more events are searched for begins and ends; 0 if no wanted end was near.
    reach: usize,
    units: Vec<Unit>,
}

/// What was decided about a unit, which may be read again.
struct Unit {
    overlaps: bool,
    /// Whether begins and ends are read, also if no end in it is wanted.
    has_edges: Option<bool>,
    is_chosen: bool,
}

impl<'a> WithEdges<'a> {
    fn new(archive: &'a Archive, order: Order, query: &'a Query) -> WithEdges<'a> {
        let unit = |overlaps| Unit {
            overlaps,
            has_edges: None,
            is_chosen: false,
        };
        WithEdges {
            archive,
            order,
            query,
            filter: query.on(archive),
            edges: HashMap::new(),
            reach: 0,
            units: overlapping(archive).into_iter().map(unit).collect(),
        }
    }

    fn edge(&mut self, id: EventId) -> Option<Edge> {
        *self.edges.entry(id).or_insert_with(|| {
            let definition = self.archive.definition(id)?;
            definition.span_part().map(|part| part.edge)
        })
    }

    fn has_edges(&mut self, unit: &UnitInfo) -> bool {
        let (is_oldest_first, is_near) = (self.order == Order::OldestFirst, self.is_near(unit));
        let is_behind_end = self.reach > 0;
        let unit = &mut self.units[unit.number];
        let now = is_behind_end || (is_near && (is_oldest_first || unit.overlaps));
        *unit.has_edges.get_or_insert(now)
    }

    /// Whether spans may begin in a unit that end at a wanted time.
    fn is_near(&self, unit: &UnitInfo) -> bool {
        let Query { since, until, .. } = *self.query;
        let (first, last) = unit.unix;
        // 0 is a time that is not known.
        last == 0
            || (since.is_none_or(|since| {
                since <= last.saturating_add(timeline_latency::REACH.as_nanos() as u64)
            }) && until.is_none_or(|until| first < until))
    }

    /// Goes on behind a unit of so many events.
    fn pass(&mut self, unit: &UnitInfo, count: usize, has_wanted_end: bool) {
        let unit = &mut self.units[unit.number];
        if !std::mem::replace(&mut unit.is_chosen, true) {
            self.reach = match has_wanted_end {
                true => REACH,
                false => self.reach.saturating_sub(count),
            };
        }
    }
}

impl Select for WithEdges<'_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        self.has_edges(unit) || self.filter.wants_unit(unit)
    }

    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        let mut shapes = ranges.definitions().iter();
        // Behind a gap, nobody knows what began before it.
        (self.has_edges(unit) && (unit.has_gap || shapes.any(|id| self.edge(*id).is_some())))
            || self.filter.wants_block(unit, ranges)
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        mut columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        self.filter.choose(unit, columns.as_deref_mut(), places);
        let Some(columns) = columns else {
            // Each event is asked about, and may be a wanted end.
            return self.pass(unit, places.len(), true);
        };
        let mut ends = places.of_definitions(columns, |id| self.edge(id) == Some(Edge::End));
        ends.intersect(places);
        let has_wanted_end = ends.any();
        if self.has_edges(unit) || has_wanted_end {
            if unit.has_gap && !places.is_empty() {
                places.add(0);
            }
            places.unite(&places.of_definitions(columns, |id| self.edge(id).is_some()));
        }
        self.pass(unit, places.len(), has_wanted_end);
    }

    fn wants(&mut self, event: &Event) -> bool {
        let is_edge = !event.important && (event.missed > 0 || self.edge(event.id).is_some());
        is_edge || self.filter.matches(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use timeline_archive::{Form, RawEvent, Writer};

    #[test]
    fn only_what_may_tell_of_a_duration_is_read() {
        const SECOND: u64 = 1_000_000_000;
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Blocks);
        // Two at the same time, and some that are apart.
        let blocks = [
            (1, "begin a"),
            (1, "x"),
            (50, "x"),
            (95, "begin a"),
            (100, "end a"),
            (150, "x"),
        ];
        for (number, (time, message)) in (0..).zip(blocks) {
            let time = Some(time * SECOND);
            let mut event = RawEvent {
                unix_nanos: time,
                ticks: time,
                ..RawEvent::default()
            };
            event.definition.format = Some(writer.string(message));
            event.definition.category = Some(writer.string("t"));
            event.lane = Some(number % 2);
            writer.event(&event).unwrap();
            writer.flush().unwrap();
        }
        writer.flush().unwrap();
        let archive = Archive::from_bytes(file);
        let units: Vec<UnitInfo> = archive.units().collect();
        let wants = |order, since: u64, until: u64| {
            let (since, until) = (Some(since * SECOND), Some(until * SECOND));
            let query = Query {
                since,
                until,
                ..Query::default()
            };
            let mut edges = WithEdges::new(&archive, order, &query);
            let wants: Vec<bool> = units.iter().map(|unit| edges.wants_unit(unit)).collect();
            wants
        };
        let oldest = wants(Order::OldestFirst, 100, 101);
        assert_eq!(oldest, [false, false, false, true, true, false]);
        assert_eq!(
            wants(Order::OldestFirst, 60, 101),
            [false, false, true, true, true, false]
        );
        // Nobody knows of a wanted end yet.
        let newest = wants(Order::NewestFirst, 100, 101);
        assert_eq!(newest, [false, false, false, false, true, false]);
        assert_eq!(
            wants(Order::NewestFirst, 5, 6),
            [true, true, false, false, false, false]
        );
        assert_eq!(wants(Order::NewestFirst, 20, 21), [false; 6]);
    }
}
