//! Reads an event from its entries in place, without building an [`Event`].

use super::groups::{EntryGroup, words};
use super::lane::LaneLoss;
use super::{Event, Passage, PlacedEvent, ThreadRef};
use crate::event::EventId;
use crate::layout::words::{
    CORE_BITS, Entry, FLAG_BACKTRACE, FLAG_INTERNED, FLAG_PAYLOAD, PAYLOAD_AT,
};
use crate::layout::{ENTRY_WORDS, MAX_ARGUMENTS};
use crate::segment::TimelineMapping;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Words of an event in its first entry, at most.
const FIRST_WORDS: usize = ENTRY_WORDS - PAYLOAD_AT[0];
/// The same of each further entry.
const FURTHER_WORDS: usize = ENTRY_WORDS - PAYLOAD_AT[1];

/// Successive events of one definition, each with the same number of words.
#[derive(Debug, Clone, Copy)]
pub struct AlikeEvents<'a> {
    /// The ticks of each.
    pub ticks: &'a [u64],
    /// Their words, as bytes.
    pub words: &'a [u8],
    /// How many bytes the words of each take.
    pub size: usize,
    /// How many entries each takes.
    pub entries: usize,
    /// Where they were logged.
    pub runs: &'a [LaneRun],
}

/// The words of an event, as its entries have them.
#[derive(Debug, Clone, Copy)]
pub struct EventWords<'a>(pub(super) &'a [Entry]);

impl EventWords<'_> {
    /// The thread, and the kernel's id of it.
    #[inline]
    pub fn thread(&self) -> (ThreadRef, u32) {
        thread_of(&self.0[0])
    }

    /// One of the words, if the entries reach so far.
    #[inline]
    pub fn get(&self, number: usize) -> Option<u64> {
        let behind = match number.checked_sub(FIRST_WORDS) {
            None => return Some(self.0.first()?.0[PAYLOAD_AT[0] + number]),
            Some(behind) => behind,
        };
        let entry = self.0.get(1 + behind / FURTHER_WORDS)?;
        Some(entry.0[PAYLOAD_AT[1] + behind % FURTHER_WORDS])
    }
}

/// Successive events that one thread logged on one CPU, without others of their lane in between.
#[derive(Debug, Clone, Copy)]
pub struct LaneRun {
    /// How many these are.
    pub count: usize,
    /// The lane they were logged through.
    pub lane: u32,
    /// How many entries were logged through that lane before the first.
    pub number: u64,
    /// The CPU, if it is known.
    pub core: Option<u16>,
    /// The thread, and the kernel's id of it.
    pub thread: (ThreadRef, u32),
}

impl LaneRun {
    /// The run that begins with this entry, at this place: its lane, and its number there.
    #[inline]
    pub(super) fn new(first: &Entry, (lane, number): (u32, u64), count: usize) -> LaneRun {
        LaneRun {
            count,
            lane,
            number,
            core: core_of(first),
            thread: thread_of(first),
        }
    }

    /// Whether another run goes on right behind this one. Each event takes so many entries.
    #[inline]
    pub(super) fn goes_on(&self, next: &LaneRun, entries: usize) -> bool {
        let behind = self.number.wrapping_add((self.count * entries) as u64);
        let place = |run: &LaneRun| (run.lane, run.core, run.thread);
        next.number == behind && place(next) == place(self)
    }
}

/// The CPU that an entry was logged on, if it is known.
#[inline]
fn core_of(entry: &Entry) -> Option<u16> {
    Some(entry.core()).filter(|core| *core != u16::MAX)
}

/// The thread that logged an entry, and the kernel's id of it.
#[inline]
pub(super) fn thread_of(entry: &Entry) -> (ThreadRef, u32) {
    (ThreadRef(entry.thread()), entry.tid())
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
    missing: LaneLoss,
    passage: Passage,
}

impl EntryEvent {
    /// The event of these entries: the first, and where the others begin in those of the poll and
    /// how many they are.
    #[inline]
    pub(super) fn new(
        first: Entry,
        rest: (usize, usize),
        (lane, number): (u32, u64),
        (missing, passage): (LaneLoss, Passage),
    ) -> EntryEvent {
        EntryEvent {
            first,
            rest,
            lane,
            number,
            missing,
            passage,
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
        core_of(&self.first)
    }

    /// The thread, and the kernel's id of it.
    pub fn thread(&self) -> (ThreadRef, u32) {
        thread_of(&self.first)
    }

    /// The number of the next entry of its lane after it.
    pub fn behind(&self) -> u64 {
        self.number.saturating_add(self.entries() as u64)
    }

    /// Whether these are the first entries of events of one definition, each with as many words.
    /// The CPU is known of both or of neither.
    #[inline]
    pub(super) fn is_alike(&self, other: &Entry) -> bool {
        (self.first.0[1] ^ other.0[1]) & !CORE_BITS == 0
            && (self.first.core() == u16::MAX) == (other.core() == u16::MAX)
    }

    /// The run of this event, which others may join.
    #[inline]
    pub(super) fn run(&self) -> LaneRun {
        LaneRun::new(&self.first, (self.lane, self.number), 1)
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
        self.missing.is_any()
    }

    /// The passage of the stream in which it is.
    #[inline]
    pub fn passage(&self) -> Passage {
        self.passage
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

    /// Appends the ticks and the words of further events that are alike, whose entries these are.
    #[inline]
    pub(super) fn more_words(&self, more: &[Entry], ticks: &mut Vec<u64>, bytes: &mut Vec<u8>) {
        if self.entries() > 1 {
            for group in more.chunks_exact(self.entries()) {
                let (first, rest) = (&group[0], &group[1..]);
                ticks.push(first.ticks());
                words(&EntryGroup { at: 0, first, rest }, bytes);
            }
            return;
        }
        ticks.extend(more.iter().map(Entry::ticks));
        let count = match self.has_payload() {
            true => FIRST_WORDS - self.first.unused_words(),
            false => MAX_ARGUMENTS,
        };
        more.iter()
            .for_each(|entry| first_words(entry, count, bytes));
    }

    fn group<'e>(&'e self, entries: &'e [Entry]) -> EntryGroup<'e> {
        let (from, count) = self.rest;
        EntryGroup {
            at: 0,
            first: &self.first,
            rest: entries.get(from..from + count).unwrap_or(&[]),
        }
    }

    /// The event of these entries of the poll.
    #[inline]
    pub(super) fn placed(&self, segment: &TimelineMapping, entries: &[Entry]) -> PlacedEvent {
        let LaneLoss { earlier, unread } = self.missing;
        PlacedEvent {
            event: Event {
                missed: earlier.saturating_add(unread),
                passage: self.passage,
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
