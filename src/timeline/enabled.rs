//! Logs events of statements, which ask first whether they are enabled.

use super::Timeline;
use crate::error::{Error, ErrorKind};
use crate::event::{EventId, Priority};
use crate::layout::MAX_ARGUMENTS;
use crate::layout::words::FLAG_INTERNED;
use crate::ring::log::EnabledEvent;
use crate::ring::statement_events::{DefinitionFailure, Lookup, StatementEvents};

impl Timeline {
    /// What a statement knows of its event for a priority. If it is too early to try to define it
    /// again, counts an event as dropped. Takes no lock and allocates nothing.
    #[doc(hidden)]
    pub fn look(&self, known: &StatementEvents, priority: Priority) -> Lookup {
        let found = known.look(self.log.pair(priority));
        match found {
            Lookup::Lost => self.dropped_undefined(priority),
            Lookup::Refused => self.dropped_refused(priority),
            Lookup::Nothing | Lookup::Again if self.is_closed() => {
                self.dropped_undefined(priority);
                return Lookup::Lost;
            }
            Lookup::Nothing | Lookup::Event(_) | Lookup::Again => {}
        }
        found
    }

    /// Whether a statement knows its event for a priority.
    pub(crate) fn knows(&self, known: &StatementEvents, priority: Priority) -> bool {
        known.has(self.log.pair(priority))
    }

    /// Lets a statement know its event for a priority, or why it has none: then counts an event as
    /// dropped.
    #[doc(hidden)]
    pub fn remember(
        &self,
        known: &StatementEvents,
        priority: Priority,
        defined: Result<EventId, DefinitionFailure>,
    ) {
        known.put(self.log.pair(priority), defined);
        match defined {
            Ok(_) => {}
            Err(DefinitionFailure::Full | DefinitionFailure::Passing) => {
                self.dropped_undefined(priority)
            }
            Err(DefinitionFailure::Wrong) => self.dropped_refused(priority),
        }
    }

    /// The event, if it is logged at the moment.
    #[inline(always)]
    pub(crate) fn enabled_event(&self, event: EventId) -> Option<EnabledEvent> {
        self.log.enabled_event(event.0)
    }

    /// Logs an event whose byte need not be read again.
    #[inline(always)]
    pub(crate) fn log_enabled(&self, event: EnabledEvent, args: [i64; MAX_ARGUMENTS]) {
        self.log.log_enabled(event, args);
    }

    /// The same with a payload without a call stack. `is_interned`: the first word says which of
    /// the words behind it are interned.
    #[inline(always)]
    pub(crate) fn log_enabled_payload(
        &self,
        event: EnabledEvent,
        words: &[u64],
        is_interned: bool,
    ) {
        let flags = if is_interned { FLAG_INTERNED } else { 0 };
        self.log.log_enabled_payload(event, flags, words);
    }
}

impl From<&Error> for DefinitionFailure {
    fn from(error: &Error) -> DefinitionFailure {
        match error.kind() {
            ErrorKind::Io | ErrorKind::Busy => DefinitionFailure::Passing,
            ErrorKind::Full => DefinitionFailure::Full,
            _ => DefinitionFailure::Wrong,
        }
    }
}
