//! Takes the encodings of histograms apart: V0, V1 and V2 of HdrHistogram.
//!
//! They are deflated or not, and of whole numbers or of floating-point ones.
//! What a header says is checked before memory is taken for it, and no more is expanded than the
//! counts that it allows. The counts of V0 and V1, which are words, become those of V2.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::error::Flaw;
use super::shape::HIGHEST;

/// How the encodings begin, but for the size of their words, and whether they are deflated.
const KINDS: [(u32, Version, bool); 6] = [
    (0x1c84_9308, Version::V0, false),
    (0x1c84_9309, Version::V0, true),
    (0x1c84_9301, Version::V1, false),
    (0x1c84_9302, Version::V1, true),
    (0x1c84_9303, Version::V2, false),
    (0x1c84_9304, Version::V2, true),
];

/// What has the size of words, in bytes; in V2 it says nothing.
const WORD: u32 = 0xf0;

/// What a histogram of floating-point numbers begins with, and how much stands before the whole
/// numbers that it consists of. Whether these are deflated is said there once more.
const FLOATS: [u32; 2] = [0x0c72_124e, 0x0c72_124f];
const BEFORE_WHOLE: usize = 16;

/// Bytes of the longest count of V2, which is longer than any word.
const LONGEST: u64 = 9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V0,
    V1,
    V2,
}

/// A histogram as it is encoded, with a header that can be.
pub struct EncodedHistogram {
    pub digits: u32,
    pub low: u64,
    pub high: u64,
    /// What 1 stands for, if it is of floating-point numbers.
    pub ratio: Option<f64>,
    /// Numbers of 7 bits a byte, the lowest first. Negative ones say how many counts are 0.
    pub counts: Vec<u8>,
}

impl EncodedHistogram {
    /// Takes these bytes apart. A histogram of more than `most` bytes of memory is refused.
    pub fn read(bytes: &[u8], most: u64) -> Result<EncodedHistogram, Flaw> {
        let are_floats = first_word(bytes).is_some_and(|first| FLOATS.contains(&first));
        let whole = match are_floats {
            true => bytes.get(BEFORE_WHOLE..).unwrap_or_default(),
            false => bytes,
        };
        let (version, is_deflated, _) = kind(whole)?;
        if !is_deflated {
            return EncodedHistogram::read_flat(&mut &*whole, (version, are_floats), most);
        }
        let packed = whole.get(8..).unwrap_or_default();
        let said = whole.get(4..).and_then(first_word).unwrap_or(0);
        let packed = &packed[..packed.len().min(said as usize)];
        EncodedHistogram::read_flat(&mut ZlibDecoder::new(packed), (version, are_floats), most)
    }

    fn read_flat(
        from: &mut impl Read,
        (version, are_floats): (Version, bool),
        most: u64,
    ) -> Result<EncodedHistogram, Flaw> {
        let length = if version == Version::V0 { 32 } else { 40 };
        let mut head = Vec::new();
        take(from, length, &mut head)?;
        let (again, is_deflated, word) = kind(&head)?;
        if again != version || is_deflated {
            return Err(unknown(&head));
        }
        if head.len() as u64 != length {
            return Err(Flaw::Bytes {
                expected: length,
                found: head.len() as u64,
            });
        }
        let header = Header::of(&head, version);
        let buckets = header.check(most)?;
        let mut counts = Vec::new();
        // In V0, they go on to the end; one more than there can be shows damage.
        let said = header.counts.unwrap_or((buckets + 1) * word);
        take(from, said, &mut counts)?;
        if header.counts.is_some() && counts.len() as u64 != said {
            return Err(Flaw::Bytes {
                expected: said,
                found: counts.len() as u64,
            });
        }
        if version != Version::V2 {
            counts = from_words(&counts, word as usize)?;
        }
        check_counts(&counts, buckets)?;
        Ok(EncodedHistogram {
            digits: header.digits,
            low: header.low,
            high: header.high,
            ratio: are_floats.then_some(header.ratio),
            counts,
        })
    }

    /// The bytes of the same in V2, not deflated. Fields that say how a writer had its counts in
    /// memory, and what they stood for, are left out: the decoder wants these to be 0 and 1.
    pub fn flat(&self) -> Vec<u8> {
        let mut flat = Vec::with_capacity(40 + self.counts.len());
        for word in [0x1c84_9313, self.counts.len() as u32, 0, self.digits] {
            flat.extend(word.to_be_bytes());
        }
        for long in [self.low, self.high, 1.0_f64.to_bits()] {
            flat.extend(long.to_be_bytes());
        }
        flat.extend(&self.counts);
        flat
    }
}

/// The version of an encoding that begins so, whether it is deflated, and the bytes of its words.
fn kind(bytes: &[u8]) -> Result<(Version, bool, u64), Flaw> {
    let first = first_word(bytes).ok_or_else(|| unknown(bytes))?;
    let kinds = KINDS.iter();
    let mut known = kinds.filter(|(cookie, ..)| first & !WORD == *cookie);
    let (_, version, is_deflated) = known.next().ok_or_else(|| unknown(bytes))?;
    let word = u64::from((first & WORD) >> 4) & 0xe;
    match (version, word) {
        (Version::V2, _) => Ok((*version, *is_deflated, LONGEST)),
        (_, 2 | 4 | 8) => Ok((*version, *is_deflated, word)),
        _ => Err(unknown(bytes)),
    }
}

fn first_word(bytes: &[u8]) -> Option<u32> {
    let first = bytes.first_chunk()?;
    Some(u32::from_be_bytes(*first))
}

fn unknown(bytes: &[u8]) -> Flaw {
    let shown = bytes.iter().take(4);
    let hex: String = shown.map(|byte| format!("{byte:02x}")).collect();
    Flaw::Encoding {
        found: format!("something that begins with the bytes {hex:?}"),
    }
}

/// Reads so many bytes, or fewer if there are no more.
fn take(from: &mut impl Read, bytes: u64, to: &mut Vec<u8>) -> Result<(), Flaw> {
    let read = from.by_ref().take(bytes).read_to_end(to);
    read.map(drop).map_err(|error| Flaw::Deflate {
        reason: error.to_string(),
    })
}

/// What stands before the counts.
struct Header {
    /// How many bytes the counts have, if it says that.
    counts: Option<u64>,
    digits: u32,
    low: u64,
    high: u64,
    ratio: f64,
}

impl Header {
    /// Of all bytes of a header.
    fn of(head: &[u8], version: Version) -> Header {
        let word = |at: usize| head.get(at..).and_then(first_word).unwrap_or(0);
        let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
        // Behind these are the number of all values, or what 1 stands for.
        let at = if version == Version::V0 { 4 } else { 12 };
        Header {
            counts: (version != Version::V0).then(|| word(4).into()),
            digits: word(at),
            low: long(at + 4),
            high: long(at + 12),
            ratio: match version {
                Version::V0 => 1.0,
                _ => f64::from_bits(long(at + 20)),
            },
        }
    }

    /// How many counts there can be, if there can be such a header.
    fn check(&self, most: u64) -> Result<u64, Flaw> {
        let wrong = |field, found: String, expected| Flaw::Header {
            field,
            found,
            expected,
        };
        let Header {
            digits, low, high, ..
        } = *self;
        if digits > 5 {
            return Err(wrong("significant digits", digits.to_string(), "0 to 5"));
        }
        if low == 0 || low > HIGHEST / 2 {
            let expected = "1 or more, and half the highest";
            return Err(wrong("as its lowest value", low.to_string(), expected));
        }
        if high < 2 * low || high > HIGHEST {
            let expected = "twice the lowest or more, and 63 bits";
            return Err(wrong("as its highest value", high.to_string(), expected));
        }
        let buckets = buckets(low, high, digits).ok_or_else(|| {
            let expected = "less, with so many digits";
            wrong("as its lowest value", low.to_string(), expected)
        })?;
        check_memory(buckets, most)?;
        if let Some(counts) = self.counts.filter(|counts| *counts > buckets * LONGEST) {
            let expected = "at most nine for each value";
            return Err(wrong("bytes of counts", counts.to_string(), expected));
        }
        Ok(buckets)
    }
}

/// Refuses more counts than `most` bytes have room for.
pub fn check_memory(buckets: u64, most: u64) -> Result<(), Flaw> {
    let bytes = buckets * 8;
    match bytes > most {
        true => Err(Flaw::TooLarge { bytes, most }),
        false => Ok(()),
    }
}

/// How many counts a histogram has: half of them as many as its digits need, for each power of two.
pub fn buckets(low: u64, high: u64, digits: u32) -> Option<u64> {
    let exact = 2 * 10_u64.pow(digits);
    let sub_buckets = exact.next_power_of_two();
    let unit = low.ilog2();
    if unit + sub_buckets.ilog2() > 62 {
        return None;
    }
    let mut beyond = sub_buckets << unit;
    let mut powers = 1;
    while beyond <= high {
        powers += 1;
        if beyond > u64::MAX / 2 {
            break;
        }
        beyond <<= 1;
    }
    Some((powers + 1) * (sub_buckets / 2))
}

/// The numbers of V2 for counts that are words of so many bytes.
fn from_words(words: &[u8], word: usize) -> Result<Vec<u8>, Flaw> {
    let (mut counts, mut zeros) = (Vec::new(), 0);
    for (number, count) in words.chunks(word).enumerate() {
        let flaw = |reason| Flaw::Counts {
            at: number * word,
            reason,
        };
        if count.len() < word {
            return Err(flaw("a count is cut off"));
        }
        if count[0] & 0x80 != 0 {
            return Err(flaw("a count is negative"));
        }
        let count = count
            .iter()
            .fold(0, |sum, byte| sum << 8 | i64::from(*byte));
        if count == 0 {
            zeros += 1;
            continue;
        }
        if zeros > 0 {
            push_number(&mut counts, -std::mem::take(&mut zeros));
        }
        push_number(&mut counts, count);
    }
    Ok(counts)
}

/// Walks over the counts.
fn check_counts(counts: &[u8], buckets: u64) -> Result<(), Flaw> {
    let (mut at, mut index, mut total) = (0, 0_u64, 0_u64);
    while at < counts.len() {
        let flaw = |reason| Flaw::Counts { at, reason };
        let (number, bytes) = number(&counts[at..]).ok_or_else(|| flaw("a count is cut off"))?;
        if number < 0 {
            index = index.saturating_add(number.unsigned_abs());
        } else {
            let sum = total
                .checked_add(number as u64)
                .filter(|&sum| sum <= HIGHEST);
            total = sum.ok_or_else(|| flaw("there are more than 63 bits can count"))?;
            index += 1;
        }
        if index > buckets {
            return Err(flaw("it is beyond the highest value"));
        }
        at += bytes;
    }
    Ok(())
}

/// A number and its length; the ninth byte has 8 bits.
fn number(bytes: &[u8]) -> Option<(i64, usize)> {
    let signed = |number: u64| (number >> 1) as i64 ^ -((number & 1) as i64);
    let mut number = 0;
    for (place, &byte) in bytes.iter().take(LONGEST as usize).enumerate() {
        if place == 8 || byte & 0x80 == 0 {
            return Some((signed(number | u64::from(byte) << (7 * place)), place + 1));
        }
        number |= u64::from(byte & 0x7f) << (7 * place);
    }
    None
}

fn push_number(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = (number << 1 ^ number >> 63) as u64;
    for _ in 1..LONGEST {
        if rest < 0x80 {
            break;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(given in any::<i64>(), shift in 0_u32..64) {
            let given = given >> shift;
            let mut bytes = Vec::new();
            push_number(&mut bytes, given);
            prop_assert_eq!(number(&bytes), Some((given, bytes.len())));
        }

        #[test]
        fn any_bytes_are_a_histogram_or_an_error(
            cookie in prop::sample::select(KINDS.map(|(cookie, ..)| cookie).to_vec()),
            word in 0_u32..16,
            are_floats in any::<bool>(),
            rest in prop::collection::vec(any::<u8>(), 0..90),
        ) {
            let mut bytes = Vec::new();
            if are_floats {
                bytes.extend(FLOATS[0].to_be_bytes());
                bytes.extend([0; BEFORE_WHOLE - 4]);
            }
            bytes.extend((cookie | word << 4).to_be_bytes());
            bytes.extend(rest);
            let _ = EncodedHistogram::read(&bytes, 1 << 16);
        }
    }
}
