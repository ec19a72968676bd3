//! Queries: which events are wanted.
//!
//! [`Query`] has the conditions as asked for. They are read by moment.rs (times), zone.rs (the
//! local time zone), range.rs (priorities and numbers), needle.rs (a text or regular expression)
//! and, for values, lexer.rs and parse.rs, which make an [`Expression`] (expression.rs) of
//! conditions (condition.rs). filter.rs decides about events: once for each definition and thread
//! as far as it can, and by the values, which fields.rs finds and compare.rs compares, where it
//! must. Of archives, columns.rs chooses events before they are made: program.rs has the conditions
//! on the columns of a block, bounds.rs those on numbers, and ranges.rs the least and the greatest
//! of its values; text_plan/ says which values a message has if a text is in it. unknown_names.rs
//! tells the names of a query that are in no definition, and which ones are like them.
//! parameters.rs writes a query for another machine.

mod bounds;
mod columns;
mod compare;
mod condition;
mod expression;
mod fields;
mod filter;
mod lexer;
mod moment;
mod needle;
mod parameters;
mod parse;
mod program;
mod range;
mod ranges;
#[cfg(test)]
mod tests;
mod text_plan;
mod unknown_names;
mod zone;

pub use expression::Expression;
pub use filter::Filter;
pub use moment::moment;
pub use needle::{Case, Needle};
pub use parameters::PARAMETERS;
pub use range::{numbers, priorities};
pub use unknown_names::NameRegistry;
pub use zone::{local_now, local_zone};

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timeline::{Priority, Source};

/// Which events are wanted: those that meet all conditions. An empty list is no condition; of a
/// list with several entries, one must be met. What is not known of an event meets no condition.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Categories: patterns in which `*` is any text and `?` any one character.
    pub categories: Vec<String>,
    /// Names of events, such as `engine.got_packet`: patterns, as for categories.
    pub events: Vec<String>,
    /// The first and last priority.
    pub priorities: Option<RangeInclusive<Priority>>,
    /// Threads: numbers of the kernel, or patterns of names.
    pub threads: Vec<String>,
    /// Ids of processes.
    pub pids: Vec<u32>,
    /// Cores.
    pub cores: Vec<RangeInclusive<u32>>,
    /// The first time, in nanoseconds since 1970. An event of an unknown time does not meet it.
    pub since: Option<u64>,
    /// The first time behind the wanted events, likewise.
    pub until: Option<u64>,
    /// Conditions on the values of events. All must be met.
    pub expressions: Vec<Expression>,
    /// Texts. Each must be in a line of the message.
    pub texts: Vec<Needle>,
    /// Of events that meet all conditions but [`Query::pids`], how many are of a process that is
    /// not known, so far: the timeline has forgotten their threads. Clones count together.
    pub of_unknown_process: Counter,
    /// The names in these conditions that filters have met, so far.
    pub met: NameRegistry,
}

/// Counts, for all its clones.
#[derive(Debug, Clone, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// The count so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Query {
    /// The same, of events in a range of times alone, in nanoseconds since 1970.
    pub fn within(&self, times: Range<u64>) -> Query {
        Query {
            since: Some(self.since.unwrap_or(0).max(times.start)),
            until: Some(self.until.unwrap_or(u64::MAX).min(times.end)),
            ..self.clone()
        }
    }

    /// Whether every event is wanted.
    pub fn is_empty(&self) -> bool {
        self.categories.is_empty()
            && self.events.is_empty()
            && self.priorities.is_none()
            && self.threads.is_empty()
            && self.pids.is_empty()
            && self.cores.is_empty()
            && self.since.is_none()
            && self.until.is_none()
            && self.expressions.is_empty()
            && self.texts.is_empty()
    }

    /// Decides about the events of a source.
    pub fn on<'a>(&'a self, source: &'a dyn Source) -> Filter<'a> {
        Filter::new(self, source)
    }
}
