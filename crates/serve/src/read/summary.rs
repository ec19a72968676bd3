//! Counts the events of an archive by time, thread, core and category, from its columns.
//!
//! A page is a run of events of a block. Its counts are kept, so that pictures of the whole log
//! are made without reading it again.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use timeline::{Event, EventId, Order, Source, Thread, ThreadRef};
use timeline_archive::{Archive, BlockColumns, Places, Select, UnitInfo};
use timeline_search::Query;

use super::cancel::Cancel;
use crate::error::Result;
use crate::logs::Version;

/// Most events of a page.
const PAGE: usize = 512;

/// What is counted of an event.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// In nanoseconds since 1970; 0 if it is not known.
    pub time: u64,
    pub thread: (ThreadRef, u32),
    pub core: u16,
    pub definition: EventId,
}

/// The counts of a log, or of its wanted events.
#[derive(Debug, Default)]
pub struct Summary {
    /// The pages, by the time of their first event. Those of unknown times are not among them.
    pub pages: Vec<Page>,
    entries: Vec<Entry>,
    pub threads: Vec<(ThreadRef, u32)>,
    pub categories: Vec<String>,
    /// How many events each definition has.
    pub definitions: FxHashMap<EventId, u64>,
    /// The first and the last time.
    pub span: Option<(u64, u64)>,
    /// How many events there are, also of unknown times.
    pub events: u64,
}

/// A run of events.
#[derive(Debug, Clone)]
pub struct Page {
    /// The first and the last time.
    pub time: (u64, u64),
    pub events: u32,
    first: u32,
    end: u32,
}

/// How many events of a page have a thread, a core and a category, all by their places in lists.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub thread: u32,
    pub category: u16,
    pub core: u16,
    pub count: u32,
}

impl Summary {
    /// That of all events of a log.
    pub fn of(version: &Version, cancel: &Cancel) -> Result<Arc<Summary>> {
        Summary::of_wanted(version, "None None", &Query::default(), cancel)
    }

    /// That of the events that `query` wants. Queries with the same `key` want the same.
    pub fn of_wanted(
        version: &Version,
        key: &str,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Arc<Summary>> {
        version.kept(key, || {
            let builder = RefCell::new(Builder::new(&version.archive));
            visit(&version.archive, query, cancel, |place, event| {
                builder.borrow_mut().add(place, event);
            })?;
            Ok(builder.into_inner().finish())
        })
    }

    /// The counts of all pages.
    pub fn all_entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The counts of a page.
    pub fn entries(&self, page: &Page) -> &[Entry] {
        &self.entries[page.first as usize..page.end as usize]
    }
}

/// A thread of an archive, by its record and its id in the kernel.
pub fn thread(archive: &Archive, (thread, tid): (ThreadRef, u32)) -> Option<Thread> {
    archive.thread(&Event {
        ticks: 0,
        id: EventId::NEVER,
        core: u16::MAX,
        node: u16::MAX,
        thread,
        tid,
        args: [0; 4],
        payload: None,
        time: None,
        missed: 0,
        important: false,
        duration: None,
    })
}

/// Calls `each` with the wanted events, in no order. Those that are read by columns come with their
/// unit and place.
///
/// # Errors
/// If it was cancelled.
pub fn visit(
    archive: &Archive,
    query: &Query,
    cancel: &Cancel,
    each: impl FnMut(Option<(usize, usize)>, Counted),
) -> Result<()> {
    let each = RefCell::new(each);
    let visit = Visit {
        seen: vec![false; archive.units().len()],
        cancel,
        each: &each,
    };
    let select = Box::new((query.on(archive), visit));
    for event in archive.events_by_time_where(Order::OldestFirst, select) {
        let counted = Counted {
            time: archive.time(&event).unwrap_or(0),
            thread: (event.thread, event.tid),
            core: event.core,
            definition: event.id,
        };
        cancel.check()?;
        (each.borrow_mut())(None, counted);
    }
    cancel.check()
}

/// Takes events by columns, so that they are not made. Where columns do not tell whether an event
/// is wanted, it is left to be made.
struct Visit<'v, F> {
    /// A unit may be read several times.
    seen: Vec<bool>,
    cancel: &'v Cancel,
    each: &'v RefCell<F>,
}

impl<F: FnMut(Option<(usize, usize)>, Counted)> Select for Visit<'_, F> {
    fn wants_unit(&mut self, _: &UnitInfo) -> bool {
        !self.cancel.is_set()
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        let Some(columns) = columns else {
            return;
        };
        let read = (columns.times(), columns.thread_numbers(), columns.cores());
        let (Some(times), Some(threads), Some(cores)) = read else {
            return;
        };
        let (shapes, is_seen) = (columns.shapes(), self.seen[unit.number]);
        self.seen[unit.number] = true;
        let mut each = self.each.borrow_mut();
        let mut place = 0;
        while let Some(at) = places.next(place) {
            place = at + 1;
            let is_told = !places.asks(at) && at < times.len() && at < shapes.len();
            if !is_told {
                continue;
            }
            if !is_seen {
                let counted = Counted {
                    time: times[at],
                    thread: columns.threads()[usize::from(threads[at])],
                    core: cores[at],
                    definition: columns.definitions()[usize::from(shapes[at])],
                };
                each(Some((unit.number, at)), counted);
            }
            places.clear(at);
        }
    }
}

/// Makes a summary.
struct Builder<'a> {
    archive: &'a Archive,
    summary: Summary,
    threads: FxHashMap<(ThreadRef, u32), u32>,
    /// The category of each definition, and how many events it has.
    definitions: FxHashMap<EventId, (u16, u64)>,
    /// The thread of the last event.
    last: Option<((ThreadRef, u32), u32)>,
    /// The pages that are being counted: of columns, and of other events.
    of_columns: Run,
    of_events: Run,
    loose: usize,
}

/// A page that is being counted.
#[derive(Default)]
struct Run {
    key: (usize, usize),
    time: Option<(u64, u64)>,
    entries: Vec<Entry>,
}

impl<'a> Builder<'a> {
    fn new(archive: &'a Archive) -> Builder<'a> {
        Builder {
            archive,
            summary: Summary::default(),
            threads: FxHashMap::default(),
            definitions: FxHashMap::default(),
            last: None,
            of_columns: Run::default(),
            of_events: Run::default(),
            loose: 0,
        }
    }

    fn add(&mut self, place: Option<(usize, usize)>, event: Counted) {
        self.summary.events += 1;
        *self
            .summary
            .definitions
            .entry(event.definition)
            .or_default() += 1;
        let thread = self.thread(event.thread);
        let category = self.category(event.definition);
        let key = match place {
            Some((unit, place)) => (unit, place / PAGE),
            None => {
                self.loose += 1;
                (usize::MAX, self.loose / PAGE)
            }
        };
        let run = match place {
            Some(_) => &mut self.of_columns,
            None => &mut self.of_events,
        };
        if run.key != key {
            run.end(&mut self.summary);
            run.key = key;
        }
        if event.time != 0 {
            let (first, last) = run.time.unwrap_or((event.time, event.time));
            run.time = Some((first.min(event.time), last.max(event.time)));
        }
        run.count(thread, event.core, category);
    }

    fn thread(&mut self, thread: (ThreadRef, u32)) -> u32 {
        if let Some((known, number)) = self.last
            && known == thread
        {
            return number;
        }
        let threads = &mut self.summary.threads;
        let number = *self.threads.entry(thread).or_insert_with(|| {
            threads.push(thread);
            threads.len() as u32 - 1
        });
        self.last = Some((thread, number));
        number
    }

    /// The category of a definition, which has one more event.
    fn category(&mut self, definition: EventId) -> u16 {
        let (archive, categories) = (self.archive, &mut self.summary.categories);
        let known = self.definitions.entry(definition);
        let (category, count) = known.or_insert_with(|| {
            let definition = archive.definition(definition);
            let name = definition.map_or("", |definition| &definition.category);
            let known = categories.iter().position(|known| known == name);
            let place = known.unwrap_or_else(|| {
                categories.push(name.to_string());
                categories.len() - 1
            });
            // A log with more categories than colours needs no other.
            (place.min(u16::MAX.into()) as u16, 0)
        });
        *count += 1;
        *category
    }

    fn finish(mut self) -> Summary {
        self.of_columns.end(&mut self.summary);
        self.of_events.end(&mut self.summary);
        let definitions = self.definitions.into_iter();
        self.summary.definitions = definitions.map(|(id, (_, count))| (id, count)).collect();
        self.summary.pages.sort_by_key(|page| page.time);
        self.summary
    }
}

impl Run {
    fn count(&mut self, thread: u32, core: u16, category: u16) {
        let is_same =
            |entry: &Entry| (entry.thread, entry.core, entry.category) == (thread, core, category);
        match self.entries.iter_mut().rev().find(|entry| is_same(entry)) {
            Some(entry) => entry.count += 1,
            None => self.entries.push(Entry {
                thread,
                category,
                core,
                count: 1,
            }),
        }
    }

    /// Keeps the page, and begins another.
    fn end(&mut self, summary: &mut Summary) {
        let entries = std::mem::take(&mut self.entries);
        let Some(time) = self.time.take() else {
            return;
        };
        let first = summary.entries.len() as u32;
        let events = entries.iter().map(|entry| entry.count).sum();
        summary.entries.extend(entries);
        let (start, end) = summary.span.unwrap_or(time);
        summary.span = Some((start.min(time.0), end.max(time.1)));
        summary.pages.push(Page {
            time,
            events,
            first,
            end: summary.entries.len() as u32,
        });
    }
}
