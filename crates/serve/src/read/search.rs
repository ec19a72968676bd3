//! Finds lines by texts and conditions, and says how far it is.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use timeline::{Event, Order};
use timeline_archive::{Archive, BlockColumns, Places, UnitInfo, UnitVisitor};
use timeline_reading::{Request, Stream};
use timeline_search::{Filter, LineNumbers, Needle, PageSelection, Query, SearchSelect};
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::events::EventObjects;
use super::unknown_names::unmatched;
use crate::error::Result;
use crate::logs::Version;

/// Parts of a log whose hits are counted.
pub const PARTS: usize = 256;
/// Most hits that are delivered together.
const HITS: usize = 10_000;
/// How often it is said how far the search is, and events after which the clock is looked at.
const OFTEN: Duration = Duration::from_millis(50);
const STEP: u64 = 256;
/// Events that are searched before columns say which of the others may have a text.
const AT_ONCE: u64 = 50_000;

/// What is searched for.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// A text or regular expression that a line has.
    pub needle: Option<Needle>,
    /// What the event meets.
    pub query: Query,
    /// The line to begin with.
    pub from: u64,
    /// The most hits.
    pub limit: u64,
}

/// Lines that were found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Hits {
    /// The numbers of the first lines of events, which rise.
    pub lines: Vec<u64>,
}

/// How far a search is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Progress {
    /// How many events were found.
    pub found: u64,
    /// Which share of the lines was searched.
    pub done: f64,
    /// How many were found in each of 256 parts of the log with as many lines each.
    pub density: Vec<u64>,
    /// Whether there may be more, because so many were found as were asked for.
    pub limited: bool,
    /// The first line that was not searched: `from` of a search that goes on.
    pub next: u64,
    /// How many events met all conditions but `pid`, and are left out because the process is not
    /// known: their threads are forgotten.
    pub unknown_process: u64,
    /// At the end, if nothing was found: a sentence for each name in the filters that is in nothing
    /// of the log, with those like it.
    pub unknown: Vec<String>,
}

/// Searches a log from a line on. Calls `tell` with what was found and how far the search
/// is, until it returns false.
pub fn search(
    version: &Version,
    wanted: &SearchRequest,
    tell: impl FnMut(Hits, &Progress) -> bool,
) -> Result<()> {
    let archive = version.archive();
    let mut index = version.index();
    let mut search = Search {
        wanted,
        objects: EventObjects::new(archive),
        filter: wanted.query.on(archive),
        total: version.lines().total,
        read: 0,
        told: Instant::now(),
        lines: Vec::new(),
        progress: Progress {
            found: 0,
            done: 0.0,
            density: vec![0; PARTS],
            limited: false,
            next: wanted.from,
            unknown_process: 0,
            unknown: Vec::new(),
        },
        tell,
    };
    let mut all = wanted.query.clone();
    // Only events that were read are counted, and once.
    all.of_unknown_process = Default::default();
    let request = Request::new(Order::OldestFirst);
    let mut among = Vec::new();
    if let Some(needle) = &wanted.needle {
        // The first hits of a text that is common come at once.
        let found = index.candidates(needle, Order::OldestFirst, Some(0));
        let (events, numbers) = version.log.numbered(request, Some(found));
        if wanted.from == 0 && !search.scan(events, numbers, AT_ONCE) {
            return Ok(());
        }
        all.texts.push(needle.clone());
        among.push(index.candidates(needle, Order::OldestFirst, None).selection);
    }
    let from = (search.progress.next, version.rest(&index));
    if from.0 > 0 {
        among.extend(
            index
                .lines(from.0..u64::MAX, from.1)
                .map(|found| found.selection),
        );
    }
    let found = match all.is_empty() {
        true if from.0 == 0 => None,
        true => index.lines(from.0..u64::MAX, from.1),
        false => {
            let pages = pages_with(archive, &all, among);
            index.candidates_where(from, |unit, places| pages.has(unit, places))
        }
    };
    let (events, numbers) = version.log.numbered(request, found);
    if search.scan(events, numbers, u64::MAX) {
        search.progress.done = 1.0;
        if search.progress.found == 0 && wanted.from == 0 {
            search.progress.unknown = unmatched(version, &wanted.query, &Cancel::default())?;
        }
        search.tell();
    }
    Ok(())
}

/// A search that goes on.
struct Search<'v, T> {
    wanted: &'v SearchRequest,
    objects: EventObjects<'v>,
    filter: Filter<'v>,
    /// How many lines the log has.
    total: u64,
    read: u64,
    told: Instant,
    /// Hits that were not told.
    lines: Vec<u64>,
    progress: Progress,
    tell: T,
}

impl<T: FnMut(Hits, &Progress) -> bool> Search<'_, T> {
    /// Searches so many of these events. Returns whether the search goes on behind them.
    fn scan(&mut self, events: Stream<'_>, mut numbers: LineNumbers, most: u64) -> bool {
        for event in events.take(usize::try_from(most).unwrap_or(usize::MAX)) {
            let (count, has_text) = match &self.wanted.needle {
                Some(needle) => self.objects.has_line(&event, |line| needle.is_in(line)),
                None => (self.objects.lines(&event), true),
            };
            let (first, _) = numbers.next(&event, count);
            if first < self.progress.next {
                continue;
            }
            self.progress.next = first + count.max(1);
            self.progress.done = first as f64 / self.total.max(1) as f64;
            if has_text && self.filter.matches(&event) {
                self.progress.found += 1;
                self.progress.density[part(first, self.total)] += 1;
                self.lines.push(first);
                self.progress.limited = self.progress.found >= self.wanted.limit;
            }
            self.read += 1;
            let is_first = self.progress.found == 1 && !self.lines.is_empty();
            let is_due = self.read.is_multiple_of(STEP) && self.told.elapsed() >= OFTEN;
            let is_told = is_first || is_due || self.lines.len() == HITS || self.progress.limited;
            if is_told && (!self.tell() || self.progress.limited) {
                return false;
            }
        }
        true
    }

    fn tell(&mut self) -> bool {
        self.told = Instant::now();
        self.progress.unknown_process = self.wanted.query.of_unknown_process.get();
        let lines = std::mem::take(&mut self.lines);
        (self.tell)(Hits { lines }, &self.progress)
    }
}

/// Places of events that may be wanted, in runs.
#[derive(Default)]
pub struct Runs(HashMap<usize, Vec<bool>>);

/// Events of a run.
const RUN: usize = 64;

impl Runs {
    /// Whether any of these places of a unit is among them.
    pub fn has(&self, unit: usize, places: Range<usize>) -> bool {
        let runs = self.0.get(&unit).map_or(&[][..], |runs| runs);
        let last = places.end.div_ceil(RUN).min(runs.len());
        runs.get(places.start / RUN..last)
            .is_some_and(|runs| runs.contains(&true))
    }
}

/// Finds by columns where wanted events may be, among those that all of these select. Makes none.
pub fn pages_with(archive: &Archive, query: &Query, among: Vec<PageSelection>) -> Runs {
    let runs = Mutex::default();
    archive.visit_ahead(|| {
        let select = SearchSelect::of(among.iter().cloned()).and(query.on(archive));
        (select, RunVisitor(&runs))
    });
    runs.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Notes which places are left, and leaves none.
struct RunVisitor<'r>(&'r Mutex<Runs>);

impl UnitVisitor for RunVisitor<'_> {
    fn take(&mut self, unit: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
        let mut runs = vec![false; places.len().div_ceil(RUN)];
        places.iter().for_each(|place| runs[place / RUN] = true);
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.0.insert(unit.number, runs);
        places.clear_range(0..places.len());
    }

    fn event(&mut self, _: Event) -> bool {
        true
    }
}

/// In which part of the log a line is.
fn part(line: u64, total: u64) -> usize {
    let part = u128::from(line) * PARTS as u128 / u128::from(total.max(1));
    (part as usize).min(PARTS - 1)
}
