//! A segment of the index: in which of some thousand pages each ngram occurs.
//!
//! The ngrams stand in leaves of some kilobytes, each with a checksum, so that a query reads and
//! checks only the leaves that it needs. docs/index.md states every byte.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use super::page::MOST_EVENTS;
use super::page_set::PageSet;
use super::postings;
use super::requirement::Requirement;
use super::storage::IndexStorage;
use timeline_archive::limits::MAX_EVENTS;
use timeline_archive::varint::{NumberReader, put};

/// Most pages of a segment, and of a unit of an archive.
pub const MOST_PAGES: u16 = 4096;
const OF_UNIT: u16 = (MAX_EVENTS / MOST_EVENTS) as u16;
/// About the most pairs of an ngram and a page.
const MOST_PAIRS: usize = 16 << 20;
/// About the bytes of a leaf.
const LEAF: usize = 4096;
/// The bytes of the entry of a leaf: its first ngram, its length, its checksum.
const ENTRY: usize = 12;

/// Collects the ngrams of pages.
#[derive(Default)]
pub struct SegmentBuilder {
    places: HashMap<u32, u32, FxBuildHasher>,
    /// The pages of each ngram, which rise.
    pages: Vec<Vec<u16>>,
    /// The last of these, or a page that no segment has. Finding it there instead misses the
    /// processor's cache twice.
    last: Vec<u16>,
    /// The present page.
    page: u16,
    /// How many pages all ngrams have.
    pairs: usize,
    /// The ngrams that were added last, with their pages, by their lowest bits: most are added
    /// again soon, because the events of a definition have one template.
    recent: Recent,
}

const RECENT: usize = 4096;

struct Recent(Vec<u64>);

impl Default for Recent {
    fn default() -> Recent {
        Recent(vec![u64::MAX; RECENT])
    }
}

impl Recent {
    /// Adds an ngram of a page. Returns whether it is known already.
    #[inline]
    fn knows(&mut self, ngram: u32, page: u16) -> bool {
        let place = (ngram.wrapping_mul(0x9e37_79b1) >> 20) as usize;
        let pair = u64::from(page) << 32 | u64::from(ngram);
        let known = &mut self.0[place % RECENT];
        std::mem::replace(known, pair) == pair
    }
}

impl SegmentBuilder {
    /// Adds an ngram to the present page.
    #[inline]
    pub fn add(&mut self, ngram: u32) {
        if !self.recent.knows(ngram, self.page) {
            self.add_new(ngram);
        }
    }

    #[inline(never)]
    fn add_new(&mut self, ngram: u32) {
        let next = self.pages.len() as u32;
        let place = *self.places.entry(ngram).or_insert(next) as usize;
        if place == next as usize {
            self.pages.push(Vec::new());
            self.last.push(u16::MAX);
        }
        let last = &mut self.last[place];
        if *last != self.page {
            *last = self.page;
            self.pages[place].push(self.page);
            self.pairs += 1;
        }
    }

    /// Ends the present page.
    pub fn end_page(&mut self) {
        self.page += 1;
    }

    /// Whether there may be no room for another unit.
    pub fn is_full(&self) -> bool {
        self.page + OF_UNIT > MOST_PAGES || self.pairs >= MOST_PAIRS
    }

    /// Adds the pages of a segment that has room for others. `None` if it is damaged.
    pub fn go_on(segment: &Segment, storage: &IndexStorage) -> Option<SegmentBuilder> {
        let mut builder = SegmentBuilder::default();
        let mut reader = segment.reader(storage);
        for leaf in 0..segment.leaves.len() {
            reader.each(leaf, |ngram, postings| {
                let mut pages = PageSet::none(segment.pages);
                postings.decode(&mut pages)?;
                builder.places.insert(ngram, builder.pages.len() as u32);
                builder.pairs += pages.len();
                builder.pages.push(pages.iter().collect());
                builder.last.push(u16::MAX);
                Some(())
            })?;
        }
        builder.page = segment.pages;
        Some(builder)
    }

    /// Makes the segment, and begins another one.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Segment {
        let mut ngrams: Vec<(u32, u32)> = self.places.drain().collect();
        ngrams.sort_unstable();
        let (mut leaves, mut entries, mut bits) = (Vec::new(), Vec::new(), Vec::new());
        let (mut start, mut first, mut before) = (0, 0, 0);
        for (ngram, place) in ngrams {
            if leaves.len() - start >= LEAF {
                entry(first, &leaves[start..], &mut entries);
                start = leaves.len();
            }
            if leaves.len() == start {
                (first, before) = (ngram, ngram);
            }
            let pages = &self.pages[place as usize];
            bits.clear();
            postings::encode(pages, self.page, &mut bits);
            put(&mut leaves, (ngram - before).into());
            put(&mut leaves, pages.len() as u64);
            put(&mut leaves, bits.len() as u64);
            leaves.extend_from_slice(&bits);
            before = ngram;
        }
        if leaves.len() > start {
            entry(first, &leaves[start..], &mut entries);
        }
        let segment = Segment {
            pages: self.page,
            place: out.len() as u64..(out.len() + entries.len() + leaves.len()) as u64,
            sum: crc32fast::hash(&entries),
            leaves: decode_entries(&entries),
        };
        out.extend_from_slice(&entries);
        out.extend_from_slice(&leaves);
        *self = SegmentBuilder::default();
        segment
    }
}

fn entry(first: u32, leaf: &[u8], entries: &mut Vec<u8>) {
    for number in [first, leaf.len() as u32, crc32fast::hash(leaf)] {
        entries.extend_from_slice(&number.to_le_bytes());
    }
}

fn decode_entries(entries: &[u8]) -> Vec<Leaf> {
    let mut start = entries.len();
    let (entries, _) = entries.as_chunks::<ENTRY>();
    let leaf = |entry: &[u8; ENTRY]| {
        let (numbers, _) = entry.as_chunks();
        let [first, length, sum] = [0, 1, 2].map(|at| u32::from_le_bytes(numbers[at]));
        let place = start..start + length as usize;
        start = place.end;
        Leaf { first, place, sum }
    };
    entries.iter().map(leaf).collect()
}

/// A segment in storage.
pub struct Segment {
    /// Where it is.
    pub place: Range<u64>,
    /// How many pages it has.
    pub pages: u16,
    /// The checksum of the entries of its leaves.
    pub sum: u32,
    leaves: Vec<Leaf>,
}

struct Leaf {
    /// Its first ngram.
    first: u32,
    /// Its place in the segment.
    place: Range<usize>,
    sum: u32,
}

/// The pages of an ngram.
struct Postings<'a> {
    bytes: &'a [u8],
    count: u16,
    total: u16,
}

impl Postings<'_> {
    fn decode(&self, out: &mut PageSet) -> Option<()> {
        postings::decode(self.bytes, self.count, self.total, out)
    }
}

impl Segment {
    /// Reads the entries of a segment. `None` if they are damaged.
    pub fn read(
        storage: &IndexStorage,
        place: Range<u64>,
        leaves: usize,
        pages: u16,
        sum: u32,
    ) -> Option<Segment> {
        let length = leaves.checked_mul(ENTRY)?;
        let (start, all) = (place.start, place.end.checked_sub(place.start)?);
        (length as u64 <= all && pages <= MOST_PAGES).then_some(())?;
        let mut buffer = Vec::new();
        let entries = storage
            .read(start..start + length as u64, &mut buffer)
            .ok()?;
        (crc32fast::hash(entries) == sum).then_some(())?;
        let leaves = decode_entries(entries);
        let is_whole = leaves
            .last()
            .is_none_or(|leaf| leaf.place.end as u64 == all);
        is_whole.then_some(Segment {
            place,
            pages,
            sum,
            leaves,
        })
    }

    /// The number of its leaves.
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// The pages that meet a requirement. `None` if the segment is damaged.
    pub fn pages_with(&self, requirement: &Requirement, storage: &IndexStorage) -> Option<PageSet> {
        self.reader(storage).pages_with(requirement)
    }

    fn reader<'a>(&'a self, storage: &'a IndexStorage) -> Reader<'a> {
        Reader {
            segment: self,
            storage,
            leaves: HashMap::default(),
        }
    }
}

/// Reads leaves, each once.
struct Reader<'a> {
    segment: &'a Segment,
    storage: &'a IndexStorage,
    leaves: HashMap<usize, Vec<u8>, FxBuildHasher>,
}

impl Reader<'_> {
    fn pages_with(&mut self, requirement: &Requirement) -> Option<PageSet> {
        let total = self.segment.pages;
        let mut found = PageSet::none(total);
        match requirement {
            Requirement::Nothing => return Some(PageSet::all(total)),
            Requirement::Ngrams(first, last) => self.find(*first, *last, &mut found)?,
            Requirement::OneOf(ngrams) => {
                for ngram in ngrams {
                    self.find(*ngram, *ngram, &mut found)?;
                }
            }
            Requirement::All(parts) => {
                found = PageSet::all(total);
                for part in parts {
                    found.keep(&self.pages_with(part)?);
                    if found.is_empty() {
                        break;
                    }
                }
            }
            Requirement::Any(parts) => {
                for part in parts {
                    found.add(&self.pages_with(part)?);
                }
            }
        }
        Some(found)
    }

    /// Adds the pages of the ngrams from one to another.
    fn find(&mut self, first: u32, last: u32, out: &mut PageSet) -> Option<()> {
        let leaves = &self.segment.leaves;
        let from = leaves.partition_point(|leaf| leaf.first <= first);
        let end = leaves.partition_point(|leaf| leaf.first <= last);
        for leaf in from.saturating_sub(1)..end {
            self.each(leaf, |ngram, postings| {
                match (first..=last).contains(&ngram) {
                    true => postings.decode(out),
                    false => Some(()),
                }
            })?;
        }
        Some(())
    }

    /// Passes each ngram of a leaf, and its pages.
    fn each(
        &mut self,
        leaf: usize,
        mut each: impl FnMut(u32, &Postings) -> Option<()>,
    ) -> Option<()> {
        let Leaf { first, place, sum } = &self.segment.leaves[leaf];
        if !self.leaves.contains_key(&leaf) {
            let start = self.segment.place.start;
            let place = start + place.start as u64..start + place.end as u64;
            let mut buffer = Vec::new();
            let bytes = self.storage.read(place, &mut buffer).ok()?;
            (crc32fast::hash(bytes) == *sum).then_some(())?;
            self.leaves.insert(leaf, bytes.to_vec());
        }
        let mut input = NumberReader(&self.leaves[&leaf]);
        let mut ngram = *first;
        while !input.0.is_empty() {
            ngram = ngram.checked_add(u32::try_from(input.get()?).ok()?)?;
            let count = u16::try_from(input.get()?).ok()?;
            let length = input.get()?;
            let bytes = input.take(length)?.0;
            let total = self.segment.pages;
            (count <= total).then_some(())?;
            each(
                ngram,
                &Postings {
                    bytes,
                    count,
                    total,
                },
            )?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::io::Write;

    /// A segment of pages with these ngrams.
    fn segment(pages: &[BTreeSet<u32>]) -> (Segment, Vec<u8>) {
        let (mut builder, mut bytes) = (SegmentBuilder::default(), vec![7; 3]);
        for page in pages {
            page.iter().for_each(|ngram| builder.add(*ngram));
            builder.end_page();
        }
        let segment = builder.finish(&mut bytes);
        (segment, bytes)
    }

    fn storage(bytes: &[u8]) -> IndexStorage {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        IndexStorage(file)
    }

    fn naive(pages: &[BTreeSet<u32>], requirement: &Requirement) -> Vec<u16> {
        fn is_met(page: &BTreeSet<u32>, requirement: &Requirement) -> bool {
            match requirement {
                Requirement::Nothing => true,
                Requirement::Ngrams(first, last) => page.range(first..=last).next().is_some(),
                Requirement::OneOf(ngrams) => ngrams.iter().any(|ngram| page.contains(ngram)),
                Requirement::All(parts) => parts.iter().all(|part| is_met(page, part)),
                Requirement::Any(parts) => parts.iter().any(|part| is_met(page, part)),
            }
        }
        let pages = pages.iter().enumerate();
        pages
            .filter(|(_, page)| is_met(page, requirement))
            .map(|(number, _)| number as u16)
            .collect()
    }

    fn requirements() -> impl Strategy<Value = Requirement> {
        let leaf = prop_oneof![
            Just(Requirement::Nothing),
            (0..300_u32, 0..4_u32)
                .prop_map(|(first, more)| Requirement::Ngrams(first, first + more)),
            proptest::collection::vec(0..300_u32, 1..4).prop_map(Requirement::OneOf),
        ];
        leaf.prop_recursive(3, 20, 4, |part| {
            let parts = proptest::collection::vec(part, 1..4);
            prop_oneof![
                parts.clone().prop_map(Requirement::All),
                parts.prop_map(Requirement::Any),
            ]
        })
    }

    proptest! {
        #[test]
        fn pages_are_found_as_in_sets(
            pages in proptest::collection::vec(
                proptest::collection::btree_set(0..300_u32, 0..120), 0..200),
            requirement in requirements(),
        ) {
            let (segment, bytes) = segment(&pages);
            let storage = storage(&bytes);
            let expected = naive(&pages, &requirement);
            let read = Segment::read(
                &storage, segment.place.clone(), segment.leaves(), segment.pages, segment.sum);
            for segment in [segment, read.expect("whole")] {
                let found = segment.pages_with(&requirement, &storage).expect("whole");
                prop_assert_eq!(found.iter().collect::<Vec<_>>(), &expected[..]);
            }
        }

        #[test]
        fn segments_go_on(
            pages in proptest::collection::vec(
                proptest::collection::btree_set(0..300_u32, 0..60), 1..60),
            at: usize,
        ) {
            let (before, behind) = pages.split_at(at % pages.len());
            let (first, bytes) = segment(before);
            let mut builder = SegmentBuilder::go_on(&first, &storage(&bytes)).expect("whole");
            for page in behind {
                page.iter().for_each(|ngram| builder.add(*ngram));
                builder.end_page();
            }
            let mut both = Vec::new();
            let joined = builder.finish(&mut both);
            prop_assert_eq!(joined.pages, pages.len() as u16);
            prop_assert_eq!(both, &segment(&pages).1[3..]);
        }

        #[test]
        fn damage_is_noticed(
            pages in proptest::collection::vec(
                proptest::collection::btree_set(0..300_u32, 1..120), 1..100),
            at: usize,
            bit in 0..8_u32,
            ngram in 0..300_u32,
        ) {
            let (segment, mut bytes) = segment(&pages);
            let requirement = Requirement::Ngrams(ngram, ngram + 1);
            let expected = naive(&pages, &requirement);
            let count = bytes.len() - 3;
            bytes[3 + at % count] ^= 1 << bit;
            let storage = storage(&bytes);
            let read = Segment::read(
                &storage, segment.place.clone(), segment.leaves(), segment.pages, segment.sum);
            let found = read.and_then(|segment| segment.pages_with(&requirement, &storage));
            if let Some(found) = found {
                prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected);
            }
        }
    }
}
