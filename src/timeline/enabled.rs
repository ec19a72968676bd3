//! Logs events of statements, which ask first whether they are enabled.

use super::Timeline;
use crate::event::EventId;
use crate::layout::MAX_ARGUMENTS;
use crate::layout::words::FLAG_INTERNED;
use crate::ring::log::EnabledEvent;

impl Timeline {
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
