//! Finds the durations of an archive by the columns of its blocks.
//!
//! Making an event takes longer than finding out what it begins or ends. So of blocks only three
//! columns are read, where no value matters: definitions, threads and times. What is made as an
//! event all the same (of plain records, keys, values, behind a gap) is merged with these rows.

use std::ops::Range;

use timeline::{Event, EventId, Order};
use timeline_archive::{Archive, BlockColumns, Places, UnitInfo, UnitVisitor};
use timeline_latency::{Matcher, Measurement, Need, Series, ThreadKey};
use timeline_search::Filter;

use super::request::DurationRequest;

/// Rows that wait for those of other blocks of the same time. Beyond that, events are made, which
/// an archive bounds by itself.
const MOST_WAITING: usize = 1 << 22;

/// By what events are ordered: by ticks in one ring, and by time in several.
type Moment = (u64, u64);

/// An event of which only this matters.
struct Row {
    ticks: u64,
    time: u64,
    id: EventId,
    thread: ThreadKey,
}

impl Row {
    fn at(&self, one_ring: bool) -> Moment {
        moment(one_ring, self.ticks, self.time)
    }
}

/// Adds the events of an archive to a matcher, and tells `found` of each wanted duration, in the
/// order of their ends, with [`Matcher::series`] so far. Returns how many events could not be read.
///
/// # Example
/// ```
/// use timeline_archive::{Archive, Form, RawEvent, Writer};
/// use timeline_latency::{Matcher, Measure};
/// use timeline_reading::{DurationRequest, each_duration};
/// use timeline_search::Query;
///
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file, 7, Form::Blocks);
/// for (message, time) in [("begin breath", 1_000), ("end breath", 3_500)] {
///     let at = Some(time);
///     let mut event = RawEvent { unix_nanos: at, ticks: at, ..RawEvent::default() };
///     event.definition.category = Some(writer.string("engine"));
///     event.definition.format = Some(writer.string(message));
///     event.thread.name = Some(writer.string("worker"));
///     event.thread.tid = Some(4711);
///     writer.event(&event)?;
/// }
/// writer.flush()?;
///
/// let archive = Archive::from_bytes(file);
/// let measures = [Measure::Spans("*".into())];
/// let mut matcher = Matcher::new(&measures, &archive);
/// let mut durations = Vec::new();
/// let (query, all) = (Query::default(), &mut matcher);
/// each_duration(&archive, all, &DurationRequest::new(&query), &mut |series, found| {
///     durations.push((series[found.series].name.clone(), found.value));
/// });
/// assert_eq!(durations, [("engine.breath".to_owned(), 2_500)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn each_duration(
    archive: &Archive,
    matcher: &mut Matcher<'_>,
    wanted: &DurationRequest<'_>,
    found: &mut dyn FnMut(&[Series], Measurement),
) -> u64 {
    let needs_ends = wanted.needs_ends();
    let mut state = State {
        archive,
        matcher,
        found,
        wanted,
        filter: needs_ends.then(|| wanted.query.on(archive)),
        ends: wanted.ends(),
        times: wanted.times(),
        one_ring: archive.has_one_ring(),
        rows: Vec::new(),
        released: 0,
        ended: Vec::new(),
        taken: vec![None; archive.units().len()],
    };
    let lost = archive.visit(Order::OldestFirst, None, &mut state);
    if !(wanted.is_cancelled)() {
        state.release(None);
    }
    lost
}

fn moment(one_ring: bool, ticks: u64, time: u64) -> Moment {
    (if one_ring { 0 } else { time }, ticks)
}

struct State<'s, 'm> {
    archive: &'s Archive,
    matcher: &'s mut Matcher<'m>,
    found: &'s mut dyn FnMut(&[Series], Measurement),
    wanted: &'s DurationRequest<'s>,
    /// Decides about ends, if their times alone do not tell.
    filter: Option<Filter<'s>>,
    ends: Range<u64>,
    /// The times of what may begin or end one.
    times: Range<u64>,
    one_ring: bool,
    /// In order; the first of them were given to the matcher.
    rows: Vec<Row>,
    released: usize,
    /// Those that an event has ended.
    ended: Vec<Measurement>,
    /// By unit, whether its rows were taken: a unit may be read again.
    taken: Vec<Option<bool>>,
}

impl State<'_, '_> {
    /// Adds the rows before a moment to the matcher, or all.
    fn release(&mut self, before: Option<Moment>) {
        let one_ring = self.one_ring;
        let waiting = &self.rows[self.released..];
        let is_before = |row: &Row| before.is_none_or(|moment| row.at(one_ring) < moment);
        let count = waiting.partition_point(is_before);
        let (ends, found) = (&self.ends, &mut self.found);
        for row in &waiting[..count] {
            // 0 is a time that is not known.
            let time = (row.time != 0).then_some(row.time);
            let passage = self.archive.passage(row.ticks, row.time);
            let known = (row.id, row.thread, time);
            self.matcher.add_row(passage, known, |series, duration| {
                if ends.contains(&duration.end) {
                    found(series, duration);
                }
            });
        }
        self.released += count;
    }

    /// How many rows wait.
    fn waiting(&self) -> usize {
        self.rows.len() - self.released
    }

    /// Adds the rows of a block. `None` if a column is damaged.
    fn take_rows(&mut self, columns: &BlockColumns<'_>, needs: &[Need]) -> Option<()> {
        let moments = columns.ticks_and_times()?;
        let threads = columns.thread_numbers()?;
        if self.released >= self.waiting() {
            self.rows.drain(..self.released);
            self.released = 0;
        }
        let sorted = self.rows.len().saturating_sub(1);
        let parts = columns.shapes().iter().zip(moments).zip(threads);
        let parts = parts.filter(|((shape, _), _)| needs[usize::from(**shape)] == Need::Row);
        self.rows
            .extend(parts.map(|((shape, (ticks, time)), thread)| Row {
                ticks,
                time,
                id: columns.definitions()[usize::from(*shape)],
                thread: columns.threads()[usize::from(thread)],
            }));
        let one_ring = self.one_ring;
        let at = |row: &Row| row.at(one_ring);
        if !self.rows[sorted..].is_sorted_by_key(at) {
            self.rows[self.released..].sort_by_key(at);
        }
        Some(())
    }

    fn add(&mut self, event: &Event) {
        let ended = &mut self.ended;
        self.matcher.add(event, |found| ended.push(found));
        for found in ended.drain(..) {
            let is_wanted = match &mut self.filter {
                Some(filter) => filter.matches(event),
                None => self.ends.contains(&found.end),
            };
            if is_wanted {
                (self.found)(self.matcher.series(), found);
            }
        }
    }
}

/// Takes rows out of blocks, and leaves those events to be made of which more is needed.
impl UnitVisitor for State<'_, '_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        !(self.wanted.is_cancelled)() && unit.may_have(&self.times)
    }

    fn take(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        let is_first = self.taken[unit.number].is_none();
        if is_first {
            // Units come in the order of the first moments that they can have. Of several rings
            // only the times are compared, so events of the same time may still come from others.
            let ticks = if self.one_ring { unit.ticks.0 } else { 0 };
            let first = moment(self.one_ring, ticks, unit.unix.0);
            self.release(Some(first));
        }
        let is_full = self.waiting() >= MOST_WAITING;
        let is_taken = *self.taken[unit.number].get_or_insert(!unit.has_gap && !is_full);
        let (Some(columns), true) = (columns, is_taken) else {
            return;
        };
        let needs_ends = self.filter.is_some();
        let needs: Vec<Need> = columns
            .definitions()
            .iter()
            .map(|id| self.matcher.need(*id, needs_ends))
            .collect();
        let mut needed = needs.iter();
        let made = places.of_definitions(columns, |_| needed.next() == Some(&Need::Event));
        if is_first && needs.contains(&Need::Row) && self.take_rows(columns, &needs).is_none() {
            // The block is damaged: all that can be read of it is made.
            self.taken[unit.number] = Some(false);
            return;
        }
        places.intersect(&made);
    }

    fn event(&mut self, event: Event) -> bool {
        if (self.wanted.is_cancelled)() {
            return false;
        }
        let time = event.time.map_or(0, u64::from);
        self.release(Some(moment(self.one_ring, event.ticks, time)));
        self.add(&event);
        true
    }
}
