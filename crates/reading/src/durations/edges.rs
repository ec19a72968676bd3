//! Reads the wanted events of an archive, and the begins and ends that their durations depend on.
//!
//! A filter may want the end of a span and not its begin. Newest first, all begins and ends are
//! read for a while behind each wanted end. Oldest first, nobody knows yet which ends are wanted.
//! So all begins and ends are read, from ten seconds before the first wanted time on.

use std::collections::HashMap;
use std::ops::Range;

use timeline::internal::Edge;
use timeline::{Definition, Event, EventId, Order, Source};
use timeline_archive::{Archive, BlockColumns, BlockRanges, Places, Select, UnitInfo};
use timeline_search::{Filter, Query};

/// Events before a wanted end among which its begin is looked for. Twice as many as a dump lets
/// wait for a begin, because blocks of several lanes overlap.
pub const EVENTS_BEFORE_END: usize = 1 << 17;

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
    has_ends.then(|| Box::new(EdgeSelect::around(archive, order, query)) as Box<dyn Select>)
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

/// What the events of a definition tell of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DurationPart {
    /// They begin some, or end some.
    Any,
    /// They end a span.
    End,
}

/// What tells of durations, by definition.
type PartOf<'a> = Box<dyn FnMut(&Definition) -> Option<DurationPart> + 'a>;

/// Chooses the events that a query wants, if there is one, and those that tell of durations. Those
/// right behind gaps are among these: they say that nobody knows what began before them.
pub struct EdgeSelect<'a> {
    archive: &'a Archive,
    filter: Option<Filter<'a>>,
    part_of: PartOf<'a>,
    parts: HashMap<EventId, Option<DurationPart>>,
    window: Window<'a>,
    /// Whether important events are chosen as others are: they play no part in durations.
    has_important: bool,
}

/// In which units is read what tells of durations.
enum Window<'a> {
    /// In units that may have events of some times, as long as somebody waits for these.
    Times(Range<u64>, &'a dyn Fn() -> bool),
    /// In units around wanted ends.
    Ends(Ends<'a>),
}

/// The wanted ends of spans that were met.
struct Ends<'a> {
    order: Order,
    query: &'a Query,
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

impl<'a> EdgeSelect<'a> {
    /// Those of some definitions, in units that may have events of some times in nanoseconds since
    /// 1970. Reads no further unit once `is_cancelled` says that nobody waits for it.
    pub fn in_times(
        archive: &'a Archive,
        times: Range<u64>,
        is_cancelled: &'a dyn Fn() -> bool,
        mut tells: impl FnMut(&Definition) -> bool + 'a,
    ) -> EdgeSelect<'a> {
        EdgeSelect {
            archive,
            filter: None,
            part_of: Box::new(move |definition| tells(definition).then_some(DurationPart::Any)),
            parts: HashMap::new(),
            window: Window::Times(times, is_cancelled),
            has_important: false,
        }
    }

    /// Those of some definitions at any time, important ones too.
    pub fn of_definitions(
        archive: &'a Archive,
        is_cancelled: &'a dyn Fn() -> bool,
        wants: impl FnMut(&Definition) -> bool + 'a,
    ) -> EdgeSelect<'a> {
        EdgeSelect {
            has_important: true,
            ..EdgeSelect::in_times(archive, 0..u64::MAX, is_cancelled, wants)
        }
    }

    /// What a query wants, and the begins and ends of spans around it.
    fn around(archive: &'a Archive, order: Order, query: &'a Query) -> EdgeSelect<'a> {
        let unit = |overlaps| Unit {
            overlaps,
            has_edges: None,
            is_chosen: false,
        };
        let ends = Ends {
            order,
            query,
            reach: 0,
            units: overlapping(archive).into_iter().map(unit).collect(),
        };
        let part_of = |definition: &Definition| {
            definition.span_part().map(|part| match part.edge {
                Edge::Begin => DurationPart::Any,
                Edge::End => DurationPart::End,
            })
        };
        EdgeSelect {
            archive,
            filter: Some(query.on(archive)),
            part_of: Box::new(part_of),
            parts: HashMap::new(),
            window: Window::Ends(ends),
            has_important: false,
        }
    }

    fn part(&mut self, id: EventId) -> Option<DurationPart> {
        let (archive, part_of) = (self.archive, &mut self.part_of);
        let part = self.parts.entry(id);
        *part.or_insert_with(|| archive.definition(id).and_then(part_of))
    }

    /// Whether what tells of durations is read of a unit.
    fn has_edges(&mut self, unit: &UnitInfo) -> bool {
        match &mut self.window {
            Window::Times(times, is_cancelled) => unit.may_have(times) && !is_cancelled(),
            Window::Ends(ends) => ends.has_edges(unit),
        }
    }

    /// Goes on behind a unit of so many events.
    fn pass(&mut self, unit: &UnitInfo, count: usize, has_wanted_end: bool) {
        if let Window::Ends(ends) = &mut self.window {
            ends.pass(unit, count, has_wanted_end);
        }
    }
}

impl Ends<'_> {
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
                since <= last.saturating_add(timeline_latency::DEFAULT_LONGEST.as_nanos() as u64)
            }) && until.is_none_or(|until| first < until))
    }

    fn pass(&mut self, unit: &UnitInfo, count: usize, has_wanted_end: bool) {
        let unit = &mut self.units[unit.number];
        if !std::mem::replace(&mut unit.is_chosen, true) {
            self.reach = match has_wanted_end {
                true => EVENTS_BEFORE_END,
                false => self.reach.saturating_sub(count),
            };
        }
    }
}

impl Select for EdgeSelect<'_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        self.has_edges(unit)
            || self
                .filter
                .as_mut()
                .is_some_and(|filter| filter.wants_unit(unit))
    }

    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        let mut shapes = ranges.definitions().iter();
        let has_edges = self.has_edges(unit);
        (has_edges && (unit.has_gap || shapes.any(|id| self.part(*id).is_some())))
            || (self.filter.as_mut()).is_some_and(|filter| filter.wants_block(unit, ranges))
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        mut columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        match &mut self.filter {
            Some(filter) => filter.choose(unit, columns.as_deref_mut(), places),
            None if columns.is_some() => places.clear_range(0..places.len()),
            None => places.ask_all(),
        }
        let Some(columns) = columns else {
            // Each event is asked about, and may be a wanted end.
            return self.pass(unit, places.len(), true);
        };
        let is_end = |part| part == Some(DurationPart::End);
        let mut ends = places.of_definitions(columns, |id| is_end(self.part(id)));
        ends.intersect(places);
        let has_wanted_end = ends.any();
        if self.has_edges(unit) || has_wanted_end {
            if unit.has_gap && !places.is_empty() {
                places.add(0);
            }
            places.unite(&places.of_definitions(columns, |id| self.part(id).is_some()));
        }
        self.pass(unit, places.len(), has_wanted_end);
    }

    fn wants(&mut self, event: &Event) -> bool {
        let may_be_edge = !event.important || self.has_important;
        let is_edge = may_be_edge && (event.missed > 0 || self.part(event.id).is_some());
        is_edge
            || self
                .filter
                .as_mut()
                .is_some_and(|filter| filter.matches(event))
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
            let mut edges = EdgeSelect::around(&archive, order, &query);
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
