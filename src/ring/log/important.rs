//! Logs important events, into the region that nothing overwrites. All of this is cold code.
//!
//! The state of a thread is Relaxed, with a compiler_fence of SeqCst towards its own signal
//! handlers: see local.rs.

use super::RingLog;
use crate::clock::current_cpu;
use crate::layout::words::{PAYLOAD_AT, entry_head, long_entry_head};
use crate::layout::{ENTRY_WORDS, PAYLOAD_WORDS};
use crate::ring::important::{self, ImportantRegion};
use crate::ring::local::{self, ThreadState};
use crate::ring::pending_event::{LongEvent, PendingEvent, words_in};
use crate::sync::{Ordering, compiler_fence};

impl RingLog {
    /// Logs an important event with these arguments. They come in registers, so that the hot path
    /// needs no stack.
    #[cold]
    #[inline(never)]
    pub(super) fn log_short_important(&self, event: u32, a: i64, b: i64, c: i64, d: i64) {
        self.log_important(&PendingEvent::Short(event, [a, b, c, d]));
    }

    /// The same with a payload.
    #[cold]
    #[inline(never)]
    pub(super) fn log_long_important(&self, head: u64, words: &[u64]) {
        self.log_important(&PendingEvent::Long(LongEvent { head, words }));
    }

    /// Logs an important event. It needs no lane, but the thread joins first, so that readers know
    /// it.
    #[cold]
    #[inline(never)]
    fn log_important(&self, pending: &PendingEvent) {
        if self.is_closed() {
            return self.too_late();
        }
        let joined = || {
            let state = local::thread_state(self.index.number());
            state.filter(|state| state.key.load(Ordering::Relaxed) == self.index.key())
        };
        if joined().is_none() {
            self.first_event(None);
        }
        match joined() {
            Some(state) => {
                self.register_again(state);
                self.keep(state, pending);
            }
            // It cannot join now, or is at its end.
            None => self.dropped(|header| &header.dropped_not_joined),
        }
    }

    /// Writes an event of a thread that has joined.
    fn keep(&self, state: &ThreadState, pending: &PendingEvent) {
        // All of this before the entries are taken: see ring/important.rs. Ticks of 0 would mean
        // that it was not committed.
        let (core, ticks) = (current_cpu(), self.clock.now().max(1));
        let thread_word = state.thread_word.load(Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let is_ours = || state.key.load(Ordering::Relaxed) == self.index.key();
        // Wiped: a handler that interrupted this forked, and the event is the parent's.
        if !is_ours() {
            return;
        }
        let entries = pending.entry_count();
        let Some(first) = important::take(&self.ring, entries) else {
            return self.dropped(|header| &header.dropped_important);
        };
        for position in 0..entries {
            let mut words = image(pending, position, core);
            words[if position == 0 { 2 } else { 0 }] =
                if position == 0 { thread_word } else { ticks };
            let skipped = usize::from(position == 0);
            for (word, value) in words.into_iter().enumerate().skip(skipped) {
                // Relaxed: the commit's Release orders them before the ticks.
                let place = ImportantRegion::word(&self.ring, first + position, word);
                place.store(value, Ordering::Relaxed);
            }
        }
        compiler_fence(Ordering::SeqCst);
        if is_ours() {
            important::commit(&self.ring, first, ticks);
        }
    }
}

/// An entry of an event, without time and thread.
fn image(pending: &PendingEvent, position: u32, core: u16) -> [u64; ENTRY_WORDS] {
    let mut words = [0; ENTRY_WORDS];
    let (head, args, at) = match pending {
        PendingEvent::Short(event, args) => {
            words[3..][..args.len()].copy_from_slice(&args.map(|arg| arg as u64));
            (entry_head(*event, core), &[][..], 3)
        }
        PendingEvent::Long(LongEvent { head, words }) if position == 0 => {
            let first = words.len().min(PAYLOAD_WORDS[0]);
            (head | u64::from(core) << 32, &words[..first], PAYLOAD_AT[0])
        }
        PendingEvent::Long(LongEvent { words, .. }) => {
            let before = words_in(position as usize);
            let there = &words[before..];
            let there = &there[..there.len().min(PAYLOAD_WORDS[1])];
            let head = long_entry_head(0, core, 0, position as u8);
            (head, there, PAYLOAD_AT[1])
        }
    };
    words[1] = head;
    words[at..][..args.len()].copy_from_slice(args);
    words
}
