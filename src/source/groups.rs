//! Finds events of several entries in a chunk, and puts them together.
//!
//! The first entry of such an event says how many it takes. Each of the others has its position, so
//! it can be told from a first entry wherever a reader begins, from either end. All are in one
//! chunk and are committed together. Other entries of event 0 fill up a chunk whose rest was too
//! small.

use super::{Encoding, Event, Passage, Payload, ThreadRef};
use crate::event::{EventId, bring_in};
use crate::layout::words::{Entry, FLAG_BACKTRACE, FLAG_INTERNED, PAYLOAD_AT};
use crate::segment::TimelineMapping;

/// The entries of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryGroup<'a> {
    /// How many of the given entries are before it.
    pub at: usize,
    /// The first entry.
    pub first: &'a Entry,
    /// The entries after it.
    pub rest: &'a [Entry],
}

/// The events among successive entries of a chunk. Entries without an event are skipped.
pub struct Groups<'a> {
    entries: &'a [Entry],
    at: usize,
}

impl<'a> Groups<'a> {
    /// Takes successive entries of a chunk.
    pub fn new(entries: &'a [Entry]) -> Groups<'a> {
        Groups { entries, at: 0 }
    }
}

impl<'a> Iterator for Groups<'a> {
    type Item = EntryGroup<'a>;

    #[inline]
    fn next(&mut self) -> Option<EntryGroup<'a>> {
        loop {
            let at = self.at;
            let (first, after) = self.entries.get(at..)?.split_first()?;
            self.at += 1;
            if first.event() == 0 || first.is_continuation() {
                continue;
            }
            let rest = match first.slots() {
                1 => &[],
                slots => following(after, usize::from(slots) - 1),
            };
            self.at += rest.len();
            return Some(EntryGroup { at, first, rest });
        }
    }
}

/// The entries that continue an event of `more` further entries. In damaged memory there are fewer.
fn following(after: &[Entry], more: usize) -> &[Entry] {
    let goes_on = |(position, entry): &(usize, &Entry)| {
        entry.is_continuation() && usize::from(entry.flags()) == position + 1
    };
    let there = after.iter().take(more).enumerate().take_while(goes_on);
    &after[..there.count()]
}

/// Whether these are all entries of one event.
pub fn is_whole(group: &[Entry]) -> bool {
    let (first, rest) = (&group[0], &group[1..]);
    usize::from(first.slots()) == group.len() && following(rest, rest.len()).len() == rest.len()
}

impl Event {
    /// The event of a group of a segment, with its texts.
    // Inlined: a call would copy the event, for each of those without a payload too.
    #[inline(always)]
    pub(crate) fn read(segment: &TimelineMapping, group: &EntryGroup) -> Event {
        let node = segment.node(group.first.core());
        Event::new(group, node, || whole_payload(segment, group))
    }

    #[inline(always)]
    fn new(group: &EntryGroup, node: Option<u8>, payload: impl FnOnce() -> Box<Payload>) -> Event {
        let entry = group.first;
        Event {
            ticks: entry.ticks(),
            id: EventId(entry.event()),
            core: entry.core(),
            node: node.map_or(u16::MAX, u16::from),
            thread: ThreadRef(entry.thread()),
            tid: entry.tid(),
            args: entry.args(),
            payload: entry.has_payload().then(payload),
            time: None,
            missed: 0,
            passage: Passage::default(),
            important: false,
            duration: None,
        }
    }
}

/// The payload with the texts that are interned.
#[inline(never)]
fn whole_payload(segment: &TimelineMapping, group: &EntryGroup) -> Box<Payload> {
    let mut payload = payload(group);
    if group.first.flags() & FLAG_INTERNED != 0 {
        let interned = &segment.definitions.interned;
        bring_in(&mut payload.values, |word| interned.text(word));
    }
    payload
}

/// Appends the bytes of the words of a payload.
pub(super) fn words(group: &EntryGroup, bytes: &mut Vec<u8>) {
    let [first, others] = PAYLOAD_AT;
    let whole = group.rest.len() + 1 == usize::from(group.first.slots());
    let missing = match whole {
        true => group.first.unused_words(),
        false => 0,
    };
    bytes.reserve((group.rest.len() + 1) * size_of::<Entry>());
    append(&group.first.0[first..], bytes);
    for entry in group.rest {
        append(&entry.0[others..], bytes);
    }
    bytes.truncate(bytes.len().saturating_sub(missing * WORD));
}

fn payload(group: &EntryGroup) -> Box<Payload> {
    let mut bytes = Vec::new();
    words(group, &mut bytes);
    let (backtrace, values) = match group.first.flags() & FLAG_BACKTRACE {
        0 => (Vec::new(), bytes),
        _ => addresses(&bytes),
    };
    Box::new(Payload {
        values,
        encoding: Encoding::Words,
        backtrace,
    })
}

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

#[inline]
fn append(words: &[u64], bytes: &mut Vec<u8>) {
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
}

/// The return addresses at the start of a payload, and the rest of it. Their number precedes them.
fn addresses(payload: &[u8]) -> (Vec<u64>, Vec<u8>) {
    let Some((count, rest)) = payload.split_first_chunk() else {
        return (Vec::new(), Vec::new());
    };
    let count = usize::try_from(u64::from_le_bytes(*count)).unwrap_or(usize::MAX);
    let (words, _) = rest.as_chunks::<WORD>();
    let count = count.min(words.len());
    let addresses = words[..count].iter().map(|word| u64::from_le_bytes(*word));
    (addresses.collect(), rest[count * WORD..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::words::{FLAG_PAYLOAD, LAST_WORDS_SHIFT, entry_thread, long_entry_head};
    use crate::source::entry::EventWords;

    fn entry(event: u32, slots: u8, flags: u8) -> Entry {
        let head = long_entry_head(event, 0, slots, flags);
        Entry([1, head, entry_thread(2, 3), 0, 0, 0, 0, 0])
    }

    fn places(entries: &[Entry]) -> Vec<(usize, usize)> {
        Groups::new(entries).map(|g| (g.at, g.rest.len())).collect()
    }

    #[test]
    fn padding_and_remains_are_passed_over() {
        let (one, pad) = (entry(5, 1, 0), entry(0, 1, 0));
        let next = |position| entry(0, 0, position);
        assert_eq!(places(&[pad, one, pad, one]), [(1, 0), (3, 0)]);
        // Begins in the middle of an event; one event has lost its end, one its middle.
        let cut = entry(6, 3, FLAG_PAYLOAD);
        let entries = [
            next(2),
            cut,
            next(1),
            next(2),
            one,
            cut,
            next(1),
            one,
            cut,
            next(2),
            one,
        ];
        assert_eq!(
            places(&entries),
            [(1, 2), (4, 0), (5, 1), (7, 0), (8, 0), (10, 0)]
        );
        assert_eq!(places(&[cut, next(1)]), [(0, 1)]);
        assert_eq!(places(&[]), []);
    }

    #[test]
    fn a_payload_is_put_together() {
        // Five words in the first entry, six in the second, and two in the last.
        let flags = FLAG_PAYLOAD | 2 << LAST_WORDS_SHIFT;
        let mut entries = [entry(5, 3, flags), entry(0, 0, 1), entry(0, 0, 2)];
        (0..5).for_each(|i| entries[0].0[3 + i] = i as u64);
        (0..6).for_each(|i| entries[1].0[2 + i] = 5 + i as u64);
        (0..6).for_each(|i| entries[2].0[2 + i] = 11 + i as u64);
        let bytes = |words: std::ops::Range<u64>| words.flat_map(u64::to_le_bytes).collect();
        let payload = |entries: &[Entry]| payload(&Groups::new(entries).next().expect("one"));
        let found = payload(&entries);
        let whole: Vec<u8> = bytes(0..13);
        assert_eq!((found.values, found.backtrace), (whole, vec![]));
        // A lost entry shortens the payload at its end.
        let left: Vec<u8> = bytes(0..11);
        assert_eq!(payload(&entries[..2]).values, left);
    }

    #[test]
    fn single_words_are_those_of_all() {
        let flags = FLAG_PAYLOAD | 6 << LAST_WORDS_SHIFT;
        let mut entries = [entry(5, 3, flags), entry(0, 0, 1), entry(0, 0, 2)];
        (0..5).for_each(|i| entries[0].0[3 + i] = 100 + i as u64);
        (0..6).for_each(|i| entries[1].0[2 + i] = 105 + i as u64);
        (0..6).for_each(|i| entries[2].0[2 + i] = 111 + i as u64);
        let group = Groups::new(&entries).next().expect("one");
        let (mut bytes, single) = (Vec::new(), EventWords(&entries));
        words(&group, &mut bytes);
        let all = bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word));
        let all: Vec<_> = all.collect();
        assert_eq!(all, Vec::from_iter(100..117));
        let found: Vec<_> = (0..20).map(|number| single.get(number)).collect();
        let expected: Vec<_> = (0..20).map(|number| all.get(number).copied()).collect();
        assert_eq!(found, expected);
        assert_eq!(single.thread(), (ThreadRef(2), 3));
    }

    #[test]
    fn addresses_come_first() {
        let parts = |words: &[u64]| {
            let mut bytes = Vec::new();
            append(words, &mut bytes);
            let (stack, rest) = addresses(&bytes);
            let rest = rest
                .as_chunks()
                .0
                .iter()
                .map(|word| u64::from_le_bytes(*word));
            (stack, rest.collect::<Vec<_>>())
        };
        assert_eq!(parts(&[2, 9, u64::MAX]), (vec![9, u64::MAX], vec![]));
        assert_eq!(parts(&[1, 9, 5, 6]), (vec![9], vec![5, 6]));
        // A number that promises more than there is.
        assert_eq!(parts(&[u64::MAX, 9]), (vec![9], vec![]));
        assert_eq!(parts(&[]), (vec![], vec![]));
    }
}
