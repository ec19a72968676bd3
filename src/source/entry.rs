//! Reads an event from its entries in place, without building an [`Event`].

use super::groups::{Group, words};
use super::lane::Missing;
use super::{Event, PlacedEvent, ThreadRef};
use crate::event::EventId;
use crate::layout::words::{Entry, FLAG_BACKTRACE, FLAG_INTERNED, FLAG_PAYLOAD, PAYLOAD_AT};
use crate::layout::{ENTRY_WORDS, MAX_ARGUMENTS};
use crate::segment::Segment;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Words of an event in its first entry, at most.
const FIRST_WORDS: usize = ENTRY_WORDS - PAYLOAD_AT[0];

/// Successive events of a lane that differ only in their ticks and words.
#[derive(Debug, Clone, Copy)]
pub struct AlikeEvents<'a> {
    /// The ticks of each.
    pub ticks: &'a [u64],
    /// Their words, as bytes. Each has the same number of words.
    pub words: &'a [u8],
    /// How many entries each takes.
    pub entries: usize,
}

/// An event as its entries have it, and its position.
#[derive(Debug, Clone, Copy)]
pub struct EntryEvent {
    first: Entry,
    /// Where its other entries begin among those of the poll, and how many there are.
    rest: (usize, usize),
    /// The lane it was logged through.
    pub lane: u32,
    /// How many entries were logged through that lane before it.
    pub number: u64,
    missing: Missing,
}

impl EntryEvent {
    /// The event of these entries: the first, and where the others begin in those of the poll and
    /// how many they are.
    #[inline]
    pub(super) fn new(
        first: Entry,
        rest: (usize, usize),
        (lane, number): (u32, u64),
        missing: Missing,
    ) -> EntryEvent {
        EntryEvent {
            first,
            rest,
            lane,
            number,
            missing,
        }
    }

    /// Ticks of the timeline's clock; 0 if they are not known.
    pub fn ticks(&self) -> u64 {
        self.first.ticks()
    }

    /// The definition's number.
    pub fn id(&self) -> EventId {
        EventId(self.first.event())
    }

    /// The CPU it was logged on, if it is known.
    pub fn core(&self) -> Option<u16> {
        Some(self.first.core()).filter(|core| *core != u16::MAX)
    }

    /// The thread, and the kernel's id of it.
    pub fn thread(&self) -> (ThreadRef, u32) {
        (ThreadRef(self.first.thread()), self.first.tid())
    }

    /// The number of the next entry of its lane after it.
    pub fn behind(&self) -> u64 {
        self.number.saturating_add(self.entries() as u64)
    }

    /// Where its entries end among those of the poll.
    pub(super) fn end(&self) -> usize {
        self.rest.0 + self.rest.1
    }

    /// Whether these are the first entries of events of one definition, which one thread logged on
    /// one CPU, each with as many words.
    #[inline]
    pub(super) fn is_alike(&self, other: &Entry) -> bool {
        self.first.0[1..3] == other.0[1..3]
    }

    /// How many entries it takes.
    pub fn entries(&self) -> usize {
        1 + self.rest.1
    }

    /// Whether it has a payload in place of arguments.
    pub fn has_payload(&self) -> bool {
        self.first.has_payload()
    }

    /// Whether entries of its lane are missing right before it.
    pub fn is_behind_gap(&self) -> bool {
        self.missing.unread > 0 || self.missing.earlier > 0
    }

    /// Appends the bytes of its words: its arguments, or its payload. Returns whether they are all
    /// of its values. They are not if there is a call stack or an interned text.
    #[inline]
    pub(super) fn words(&self, entries: &[Entry], bytes: &mut Vec<u8>) -> bool {
        let count = match self.first.flags() & (FLAG_PAYLOAD | FLAG_BACKTRACE | FLAG_INTERNED) {
            0 => MAX_ARGUMENTS,
            FLAG_PAYLOAD if self.first.slots() == 1 => FIRST_WORDS - self.first.unused_words(),
            FLAG_PAYLOAD => {
                words(&self.group(entries), bytes);
                return true;
            }
            _ => return false,
        };
        first_words(&self.first, count, bytes);
        true
    }

    /// Replaces `ticks` by its own and those of further events that are alike, whose entries these
    /// are. Appends the words of the latter.
    #[inline]
    pub(super) fn more_words(&self, more: &[Entry], ticks: &mut Vec<u64>, bytes: &mut Vec<u8>) {
        let groups = more.chunks_exact(self.entries());
        ticks.clear();
        ticks.push(self.ticks());
        ticks.extend(groups.clone().map(|group| group[0].ticks()));
        if self.entries() > 1 {
            for group in groups {
                let (first, rest) = (&group[0], &group[1..]);
                words(&Group { at: 0, first, rest }, bytes);
            }
            return;
        }
        let count = match self.has_payload() {
            true => FIRST_WORDS - self.first.unused_words(),
            false => MAX_ARGUMENTS,
        };
        bytes.reserve((more.len() + 1) * FIRST_WORDS * WORD);
        more.iter()
            .for_each(|entry| first_words(entry, count, bytes));
    }

    fn group<'e>(&'e self, entries: &'e [Entry]) -> Group<'e> {
        let (from, count) = self.rest;
        Group {
            at: 0,
            first: &self.first,
            rest: entries.get(from..from + count).unwrap_or(&[]),
        }
    }

    /// The event of these entries of the poll.
    #[inline]
    pub(super) fn placed(&self, segment: &Segment, entries: &[Entry]) -> PlacedEvent {
        let Missing { earlier, unread } = self.missing;
        PlacedEvent {
            event: Event {
                missed: earlier.saturating_add(unread),
                ..Event::read(segment, &self.group(entries))
            },
            lane: self.lane,
            number: self.number,
            next: self.behind(),
            missed: unread,
        }
    }
}

/// Appends the bytes of so many words of an event in its first entry.
#[inline]
fn first_words(entry: &Entry, count: usize, bytes: &mut Vec<u8>) {
    let mut first = [0; FIRST_WORDS * WORD];
    let words = &entry.0[PAYLOAD_AT[0]..];
    for (bytes, word) in first.chunks_exact_mut(WORD).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    // All of them are copied, because a copy of fixed size is faster.
    let length = bytes.len() + count * WORD;
    bytes.extend_from_slice(&first);
    bytes.truncate(length);
}
