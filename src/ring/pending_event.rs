//! Events to be logged: the contents of their entries, except time, core and thread.
//!
//! **Why do long events take more entries of the same chunk, and no space elsewhere?** One cursor
//! commits them, by the same store as any event: there is nothing new to prove, and nothing to
//! free. A reader that begins in the middle must not take text for an event. So each further entry
//! has a mark and its position, beside time and core; 48 of its 64 bytes are payload. If the rest
//! of a chunk is too short it is filled up, by at most 31 entries, so a long event may cost a
//! refill.

use super::Storage;
use super::memory::SharedRing;
use crate::layout::words::{
    FLAG_PAYLOAD, LAST_WORDS_SHIFT, PAYLOAD_AT, entry_head, long_entry_head,
};
use crate::layout::{MAX_ARGUMENTS, MAX_PAYLOAD_WORDS, PAYLOAD_WORDS};
use crate::sync::Ordering::Relaxed;

/// An event to be logged.
#[derive(Clone, Copy)]
pub enum PendingEvent<'a> {
    /// An event of one entry: its number and arguments.
    Short(u32, [i64; MAX_ARGUMENTS]),
    /// An event of as many entries as its payload takes.
    Long(LongEvent<'a>),
}

/// Fills up a chunk whose rest is too small for an event. Readers skip it.
pub const fn padding() -> PendingEvent<'static> {
    PendingEvent::Short(0, [0; MAX_ARGUMENTS])
}

impl PendingEvent<'_> {
    /// How many entries it takes.
    pub fn entry_count(&self) -> u32 {
        match self {
            PendingEvent::Short(..) => 1,
            PendingEvent::Long(event) => event.entry_count(),
        }
    }

    /// Stores the entries from `index` on.
    #[inline(always)]
    pub fn write(
        &self,
        ring: &SharedRing,
        chunk: u32,
        index: u32,
        (core, thread_word): (u16, u64),
        now: impl FnOnce() -> u64,
    ) {
        match self {
            PendingEvent::Short(event, args) => {
                // Relaxed: the commit's Release orders them before the count.
                ring.word(chunk, index, 0).store(now(), Relaxed);
                let head = entry_head(*event, core);
                ring.word(chunk, index, 1).store(head, Relaxed);
                ring.word(chunk, index, 2).store(thread_word, Relaxed);
                for (i, arg) in args.iter().enumerate() {
                    ring.word(chunk, index, 3 + i).store(*arg as u64, Relaxed);
                }
            }
            PendingEvent::Long(event) => {
                event.write(ring, chunk, index, (core, thread_word), now())
            }
        }
    }
}

/// An event with a payload.
#[derive(Clone, Copy)]
pub struct LongEvent<'a> {
    /// Word 1 of its first entry, without the core.
    pub head: u64,
    /// The payload.
    pub words: &'a [u64],
}

impl<'a> LongEvent<'a> {
    /// An event with as much of its payload as fits into `most` words, at most
    /// [`MAX_PAYLOAD_WORDS`]. `most` is at least what one entry has.
    #[inline]
    pub fn new(event: u32, flags: u8, words: &'a [u64], most: usize) -> LongEvent<'a> {
        if words.len() <= PAYLOAD_WORDS[0] {
            let flags = FLAG_PAYLOAD | flags | (words.len() << LAST_WORDS_SHIFT) as u8;
            let head = long_entry_head(event, 0, 1, flags);
            return LongEvent { head, words };
        }
        let words = &words[..words.len().min(most).min(MAX_PAYLOAD_WORDS)];
        let shape = u64::from(SHAPES[words.len()]) << 48;
        LongEvent {
            head: long_entry_head(event, 0, 0, flags) | shape,
            words,
        }
    }

    /// How many entries it has.
    pub fn entry_count(&self) -> u32 {
        (self.head >> 48 & 0xff) as u32
    }

    fn write(
        &self,
        ring: &SharedRing,
        chunk: u32,
        index: u32,
        (core, thread_word): (u16, u64),
        now: u64,
    ) {
        // Relaxed: as for one entry.
        let store = |position, word, value| {
            ring.word(chunk, index + position, word)
                .store(value, Relaxed)
        };
        let (first, mut rest) = self.words.split_at(self.words.len().min(PAYLOAD_WORDS[0]));
        store(0, 0, now);
        store(0, 1, self.head | u64::from(core) << 32);
        store(0, 2, thread_word);
        (PAYLOAD_AT[0]..)
            .zip(first)
            .for_each(|(word, value)| store(0, word, *value));
        for position in 1..self.entry_count() {
            let (there, after) = rest.split_at(rest.len().min(PAYLOAD_WORDS[1]));
            rest = after;
            store(position, 0, now);
            store(position, 1, long_entry_head(0, core, 0, position as u8));
            (PAYLOAD_AT[1]..)
                .zip(there)
                .for_each(|(word, value)| store(position, word, *value));
        }
    }
}

/// How many words of payload so many entries have; none if there are none.
pub const fn words_in(entries: usize) -> usize {
    match entries {
        0 => 0,
        _ => PAYLOAD_WORDS[0] + (entries - 1) * PAYLOAD_WORDS[1],
    }
}

/// For each number of words of payload, the upper 16 bits of word 1: how many entries they take,
/// and how many of them are in the last. A table, because a division took a tenth of an event.
static SHAPES: [u16; MAX_PAYLOAD_WORDS + 1] = {
    let mut shapes = [0; MAX_PAYLOAD_WORDS + 1];
    let (mut words, mut entries) = (0, 1);
    while words < shapes.len() {
        if words > words_in(entries) {
            entries += 1;
        }
        let last = words - words_in(entries - 1);
        let flags = FLAG_PAYLOAD as usize | last << LAST_WORDS_SHIFT;
        shapes[words] = (entries | flags << 8) as u16;
        words += 1;
    }
    shapes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_takes_as_many_entries_as_it_needs() {
        // Entries, and words in the last one.
        let taken = |length, most| {
            let words = vec![1; length];
            let event = LongEvent::new(1, 0, &words, most);
            (event.entry_count(), event.head >> 60)
        };
        assert_eq!([taken(0, 191), taken(5, 191)], [(1, 0), (1, 5)]);
        assert_eq!([taken(6, 191), taken(11, 191)], [(2, 1), (2, 6)]);
        assert_eq!([taken(12, 191), taken(17, 191)], [(3, 1), (3, 6)]);
        assert_eq!(taken(1 << 20, 191), (32, 6));
        assert_eq!(
            [taken(1 << 20, 95), taken(1 << 20, 1 << 20)],
            [(16, 6), (32, 6)]
        );
        assert_eq!(taken(100, 5), (1, 5));
    }
}
