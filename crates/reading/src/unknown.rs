//! The names in filters that are in nothing of a log.

use std::collections::{BTreeSet, HashMap};
use std::slice::from_ref;

use timeline::{Definition, Order, Source, Thread, ThreadRef, Unknown};
use timeline_search::Query;

use crate::log::Log;
use crate::request::Request;

/// The names in a query that are in nothing of these logs. Names that the query has met meanwhile
/// are not looked for. Threads and cores are looked for among all events, until all are found.
pub fn unknown_names(query: &Query, logs: &[&Log]) -> Vec<Unknown> {
    let mut unknown = Vec::new();
    if !query.has_met_definitions() {
        let sources = logs.iter().map(|log| log.source());
        let definitions: Vec<&Definition> = sources.flat_map(Source::definitions).collect();
        unknown = unknown_definitions(query, &definitions);
    }
    if !query.has_met_threads() {
        let are_met = |thread: &Thread, core: u16| {
            query.has_core(core) && query.unknown_threads(from_ref(thread)).is_empty()
        };
        let (mut threads, mut cores) = (Vec::new(), BTreeSet::new());
        for log in logs {
            let (more, of) = threads_and_cores(log, are_met);
            threads.extend(more);
            cores.extend(of);
        }
        unknown.extend(unknown_threads(query, &threads));
        if !threads.is_empty() {
            unknown.extend(query.unknown_cores(&cores));
        }
    }
    unknown
}

/// The names in a query that none of these definitions has. Where nothing is defined, nothing is
/// misspelt.
pub fn unknown_definitions(query: &Query, definitions: &[&Definition]) -> Vec<Unknown> {
    match definitions {
        [] => Vec::new(),
        some => query.unknown(some),
    }
}

/// The names in a query that none of these threads has. Where nobody logs, nothing is misspelt.
pub fn unknown_threads(query: &Query, threads: &[Thread]) -> Vec<Unknown> {
    match threads {
        [] => Vec::new(),
        some => query.unknown_threads(some),
    }
}

/// The threads of a log and the cores of its events, as far as `is_enough` does not say that no
/// more are needed. It is asked for each new thread and core.
fn threads_and_cores(
    log: &Log,
    mut is_enough: impl FnMut(&Thread, u16) -> bool,
) -> (Vec<Thread>, BTreeSet<u16>) {
    let mut threads: HashMap<(ThreadRef, u32), Thread> = HashMap::new();
    let mut cores = BTreeSet::new();
    // The newest of a ring, because the oldest are overwritten meanwhile.
    let order = match log.ring() {
        Some(_) => Order::NewestFirst,
        None => Order::OldestFirst,
    };
    for event in log.stream(Request::new(order)) {
        let key = (event.thread, event.tid);
        let is_new_core = event.known_core().is_some_and(|core| cores.insert(core));
        if let Some(thread) = threads.get(&key) {
            if is_new_core && is_enough(thread, event.core) {
                break;
            }
            continue;
        }
        let mut thread = log.source().thread(&event).unwrap_or_default();
        if thread.tid == 0 {
            thread.tid = event.tid;
        }
        let is_last = is_enough(&thread, event.core);
        threads.insert(key, thread);
        if is_last {
            break;
        }
    }
    (threads.into_values().collect(), cores)
}
