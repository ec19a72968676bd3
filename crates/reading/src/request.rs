//! What is asked of a log.

use timeline::Order;
use timeline_search::Query;

use crate::log::Log;

/// Which events of a log are asked for, in which order, and what is to be known of them.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Oldest or newest first; the important events come before the others in both.
    pub order: Order,
    /// What the events meet; all of them if there is none.
    pub query: Option<&'a Query>,
    /// Whether events that end spans get their durations. Begins that a query does not want are
    /// read for it.
    pub has_durations: bool,
    /// Asked each few thousand events: whether nobody waits for the rest.
    pub is_cancelled: Option<&'a dyn Fn() -> bool>,
}

impl<'a> Request<'a> {
    /// The same, asked of a log that was aligned with others: its events have times of its own.
    pub(crate) fn locally(self, log: &'a Log) -> Request<'a> {
        let own = self.query.and_then(|query| log.own_query(query));
        Request {
            query: own.or(self.query),
            ..self
        }
    }

    /// Whether it asks for this time.
    pub(crate) fn has_time(&self, time: Option<u64>) -> bool {
        let Some(query) = self.query else {
            return true;
        };
        let is_late = query.since.is_none_or(|since| time >= Some(since));
        is_late
            && query
                .until
                .is_none_or(|until| time.is_some_and(|time| time < until))
    }

    /// All events, without durations.
    pub fn new(order: Order) -> Request<'a> {
        Request {
            order,
            query: None,
            has_durations: false,
            is_cancelled: None,
        }
    }

    /// The events that a query wants.
    #[must_use]
    pub fn query(mut self, query: &'a Query) -> Request<'a> {
        self.query = Some(query).filter(|query| !query.is_empty());
        self
    }

    /// With the durations of spans.
    #[must_use]
    pub fn with_durations(mut self) -> Request<'a> {
        self.has_durations = true;
        self
    }

    /// As long as `is_cancelled` does not say that nobody waits for the rest.
    #[must_use]
    pub fn unless(mut self, is_cancelled: &'a dyn Fn() -> bool) -> Request<'a> {
        self.is_cancelled = Some(is_cancelled);
        self
    }
}
