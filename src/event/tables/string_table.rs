//! Interned texts: each stands in the string table once, and events carry its place.
//!
//! The end of the string table is kept for them: first the slots, a hash table of words that are 0
//! or describe a text, then the texts. A program finds a text by a few loads, and adds one without
//! a lock, an allocation or a system call: it takes bytes by adding to a word of the header, writes
//! the text, and stores the word of a free slot with a compare-and-swap, which is the commit.
//!
//! So a signal handler may do it, and so may a forked child that goes on in the middle of it: it
//! takes the same bytes as its parent, and writes the same text there. A writer that is killed
//! leaves bytes that nothing names. Slots are never freed. A text goes into the first free slot
//! behind the one of its hash, so no text is in two: who finds his slot taken looks at it again.
//!
//! **Why are interned texts not stored with those of definitions?** Those are added under a lock,
//! which a log call must not wait for. And events must not use up the room of definitions.

use std::sync::Arc;

use crate::event::payloads::payload::{CUT, NULL};
use crate::layout::words::INTERNED;
use crate::layout::{BYTES_OF_A_SLOT, Geometry, Header, LONGEST_INTERNED, Region};
use crate::shm::{Mapping, RecordAccess};
use crate::sync::{AtomicU64, Ordering};

/// Bytes of a word.
const WORD: usize = 8;
/// Where the length stands in the word of a text, above the offset.
const LENGTH_SHIFT: u32 = 32;
/// Where a part of the hash stands in the word of a slot, above the length.
const TAG_SHIFT: u32 = 41;
/// The bits that a slot and an event have in common: offset and length.
const PLACE: u64 = (1 << TAG_SHIFT) - 1;
/// Slots that are looked at for one text.
const PROBES: u64 = 16;

/// The interned texts of one timeline.
#[derive(Clone)]
pub struct StringTable {
    map: Arc<Mapping>,
    /// The whole string table: offsets count from its beginning.
    strings: Region,
    slots: Region,
    texts: Region,
}

/// The result of looking for a text.
enum TextLookup {
    /// The word of the text.
    Text(u64),
    /// The number of the slot that the text could take.
    Free(u64),
    /// There is no room for it.
    Full,
}

/// What a text is found by.
struct Key<'a> {
    /// Its bytes, with zeros behind them.
    words: &'a [u64],
    length: usize,
    hash: u64,
}

impl<'a> Key<'a> {
    fn new(words: &'a [u64], length: usize) -> Key<'a> {
        let add = |hash: u64, word: &u64| {
            let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^ hash >> 32
        };
        Key {
            words,
            length,
            // The last round spreads the upper bits of the last word.
            hash: words.iter().chain(&[0]).fold(length as u64, add),
        }
    }

    /// The word of a slot that has it at this offset of the string table.
    fn slot(&self, offset: u64) -> u64 {
        let tag = self.hash >> TAG_SHIFT << TAG_SHIFT;
        offset | (self.length as u64) << LENGTH_SHIFT | tag
    }

    /// Whether a slot agrees with it in length and hash.
    fn may_be(&self, slot: u64) -> bool {
        slot >> LENGTH_SHIFT == self.slot(0) >> LENGTH_SHIFT
    }
}

/// A text as words, with zeros behind it; `None` if none of this length is interned.
pub fn words_of(text: &[u8]) -> Option<[u64; LONGEST_INTERNED / WORD]> {
    let mut words = [0; LONGEST_INTERNED / WORD];
    if text.len() > LONGEST_INTERNED {
        return None;
    }
    for (word, part) in words.iter_mut().zip(text.chunks(WORD)) {
        let mut bytes = [0; WORD];
        bytes[..part.len()].copy_from_slice(part);
        *word = u64::from_le_bytes(bytes);
    }
    Some(words)
}

impl StringTable {
    /// Those of a mapping whose geometry was checked.
    pub fn new(map: &Arc<Mapping>, geometry: &Geometry) -> StringTable {
        let all = geometry.interned();
        let slots = Region {
            length: all.length / BYTES_OF_A_SLOT * WORD as u64,
            stride: WORD as u64,
            ..all
        };
        StringTable {
            map: Arc::clone(map),
            strings: geometry.regions[7],
            slots,
            texts: Region {
                offset: slots.offset + slots.length,
                length: all.length - slots.length,
                stride: 1,
            },
        }
    }

    fn slot(&self, number: u64) -> RecordAccess<'_, AtomicU64> {
        self.map.record(self.slots.at(number))
    }

    fn slot_count(&self) -> u64 {
        self.slots.length / WORD as u64
    }

    /// How many texts there are.
    pub fn count(&self) -> u32 {
        let slots = (0..self.slot_count()).map(|number| self.slot(number));
        slots
            // Relaxed: only counted. Nobody follows the slot to its text.
            .filter(|slot| slot.load(Ordering::Relaxed) != 0)
            .count() as u32
    }

    /// How many texts there can be.
    pub fn most(&self) -> u32 {
        u32::try_from(self.slot_count()).unwrap_or(u32::MAX)
    }

    /// The bytes that texts have taken.
    pub fn taken(&self) -> u64 {
        let taken = self.map.header().field(|header| &header.interned_taken);
        // Relaxed: who takes them writes them later; the slots say what is there.
        taken.load(Ordering::Relaxed).min(self.texts.length)
    }

    /// The bytes that there are for texts.
    pub fn capacity(&self) -> u64 {
        self.texts.length
    }

    /// What is in use of the file: the slots and the texts.
    pub fn in_use(&self) -> Region {
        Region {
            length: self.slots.length + self.taken(),
            ..self.slots
        }
    }

    /// A text that an event refers to. `None` if its word is damaged.
    pub fn text(&self, word: u64) -> Option<Vec<u8>> {
        let (offset, length) = place(word);
        let end = offset.checked_add(length)?;
        if word & INTERNED == 0 || end > self.strings.length || length > LONGEST_INTERNED as u64 {
            return None;
        }
        let mut bytes = vec![0; length as usize];
        self.map.read(self.strings.offset + offset, &mut bytes);
        Some(bytes)
    }

    /// The word of a text, which is added if it is new. `None` if it is empty or too long, or if
    /// there is no room; the last is counted. Takes no lock, allocates nothing and makes no system
    /// call. The process has the timeline mapped for writing.
    #[inline]
    pub fn word(&self, words: &[u64], length: usize) -> Option<u64> {
        if length == 0 || length > LONGEST_INTERNED {
            return None;
        }
        let key = Key::new(words.get(..length.div_ceil(WORD))?, length);
        let table = self.map.words(self.strings)?;
        match self.find(table, &key, 0) {
            TextLookup::Text(word) => Some(word),
            TextLookup::Free(first) => self.add(table, &key, first),
            TextLookup::Full => self.full(),
        }
    }

    /// The place in the table of the slot at this probe for a text.
    #[inline]
    fn place_of_slot(&self, key: &Key, probe: u64) -> usize {
        // A multiplication, because a division takes as long as all the rest.
        let count = self.slot_count();
        let number = (((key.hash & 0xffff_ffff) * count) >> 32) + probe;
        let number = if number < count {
            number
        } else {
            number - count
        };
        (self.slots.offset - self.strings.offset) as usize / WORD + number as usize
    }

    /// Looks for a text from its slot on, but not at the first `from` of them.
    #[inline]
    fn find(&self, table: &[AtomicU64], key: &Key, from: u64) -> TextLookup {
        for probe in from..PROBES.min(self.slot_count()) {
            // Acquire, pairs with the Release in `add`: the text is there.
            let slot = &table[self.place_of_slot(key, probe)];
            match slot.load(Ordering::Acquire) {
                0 => return TextLookup::Free(probe),
                slot if key.may_be(slot) && is(table, key, slot) => {
                    return TextLookup::Text(slot & PLACE | INTERNED);
                }
                _ => {}
            }
        }
        TextLookup::Full
    }

    /// Adds a text, in the free slot at probe `first` or behind it.
    #[cold]
    fn add(&self, table: &[AtomicU64], key: &Key, first: u64) -> Option<u64> {
        let Some(at) = self.take((key.words.len() * WORD) as u64) else {
            return self.full();
        };
        let offset = self.texts.offset - self.strings.offset + at;
        for (place, word) in table[offset as usize / WORD..].iter().zip(key.words) {
            // Relaxed: the Release of the slot publishes the text.
            place.store(*word, Ordering::Relaxed);
        }
        let own = key.slot(offset);
        let mut found = TextLookup::Free(first);
        while let TextLookup::Free(probe) = found {
            let slot = &table[self.place_of_slot(key, probe)];
            // Release, pairs with the Acquire in `find`: publishes the text.
            let order = (Ordering::Release, Ordering::Relaxed);
            found = match slot.compare_exchange(0, own, order.0, order.1) {
                Ok(_) => TextLookup::Text(own & PLACE | INTERNED),
                Err(_) => self.find(table, key, probe),
            };
        }
        match found {
            TextLookup::Text(word) => Some(word),
            _ => self.full(),
        }
    }

    /// Takes bytes for a text. Returns how far behind the first text they are.
    fn take(&self, bytes: u64) -> Option<u64> {
        let taken = &self.header().interned_taken;
        let fits = |taken: u64| {
            let end = taken.checked_add(bytes)?;
            (taken.is_multiple_of(WORD as u64) && end <= self.texts.length).then_some(taken)
        };
        // Relaxed: the count only says which bytes are whose. The first look keeps a long text from
        // using up the rest.
        fits(taken.load(Ordering::Relaxed))?;
        fits(taken.fetch_add(bytes, Ordering::Relaxed))
    }

    #[cold]
    fn full(&self) -> Option<u64> {
        // Relaxed: it only counts.
        self.header().not_interned.fetch_add(1, Ordering::Relaxed);
        None
    }

    fn header(&self) -> &Header {
        self.map.header().shared()
    }
}

/// Puts the interned texts of a payload behind it, as far as they can be read, so that their words
/// say where: bits 32 to 60 of each are then a number of words. The first word of the payload goes:
/// it says which of the words behind it are to be changed.
pub fn bring_in(payload: &mut Vec<u8>, text: impl Fn(u64) -> Option<Vec<u8>>) {
    let mut words: Vec<u64> = (payload.chunks_exact(WORD))
        .map(|word| u64::from_le_bytes(word.try_into().expect("as long as a word")))
        .collect();
    if words.is_empty() {
        return;
    }
    let mask = words.remove(0);
    for index in 0..words.len().min(64) {
        if mask >> index & 1 == 0 {
            continue;
        }
        let at = words.len() as u64;
        words[index] = match text(words[index]) {
            Some(bytes) => {
                words.extend(
                    words_of(&bytes)
                        .iter()
                        .flatten()
                        .take(bytes.len().div_ceil(WORD)),
                );
                INTERNED | at << LENGTH_SHIFT | bytes.len() as u64
            }
            None => CUT,
        };
    }
    payload.clear();
    payload.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// The payload of an event, whose texts at the marked words are interned if that is possible.
///
/// `sizes`: of each word of the fixed part how many bytes its elements have; 0: it is a number.
/// `marked`: which of them are texts to be interned. Returns how many words the payload has now,
/// and whether the first of them says which are interned.
pub fn intern(
    interned: &StringTable,
    words: &mut [u64],
    sizes: &[u8],
    marked: u64,
) -> (usize, bool) {
    let fixed = sizes.len().min(words.len()).min(64);
    let (mut from, mut to, mut mask) = (fixed, fixed, 0);
    for (index, size) in sizes[..fixed].iter().enumerate() {
        let word = words[index];
        let length = match word & NULL {
            0 => word as u32 as usize * usize::from(*size),
            _ => 0,
        };
        let count = length.div_ceil(WORD).min(words.len() - from);
        let is_whole = *size == 1 && word & CUT == 0 && count * WORD >= length;
        let found = match marked >> index & 1 {
            1 if is_whole => interned.word(&words[from..from + count], length),
            _ => None,
        };
        match found {
            Some(found) => {
                words[index] = found;
                mask |= 1 << index;
            }
            None => {
                if from != to {
                    words.copy_within(from..from + count, to);
                }
                to += count;
            }
        }
        from += count;
    }
    if mask == 0 {
        return (to, false);
    }
    // A text that was interned has left a word free. Word by word: the processor does not forward
    // what was just stored to the wider loads of a memmove.
    for index in (0..to).rev() {
        words[index + 1] = std::hint::black_box(words[index]);
    }
    words[0] = mask;
    (to + 1, true)
}

/// Whether the text of a slot is this one. Another process may have written anything there.
#[inline]
fn is(table: &[AtomicU64], key: &Key, slot: u64) -> bool {
    let (offset, _) = place(slot);
    let first = offset as usize / WORD;
    let there = table.get(first..first + key.words.len());
    // Relaxed: the slot was loaded with Acquire.
    let same = |(there, own): (&AtomicU64, &u64)| there.load(Ordering::Relaxed) == *own;
    offset.is_multiple_of(WORD as u64)
        && there.is_some_and(|there| there.iter().zip(key.words).all(same))
}

/// The offset and the length in the word of a text.
fn place(word: u64) -> (u64, u64) {
    let length = (word & PLACE) >> LENGTH_SHIFT;
    (u64::from(word as u32), length)
}
