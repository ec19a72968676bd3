//! Decides which events of a source are wanted.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use timeline::dump::Messages;
use timeline::internal::PerEvent;
use timeline::{Definition, Event, EventId, Interpolation, Layout, Source, ThreadRef};
use timeline_archive::ShapeValues;

use super::fields::QueryFields;
use super::program::CompiledQueries;
use super::text_plan::TextPlan;
use super::unknown_names::is_thread;
use super::{Needle, Query};
use crate::message_lines::message_lines;

/// Threads whose decisions are kept, of all that come and go.
const MOST_THREADS: usize = 1 << 20;

/// Decides which events of one source are wanted.
///
/// Category, priority and name are looked at once for each definition, and names once for each
/// thread. Values are looked at only if all of that allows the event, and a message is made last.
pub struct Filter<'a> {
    pub(super) query: &'a Query,
    pub(super) source: &'a dyn Source,
    interpolation: Option<Interpolation>,
    /// By the number of the event, of those that are defined.
    definitions: PerEvent<Decision<'a>>,
    /// Of events without a definition, or with one whose message was lost.
    pub(super) unknown: QueryFields<'a>,
    /// What the conditions are on the columns of blocks.
    pub(super) programs: CompiledQueries<'a>,
    /// What the texts say about the values of definitions, by the form in which events have them.
    pub(super) text_plans: HashMap<EventId, Vec<(ShapeValues, Arc<TextPlan<'a>>)>>,
    /// By the record of the thread, and its id: in damaged memory a record may be of another.
    threads: HashMap<(ThreadRef, u32), ByThread>,
    renames: u64,
    /// Whether an event of a core that is asked for came.
    has_met_core: Cell<bool>,
    messages: Messages<'a>,
}

/// What the conditions say about the events of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByThread {
    Wanted,
    NotWanted,
    /// They want some processes, and nobody knows of which one it is.
    UnknownProcess,
}

/// What the conditions say about the events of a definition.
pub(super) enum Decision<'a> {
    Never,
    /// The values do not matter.
    Always,
    /// If the values meet the expressions.
    Perhaps(QueryFields<'a>),
    /// Likewise, but nothing says what the values are.
    PerhapsUnknown,
}

impl<'a> Decision<'a> {
    /// The fields that the conditions name and the definition has.
    fn fields(&self) -> Vec<&'a str> {
        match self {
            Decision::Perhaps(fields) => fields.found.iter().map(|found| found.name).collect(),
            _ => Vec::new(),
        }
    }
}

impl Query {
    /// Whether any event with this definition may be wanted.
    pub fn may_want(&self, definition: &Definition) -> bool {
        !matches!(decide(self, definition), Decision::Never)
    }
}

impl<'a> Filter<'a> {
    pub(super) fn new(query: &'a Query, source: &'a dyn Source) -> Filter<'a> {
        Filter {
            query,
            source,
            interpolation: None,
            definitions: PerEvent::new(),
            unknown: QueryFields::of(query, Layout::unknown(), &[]),
            programs: CompiledQueries::default(),
            text_plans: HashMap::new(),
            threads: HashMap::new(),
            renames: source.renames(),
            has_met_core: Cell::new(false),
            messages: Messages::new(source),
        }
    }

    /// Whether an event of the source is wanted.
    pub fn matches(&mut self, event: &Event) -> bool {
        let by_thread = match self.is_on_core(event) && self.is_in_time(event) {
            true => self.decide_thread(event.thread, event.tid),
            false => ByThread::NotWanted,
        };
        let meets = by_thread != ByThread::NotWanted
            && self.is_of_definition(event)
            && self.has_text(event);
        if meets && by_thread == ByThread::UnknownProcess {
            self.query.of_unknown_process.add_one();
        }
        meets && by_thread == ByThread::Wanted
    }

    /// Asks for the names of threads anew, if one may have changed. Worth calling from time to time
    /// while a live timeline is followed.
    pub fn notice_renames(&mut self) {
        let renames = self.source.renames();
        if renames != self.renames {
            self.renames = renames;
            self.threads.clear();
        }
    }

    fn is_on_core(&self, event: &Event) -> bool {
        self.has_core(event.known_core())
    }

    pub(super) fn has_core(&self, core: Option<u16>) -> bool {
        if self.query.cores.is_empty() {
            return true;
        }
        let is_wanted = self.query.has_core(core);
        if is_wanted && !self.has_met_core.replace(true) {
            self.query.note_core();
        }
        is_wanted
    }

    fn is_in_time(&mut self, event: &Event) -> bool {
        if self.query.since.is_none() && self.query.until.is_none() {
            return true;
        }
        self.time(event).is_some_and(|time| self.has_time(time))
    }

    pub(super) fn has_time(&self, time: u64) -> bool {
        let Query { since, until, .. } = *self.query;
        since.is_none_or(|since| since <= time) && until.is_none_or(|until| time < until)
    }

    fn time(&mut self, event: &Event) -> Option<u64> {
        let between = self.interpolation;
        let time = between.and_then(|between| between.unix_nanos(event.ticks));
        time.or_else(|| {
            self.interpolation = self.source.interpolation(event);
            self.source.time(event)
        })
    }

    pub(super) fn decide_thread(&mut self, thread: ThreadRef, tid: u32) -> ByThread {
        let Query { threads, pids, .. } = self.query;
        if threads.is_empty() && pids.is_empty() {
            return ByThread::Wanted;
        }
        let key = (thread, tid);
        if let Some(decided) = self.threads.get(&key) {
            return *decided;
        }
        let thread = self.source.thread_of(thread, tid);
        let name = thread.as_ref().and_then(|thread| thread.name.as_deref());
        let tid = thread.as_ref().map_or(tid, |thread| thread.tid);
        let pid = thread.as_ref().map_or(0, |thread| thread.pid);
        let is_it = |wanted: &String| is_thread(wanted, tid, name);
        let is_wanted_thread = threads.is_empty() || threads.iter().any(is_it);
        let decided = match is_wanted_thread && !pids.is_empty() {
            true if pid == 0 => ByThread::UnknownProcess,
            true if pids.contains(&pid) => ByThread::Wanted,
            false if is_wanted_thread => ByThread::Wanted,
            _ => ByThread::NotWanted,
        };
        if thread.is_some() {
            self.query.note_thread(tid, name, pid);
            if self.threads.len() >= MOST_THREADS {
                self.threads.clear();
            }
            self.threads.insert(key, decided);
        }
        decided
    }

    /// Whether its definition and its values meet the conditions.
    fn is_of_definition(&mut self, event: &Event) -> bool {
        self.decide(event.id);
        match self.decision(event.id) {
            Some(Decision::Always) => true,
            Some(Decision::Perhaps(fields)) => fields.meet(self.query, event),
            Some(Decision::PerhapsUnknown) => self.unknown.meet(self.query, event),
            Some(Decision::Never) => false,
            None => self.is_wanted_without_definition(event),
        }
    }

    /// Decides about a definition, if there is one and nobody has yet.
    pub(super) fn decide(&mut self, id: EventId) {
        if self.decision(id).is_some() {
            return;
        }
        if let Some(definition) = self.source.definition(id) {
            let decision = decide(self.query, definition);
            self.query.note(definition, &decision.fields());
            self.definitions.insert(id, definition, decision);
        }
    }

    /// What was decided about a definition.
    pub(super) fn decision(&self, id: EventId) -> Option<&Decision<'a>> {
        self.definitions.get(id)
    }

    /// Whether an event is wanted of which nothing is known but its values.
    fn is_wanted_without_definition(&self, event: &Event) -> bool {
        let query = self.query;
        query.categories.is_empty()
            && query.events.is_empty()
            && query.priorities.is_none()
            && self.unknown.meet(query, event)
    }

    fn has_text(&mut self, event: &Event) -> bool {
        if self.query.texts.is_empty() {
            return true;
        }
        let definition = self.source.definition(event.id);
        let message = self.messages.text(event, definition);
        let has = |needle: &Needle| message_lines(&message).any(|line| needle.is_in(line));
        self.query.texts.iter().all(has)
    }
}

/// Whether events of a definition are wanted, as far as the definition says it.
fn decide<'a>(query: &'a Query, definition: &'a Definition) -> Decision<'a> {
    let priority = definition.priority;
    let is_wanted = (query.categories.is_empty()
        || (query.categories.iter()).any(|one| definition.is_of_category(one)))
        && (query.events.is_empty() || query.events.iter().any(|one| definition.is_named(one)))
        && (query.priorities.as_ref())
            .is_none_or(|range| priority.is_some_and(|priority| range.contains(&priority)));
    if !is_wanted {
        return Decision::Never;
    }
    if query.expressions.is_empty() {
        return Decision::Always;
    }
    if definition.is_lost {
        return Decision::PerhapsUnknown;
    }
    let layout = Layout::of(definition);
    let fields: Vec<_> = definition.fields().collect();
    Decision::Perhaps(QueryFields::of(query, layout, &fields))
}
