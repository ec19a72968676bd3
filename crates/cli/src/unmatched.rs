//! Says which names of filters are in nothing that was read, and which ones are like them.

use std::collections::{BTreeSet, HashMap};
use std::slice::from_ref;

use timeline::{Attached, Definition, Event, Order, Source, Thread, ThreadRef, Unknown};
use timeline_archive::Archive;
use timeline_search::Query;

use crate::output;
use crate::target::Opened;

/// What filters chose from.
#[derive(Clone, Copy)]
pub enum Whole<'a> {
    /// A timeline.
    Ring(&'a Attached),
    /// An archive.
    Archive(&'a Archive),
}

impl<'a> From<&'a Opened> for Whole<'a> {
    fn from(opened: &'a Opened) -> Whole<'a> {
        match opened {
            Opened::Ring(at) => Whole::Ring(at),
            Opened::Archive(archive) => Whole::Archive(archive),
        }
    }
}

impl<'a> Whole<'a> {
    fn source(self) -> &'a dyn Source {
        match self {
            Whole::Ring(at) => at,
            Whole::Archive(archive) => archive,
        }
    }

    fn events(self) -> Box<dyn Iterator<Item = Event> + 'a> {
        match self {
            Whole::Ring(at) => Box::new(at.events(Order::NewestFirst)),
            Whole::Archive(archive) => Box::new(archive.events_by_time(Order::OldestFirst)),
        }
    }

    /// Its threads and the cores of its events, as far as `is_enough` does not say that no more are
    /// needed. It is asked for each new thread and core.
    fn seen(self, mut is_enough: impl FnMut(&Thread, u16) -> bool) -> (Vec<Thread>, BTreeSet<u16>) {
        let mut threads: HashMap<(ThreadRef, u32), Thread> = HashMap::new();
        let mut cores = BTreeSet::new();
        for event in self.events() {
            let key = (event.thread, event.tid);
            let is_new_core = event.core != 0xffff && cores.insert(event.core);
            if let Some(thread) = threads.get(&key) {
                if is_new_core && is_enough(thread, event.core) {
                    break;
                }
                continue;
            }
            let mut thread = self.source().thread(&event).unwrap_or_default();
            thread.tid = if thread.tid == 0 {
                event.tid
            } else {
                thread.tid
            };
            let is_last = is_enough(&thread, event.core);
            threads.insert(key, thread);
            if is_last {
                break;
            }
        }
        (threads.into_values().collect(), cores)
    }
}

/// Says of each name in the filters that is in nothing of this which names are like it. Names that
/// filters have met meanwhile are not looked for.
pub fn tell(query: &Query, all: &[Whole]) {
    unknown(query, all).iter().for_each(|one| say(one, ""));
}

/// The same where timelines are followed: what is not there yet may come.
pub fn tell_so_far(query: &Query, all: &[Whole]) {
    for one in unknown(query, all) {
        say(&one, if one.may_come() { "; it may come" } else { "" });
    }
}

fn unknown(query: &Query, all: &[Whole]) -> Vec<Unknown> {
    let mut unknown = Vec::new();
    if !query.has_met_definitions() {
        let sources = all.iter().map(|one| one.source());
        let definitions: Vec<&Definition> = sources.flat_map(Source::definitions).collect();
        // Where nothing is defined, nothing is misspelt.
        if !definitions.is_empty() {
            unknown = query.unknown(&definitions);
        }
    }
    if !query.has_met_threads() {
        let are_met = |thread: &Thread, core: u16| {
            query.has_core(core) && query.unknown_threads(from_ref(thread)).is_empty()
        };
        let (mut threads, mut cores) = (Vec::new(), BTreeSet::new());
        for one in all {
            let seen = one.seen(are_met);
            threads.extend(seen.0);
            cores.extend(seen.1);
        }
        if !threads.is_empty() {
            unknown.extend(query.unknown_threads(&threads));
            unknown.extend(query.unknown_cores(&cores));
        }
    }
    unknown
}

/// The filter that asks for what somebody took for a field.
fn filter_for(field: &str) -> Option<&'static str> {
    Some(match field {
        "category" => "--category",
        "event" | "name" => "--event",
        "priority" | "level" => "--priority",
        "thread" | "tid" => "--thread",
        "pid" | "process" => "--pid",
        "core" | "cpu" => "--core",
        "time" => "--since and --until",
        "message" | "text" => "--grep",
        _ => return None,
    })
}

fn say(unknown: &Unknown, more: &str) {
    let filter = (unknown.what() == "field").then(|| filter_for(unknown.name()));
    match filter.flatten() {
        Some(filter) => output::say(format_args!("{unknown} ({filter} is about that)")),
        None => output::say(format_args!("{unknown}{more}")),
    }
}
