//! Which events an analyser wants, and which of their fields.

use std::marker::PhantomData;

use timeline::{Definition, Priority};
use timeline_search::Query;

use crate::field::{AnalysisValue, FieldHandle, FieldRequest};

/// What an analyser wants. Each event comes once, even if several subscriptions want it.
///
/// Patterns are those of filters: `*` is any text and `?` any one character.
#[derive(Default)]
pub struct Subscriptions {
    queries: Vec<Query>,
    fields: Vec<FieldRequest>,
}

/// The number of a subscription of an analyser; the first one has 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subscription(pub usize);

impl Subscriptions {
    /// Wants all events, also those of which nobody knows what they mean.
    pub fn all(&mut self) -> Subscription {
        self.add(Query::default())
    }

    /// Wants the events of categories, and of these the ones of some names, which begin with the
    /// category: `events("net", "net.got_*")`, or `events("*", "*.oom")`.
    pub fn events(&mut self, category: &str, name: &str) -> Subscription {
        let any = |pattern: &str| match pattern {
            "*" => Vec::new(),
            pattern => vec![pattern.to_owned()],
        };
        self.add(Query {
            categories: any(category),
            // A pattern, even of any text: an event of an unknown name meets it not.
            events: vec![name.to_owned()],
            ..Query::default()
        })
    }

    /// Wants the events whose priority is between two, both included.
    pub fn priorities(&mut self, first: Priority, last: Priority) -> Subscription {
        self.add(Query {
            priorities: Some(first..=last),
            ..Query::default()
        })
    }

    /// The handle of a field, by its name, or by its place from 0 on where a message names none.
    /// Events of all subscriptions are asked by it; see [`EventContext::get`].
    ///
    /// [`EventContext::get`]: crate::EventContext::get
    pub fn field<T: AnalysisValue + ?Sized>(&mut self, name: &str) -> FieldHandle<T> {
        let place = self.fields.len();
        self.fields.push(FieldRequest::of::<T>(name));
        FieldHandle {
            place,
            value: PhantomData,
        }
    }

    fn add(&mut self, query: Query) -> Subscription {
        self.queries.push(query);
        Subscription(self.queries.len() - 1)
    }

    /// The first subscription that wants events of a definition.
    pub(crate) fn of(&self, definition: Option<&Definition>) -> Option<Subscription> {
        let wants = |query: &Query| match definition {
            Some(definition) => query.may_want(definition),
            None => query.is_empty(),
        };
        self.queries.iter().position(wants).map(Subscription)
    }

    /// Whether all events are wanted.
    pub(crate) fn want_all(&self) -> bool {
        self.queries.iter().any(Query::is_empty)
    }

    pub(crate) fn fields(&self) -> &[FieldRequest] {
        &self.fields
    }
}
