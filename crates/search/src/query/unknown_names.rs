//! The names of a query that no definition and no thread has, and which ones are like them.
//!
//! A filter notes the names that it meets, once for each definition and thread. So nobody has to
//! look for definitions unless a name was not met, and then it may be misspelt.

use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeline::internal::{Collation, Unknown, ValueKind, matches_pattern};
use timeline::{Definition, FieldType, Layout, Thread};

use super::lexer::{Token, tokens};
use super::{Expression, Query};

/// What a name is the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Category,
    Event,
    Field,
    Thread,
    Process,
    Core,
}

/// The names of a query that filters have met. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct NameRegistry(Arc<Mutex<HashSet<(What, String)>>>);

impl NameRegistry {
    fn lock(&self) -> MutexGuard<'_, HashSet<(What, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes those of the names that `is_met` says it of.
    fn note(&self, what: What, names: &[String], is_met: impl Fn(&str) -> bool) {
        for name in names.iter().filter(|name| is_met(name)) {
            self.lock().insert((what, name.clone()));
        }
    }

    fn has(&self, what: What, name: &str) -> bool {
        self.lock().contains(&(what, name.to_owned()))
    }
}

/// What a field can be compared with, if it is a text.
enum TextKind {
    /// Any text, or the text of a time.
    Any,
    /// None.
    Number,
    /// These names.
    Labels(Vec<String>),
}

impl TextKind {
    /// That of a field of a definition, if it has it.
    fn of(definition: &Definition, field: &str) -> Option<TextKind> {
        let fields: Vec<_> = definition.fields().collect();
        let named = fields.iter().position(|one| one.name == field);
        let position = named.or_else(|| field.parse().ok())?;
        let kind = Layout::of(definition).kinds().nth(position)?;
        let own = fields.get(position).map(|one| one.kind);
        if let Some(labels) = own.and_then(FieldType::labels) {
            let names = labels.iter().map(|(name, _)| name.to_owned());
            return Some(TextKind::Labels(names.collect()));
        }
        let collation = own.map(|own| own.descriptor().collation);
        Some(match (collation, kind) {
            (Some(Collation::Time | Collation::Name | Collation::Text | Collation::List), _) => {
                TextKind::Any
            }
            (_, ValueKind::Int | ValueKind::Uint | ValueKind::Float) => TextKind::Number,
            _ => TextKind::Any,
        })
    }
}

/// Whether a text would be a number without its quotes, or `true` or `false`.
fn is_number(text: &str) -> bool {
    let tokens = tokens(text).unwrap_or_default();
    let mut tokens = tokens.iter().map(|placed| &placed.token);
    let is_value = match tokens.next() {
        Some(Token::Integer(_) | Token::Float(_)) => true,
        Some(Token::Word(word)) => word == "true" || word == "false",
        _ => false,
    };
    is_value && matches!(tokens.next(), Some(Token::End))
}

/// Whether a thread is the one of this name, a pattern, or of this number.
pub fn is_thread(wanted: &str, tid: u32, name: Option<&str>) -> bool {
    (tid != 0 && wanted.parse() == Ok(tid))
        || name.is_some_and(|name| matches_pattern(wanted, name))
}

impl Query {
    /// Notes which names a definition has; `fields` are those of it that the conditions name, if
    /// its events may be wanted.
    pub(super) fn note(&self, definition: &Definition, fields: &[&str]) {
        let met = &self.met;
        met.note(What::Category, &self.categories, |one| {
            definition.is_of_category(one)
        });
        if definition.has_name() {
            met.note(What::Event, &self.events, |one| definition.is_named(one));
        }
        let fields: Vec<_> = fields.iter().map(|&field| field.to_owned()).collect();
        met.note(What::Field, &fields, |_| true);
    }

    /// Notes which names a thread has, and whether its process is asked for.
    pub(super) fn note_thread(&self, tid: u32, name: Option<&str>, pid: u32) {
        let is_it = |wanted: &str| is_thread(wanted, tid, name);
        self.met.note(What::Thread, &self.threads, is_it);
        if self.pids.contains(&pid) {
            self.met.note(What::Process, &[pid.to_string()], |_| true);
        }
    }

    /// Notes that there are events of a core that is asked for.
    pub(super) fn note_core(&self) {
        self.met.note(What::Core, &[String::new()], |_| true);
    }

    /// The names of fields in its conditions, but no positions.
    fn fields(&self) -> BTreeSet<&str> {
        let all = self.expressions.iter().flat_map(Expression::fields);
        all.filter(|field| field.parse::<usize>().is_err())
            .collect()
    }

    fn unmet<'n>(
        &self,
        what: What,
        names: impl IntoIterator<Item = &'n str>,
    ) -> impl Iterator<Item = &'n str> {
        let names = names.into_iter();
        names.filter(move |name| !self.met.has(what, name))
    }

    /// Whether filters have met each category, event and field that it names.
    pub fn has_met_definitions(&self) -> bool {
        let [categories, events] = [&self.categories, &self.events].map(|names| names.iter());
        let categories = self.unmet(What::Category, categories.map(String::as_str));
        let events = self.unmet(What::Event, events.map(String::as_str));
        let fields = self.unmet(What::Field, self.fields());
        let has_met = categories.chain(events).chain(fields).next().is_none();
        has_met && self.texts().next().is_none()
    }

    /// The fields in its conditions that are compared with a text, which no filter notes.
    fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.expressions.iter().flat_map(Expression::texts)
    }

    /// Whether filters have met each thread and process that it names, and one of its cores.
    pub fn has_met_threads(&self) -> bool {
        let threads = self.threads.iter().map(String::as_str);
        let has_met_threads = self.unmet(What::Thread, threads).next().is_none();
        has_met_threads && self.unmet_processes().next().is_none() && !self.lacks_core()
    }

    fn unmet_processes(&self) -> impl Iterator<Item = u32> {
        let pids = self.pids.iter().copied();
        pids.filter(|pid| !self.met.has(What::Process, &pid.to_string()))
    }

    fn lacks_core(&self) -> bool {
        !self.cores.is_empty() && !self.met.has(What::Core, "")
    }

    /// Whether it asks for a core, or for none.
    pub fn has_core(&self, core: Option<u16>) -> bool {
        let has = |core: u16| self.cores.iter().any(|range| range.contains(&core.into()));
        self.cores.is_empty() || core.is_some_and(has)
    }

    /// The cores that it names, if none of these is one of them, and no filter has met one.
    pub fn unknown_cores(&self, cores: &BTreeSet<u16>) -> Option<Unknown> {
        if !self.lacks_core() || cores.iter().any(|core| self.has_core(Some(*core))) {
            return None;
        }
        let range = |range: &RangeInclusive<u32>| match (range.start(), range.end()) {
            (start, end) if start == end => start.to_string(),
            (start, end) => format!("{start}-{end}"),
        };
        let wanted: Vec<_> = self.cores.iter().map(range).collect();
        Some(Unknown::number("event of core", wanted.join(","), cores))
    }

    /// The categories, events and fields that it names, which are in none of these definitions, and
    /// which no filter has met; also texts that no field can have with which they are compared.
    pub fn unknown(&self, definitions: &[&Definition]) -> Vec<Unknown> {
        let named = definitions.iter().filter(|one| one.has_name());
        let names: BTreeSet<String> = named.map(|one| one.name()).collect();
        let known = definitions.iter().filter(|one| one.has_category());
        let categories = known.map(|one| one.shown_category().to_owned());
        let categories: BTreeSet<String> = categories.collect();
        let wanted = self.unmet(What::Category, self.categories.iter().map(String::as_str));
        let unknown = wanted.filter_map(|one| Unknown::of("category", one, &categories));
        let mut unknown: Vec<_> = unknown.collect();
        let wanted = self.unmet(What::Event, self.events.iter().map(String::as_str));
        unknown.extend(wanted.filter_map(|one| Unknown::of("event", one, &names)));
        unknown.extend(self.unknown_fields(definitions));
        unknown.extend(self.unknown_texts(definitions));
        unknown
    }

    /// Texts that are none of the names of an enum or of flags, or are compared with a number.
    fn unknown_texts(&self, definitions: &[&Definition]) -> Vec<Unknown> {
        let may_be_wanted = definitions.iter().filter(|one| self.may_want(one));
        let wanted: Vec<&Definition> = may_be_wanted.copied().collect();
        let unknown = self.texts().filter_map(|(field, text)| {
            let kinds = wanted.iter().filter_map(|one| TextKind::of(one, field));
            let (mut labels, mut any) = (BTreeSet::new(), false);
            for kind in kinds {
                any = true;
                match kind {
                    TextKind::Any => return None,
                    TextKind::Number => {}
                    TextKind::Labels(of) => labels.extend(of),
                }
            }
            if !any || labels.contains(text) {
                return None;
            }
            let number = || Unknown::text_for_number(field, text, is_number(text));
            Some(match labels.is_empty() {
                true => number(),
                false => Unknown::value(field, text, &labels),
            })
        });
        unknown.collect()
    }

    /// Those fields that are in no definition of an event that may be wanted.
    fn unknown_fields(&self, definitions: &[&Definition]) -> Vec<Unknown> {
        let may_be_wanted = definitions.iter().filter(|one| self.may_want(one));
        let wanted: Vec<&Definition> = may_be_wanted.copied().collect();
        if wanted.is_empty() {
            // What they could have is not known.
            return Vec::new();
        }
        let is_any = self.categories.is_empty() && self.priorities.is_none();
        let of = match &self.events[..] {
            [] if is_any => None,
            [event] => Some(event.as_str()),
            _ => Some("the wanted events"),
        };
        let fields = self.unmet(What::Field, self.fields());
        let unknown = fields.filter_map(|field| Unknown::field(field, of, &wanted));
        unknown.collect()
    }

    /// The threads and processes that it names, which are none of these, and which no filter has
    /// met.
    pub fn unknown_threads(&self, threads: &[Thread]) -> Vec<Unknown> {
        let shown = |thread: &Thread| match &thread.name {
            Some(name) if !name.is_empty() => name.clone(),
            _ => thread.tid.to_string(),
        };
        let names: BTreeSet<String> = threads.iter().map(shown).collect();
        let is_there = |wanted: &str| {
            let mut threads = threads.iter();
            threads.any(|one| is_thread(wanted, one.tid, one.name.as_deref()))
        };
        let wanted = self.unmet(What::Thread, self.threads.iter().map(String::as_str));
        let missing = wanted.filter(|one| !is_there(one));
        let unknown = missing.filter_map(|one| Unknown::of("thread", one, &names));
        let pids: BTreeSet<u32> = threads
            .iter()
            .map(|one| one.pid)
            .filter(|pid| *pid != 0)
            .collect();
        let missing = self.unmet_processes().filter(|pid| !pids.contains(pid));
        let processes = missing.map(|pid| Unknown::number("process", pid.to_string(), &pids));
        unknown.chain(processes).collect()
    }
}
