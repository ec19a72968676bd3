//! Counts events by thread or core, in parts of a range of time: what a picture shows.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value as Json, json};
use timeline_reading::{EventOrigin, EventSummary, Visitor, visit};
use timeline_search::Query;
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::catalogue::ThreadObject;
use super::names::{NameNumbers, NameTable};
use super::summary::{LogSummary, UNKNOWN_CORE};
use super::unknown_names::unmatched;
use crate::error::{Error, Result};
use crate::logs::Version;

/// Most parts of a range.
pub const MOST_BUCKETS: u64 = 4096;
/// Events that are read for a picture. If there are more, the counts of pages are spread evenly.
const EXACT: u64 = 250_000;

/// What is counted.
#[derive(Debug, Clone)]
pub struct TrackQuery {
    /// By core; else by thread.
    pub by_core: bool,
    /// In nanoseconds since 1970; the whole log if it is missing.
    pub range: Option<(u64, u64)>,
    /// The number of parts.
    pub buckets: u64,
    /// Which events are wanted, and a text that no other query has.
    pub query: Query,
    pub key: String,
}

/// Counts by thread or core.
#[derive(Debug, Serialize, ToSchema)]
pub struct Tracks {
    /// The first time, in nanoseconds since 1970.
    pub from: String,
    /// The time behind the last part.
    pub to: String,
    /// The number of parts.
    pub buckets: u64,
    /// Whether each count is exact. If not, the counts of runs of events are spread evenly.
    pub exact: bool,
    /// The names of categories.
    pub categories: Vec<String>,
    /// The threads or cores.
    pub rows: Vec<TrackRow>,
    /// How many events of the log, at any time, met all conditions but `pid`, and are left out
    /// because the process is not known: their threads are forgotten.
    pub unknown_process: u64,
    /// If the log has no such event at any time: a sentence for each name in the filters that is in
    /// nothing of the log, with those like it.
    pub unknown: Vec<String>,
}

/// The counts of a thread or core.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Row)]
pub struct TrackRow {
    /// A text that no other row has.
    pub key: String,
    /// The thread, and how many events there are in the range.
    #[serde(flatten)]
    pub thread: ThreadObject,
    /// The core.
    pub core: Option<u16>,
    /// The parts that have events. Of each: its number, how many events it has, the category that
    /// most of them are of, and the times of the first and the last, in nanoseconds since `from`.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub cells: Vec<Json>,
}

/// The counts of one part of a row.
#[derive(Debug, Clone, Copy)]
struct Cell {
    count: u64,
    /// The category that has most, as far as one pass tells, and by how many.
    category: u16,
    lead: u64,
    first: u64,
    last: u64,
}

impl Cell {
    fn add(&mut self, count: u64, category: u16, (first, last): (u64, u64)) {
        self.count += count;
        (self.first, self.last) = (self.first.min(first), self.last.max(last));
        if self.category == category {
            self.lead += count;
        } else if self.lead >= count {
            self.lead -= count;
        } else {
            (self.category, self.lead) = (category, count - self.lead);
        }
    }
}

/// A range of time in equal parts.
struct Parts {
    from: u64,
    to: u64,
    count: u64,
    rows: BTreeMap<u32, BTreeMap<u64, Cell>>,
}

impl Parts {
    fn of(&self, time: u64) -> u64 {
        let passed = u128::from(time - self.from) * u128::from(self.count);
        (passed / u128::from(self.to - self.from)) as u64
    }

    /// The first time of a part.
    fn start(&self, part: u64) -> u64 {
        let length = u128::from(self.to - self.from);
        let passed = (u128::from(part) * length).div_ceil(self.count.into());
        self.from + passed as u64
    }

    fn add(&mut self, row: u32, part: u64, count: u64, category: u16, time: (u64, u64)) {
        let cells = self.rows.entry(row).or_default();
        let new = Cell {
            count: 0,
            category,
            lead: 0,
            first: u64::MAX,
            last: 0,
        };
        cells.entry(part).or_insert(new).add(count, category, time);
    }

    /// Spreads the events of a run evenly over the parts between its times.
    fn spread(&mut self, row: u32, count: u64, category: u16, (first, last): (u64, u64)) {
        let (start, end) = (first.max(self.from), last.min(self.to - 1));
        if start > end {
            return;
        }
        let length = u128::from(last - first) + 1;
        let before = |time: u64| u128::from(time - first) * u128::from(count) / length;
        for part in self.of(start)..=self.of(end) {
            let low = self.start(part).max(start);
            let high = (self.start(part + 1) - 1).min(end);
            let among = (before(high + 1) - before(low)) as u64;
            if among > 0 {
                self.add(row, part, among, category, (low, high));
            }
        }
    }
}

/// Counts events.
pub fn tracks(version: &Version, asked: &TrackQuery, cancel: &Cancel) -> Result<Tracks> {
    let summary = LogSummary::of_wanted(version, &asked.key, &asked.query, cancel)?;
    let all = summary
        .span()
        .map(|(first, last)| (first, last.saturating_add(1)));
    let (from, to) = asked.range.or(all).unwrap_or((0, 1));
    if from >= to {
        return Err(Error::request("expected `from` to be before `to`"));
    }
    let mut parts = Parts {
        from,
        to,
        count: asked.buckets.clamp(1, MOST_BUCKETS),
        rows: BTreeMap::new(),
    };
    let begun = summary.pages.partition_point(|page| page.time.0 < to);
    let pages = summary.pages[..begun]
        .iter()
        .filter(|page| page.time.1 >= from);
    let events: u64 = pages.clone().map(|page| u64::from(page.events)).sum();
    let is_exact = events <= EXACT;
    let mut names = summary.names.clone();
    if is_exact {
        names = exact(version, names, asked, &mut parts, cancel)?;
    } else {
        for page in pages {
            for entry in summary.entries(page) {
                let row = if asked.by_core {
                    entry.core.into()
                } else {
                    entry.thread
                };
                parts.spread(row, entry.count.into(), entry.category, page.time);
            }
        }
    }
    Ok(Tracks {
        from: from.to_string(),
        to: to.to_string(),
        buckets: parts.count,
        exact: is_exact,
        rows: rows(&names, asked.by_core, &parts),
        categories: names.categories,
        unknown_process: summary.unknown_process,
        unknown: match summary.events() {
            0 => unmatched(version, &asked.query, cancel)?,
            _ => Vec::new(),
        },
    })
}

/// The rows, by process, core and thread.
fn rows(names: &NameTable, by_core: bool, parts: &Parts) -> Vec<TrackRow> {
    let from = parts.from;
    let row = |(number, cells): (&u32, &BTreeMap<u64, Cell>)| {
        let cell = |(part, cell): (&u64, &Cell)| {
            let (first, last) = (cell.first - from, cell.last - from);
            json!([part, cell.count, cell.category, first, last])
        };
        let logger = (!by_core).then(|| &names.threads[*number as usize]);
        let known_thread = logger.and_then(|logger| logger.thread.clone());
        let count = cells.values().map(|cell| cell.count).sum();
        let tid = logger.map_or(0, |logger| logger.tid);
        let thread = ThreadObject::new(known_thread, tid, count);
        TrackRow {
            key: number.to_string(),
            core: (by_core && *number != u32::from(UNKNOWN_CORE)).then_some(*number as u16),
            thread,
            cells: cells.iter().map(cell).collect(),
        }
    };
    let mut rows: Vec<TrackRow> = parts.rows.iter().map(row).collect();
    rows.sort_by(|left, right| {
        let key = |row: &TrackRow| {
            (
                row.thread.process.clone(),
                row.thread.pid,
                row.core,
                row.thread.tid,
            )
        };
        key(left).cmp(&key(right))
    });
    rows
}

/// Counts the events of a range one by one. Returns the names of what was found.
fn exact(
    version: &Version,
    names: NameTable,
    asked: &TrackQuery,
    parts: &mut Parts,
    cancel: &Cancel,
) -> Result<NameTable> {
    let query = asked.query.within(parts.from..parts.to);
    let mut exact = Exact {
        by_core: asked.by_core,
        numbers: NameNumbers::new(version.archive(), names),
        parts,
    };
    visit(version.archive(), &query, &|| cancel.is_set(), &mut exact);
    cancel.check()?;
    Ok(exact.numbers.names)
}

/// Adds each event to the part that it is in.
struct Exact<'a, 'p> {
    by_core: bool,
    numbers: NameNumbers<'a>,
    parts: &'p mut Parts,
}

impl Visitor for Exact<'_, '_> {
    fn event(&mut self, _: EventOrigin, event: EventSummary) {
        let range = self.parts.from..self.parts.to;
        let Some(time) = event.time.filter(|time| range.contains(time)) else {
            return;
        };
        let row = match self.by_core {
            true => event.core.unwrap_or(UNKNOWN_CORE).into(),
            false => self.numbers.thread(event.thread),
        };
        let kind = self.numbers.kind(event.definition);
        let category = self.numbers.names.category(kind);
        let part = self.parts.of(time);
        self.parts.add(row, part, 1, category, (time, time));
    }
}
