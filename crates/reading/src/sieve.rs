//! Lets the wanted events through, and counts what is missing before the others.

use timeline::{Event, Source};
use timeline_search::{Filter, Query};

/// Lets the wanted events of a source through.
pub struct Sieve<'a> {
    filter: Option<Filter<'a>>,
    missed: u64,
}

impl<'a> Sieve<'a> {
    /// For what a query wants of a source. One without conditions wants all events.
    pub fn new(query: &'a Query, source: &'a dyn Source) -> Sieve<'a> {
        Sieve {
            filter: (!query.is_empty()).then(|| query.on(source)),
            missed: 0,
        }
    }

    /// Of events all of which are wanted.
    pub fn all() -> Sieve<'a> {
        Sieve {
            filter: None,
            missed: 0,
        }
    }

    /// Whether all events are wanted.
    pub fn wants_all(&self) -> bool {
        self.filter.is_none()
    }

    /// Whether this event is wanted.
    #[inline]
    pub fn wants(&mut self, event: &Event) -> bool {
        let Some(filter) = &mut self.filter else {
            return true;
        };
        let is_wanted = filter.matches(event);
        if !is_wanted {
            self.missed = self.missed.saturating_add(event.missed);
        }
        is_wanted
    }

    /// Asks for names of threads anew, if one may have changed.
    pub fn notice_renames(&mut self) {
        if let Some(filter) = &mut self.filter {
            filter.notice_renames();
        }
    }

    /// How many entries were overwritten right before events that are not wanted.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}
