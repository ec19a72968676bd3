//! Remembers records of events. A similar record is compared with them, not read field by field.
//!
//! Records of one kind have the same fields with the same values, except for the list and for
//! numbers that vary from event to event. A reader compares most of a record with a known one, many
//! bytes at a time. It finds the rest at the same places as in the known one.
//!
//! Records that were compared once need not be compared again: see [`RecordKinds::trust`].

use std::sync::Arc;

use crate::format::number_fields::{FIELDS, NumberFields, VARYING, VaryingFields};
use timeline::internal::msgpack::{Unpacker, marker};

/// The kinds that are known have places in a table of this size, a power of two.
const PLACES: usize = 4096;
/// If another kind has its place, one in so many records is learnt: learning a record takes longer
/// than reading it.
const SELDOM: u64 = 8;
/// Most hints that are known. Those of most records differ only in the sizes of a few fields.
const HINTS: usize = 32;
/// Bytes of a hint: those of the event's number and its thread's, and perhaps of others.
const HINT: usize = 32;
/// Odd numbers whose bits are about random: one for each word of a hint.
const FACTORS: [u64; HINT / WORD] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
];
/// Bytes that are compared at once.
const PIECE: usize = size_of::<u128>();
/// Bytes that are read with each number: its own, and those before it.
const WORD: usize = size_of::<u64>();

/// What the records of a kind have in common.
pub struct RecordKind {
    /// A number that no other kind has; not 0.
    pub id: u64,
    /// The number of bytes before the list.
    pub head: usize,
    /// The number of bytes behind the list.
    pub tail: usize,
    pub has_list: bool,
    /// The numbers of one record.
    pub numbers: NumberFields,
    /// Where records have the varying numbers.
    pub varying: [NumberPlace; VARYING],
    /// The pieces of the head, which begin with the record.
    first: Vec<Piece>,
    /// The pieces of the tail, which end with the record.
    last: Vec<Piece>,
}

/// The place of a number in a record.
#[derive(Clone, Copy)]
pub struct NumberPlace {
    /// Where the word begins that ends with the number, from the begin of the record. If it is
    /// behind the list, from the end of the record, so that it wraps.
    at: usize,
    /// All bits if it is behind the list.
    behind: usize,
    /// The bits of the word that are the number.
    mask: u64,
}

/// The bits that some bytes have in common.
struct Piece {
    bits: Words,
    mask: Words,
}

/// The bytes of a piece.
type Words = [u64; PIECE / WORD];

#[inline]
fn words(bytes: &[u8; PIECE]) -> Words {
    let all = u128::from_le_bytes(*bytes);
    [all as u64, (all >> u64::BITS) as u64]
}

/// The bits at the end of a record that tell its kind.
#[derive(Clone, PartialEq)]
struct Hint([u8; HINT]);

impl NumberPlace {
    /// No record has a number here.
    const NOWHERE: NumberPlace = NumberPlace {
        at: usize::MAX,
        behind: 0,
        mask: 0,
    };

    /// The number of a record of this kind.
    #[inline]
    pub fn number(&self, record: &[u8]) -> Option<u64> {
        let at = self.at.wrapping_add(record.len() & self.behind);
        let word = record.get(at..)?.first_chunk()?;
        Some(u64::from_be_bytes(*word) & self.mask)
    }
}

impl Hint {
    /// The place in the table for a record.
    #[inline]
    fn place(&self, record: &[u8]) -> Option<usize> {
        let end: &[u8; HINT] = record.last_chunk()?;
        let (words, masks) = (end.as_chunks().0, self.0.as_chunks().0);
        // The products do not wait for one another.
        let parts = words.iter().zip(masks).zip(FACTORS);
        let hash = parts.fold(0u64, |hash, ((word, mask), factor)| {
            let word = u64::from_le_bytes(*word) & u64::from_le_bytes(*mask);
            hash.wrapping_add(word.wrapping_mul(factor))
        });
        Some((hash >> (64 - PLACES.ilog2())) as usize)
    }
}

impl Piece {
    /// Those of the first `length` bytes. `None` if the record ends within the last of them.
    fn first(record: &[u8], same: &[u8], length: usize) -> Option<Vec<Piece>> {
        let mut mask = same.get(..length.next_multiple_of(PIECE))?.to_vec();
        mask[length..].fill(0);
        let pieces = record.as_chunks().0.iter().zip(mask.as_chunks().0);
        Some(pieces.map(Piece::new).collect())
    }

    /// Those of the last `length` bytes.
    fn last(record: &[u8], same: &[u8], length: usize) -> Option<Vec<Piece>> {
        let start = record.len().checked_sub(length.next_multiple_of(PIECE))?;
        let mut mask = same[start..].to_vec();
        mask[..record.len() - length - start].fill(0);
        let pieces = record[start..].as_chunks().0.iter().zip(mask.as_chunks().0);
        Some(pieces.map(Piece::new).collect())
    }

    fn new((bits, mask): (&[u8; PIECE], &[u8; PIECE])) -> Piece {
        Piece {
            bits: words(bits),
            mask: words(mask),
        }
    }

    /// Adds the bits in which these bytes differ from what all have in common.
    #[inline]
    fn compare(&self, bytes: &[u8; PIECE], difference: &mut Words) {
        let bytes = words(bytes);
        for (at, difference) in difference.iter_mut().enumerate() {
            *difference |= (bytes[at] ^ self.bits[at]) & self.mask[at];
        }
    }
}

impl RecordKind {
    /// The kind of a record with these numbers. There is none if the record has fields of other
    /// types, one field twice, or bytes behind the last field.
    fn of(
        record: &[u8],
        fields: &VaryingFields,
        numbers: &NumberFields,
    ) -> Option<(RecordKind, Hint)> {
        let mut input = Unpacker(record);
        let (_, count) = input.tag()?;
        let at = |input: &Unpacker| record.len() - input.0.len();
        let (mut varying, mut found) = ([NumberPlace::NOWHERE; VARYING], 0u32);
        let (mut list, mut same) = (None, vec![u8::MAX; record.len()]);
        for _ in 0..count {
            let field = input.key()?;
            let value = at(&input);
            if field == fields.list && list.is_none() {
                input.skip()?;
                list = Some(value..at(&input));
                continue;
            }
            if usize::from(field) >= FIELDS || found >> field & 1 == 1 {
                return None;
            }
            found |= 1 << field;
            input.number()??;
            let end = at(&input);
            let (number, rest) = match record[value] {
                ..=marker::LAST_FIXINT => (value..end, !marker::LAST_FIXINT),
                marker::UINT8..=marker::UINT64 => (value + 1..end, 0),
                _ => return None,
            };
            if let Some(place) = fields.numbers.iter().position(|varies| *varies == field) {
                let (start, size) = (end.checked_sub(WORD)?, number.len());
                same[number].fill(rest);
                varying[place] = NumberPlace {
                    at: start.wrapping_sub(list.as_ref().map_or(0, |_| record.len())),
                    behind: list.as_ref().map_or(0, |_| usize::MAX),
                    mask: u64::MAX >> (64 - 8 * size),
                };
            }
        }
        if !input.0.is_empty() {
            return None;
        }
        let has_list = list.is_some();
        // What is before the list moves with its length.
        let mut end = *same.last_chunk()?;
        let tail = list.as_ref().map_or(HINT, |list| record.len() - list.end);
        end[..HINT.saturating_sub(tail)].fill(0);
        let hint = Hint(end);
        // If there is no list, the tail is what does not fill a piece of the head.
        let full = record.len() / PIECE * PIECE;
        let list = list.unwrap_or(full..full);
        let (head, tail) = (list.start, record.len() - list.end);
        // In a record with a shorter list, a word could begin before the record.
        if has_list && head < WORD {
            return None;
        }
        let kind = RecordKind {
            id: 0,
            head,
            tail,
            has_list,
            numbers: *numbers,
            varying,
            first: Piece::first(record, &same, head)?,
            last: Piece::last(record, &same, tail)?,
        };
        Some((kind, hint))
    }

    /// Whether a record is long enough for the head and the tail, and not too long.
    #[inline(always)]
    fn has_room(&self, record: &[u8]) -> bool {
        let least = self.head + self.tail;
        record.len() == least || self.has_list && record.len() > least
    }

    /// Whether a record has the head and the tail of this kind. Between them can be anything.
    #[inline(always)]
    fn fits(&self, record: &[u8]) -> bool {
        let length = |pieces: &[Piece]| pieces.len() * PIECE;
        let first = record.get(..length(&self.first));
        let last = record.len().checked_sub(length(&self.last));
        let Some((first, last)) = first.zip(last) else {
            return false;
        };
        let mut difference = Words::default();
        for (piece, bytes) in self.first.iter().zip(first.as_chunks().0) {
            piece.compare(bytes, &mut difference);
        }
        for (piece, bytes) in self.last.iter().zip(record[last..].as_chunks().0) {
            piece.compare(bytes, &mut difference);
        }
        difference[0] | difference[1] == 0
    }
}

/// The kinds of the records that were read before. A copy knows what the original knows.
#[derive(Clone, Default)]
pub struct RecordKinds {
    known: Vec<Option<Arc<RecordKind>>>,
    hints: Vec<Hint>,
    /// The hint by which the last record was found.
    hint: usize,
    misses: u64,
    /// Whether a kind or a hint took the place of another.
    replaced: bool,
    /// Whether records are not compared with their kinds.
    trusted: bool,
}

impl RecordKinds {
    /// The place of the kind of a record, if it is known.
    #[inline]
    pub fn find(&mut self, record: &[u8]) -> Option<usize> {
        match self.by_hint(self.hint, record) {
            None => self.search(record),
            place => place,
        }
    }

    /// The hint by which the last record was found.
    #[inline]
    pub fn hint(&self) -> usize {
        self.hint
    }

    /// Says whether all records that follow are the same as before, and were all found by this
    /// hint. If so, each of them has the place of its kind, because nothing took that place.
    pub fn trust(&mut self, hint: Option<usize>) {
        self.trusted = hint.is_some() && !self.replaced;
        self.hint = hint.unwrap_or(self.hint);
    }

    /// The kind at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&RecordKind> {
        self.known.get(place)?.as_deref()
    }

    #[inline(always)]
    fn by_hint(&self, hint: usize, record: &[u8]) -> Option<usize> {
        let place = self.hints.get(hint)?.place(record)?;
        let kind = self.get(place)?;
        (kind.has_room(record) && (self.trusted || kind.fits(record))).then_some(place)
    }

    #[inline(never)]
    fn search(&mut self, record: &[u8]) -> Option<usize> {
        let mut found = (0..self.hints.len()).map(|hint| (hint, self.by_hint(hint, record)));
        let (hint, place) = found.find(|(_, place)| place.is_some())?;
        self.hint = hint;
        place
    }

    /// Learns a record with these numbers.
    #[inline(never)]
    pub fn learn(&mut self, record: &[u8], fields: &VaryingFields, numbers: &NumberFields) {
        let Some((mut kind, hint)) = RecordKind::of(record, fields, numbers) else {
            return;
        };
        let Some(place) = hint.place(record) else {
            return;
        };
        self.misses += 1;
        kind.id = self.misses;
        self.known.resize_with(PLACES, || None);
        let known = &mut self.known[place];
        if known.is_none() || self.misses.is_multiple_of(SELDOM) {
            self.replaced |= known.is_some();
            *known = Some(Arc::new(kind));
        }
        if !self.hints.contains(&hint) {
            match self.hints.len() {
                HINTS => {
                    self.replaced = true;
                    self.hints[self.misses as usize % HINTS] = hint;
                }
                _ => self.hints.push(hint),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use timeline::internal::msgpack::FieldWriter;

    use super::*;

    const VARIES: VaryingFields = VaryingFields {
        list: 10,
        numbers: [7, 8, 12, 16, 17, 21],
    };

    /// A record of a statement and a thread.
    fn record(statement: u64, ticks: u64, list: &[i64], thread: u64) -> Vec<u8> {
        let (mut fields, mut record) = (FieldWriter::default(), Vec::new());
        fields.number(1, Some(u64::MAX));
        fields.number(7, Some(ticks));
        fields.integers(10, list);
        fields.number(11, Some(u64::MAX));
        fields.number(17, Some(1 << 20));
        fields.number(18, Some(statement));
        fields.number(24, Some(thread));
        fields.finish(127, &mut record);
        record
    }

    /// Where the kinds know this record to have its ticks, if they know it.
    fn ticks(kinds: &mut RecordKinds, record: &[u8]) -> Option<u64> {
        let place = kinds.find(record)?;
        kinds.get(place)?.varying[0].number(record)
    }

    #[test]
    fn a_kind_is_known_by_all_that_does_not_vary() {
        let mut kinds = RecordKinds::default();
        let [first, thread] = [1 << 40, 1 << 16];
        let learn = |kinds: &mut RecordKinds, record: &[u8]| {
            kinds.learn(record, &VARIES, &NumberFields::default());
        };
        learn(&mut kinds, &record(5, first, &[1, 2], thread));
        let known = record(5, first + 9, &[300], thread);
        assert_eq!(ticks(&mut kinds, &known), Some(first + 9));
        // A number of another size, other values, another end, and no list.
        for other in [
            record(5, 9, &[300], thread),
            record(6, first, &[300], thread),
            record(5, first, &[300], thread + 1),
            [&known[..], &[0]].concat(),
            record(5, first, &[], thread),
        ] {
            assert_eq!(ticks(&mut kinds, &other), None, "{other:02x?}");
        }
        // Kinds with other hints are found as well, however they alternate.
        let without = record(7, first, &[], thread);
        learn(&mut kinds, &without);
        let long = record(500, first, &[7], thread);
        learn(&mut kinds, &long);
        for known in [&known, &without, &long, &known, &long] {
            assert!(ticks(&mut kinds, known).is_some(), "{known:02x?}");
        }
    }

    #[test]
    fn a_kind_that_comes_no_more_gives_its_place_to_another() {
        // Only the size of the ticks differs.
        let [old, new] = [1 << 40, 9].map(|ticks| record(5, ticks, &[1, 2], 1 << 16));
        let mut kinds = RecordKinds::default();
        kinds.learn(&old, &VARIES, &NumberFields::default());
        for _ in 0..SELDOM {
            kinds.learn(&new, &VARIES, &NumberFields::default());
        }
        assert_eq!(kinds.find(&old), None);
        assert_eq!(ticks(&mut kinds, &new), Some(9));
    }

    #[test]
    fn records_are_compared_again_if_a_kind_lost_its_place() {
        let mut kinds = RecordKinds::default();
        let known = record(5, 1 << 40, &[300], 1 << 16);
        let mut other = known.clone();
        // A bit of the first number, which is not at the end that tells the place.
        other[5] ^= 1;
        kinds.learn(&known, &VARIES, &NumberFields::default());
        let place = kinds.find(&known);
        assert!(place.is_some() && kinds.find(&other).is_none());
        kinds.trust(Some(kinds.hint()));
        assert_eq!((kinds.find(&known), kinds.find(&other)), (place, place));
        // One that is too short has no kind even so.
        assert_eq!(kinds.find(&other[10..]), None);
        for _ in 0..SELDOM {
            kinds.learn(&other, &VARIES, &NumberFields::default());
        }
        let mut copy = kinds.clone();
        copy.trust(Some(copy.hint()));
        assert_eq!((copy.find(&known), copy.find(&other)), (None, place));
    }

    #[test]
    fn a_short_list_near_the_begin_hides_no_number() {
        let record = |list: &[i64]| {
            let (mut fields, mut record) = (FieldWriter::default(), Vec::new());
            fields.integers(10, list);
            fields.number(12, Some(3));
            (13..19).for_each(|field| fields.number(field, Some(u64::MAX)));
            fields.finish(127, &mut record);
            record
        };
        let mut kinds = RecordKinds::default();
        kinds.learn(&record(&[i64::MAX; 4]), &VARIES, &NumberFields::default());
        let short = record(&[1]);
        if let Some(place) = kinds.find(&short) {
            let kind = kinds.get(place).expect("found");
            assert_eq!(kind.varying[2].number(&short), Some(3));
        }
    }

    #[test]
    fn what_cannot_be_compared_is_not_learnt() {
        let whole = record(5, 1 << 40, &[1, 2], 1 << 16);
        let mut negative = whole.clone();
        let last = negative.len() - 5;
        negative[last] = 0xd2;
        let twice = [&[127, 0x88][..], &whole[2..], &[1, 1]].concat();
        let behind = [&whole[..], &[0]].concat();
        let short = [127, 0x81, 7, 5].to_vec();
        for record in [negative, twice, behind, short] {
            let mut kinds = RecordKinds::default();
            kinds.learn(&record, &VARIES, &NumberFields::default());
            assert_eq!(kinds.find(&record), None, "{record:02x?}");
        }
    }

    #[test]
    fn memory_is_bounded_whatever_is_learnt() {
        let mut kinds = RecordKinds::default();
        for i in 0..3 * PLACES as u64 {
            let record = record(i, 1 << (i % 60), &[], i << (i % 40));
            kinds.learn(&record, &VARIES, &NumberFields::default());
        }
        assert_eq!(kinds.known.len(), PLACES);
        assert_eq!(kinds.hints.len(), HINTS);
    }
}
