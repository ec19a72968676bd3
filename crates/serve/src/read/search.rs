//! Finds lines by texts and conditions, and says how far it is.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use serde::Serialize;
use timeline::{Event, Order};
use timeline_archive::{Archive, BlockColumns, Places, Select, UnitInfo};
use timeline_search::{Index, LineNumbers, Needle, Query};
use utoipa::ToSchema;

use super::events::Objects;
use crate::error::Result;
use crate::logs::Version;

/// Parts of a log whose hits are counted.
pub const PARTS: usize = 256;
/// Most hits that are delivered together.
const HITS: usize = 10_000;
/// How often it is said how far the search is, and events after which the clock is looked at.
const OFTEN: Duration = Duration::from_millis(50);
const STEP: u64 = 256;

/// What is searched for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// A text or regular expression that a line has.
    pub needle: Option<Needle>,
    /// What the event meets.
    pub query: Query,
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
}

/// Searches a log from its first line on. Calls `tell` with what was found and how far the search
/// is, until it returns false.
pub fn search(
    version: &Version,
    wanted: &Wanted,
    mut tell: impl FnMut(Hits, &Progress) -> bool,
) -> Result<()> {
    let archive = &version.archive;
    let mut index = Index::open(archive);
    let total = version.lines().total;
    let candidates = match &wanted.needle {
        Some(needle) => Some(index.candidates(needle, Order::OldestFirst, Some(0))),
        None if wanted.query.is_empty() => None,
        None => {
            let pages = pages_with(archive, &wanted.query);
            index.candidates_where(|unit, places| pages.has(unit, places))
        }
    };
    let (events, mut numbers): (Box<dyn Iterator<Item = Event>>, _) = match candidates {
        Some(found) => {
            let select = Box::new(found.selection);
            let events = archive.events_by_time_where(Order::OldestFirst, select);
            (Box::new(events), found.lines)
        }
        None => {
            let numbers = LineNumbers::new(Order::OldestFirst);
            (
                Box::new(archive.events_by_time(Order::OldestFirst)),
                numbers,
            )
        }
    };
    let (mut objects, mut filter) = (Objects::new(archive), wanted.query.on(archive));
    let mut progress = Progress {
        found: 0,
        done: 0.0,
        density: vec![0; PARTS],
        limited: false,
    };
    let mut lines = Vec::new();
    let (mut read, mut told) = (0_u64, Instant::now());
    for event in events {
        let has = |line: &str| {
            wanted
                .needle
                .as_ref()
                .is_none_or(|needle| needle.is_in(line))
        };
        let (count, has_text) = objects.has_line(&event, has);
        let (first, _) = numbers.next(&event, count);
        if has_text && filter.matches(&event) {
            progress.found += 1;
            progress.density[part(first, total)] += 1;
            lines.push(first);
            progress.limited = progress.found >= wanted.limit;
        }
        read += 1;
        let is_first = progress.found == 1 && !lines.is_empty();
        let is_due = read % STEP == 0 && told.elapsed() >= OFTEN;
        if is_first || is_due || lines.len() == HITS || progress.limited {
            told = Instant::now();
            progress.done = first as f64 / total.max(1) as f64;
            let lines = std::mem::take(&mut lines);
            if !tell(Hits { lines }, &progress) || progress.limited {
                return Ok(());
            }
        }
    }
    progress.done = 1.0;
    tell(Hits { lines }, &progress);
    Ok(())
}

/// Places of events that may be wanted, in runs.
#[derive(Default)]
struct Runs(HashMap<usize, Vec<bool>>);

/// Events of a run.
const RUN: usize = 64;

impl Runs {
    fn has(&self, unit: usize, places: Range<usize>) -> bool {
        let runs = self.0.get(&unit).map_or(&[][..], |runs| runs);
        let last = places.end.div_ceil(RUN).min(runs.len());
        runs.get(places.start / RUN..last)
            .is_some_and(|runs| runs.contains(&true))
    }
}

/// Finds by columns where wanted events may be. Makes none.
fn pages_with(archive: &Archive, query: &Query) -> Runs {
    let runs = RefCell::new(Runs::default());
    let select = Box::new((query.on(archive), Note(&runs)));
    archive
        .events_by_time_where(Order::OldestFirst, select)
        .for_each(drop);
    runs.into_inner()
}

/// Notes which places are left, and leaves none.
struct Note<'r>(&'r RefCell<Runs>);

impl Select for Note<'_> {
    fn choose(&mut self, unit: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
        let mut runs = vec![false; places.len().div_ceil(RUN)];
        places.iter().for_each(|place| runs[place / RUN] = true);
        self.0.borrow_mut().0.insert(unit.number, runs);
        places.clear_range(0..places.len());
    }
}

/// In which part of the log a line is.
fn part(line: u64, total: u64) -> usize {
    let part = u128::from(line) * PARTS as u128 / u128::from(total.max(1));
    (part as usize).min(PARTS - 1)
}
