//! Decides which events of a source are wanted.

use std::collections::HashMap;

use timeline::dump::Messages;
use timeline::{
    Definition, Event, Field, FieldType, Interpolation, Layout, Source, ThreadRef, Value,
    matches_pattern,
};

use super::Query;
use super::compare::{Known, compare, show};
use super::condition::{Condition, Operand};

/// Threads whose decisions are kept, of all that come and go.
const MOST_THREADS: usize = 1 << 20;

/// Decides which events of one source are wanted.
///
/// Category, priority and name are looked at once for each definition, and names once for each
/// thread. Values are looked at only if all of that allows the event, and a message is made last.
pub struct Filter<'a> {
    query: &'a Query,
    source: &'a dyn Source,
    interpolation: Option<Interpolation>,
    /// By the number of the event, of those that are defined.
    definitions: Vec<Option<Decision<'a>>>,
    /// Of events without a definition, or with one whose message was lost.
    unknown: Fields<'a>,
    /// By the record of the thread, and its id: in damaged memory a record may be of another.
    threads: HashMap<(ThreadRef, u32), bool>,
    renames: u64,
    messages: Messages<'a>,
}

/// What the conditions say about the events of a definition.
enum Decision<'a> {
    Never,
    /// The values do not matter.
    Always,
    /// If the values meet the expressions.
    Perhaps(Fields<'a>),
    /// Likewise, but nothing says what the values are.
    PerhapsUnknown,
}

/// The fields of a definition that expressions name.
struct Fields<'a> {
    layout: Layout,
    /// By name.
    found: Vec<Found<'a>>,
    /// How many values have to be read.
    count: usize,
}

struct Found<'a> {
    name: &'a str,
    position: usize,
    /// `None` for a value of a format of printf.
    kind: Option<FieldType<'a>>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(query: &'a Query, source: &'a dyn Source) -> Filter<'a> {
        Filter {
            query,
            source,
            interpolation: None,
            definitions: Vec::new(),
            unknown: Fields::of(query, Layout::unknown(), &[]),
            threads: HashMap::new(),
            renames: source.renames(),
            messages: Messages::new(source),
        }
    }

    /// Whether an event of the source is wanted.
    pub fn matches(&mut self, event: &Event) -> bool {
        self.is_on_core(event)
            && self.is_in_time(event)
            && self.is_of_thread(event)
            && self.is_of_definition(event)
            && self.has_text(event)
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
        let cores = &self.query.cores;
        // 0xffff is an unknown one.
        let is_in = || cores.iter().any(|range| range.contains(&event.core.into()));
        cores.is_empty() || (event.core != 0xffff && is_in())
    }

    fn is_in_time(&mut self, event: &Event) -> bool {
        let Query { since, until, .. } = *self.query;
        if since.is_none() && until.is_none() {
            return true;
        }
        self.time(event).is_some_and(|time| {
            since.is_none_or(|since| since <= time) && until.is_none_or(|until| time < until)
        })
    }

    fn time(&mut self, event: &Event) -> Option<u64> {
        let between = self.interpolation;
        let time = between.and_then(|between| between.unix_nanos(event.ticks));
        time.or_else(|| {
            self.interpolation = self.source.interpolation(event);
            self.source.time(event)
        })
    }

    fn is_of_thread(&mut self, event: &Event) -> bool {
        let Query { threads, pids, .. } = self.query;
        if threads.is_empty() && pids.is_empty() {
            return true;
        }
        let key = (event.thread, event.tid);
        if let Some(decided) = self.threads.get(&key) {
            return *decided;
        }
        let thread = self.source.thread(event);
        let name = thread.as_ref().and_then(|thread| thread.name.as_deref());
        let tid = thread.as_ref().map_or(event.tid, |thread| thread.tid);
        let pid = thread.as_ref().map_or(0, |thread| thread.pid);
        let is_it = |wanted: &String| {
            (tid != 0 && wanted.parse() == Ok(tid))
                || name.is_some_and(|name| matches_pattern(wanted, name))
        };
        let decided = (threads.is_empty() || threads.iter().any(is_it))
            && (pids.is_empty() || (pid != 0 && pids.contains(&pid)));
        if thread.is_some() {
            if self.threads.len() >= MOST_THREADS {
                self.threads.clear();
            }
            self.threads.insert(key, decided);
        }
        decided
    }

    /// Whether its definition and its values meet the conditions.
    fn is_of_definition(&mut self, event: &Event) -> bool {
        let place = event.id.0 as usize;
        if !matches!(self.definitions.get(place), Some(Some(_))) {
            let Some(definition) = self.source.definition(event.id) else {
                return self.is_wanted_without_definition(event);
            };
            let decision = decide(self.query, definition);
            // Only defined events make this longer.
            if self.definitions.len() <= place {
                self.definitions.resize_with(place + 1, || None);
            }
            self.definitions[place] = Some(decision);
        }
        match &self.definitions[place] {
            Some(Decision::Always) => true,
            Some(Decision::Perhaps(fields)) => fields.meet(self.query, event),
            Some(Decision::PerhapsUnknown) => self.unknown.meet(self.query, event),
            Some(Decision::Never) | None => false,
        }
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
        let Some(needle) = &self.query.text else {
            return true;
        };
        let definition = self.source.definition(event.id);
        let message = self.messages.text(event, definition);
        message.is_empty() && needle.is_in("") || message.lines().any(|line| needle.is_in(line))
    }
}

/// Whether events of a definition are wanted, as far as the definition says it.
fn decide<'a>(query: &'a Query, definition: &'a Definition) -> Decision<'a> {
    // An empty category is one that is not known.
    let one_of = |patterns: &[String], text: &str| {
        let is_known = !definition.category.is_empty();
        is_known && patterns.iter().any(|one| matches_pattern(one, text))
    };
    let priority = definition.priority;
    let is_wanted = (query.categories.is_empty()
        || one_of(&query.categories, &definition.category))
        && (query.events.is_empty() || one_of(&query.events, &definition.name()))
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
    Decision::Perhaps(Fields::of(query, layout, &fields))
}

impl<'a> Fields<'a> {
    fn of(query: &'a Query, layout: Layout, fields: &[Field<'a>]) -> Fields<'a> {
        let mut names = Vec::new();
        for expression in &query.expressions {
            expression.root.fields(&mut names);
        }
        names.sort_unstable();
        names.dedup();
        let find = |name: &'a str| {
            let named = fields.iter().position(|field| field.name == name);
            let position = named.or_else(|| name.parse().ok())?;
            let kind = fields.get(position).map(|field| field.kind);
            Some(Found {
                name,
                position,
                kind,
            })
        };
        let found: Vec<_> = names.into_iter().filter_map(find).collect();
        let most = found.iter().map(|found| found.position.saturating_add(1));
        Fields {
            layout,
            count: most.max().unwrap_or(0),
            found,
        }
    }

    fn meet(&self, query: &Query, event: &Event) -> bool {
        if query.expressions.is_empty() {
            return true;
        }
        let values: Vec<Value> = event.values(&self.layout).take(self.count).collect();
        let mut conditions = query.expressions.iter();
        conditions.all(|expression| self.holds(&expression.root, &values))
    }

    fn holds(&self, condition: &Condition, values: &[Value]) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.holds(part, values)),
            Condition::Any(parts) => parts.iter().any(|part| self.holds(part, values)),
            Condition::Not(part) => !self.holds(part, values),
            Condition::Compare(left, how, right) => {
                let sides = (self.known(left, values), self.known(right, values));
                matches!(sides, (Some(left), Some(right)) if compare(&left, *how, &right))
            }
            Condition::Match(operand, regex, expected) => {
                let text = self.shown(operand, values);
                text.is_some_and(|text| regex.is_match(&text) == *expected)
            }
            Condition::Holds(operand) => self
                .known(operand, values)
                .is_some_and(|value| value.holds()),
        }
    }

    fn value<'v>(
        &self,
        name: &str,
        values: &'v [Value<'v>],
    ) -> Option<(&Found<'a>, &'v Value<'v>)> {
        let place = self.found.binary_search_by(|found| found.name.cmp(name));
        let found = &self.found[place.ok()?];
        Some((found, values.get(found.position)?))
    }

    fn known<'v>(&'v self, operand: &'v Operand, values: &'v [Value<'v>]) -> Option<Known<'v>> {
        match operand {
            Operand::Literal(literal) => Some(Known::literal(literal)),
            Operand::Field(name) => {
                let (found, value) = self.value(name, values)?;
                Known::of(found.kind, value)
            }
        }
    }

    /// A value as it is shown in a message.
    fn shown(&self, operand: &Operand, values: &[Value]) -> Option<String> {
        let Operand::Field(name) = operand else {
            return None;
        };
        let (found, value) = self.value(name, values)?;
        let mut text = String::new();
        if *value == Value::Nil {
            return None;
        }
        show(found.kind, value, &mut text);
        Some(text)
    }
}
