//! Encodes histograms as a log has them, and decodes what anybody may have written.
//!
//! The bytes are checked before the decoder of `hdrhistogram` gets them, because it allocates what
//! a header says, and adds what counts say.

use std::io::Read;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use super::error::Flaw;
use super::shape::HIGHEST;

/// What the encodings begin with.
const V2: u32 = 0x1c84_9313;
const V2_DEFLATED: u32 = 0x1c84_9314;

/// Bytes before the counts.
const HEADER: usize = 40;

/// Fields that say how a writer had its counts in memory, and what floating-point numbers they
/// stood for. The counts are the same whatever these say, and readers pass over them; in
/// JavaScript, they are 1 and the smallest number. But the decoder wants them to be 0 and 1.
const OFFSET: Range<usize> = 8..12;
const RATIO: Range<usize> = 32..40;

/// Bytes of the longest count.
const LONGEST: u64 = 9;

/// The base64 of a histogram.
pub fn encode(
    histogram: &Histogram<u64>,
    serializer: &mut V2DeflateSerializer,
) -> Result<String, String> {
    let mut bytes = Vec::new();
    let written = serializer.serialize(histogram, &mut bytes);
    written.map_err(|error| error.to_string())?;
    Ok(STANDARD.encode(bytes))
}

/// The histogram of this base64. It takes at most so many bytes of memory, and while it is read
/// twice as many.
pub fn decode(text: &str, most: u64) -> Result<Histogram<u64>, Flaw> {
    let bytes = STANDARD.decode(text).map_err(|error| Flaw::Base64 {
        reason: error.to_string(),
    })?;
    let mut flat = Vec::new();
    let header = match bytes.first_chunk().map(|first| u32::from_be_bytes(*first)) {
        Some(V2_DEFLATED) => {
            let packed = bytes.get(8..).unwrap_or_default();
            let said = u32_at(&bytes, 4)?;
            let packed = &packed[..packed.len().min(said as usize)];
            let mut expanded = ZlibDecoder::new(packed);
            take(&mut expanded, HEADER as u64, &mut flat)?;
            let header = Header::read(&flat, most)?;
            take(&mut expanded, header.counts_bytes, &mut flat)?;
            header
        }
        Some(V2) => {
            let header = Header::read(&bytes, most)?;
            flat = bytes;
            header
        }
        _ => return Err(unknown(&bytes)),
    };
    let counts = flat.get(HEADER..).unwrap_or_default();
    if counts.len() as u64 != header.counts_bytes {
        return Err(Flaw::Bytes {
            expected: header.counts_bytes,
            found: counts.len() as u64,
        });
    }
    check_counts(counts, header.buckets)?;
    flat[OFFSET].fill(0);
    flat[RATIO].copy_from_slice(&1.0_f64.to_be_bytes());
    let mut histogram = Deserializer::new()
        .deserialize::<u64, _>(&mut &flat[..])
        .map_err(|error| Flaw::Encoding {
            found: error.to_string(),
        })?;
    histogram.auto(true);
    Ok(histogram)
}

/// Reads so many bytes, or fewer if there are no more.
fn take(from: &mut impl Read, bytes: u64, to: &mut Vec<u8>) -> Result<(), Flaw> {
    let read = from.by_ref().take(bytes).read_to_end(to);
    read.map(drop).map_err(|error| Flaw::Deflate {
        reason: error.to_string(),
    })
}

/// What a histogram of another encoding is, as far as its first bytes tell.
fn unknown(bytes: &[u8]) -> Flaw {
    let first = bytes.first_chunk().map(|first| u32::from_be_bytes(*first));
    let found = match first.map(|first| first & !0xf0) {
        Some(0x1c84_9301 | 0x1c84_9302) => "V1, of HdrHistogram before 2.1.8".to_owned(),
        Some(0x1c84_9308 | 0x1c84_9309) => "V0, of HdrHistogram 1".to_owned(),
        Some(0x0c72_120e | 0x0c72_120f) => "a histogram of floating-point numbers".to_owned(),
        _ => {
            let shown = bytes.iter().take(4);
            let hex: String = shown.map(|byte| format!("{byte:02x}")).collect();
            format!("something that begins with the bytes {hex:?}")
        }
    };
    Flaw::Encoding { found }
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Flaw> {
    let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
    field
        .map(|field| u32::from_be_bytes(*field))
        .ok_or(short(bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64, Flaw> {
    let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
    field
        .map(|field| u64::from_be_bytes(*field))
        .ok_or(short(bytes))
}

fn short(bytes: &[u8]) -> Flaw {
    Flaw::Bytes {
        expected: HEADER as u64,
        found: bytes.len() as u64,
    }
}

/// What a header says, which was checked.
struct Header {
    counts_bytes: u64,
    buckets: u64,
}

impl Header {
    fn read(bytes: &[u8], most: u64) -> Result<Header, Flaw> {
        let field = |field, found: String, expected| Flaw::Header {
            field,
            found,
            expected,
        };
        if u32_at(bytes, 0)? != V2 {
            return Err(unknown(bytes));
        }
        let counts_bytes = u64::from(u32_at(bytes, 4)?);
        let digits = u32_at(bytes, 12)?;
        let low = u64_at(bytes, 16)?;
        let high = u64_at(bytes, 24)?;
        u64_at(bytes, RATIO.start)?;
        if digits > 5 {
            return Err(field("significant digits", digits.to_string(), "0 to 5"));
        }
        if low == 0 || low > HIGHEST / 2 {
            let expected = "1 or more, and half the highest";
            return Err(field("as its lowest value", low.to_string(), expected));
        }
        if high < 2 * low || high > HIGHEST {
            let expected = "twice the lowest or more, and 63 bits";
            return Err(field("as its highest value", high.to_string(), expected));
        }
        let buckets = buckets(low, high, digits).ok_or_else(|| {
            let expected = "less, with so many digits";
            field("as its lowest value", low.to_string(), expected)
        })?;
        if buckets * 8 > most {
            return Err(Flaw::TooLarge {
                bytes: buckets * 8,
                most,
            });
        }
        if counts_bytes > buckets * LONGEST {
            let expected = "at most nine for each value";
            return Err(field("bytes of counts", counts_bytes.to_string(), expected));
        }
        Ok(Header {
            counts_bytes,
            buckets,
        })
    }
}

/// How many counts a histogram has: half of them as many as its digits need, for each power of two.
fn buckets(low: u64, high: u64, digits: u32) -> Option<u64> {
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

/// Walks over the counts, which are numbers of 7 bits a byte, the lowest first. Negative ones say
/// how many counts are 0.
fn check_counts(counts: &[u8], buckets: u64) -> Result<(), Flaw> {
    let (mut at, mut index, mut total) = (0, 0_u64, 0_u64);
    while at < counts.len() {
        let flaw = |reason| Flaw::Counts { at, reason };
        let (number, bytes) = varint(&counts[at..]).ok_or_else(|| flaw("a count is cut off"))?;
        let number = (number >> 1) as i64 ^ -((number & 1) as i64);
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
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0;
    for (place, &byte) in bytes.iter().take(LONGEST as usize).enumerate() {
        if place == 8 || byte & 0x80 == 0 {
            return Some((number | u64::from(byte) << (7 * place), place + 1));
        }
        number |= u64::from(byte & 0x7f) << (7 * place);
    }
    None
}
