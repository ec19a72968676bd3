//! Finds events of several entries in a chunk, and puts them together.
//!
//! The first entry of such an event says how many it takes. Each of the others has its position, so
//! it can be told from a first entry wherever a reader begins, from either end. All are in one
//! chunk and are committed together. Other entries of event 0 fill up a chunk whose rest was too
//! small.

use super::{Event, Payload, ThreadRef};
use crate::event::EventId;
use crate::layout::words::{Entry, FLAG_BACKTRACE, PAYLOAD_AT};
use crate::msgpack::Input;

/// The entries of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group<'a> {
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
    type Item = Group<'a>;

    #[inline]
    fn next(&mut self) -> Option<Group<'a>> {
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
            return Some(Group { at, first, rest });
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

impl Event {
    #[inline]
    pub(super) fn new(group: &Group, node: Option<u8>) -> Event {
        let entry = group.first;
        Event {
            ticks: entry.ticks(),
            id: EventId(entry.event()),
            core: entry.core(),
            node: node.map_or(u16::MAX, u16::from),
            thread: ThreadRef(entry.thread()),
            tid: entry.tid(),
            args: entry.args(),
            payload: entry.has_payload().then(|| payload(group)),
            time: None,
            missed: 0,
        }
    }
}

#[inline(never)]
fn payload(group: &Group) -> Box<Payload> {
    let [first, others] = PAYLOAD_AT;
    let words = group.first.0[first..].iter();
    let words = words.chain(group.rest.iter().flat_map(|entry| &entry.0[others..]));
    let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    let (length, bytes) = bytes.split_at(2);
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    let mut values = &bytes[..length.min(bytes.len())];
    let mut backtrace = Vec::new();
    if group.first.flags() & FLAG_BACKTRACE != 0 {
        (backtrace, values) = addresses(values).unwrap_or((Vec::new(), values));
    }
    Box::new(Payload {
        values: values.to_vec(),
        backtrace,
    })
}

/// The return addresses at the start of a payload, and the rest of it. They are a msgpack array
/// with a length of 16 bits and items of 64 bits. `None` if the payload begins in another way.
fn addresses(payload: &[u8]) -> Option<(Vec<u64>, &[u8])> {
    let mut input = Input(payload);
    let mut addresses = Vec::new();
    for _ in 0..input.array16()? {
        addresses.push(input.uint64()?);
    }
    Some((addresses, input.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::words::{FLAG_PAYLOAD, entry_thread, long_entry_head};
    use crate::msgpack::{array16, uint64};

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
        let bytes: Vec<u8> = (0..100).collect();
        let mut all = vec![100, 0];
        all.extend(&bytes);
        all.resize(40 + 2 * 48, 0);
        let word =
            |i: usize| u64::from_le_bytes(all[8 * i..][..8].try_into().expect("eight bytes"));
        let mut entries = [entry(5, 3, FLAG_PAYLOAD), entry(0, 0, 1), entry(0, 0, 2)];
        (0..5).for_each(|i| entries[0].0[3 + i] = word(i));
        (0..6).for_each(|i| entries[1].0[2 + i] = word(5 + i));
        (0..6).for_each(|i| entries[2].0[2 + i] = word(11 + i));
        let event =
            |entries: &[Entry]| Event::new(&Groups::new(entries).next().expect("one"), None);
        let payload = event(&entries).payload.expect("a payload");
        assert_eq!((payload.values, payload.backtrace), (bytes.clone(), vec![]));
        // A lost entry shortens the payload at its end.
        let payload = event(&entries[..2]).payload.expect("a payload");
        assert_eq!(payload.values, bytes[..38 + 48]);
    }

    #[test]
    fn addresses_come_first() {
        let mut payload = [&array16(2)[..], &uint64(9), &uint64(u64::MAX)].concat();
        let (found, rest) = addresses(&payload).expect("addresses");
        assert_eq!((found, rest), (vec![9, u64::MAX], &[][..]));
        payload.push(0x2a);
        assert_eq!(addresses(&payload).map(|(_, rest)| rest), Some(&[0x2a][..]));
        for cut in 0..21 {
            assert_eq!(addresses(&payload[..cut]), None);
        }
        let promise = [&array16(u16::MAX)[..], &uint64(9)[..1]].concat();
        assert_eq!(addresses(&promise), None);
    }
}
