//! Checks what a ring holds, entry by entry from its bytes, while nobody writes to it.
//! Nothing is lost, twice, torn or out of order.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use timeline::internal::Record;
use timeline::internal::layout::words::{Entry, PAYLOAD_AT};
use timeline::internal::layout::{ENTRY_WORDS, Geometry, Header};

use crate::support::naive::{self, HeldChunk};
use crate::support::{arguments, unpacked};

/// The event that a storm logs, the only one that is defined.
const ONLY: u32 = 1;

/// The words of a timeline's file.
pub struct Ring {
    map: Mmap,
    pub geometry: Geometry,
}

impl Ring {
    pub fn map(file: &Path) -> Ring {
        let file = File::open(file).expect("there");
        // SAFETY: writers change the file, but only while nothing below reads it: the caller sees
        // to that.
        let map = unsafe { Mmap::map(&file) }.expect("mapped");
        let geometry = Geometry::load(&Header::of(&map)).expect("a sound header");
        Ring { map, geometry }
    }

    fn words(&self) -> &[u64] {
        // SAFETY: any bytes are a u64, and nobody writes to them now.
        let (before, words, _) = unsafe { self.map.align_to() };
        assert!(before.is_empty(), "a mapping begins at a page");
        words
    }

    /// Looks at every entry.
    ///
    /// Fails if one is torn, comes twice, or was never logged; if ticks fall within a chunk, or the
    /// numbers of one `who`; if an entry of a CPU's lane comes from another CPU; if a lane's chunks
    /// do not join.
    pub fn check(&self, expected: &Expected) {
        let mut chunks = naive::chunks(&self.map, &self.geometry);
        chunks.sort();
        for pair in chunks.windows(2) {
            let [a, b] = pair else { unreachable!() };
            let joins = a.lane != b.lane || a.before + a.count == b.before;
            assert!(joins, "lane {}: {a:?}, then {b:?}", a.lane);
        }
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            let parts: Vec<_> = chunks
                .chunks(chunks.len().div_ceil(workers).max(1))
                .map(|part| {
                    scope.spawn(move || {
                        let mut last = vec![(0, -1); expected.of.len()];
                        part.iter()
                            .for_each(|c| self.check_chunk(c, expected, &mut last));
                    })
                })
                .collect();
            parts.into_iter().for_each(|p| p.join().expect("checked"));
        });
    }

    fn check_chunk(&self, chunk: &HeldChunk, expected: &Expected, last: &mut [(u64, i64)]) {
        let g = &self.geometry;
        let first = g.entry().offset as usize / 8
            + (chunk.number * u64::from(g.chunk_entries)) as usize * ENTRY_WORDS;
        let words = &self.words()[first..][..chunk.count as usize * ENTRY_WORDS];
        let of_cpu = chunk.lane < u64::from(g.cpu_lanes);
        let mut ticks = 1;
        let mut entries = words.chunks_exact(ENTRY_WORDS).map(|words| {
            let words = words.try_into().expect("eight words");
            Entry(words)
        });
        while let Some(entry) = entries.next() {
            if entry.event() == 0 {
                // Fills up a chunk.
                assert_eq!(entry.args(), [0; 4], "half an event: {entry:x?}");
                continue;
            }
            let args = match entry.has_payload() {
                true => unpacked(&payload(entry, &mut entries)),
                false => entry.args(),
            };
            let (who, number) = (args[0], args[1]);
            assert_eq!(args, arguments(who, number), "torn: {entry:x?}");
            let whole = entry.tid() != 0 && entry.event() == ONLY;
            assert!(whole, "half an entry: {entry:x?}");
            let rises = entry.ticks() >= ticks;
            assert!(rises, "{:#x} after {ticks:#x} in {chunk:?}", entry.ticks());
            ticks = entry.ticks();
            let at_home = !of_cpu || u64::from(entry.core()) == chunk.lane;
            assert!(at_home, "{entry:x?} in {chunk:?}, the lane of another CPU");
            let last = &mut last[who as usize];
            let ordered = last.0 != chunk.ticket || last.1 < number;
            assert!(ordered, "{who}: {number} after {} in {chunk:?}", last.1);
            *last = (chunk.ticket, number);
            expected.mark(who, number);
        }
    }
}

/// The payload of the event that begins with this entry, and goes on in those that follow.
fn payload(first: Entry, following: &mut impl Iterator<Item = Entry>) -> Vec<u8> {
    let mut words = first.0[PAYLOAD_AT[0]..].to_vec();
    for position in 1..first.slots() {
        let next = following.next().expect("all entries are in one chunk");
        let belongs = next.is_continuation() && next.flags() == position;
        let same = next.ticks() == first.ticks() && next.core() == first.core();
        assert!(belongs && same, "{next:x?} behind {first:x?}");
        words.extend(&next.0[PAYLOAD_AT[1]..]);
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// How many events each `who` has logged, numbered from 0, and which of them were found.
pub struct Expected {
    of: Vec<(u64, Vec<AtomicU64>)>,
}

impl Expected {
    pub fn new(of: impl IntoIterator<Item = u64>) -> Expected {
        let with_bits = |count: u64| {
            let words = 0..count.div_ceil(64);
            (count, words.map(|_| AtomicU64::new(0)).collect())
        };
        Expected {
            of: of.into_iter().map(with_bits).collect(),
        }
    }

    fn mark(&self, who: i64, number: i64) {
        let (count, bits) = &self.of[who as usize];
        let number = number as u64;
        assert!(number < *count, "{who} never logged {number}");
        let (word, bit) = (&bits[number as usize / 64], number % 64);
        let before = word.fetch_or(1 << bit, Ordering::Relaxed);
        assert_eq!(before >> bit & 1, 0, "{who} logged {number} once");
    }

    /// How many of the events of `who` were not found.
    pub fn lost(&self, who: i64) -> u64 {
        let (count, bits) = &self.of[who as usize];
        let ones = |word: &AtomicU64| u64::from(word.load(Ordering::Relaxed).count_ones());
        count - bits.iter().map(ones).sum::<u64>()
    }
}
