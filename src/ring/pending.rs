//! Events to be logged: the contents of their entries, except time, core and thread.
//!
//! **Why do long events take more entries of the same chunk, and no space elsewhere?** One cursor
//! commits them, by the same store as any event: there is nothing new to prove, and nothing to
//! free. A reader that begins in the middle must not take text for an event. So each further entry
//! has a mark and its position, beside time and core; 48 of its 64 bytes are payload. If the rest
//! of a chunk is too short it is filled up, by at most 31 entries, so a long event may cost a
//! refill.

use super::Storage;
use super::memory::Shared;
use crate::layout::words::{PAYLOAD_AT, entry_head, long_entry_head};
use crate::layout::{ENTRY_WORDS, MAX_ARGUMENTS, MAX_EVENT_ENTRIES, PAYLOAD_BYTES};
use crate::sync::Ordering::Relaxed;

/// An event to be logged.
pub enum Pending<'a> {
    /// An event of one entry: its number and arguments.
    Short(u32, [i64; MAX_ARGUMENTS]),
    /// An event of as many entries as its payload takes.
    Long(&'a mut LongEvent),
}

/// Fills up a chunk whose rest is too small for an event. Readers skip it.
pub const fn padding() -> Pending<'static> {
    Pending::Short(0, [0; MAX_ARGUMENTS])
}

impl Pending<'_> {
    /// How many entries it takes.
    pub fn entry_count(&self) -> u32 {
        match self {
            Pending::Short(..) => 1,
            Pending::Long(image) => image.entry_count(),
        }
    }

    /// Stores the entries from `index` on.
    #[inline(always)]
    pub fn write(
        &self,
        ring: &Shared,
        chunk: u32,
        index: u32,
        (core, thread_word): (u16, u64),
        now: impl FnOnce() -> u64,
    ) {
        match self {
            Pending::Short(event, args) => {
                // Relaxed: the commit's Release orders them before the count.
                ring.word(chunk, index, 0).store(now(), Relaxed);
                let head = entry_head(*event, core);
                ring.word(chunk, index, 1).store(head, Relaxed);
                ring.word(chunk, index, 2).store(thread_word, Relaxed);
                for (i, arg) in args.iter().enumerate() {
                    ring.word(chunk, index, 3 + i).store(*arg as u64, Relaxed);
                }
            }
            Pending::Long(image) => image.write(ring, chunk, index, (core, thread_word), now()),
        }
    }
}

/// One event of several entries as in the ring, but without time, core and thread.
pub struct LongEvent {
    entries: [[u64; ENTRY_WORDS]; MAX_EVENT_ENTRIES],
    entry_count: usize,
}

impl LongEvent {
    /// An image without an event.
    pub const fn empty() -> LongEvent {
        LongEvent {
            entries: [[0; ENTRY_WORDS]; MAX_EVENT_ENTRIES],
            entry_count: 0,
        }
    }

    /// Fills an empty image with an event and its payload, of which it takes as much as fits into
    /// `most` entries.
    ///
    /// In place, because its 2 KiB are too much for a copy on the stack of a signal handler.
    pub fn fill(&mut self, event: u32, flags: u8, payload: &[u8], most: usize) {
        let [first, other] = PAYLOAD_BYTES;
        let length = payload
            .len()
            .min(first + (most.min(MAX_EVENT_ENTRIES) - 1) * other);
        self.entry_count = 1 + length.saturating_sub(first).div_ceil(other);
        // In the first entry, the length precedes the bytes.
        let mut head = [0; 40];
        let (taken, mut rest) = payload[..length].split_at(length.min(first));
        head[..2].copy_from_slice(&(length as u16).to_le_bytes());
        head[2..2 + taken.len()].copy_from_slice(taken);
        put(&mut self.entries[0][PAYLOAD_AT[0]..], &head);
        self.entries[0][1] = long_entry_head(event, 0, self.entry_count as u8, flags);
        for (position, entry) in (1..).zip(&mut self.entries[1..self.entry_count]) {
            let (taken, after) = rest.split_at(rest.len().min(other));
            rest = after;
            entry[1] = long_entry_head(0, 0, 0, position);
            put(&mut entry[PAYLOAD_AT[1]..], taken);
        }
    }

    /// How many entries it has.
    pub fn entry_count(&self) -> u32 {
        self.entry_count as u32
    }

    /// The entries.
    pub fn as_mut_ptr(&mut self) -> *mut [u64; ENTRY_WORDS] {
        self.entries.as_mut_ptr()
    }

    fn write(
        &self,
        ring: &Shared,
        chunk: u32,
        index: u32,
        (core, thread_word): (u16, u64),
        now: u64,
    ) {
        for (position, entry) in (0..).zip(&self.entries[..self.entry_count]) {
            // Relaxed: as for one entry.
            let store = |word, value| {
                ring.word(chunk, index + position, word)
                    .store(value, Relaxed)
            };
            store(0, now);
            store(1, entry[1] | u64::from(core) << 32);
            store(2, if position == 0 { thread_word } else { entry[2] });
            (3..ENTRY_WORDS).for_each(|word| store(word, entry[word]));
        }
    }
}

/// Packs bytes into words.
fn put(words: &mut [u64], bytes: &[u8]) {
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(eight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_takes_as_many_entries_as_it_needs() {
        let entries = |length, most| {
            let mut image = LongEvent::empty();
            image.fill(1, 0, &vec![1; length], most);
            image.entry_count()
        };
        let (first, other) = (PAYLOAD_BYTES[0], PAYLOAD_BYTES[1]);
        assert_eq!(
            [entries(0, 32), entries(first, 32), entries(first + 1, 32)],
            [1, 1, 2]
        );
        assert_eq!(
            [entries(first + other, 32), entries(first + other + 1, 32)],
            [2, 3]
        );
        assert_eq!(
            [entries(1 << 20, 32), entries(1 << 20, 16), entries(100, 1)],
            [32, 16, 1]
        );
    }
}
