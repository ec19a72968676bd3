//! The names in filters that are in nothing of a log.

use std::collections::{BTreeSet, HashMap};
use std::slice::from_ref;

use timeline::internal::Unknown;
use timeline::{Definition, Order, Source, Thread, ThreadRef};
use timeline_archive::UnitInfo;
use timeline_search::Query;

use crate::log::Log;
use crate::request::Request;
use crate::visit::{EventOrigin, EventSummary, Visitor, visit};

/// The names in a query that are in nothing of these logs. Names that the query has met meanwhile
/// are not looked for. Threads and cores are looked for among all events, until all are found.
pub fn unknown_names(query: &Query, logs: &[&Log]) -> Vec<Unknown> {
    let mut unknown = Vec::new();
    if !query.has_met_definitions() {
        let sources = logs.iter().map(|log| log.source());
        let definitions: Vec<&Definition> = sources.flat_map(Source::definitions).collect();
        unknown = unknown_among(query, &definitions, &[], &BTreeSet::new());
    }
    if !query.has_met_threads() {
        let are_met = |thread: &Thread, core: Option<u16>| {
            query.has_core(core) && query.unknown_threads(from_ref(thread)).is_empty()
        };
        let (mut threads, mut cores) = (Vec::new(), BTreeSet::new());
        for log in logs {
            let (more, of) = threads_and_cores(log, are_met);
            threads.extend(more);
            cores.extend(of);
        }
        unknown.extend(unknown_among(query, &[], &threads, &cores));
    }
    unknown
}

/// The names in a query that none of these has: all definitions of a log, its threads, and the
/// cores of its events. Where nothing is defined, and where nobody logs, nothing is misspelt.
pub fn unknown_among(
    query: &Query,
    definitions: &[&Definition],
    threads: &[Thread],
    cores: &BTreeSet<u16>,
) -> Vec<Unknown> {
    let mut unknown = Vec::new();
    if !definitions.is_empty() {
        unknown.extend(query.unknown(definitions));
    }
    if !threads.is_empty() {
        unknown.extend(query.unknown_threads(threads));
        unknown.extend(query.unknown_cores(cores));
    }
    unknown
}

/// The threads of a log and the cores of its events, as far as `is_enough` does not say that no
/// more are needed. It is asked for each new thread and core.
fn threads_and_cores(
    log: &Log,
    is_enough: impl FnMut(&Thread, Option<u16>) -> bool,
) -> (Vec<Thread>, BTreeSet<u16>) {
    let mut found = Loggers {
        source: log.source(),
        is_enough,
        threads: HashMap::new(),
        cores: BTreeSet::new(),
        is_done: false,
    };
    match log.archive() {
        Some(archive) => visit(archive, &Query::default(), &|| false, &mut found),
        // The newest first, because the oldest are overwritten meanwhile.
        None => {
            for event in log.stream(Request::new(Order::NewestFirst)) {
                found.note((event.thread, event.tid), event.known_core());
                if found.is_done {
                    break;
                }
            }
        }
    }
    (found.threads.into_values().collect(), found.cores)
}

/// The threads and cores of the events so far.
struct Loggers<'a, E> {
    source: &'a dyn Source,
    is_enough: E,
    threads: HashMap<(ThreadRef, u32), Thread>,
    cores: BTreeSet<u16>,
    is_done: bool,
}

impl<E: FnMut(&Thread, Option<u16>) -> bool> Loggers<'_, E> {
    fn note(&mut self, (thread, tid): (ThreadRef, u32), core: Option<u16>) {
        let is_new_core = core.is_some_and(|core| self.cores.insert(core));
        let (mut is_new, source) = (false, self.source);
        let known = self.threads.entry((thread, tid)).or_insert_with(|| {
            is_new = true;
            let mut known = source.thread_of(thread, tid).unwrap_or_default();
            known.tid = known.known_tid().unwrap_or(tid);
            known
        });
        self.is_done |= (is_new || is_new_core) && (self.is_enough)(known, core);
    }
}

impl<E: FnMut(&Thread, Option<u16>) -> bool> Visitor for Loggers<'_, E> {
    fn wants(&mut self, _: &UnitInfo) -> bool {
        !self.is_done
    }

    fn event(&mut self, _: EventOrigin, event: EventSummary) {
        self.note(event.thread, event.core);
    }
}
