//! Logs events whose texts are interned.

use super::Timeline;
use crate::event::{EventId, intern, words_of};
use crate::layout::words::FLAG_INTERNED;

impl Timeline {
    /// Logs an event with a payload, if it is enabled, after its marked texts were interned.
    ///
    /// `words`: the payload, as [`Layout`](crate::Layout) lays it out; it is changed. `sizes`: of
    /// each value how many bytes an element has: 1 of a text, and 0 if the value is a number.
    /// `marked`: bit *n* marks value *n*. A text that is empty or has more than 256 bytes is copied
    /// as it is, and so is one for which there is no room; that is counted
    /// ([`Info::not_interned`](crate::Info::not_interned)). Takes no lock, allocates nothing and
    /// makes no system call; safe in signal handlers and in forked children.
    pub fn log_interned(&self, event: EventId, words: &mut [u64], sizes: &[u8], marked: u64) {
        if self.enabled(event) {
            let interned = &self.control.segment().definitions.interned;
            let (count, is_interned) = intern(interned, words, sizes, marked);
            let flags = if is_interned { FLAG_INTERNED } else { 0 };
            self.log.log_payload(event.0, flags, &words[..count]);
        }
    }

    /// The word of a text that is interned now, or was before. `None` if it has to be copied.
    pub(crate) fn intern(&self, text: &str) -> Option<u64> {
        let words = words_of(text.as_bytes())?;
        self.control
            .segment()
            .definitions
            .interned
            .word(&words, text.len())
    }
}
