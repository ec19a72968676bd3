//! Counts the events of an archive by time, thread, core and category, from its columns.
//!
//! A page is a run of events of a block. Its counts are kept, so that pictures of the whole log
//! are made without reading it again. While a log grows, the counts of blocks that were read for
//! the version before are taken over: threads and kinds are known by what they are, because
//! another version may have other numbers for them.

use std::sync::Arc;

use timeline_archive::{Archive, UnitInfo};
use timeline_reading::{EventOrigin, EventSummary, Visitor, visit};
use timeline_search::Query;

use super::cancel::Cancel;
use super::names::{NameNumbers, NameTable};
use crate::error::Result;
use crate::logs::Version;

/// Most events of a page.
const PAGE: usize = 512;

/// The counts of a log, or of its wanted events.
#[derive(Debug, Clone, Default)]
pub struct LogSummary {
    /// The pages, by the time of their first event. Those of unknown times are not among them.
    pub pages: Vec<SummaryPage>,
    /// What the numbers of entries mean.
    pub names: NameTable,
    /// How many other events met all conditions but those on processes, which are not known.
    pub unknown_process: u64,
    /// The digest of each unit that was counted for good, by its number; 0 for others.
    units: Vec<u64>,
    /// What these units have, and what all others have.
    good: Tally,
    loose: Tally,
}

/// Counts.
#[derive(Debug, Clone, Default)]
struct Tally {
    entries: Vec<PageCount>,
    /// How many events each kind has, by its number.
    kinds: Vec<u64>,
    /// The first and the last time.
    span: Option<(u64, u64)>,
    /// How many events there are, also of unknown times.
    events: u64,
}

/// A run of events.
#[derive(Debug, Clone)]
pub struct SummaryPage {
    /// The first and the last time.
    pub time: (u64, u64),
    pub events: u32,
    first: u32,
    end: u32,
    is_loose: bool,
}

/// The core of a count, where that is not known. Counts are kept by the million.
pub const UNKNOWN_CORE: u16 = u16::MAX;

/// How many events of a page have a thread, a core and a category, all by their places in lists.
#[derive(Debug, Clone, Copy)]
pub struct PageCount {
    pub thread: u32,
    pub category: u16,
    pub core: u16,
    pub count: u32,
}

impl LogSummary {
    /// That of all events of a log.
    pub fn of(version: &Version, cancel: &Cancel) -> Result<Arc<LogSummary>> {
        LogSummary::of_wanted(version, "None None", &Query::default(), cancel)
    }

    /// That of the events that `query` wants. Queries with the same `key` want the same.
    pub fn of_wanted(
        version: &Version,
        key: &str,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Arc<LogSummary>> {
        version.kept(key, |before: Option<Arc<LogSummary>>| {
            let before = before.map(Arc::unwrap_or_clone).unwrap_or_default();
            let mut builder = Builder::new(version.archive(), before);
            let query = Query {
                of_unknown_process: Default::default(),
                ..query.clone()
            };
            visit(version.archive(), &query, &|| cancel.is_set(), &mut builder);
            cancel.check()?;
            let mut summary = builder.finish();
            // No block with such events is counted for good, so all of them were met again.
            summary.unknown_process = query.of_unknown_process.get();
            Ok(summary)
        })
    }

    /// How many events there are, also of unknown times.
    pub fn events(&self) -> u64 {
        self.good.events + self.loose.events
    }

    /// The first and the last time.
    pub fn span(&self) -> Option<(u64, u64)> {
        let spans = [self.good.span, self.loose.span];
        spans.into_iter().flatten().reduce(join)
    }

    /// How many events a kind has.
    pub fn of_kind(&self, kind: usize) -> u64 {
        let counts = [&self.good, &self.loose].map(|tally| tally.kinds.get(kind));
        counts.into_iter().flatten().sum()
    }

    /// The counts of all pages.
    pub fn all_entries(&self) -> impl Iterator<Item = &PageCount> {
        self.good.entries.iter().chain(&self.loose.entries)
    }

    /// The counts of a page.
    pub fn entries(&self, page: &SummaryPage) -> &[PageCount] {
        let tally = match page.is_loose {
            true => &self.loose,
            false => &self.good,
        };
        &tally.entries[page.first as usize..page.end as usize]
    }
}

fn join(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Makes a summary.
struct Builder<'a> {
    summary: LogSummary,
    numbers: NameNumbers<'a>,
    /// The pages that are being counted: of blocks for good, and of other events by columns and
    /// one by one.
    runs: [Run; 3],
    /// How many events came one by one.
    single: usize,
}

/// A page that is being counted.
#[derive(Default)]
struct Run {
    key: (usize, usize),
    time: Option<(u64, u64)>,
    entries: Vec<PageCount>,
    is_loose: bool,
}

impl<'a> Builder<'a> {
    /// Goes on where the summary of the version before ended.
    fn new(archive: &'a Archive, mut before: LogSummary) -> Builder<'a> {
        before.loose = Tally::default();
        before.pages.retain(|page| !page.is_loose);
        let run = |is_loose| Run {
            is_loose,
            ..Run::default()
        };
        Builder {
            numbers: NameNumbers::new(archive, std::mem::take(&mut before.names)),
            summary: before,
            runs: [run(false), run(true), run(true)],
            single: 0,
        }
    }

    fn finish(mut self) -> LogSummary {
        for mut run in self.runs {
            run.end(&mut self.summary);
        }
        self.summary.names = self.numbers.names;
        self.summary.pages.sort_by_key(|page| page.time);
        self.summary
    }
}

impl Visitor for Builder<'_> {
    fn wants(&mut self, unit: &UnitInfo) -> bool {
        let known = self.summary.units.get(unit.number);
        known.is_none_or(|known| *known != key_of(unit))
    }

    fn end(&mut self, block: &UnitInfo) {
        let units = &mut self.summary.units;
        units.resize(units.len().max(block.number + 1), 0);
        units[block.number] = key_of(block);
    }

    fn event(&mut self, from: EventOrigin, event: EventSummary) {
        let kind = self.numbers.kind(event.definition);
        let thread = self.numbers.thread(event.thread);
        let category = self.numbers.names.category(kind);
        let (run, key) = match from {
            EventOrigin::Block(unit, place) => (0, (unit, place / PAGE)),
            EventOrigin::Columns(unit, place) => (1, (unit, place / PAGE)),
            EventOrigin::Event => {
                self.single += 1;
                (2, (usize::MAX, self.single / PAGE))
            }
        };
        let tally = match run {
            0 => &mut self.summary.good,
            _ => &mut self.summary.loose,
        };
        tally.events += 1;
        let kind = kind as usize;
        if tally.kinds.len() <= kind {
            tally.kinds.resize(kind + 1, 0);
        }
        tally.kinds[kind] += 1;
        let run = &mut self.runs[run];
        if run.key != key {
            run.end(&mut self.summary);
            run.key = key;
        }
        if let Some(time) = event.time {
            let time = (time, time);
            run.time = Some(run.time.map_or(time, |known| join(known, time)));
        }
        run.count(thread, event.core.unwrap_or(UNKNOWN_CORE), category);
    }
}

/// What tells a unit from all that another version may have in its place; never 0.
fn key_of(unit: &UnitInfo) -> u64 {
    unit.digest.max(1)
}

impl Run {
    fn count(&mut self, thread: u32, core: u16, category: u16) {
        let is_same = |entry: &PageCount| {
            (entry.thread, entry.core, entry.category) == (thread, core, category)
        };
        match self.entries.iter_mut().rev().find(|entry| is_same(entry)) {
            Some(entry) => entry.count += 1,
            None => self.entries.push(PageCount {
                thread,
                category,
                core,
                count: 1,
            }),
        }
    }

    /// Keeps the page, and begins another.
    fn end(&mut self, summary: &mut LogSummary) {
        let entries = std::mem::take(&mut self.entries);
        let Some(time) = self.time.take() else {
            return;
        };
        let tally = match self.is_loose {
            true => &mut summary.loose,
            false => &mut summary.good,
        };
        let first = tally.entries.len() as u32;
        let events = entries.iter().map(|entry| entry.count).sum();
        tally.entries.extend(entries);
        tally.span = Some(tally.span.map_or(time, |known| join(known, time)));
        summary.pages.push(SummaryPage {
            time,
            events,
            first,
            end: tally.entries.len() as u32,
            is_loose: self.is_loose,
        });
    }
}

#[cfg(test)]
mod tests {
    use timeline_archive::{Form, RawEvent, Writer};

    use super::*;

    /// Blocks of so many events each, of several threads and definitions.
    fn blocks(counts: &[u64]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Blocks);
        let mut ticks = 0;
        for count in counts {
            for number in 0..*count {
                ticks += 1;
                let mut event = RawEvent {
                    ticks: Some(ticks),
                    unix_nanos: Some(1_000_000 + ticks * 10),
                    ..RawEvent::default()
                };
                let word = ["net", "db", "new"][(number % 3) as usize];
                event.definition.category = Some(writer.string(word));
                event.definition.format = Some(writer.string("sent"));
                event.thread.tid = Some(number % 4 + 1);
                writer.event(&event).unwrap();
            }
            writer.flush().unwrap();
        }
        file
    }

    /// The counts by thread and category, and by kind.
    fn counts(summary: &LogSummary) -> [Vec<(String, u64)>; 2] {
        let mut by_entry = std::collections::BTreeMap::new();
        for page in &summary.pages {
            for entry in summary.entries(page) {
                let tid = summary.names.threads[entry.thread as usize].tid;
                let category = &summary.names.categories[usize::from(entry.category)];
                let count = by_entry.entry((tid, category.clone())).or_insert(0);
                *count += u64::from(entry.count);
            }
        }
        let named = |((tid, name), count)| (format!("{tid} {name}"), count);
        let by_entry = by_entry.into_iter().map(named).collect();
        let kinds = summary.names.kinds.iter().enumerate();
        let mut kinds: Vec<_> = kinds
            .map(|(number, kind)| (format!("{kind:?}"), summary.of_kind(number)))
            .collect();
        kinds.sort();
        [by_entry, kinds]
    }

    #[test]
    fn blocks_that_were_counted_are_not_counted_again() {
        let (all, cancel) = (blocks(&[600, 10, 700, 40]), Cancel::default());
        let some = &all[..blocks(&[600, 10]).len()];
        let before = Version::of_bytes(some, None);
        let known = LogSummary::of(&before, &cancel).unwrap();
        assert_eq!(known.events(), 610);
        let now = Version::of_bytes(&all, Some(&before));
        let builder = &mut Builder::new(now.archive(), LogSummary::clone(&known));
        let wanted: Vec<bool> = now
            .archive()
            .units()
            .map(|unit| builder.wants(&unit))
            .collect();
        assert_eq!(wanted, [false, false, true, true]);
        let (continued, fresh) = (
            LogSummary::of(&now, &cancel).unwrap(),
            Version::of_bytes(&all, None),
        );
        let fresh = LogSummary::of(&fresh, &cancel).unwrap();
        assert_eq!(continued.events(), 1_350);
        assert_eq!(continued.span(), fresh.span());
        assert_eq!(counts(&continued), counts(&fresh));
        assert!(continued.pages.is_sorted_by_key(|page| page.time));
        // Other blocks in the place of those that were counted are counted.
        let other = blocks(&[600, 11, 5]);
        let other = Version::of_bytes(&other, Some(&before));
        let wanted: Vec<bool> = other
            .archive()
            .units()
            .map(|unit| builder.wants(&unit))
            .collect();
        assert_eq!(wanted, [false, true, true]);
    }

    #[test]
    fn counting_stops_when_nobody_waits() {
        let version = Version::of_bytes(&blocks(&[100, 100]), None);
        let cancel = Cancel::default();
        cancel.cancel();
        assert!(LogSummary::of(&version, &cancel).is_err());
        assert!(crate::read::definitions(&version, &cancel).is_err());
        assert_eq!(
            crate::read::definitions(&version, &Cancel::default())
                .unwrap()
                .len(),
            3
        );
    }
}
