//! Stores in which pages of a segment an ngram occurs, in few bits.
//!
//! The pages rise, so the gaps between them are stored. A gap is stored as Golomb and Rice did: its
//! low bits as they are, the rest as so many ones and a zero. The number of low bits follows from
//! the number of pages, so that a gap takes about as many bits as it must.
//! (R. F. Rice: Some practical universal noiseless coding techniques, JPL 79-22, 1979.)
//!
//! If an ngram occurs in more than half of the pages, those without it are stored.

use super::page_set::PageSet;

/// Encodes the pages of an ngram, which rise, of so many pages in the segment.
pub fn encode(pages: &[u16], total: u16, out: &mut Vec<u8>) {
    let mut bits = Bits::default();
    if pages.len() * 2 > usize::from(total) {
        let mut has = pages.iter().copied().peekable();
        let without = (0..total).filter(|page| has.next_if_eq(page).is_none());
        let count = usize::from(total) - pages.len();
        bits.put(without, count, total, out);
    } else {
        bits.put(pages.iter().copied(), pages.len(), total, out);
    }
}

/// Adds the pages of an ngram that occurs in `count` of `total` pages. Returns `None` if the bytes
/// are damaged.
pub fn decode(bytes: &[u8], count: u16, total: u16, out: &mut PageSet) -> Option<()> {
    let is_inverted = u32::from(count) * 2 > u32::from(total);
    let stored = match is_inverted {
        true => total.checked_sub(count)?,
        false => count,
    };
    let low = low_bits(stored.into(), total);
    let mut reader = BitReader { bytes, at: 0 };
    let (mut next, mut full) = (0_u32, 0);
    for _ in 0..stored {
        let high = reader.ones()?;
        let gap = high << low | reader.bits(low)?;
        let page = next.checked_add(gap).filter(|page| *page < total.into())?;
        if is_inverted {
            out.insert_range(full..page as u16);
            full = page as u16 + 1;
        } else {
            out.insert(page as u16);
        }
        next = page + 1;
    }
    if is_inverted {
        out.insert_range(full..total);
    }
    Some(())
}

/// The number of low bits of a gap, if `count` of `total` pages are stored.
fn low_bits(count: usize, total: u16) -> u32 {
    let mean = (usize::from(total) / count.max(1)).max(1) as u32;
    // The best number for gaps of a geometric distribution is about log2(0.69 * mean).
    (mean * 69 / 100).max(1).ilog2()
}

#[derive(Default)]
struct Bits {
    word: u64,
    count: u32,
}

impl Bits {
    fn put(
        &mut self,
        pages: impl Iterator<Item = u16>,
        count: usize,
        total: u16,
        out: &mut Vec<u8>,
    ) {
        let (low, mut next) = (low_bits(count, total), 0_u32);
        for page in pages {
            let gap = u32::from(page) - next;
            next = u32::from(page) + 1;
            let mut ones = gap >> low;
            while ones >= 32 {
                self.push(u64::from(u32::MAX), 32, out);
                ones -= 32;
            }
            self.push((1 << ones) - 1, ones + 1, out);
            self.push(u64::from(gap) & ((1 << low) - 1), low, out);
        }
        if self.count > 0 {
            out.push(self.word as u8);
        }
    }

    /// Appends up to 33 bits, the lowest first.
    fn push(&mut self, bits: u64, count: u32, out: &mut Vec<u8>) {
        self.word |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            out.push(self.word as u8);
            self.word >>= 8;
            self.count -= 8;
        }
    }
}

struct BitReader<'a> {
    bytes: &'a [u8],
    /// The bits that were read.
    at: usize,
}

impl BitReader<'_> {
    /// The next bits, up to 64 - 7 of them; those behind the end are 0.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or(&[]);
        let mut word = [0; 8];
        let count = rest.len().min(8);
        word[..count].copy_from_slice(&rest[..count]);
        u64::from_le_bytes(word) >> (self.at % 8)
    }

    fn skip(&mut self, bits: u32) -> Option<()> {
        self.at += bits as usize;
        (self.at <= self.bytes.len() * 8).then_some(())
    }

    fn ones(&mut self) -> Option<u32> {
        let mut all = 0_u32;
        loop {
            let ones = self.peek().trailing_ones();
            if ones < 57 {
                self.skip(ones + 1)?;
                return Some(all + ones);
            }
            self.skip(56)?;
            all += 56;
        }
    }

    fn bits(&mut self, count: u32) -> Option<u32> {
        let bits = self.peek() & ((1 << count) - 1);
        self.skip(count)?;
        Some(bits as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(pages: &[u16], total: u16) -> usize {
        let mut bytes = Vec::new();
        encode(pages, total, &mut bytes);
        let mut read = PageSet::none(total);
        decode(&bytes, pages.len() as u16, total, &mut read).expect("whole");
        assert_eq!(read.iter().collect::<Vec<_>>(), pages);
        bytes.len()
    }

    #[test]
    fn few_bits_are_enough() {
        let every = |step: u16| (0..4096).step_by(step.into()).collect::<Vec<u16>>();
        assert_eq!(round_trip(&[], 4096), 0);
        assert_eq!(round_trip(&every(1), 4096), 0);
        assert_eq!(round_trip(&[4095], 4096), 2);
        assert!(round_trip(&every(64), 4096) <= 64);
        assert!(round_trip(&every(2), 4096) <= 512);
    }

    proptest! {
        #[test]
        fn pages_come_back(total in 1..5000_u16, share in 0.0..1.0_f64, seed: u64) {
            let mut random = seed | 1;
            let pages: Vec<u16> = (0..total).filter(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                (random >> 11) as f64 / ((1_u64 << 53) as f64) < share
            }).collect();
            round_trip(&pages, total);
        }

        #[test]
        fn damaged_bytes_are_noticed_or_do_no_harm(
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
            count: u16,
            total: u16,
        ) {
            let mut pages = PageSet::none(total);
            let _ = decode(&bytes, count, total, &mut pages);
            prop_assert!(pages.iter().all(|page| page < total));
        }
    }
}
