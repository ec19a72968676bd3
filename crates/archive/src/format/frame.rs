//! Puts frames around records, and finds the next whole frame after damage.
//!
//! ```text
//! C1 | CE crc (4 bytes, big-endian) | C1 | n: A0+n, or DA and 2 bytes, or DB and 4 | record of n
//! ```
//! The search for the next frame after damage takes time in proportion to the file, whatever its
//! bytes are. Each byte C1 can claim a long record with its own checksum. So the checksum of a long
//! record is computed in a few steps from the checksums of the bytes before its two ends.

use std::ops::Range;

use crc32fast::Hasher;
use timeline::internal::msgpack::marker::{FIXSTR, LAST_FIXSTR, STR16, STR32, UINT32, UNUSED};

/// The first byte of a frame, and the byte before the length of its record. msgpack does not use
/// it, and UTF-8 text never contains it.
pub const MARK: u8 = UNUSED;
/// The first bytes of an archive, which are those of a frame.
pub const MAGIC: [u8; 2] = [MARK, UINT32];
/// Most bytes in a record.
pub const MAX_RECORD: usize = 16 << 20;

const MOST_FIXED: usize = (LAST_FIXSTR - FIXSTR) as usize;

/// Computes checksums of records. Callers keep one, because each new hasher detects the features
/// of the processor.
#[derive(Default)]
pub struct Checksum(Hasher);

impl Checksum {
    /// The CRC-32 of these bytes.
    #[inline]
    fn of(&mut self, bytes: &[u8]) -> u32 {
        self.0.reset();
        self.0.update(bytes);
        self.0.clone().finalize()
    }
}

/// Appends a frame around `record`, which is at most [`MAX_RECORD`] long.
#[inline]
pub fn put(record: &[u8], checksum: &mut Checksum, out: &mut Vec<u8>) {
    debug_assert!(record.len() <= MAX_RECORD);
    let n = record.len();
    let [a, b, c, d] = checksum.of(record).to_be_bytes();
    let head = [MARK, UINT32, a, b, c, d, MARK];
    match u16::try_from(n) {
        _ if n <= MOST_FIXED => put_after(head, [FIXSTR + n as u8], record, out),
        Ok(n) => {
            let [a, b] = n.to_be_bytes();
            put_after(head, [STR16, a, b], record, out);
        }
        Err(_) => {
            let [a, b, c, d] = (n as u32).to_be_bytes();
            put_after(head, [STR32, a, b, c, d], record, out);
        }
    }
}

/// Appends a frame: the checksum, the length of the record, and the record.
#[inline]
fn put_after<const N: usize>(head: [u8; 7], length: [u8; N], record: &[u8], out: &mut Vec<u8>) {
    out.reserve(head.len() + N + record.len());
    out.extend_from_slice(&head);
    out.extend_from_slice(&length);
    out.extend_from_slice(record);
}

/// Where the record of a frame is that begins with these bytes, and its checksum. `None` if no
/// frame begins so, or its head is not whole.
#[inline]
fn head(bytes: &[u8]) -> Option<(Range<usize>, u32)> {
    let (&[MARK, UINT32, a, b, c, d, MARK, raw], rest) = bytes.split_first_chunk()? else {
        return None;
    };
    let (length, size) = match raw {
        FIXSTR..=LAST_FIXSTR => (usize::from(raw - FIXSTR), 0),
        STR16 => {
            let (n, _) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*n)), 2)
        }
        STR32 => {
            let (n, _) = rest.split_first_chunk()?;
            (u32::from_be_bytes(*n) as usize, 4)
        }
        _ => return None,
    };
    let start = 8 + size;
    Some((
        start..start.checked_add(length)?,
        u32::from_be_bytes([a, b, c, d]),
    ))
}

/// Bytes that are no frame, where one was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAFrame {
    /// They begin otherwise.
    Foreign,
    /// The record is longer than is allowed.
    Long(usize),
    /// The checksum is that of another record.
    Damaged,
}

/// The record of the first frame in a stream; it ends with the frame. `None` if more bytes are
/// needed. Nothing is allocated for a length that is only claimed.
///
/// # Errors
/// If no frame begins there, or none with a record of at most `most` bytes.
pub fn first(bytes: &[u8], most: usize) -> Result<Option<Range<usize>>, NotAFrame> {
    let Some((record, stated)) = head(bytes) else {
        return match may_begin(bytes) {
            true => Ok(None),
            false => Err(NotAFrame::Foreign),
        };
    };
    if record.len() > most.min(MAX_RECORD) {
        return Err(NotAFrame::Long(record.len()));
    }
    match bytes.get(record.clone()) {
        None => Ok(None),
        Some(found) if Checksum::default().of(found) == stated => Ok(Some(record)),
        Some(_) => Err(NotAFrame::Damaged),
    }
}

/// Whether these bytes may be the first ones of a head, and are not all of it.
fn may_begin(bytes: &[u8]) -> bool {
    let at = |place: usize, fits: fn(u8) -> bool| bytes.get(place).is_none_or(|byte| fits(*byte));
    let ends = |byte| matches!(byte, FIXSTR..=LAST_FIXSTR | STR16 | STR32);
    let is_mark = |byte| byte == MARK;
    bytes.len() < 12 && at(0, is_mark) && at(1, |b| b == UINT32) && at(6, is_mark) && at(7, ends)
}

/// A part of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'a> {
    /// A whole frame.
    Frame {
        /// The bytes of the frame, including those around the record.
        place: Range<usize>,
        /// Its record.
        record: &'a [u8],
        /// The checksum of the record.
        sum: u32,
    },
    /// Bytes that belong to no whole frame.
    Damage(Range<usize>),
}

impl Part<'_> {
    /// The range of the part in the bytes.
    pub fn place(&self) -> &Range<usize> {
        match self {
            Part::Frame { place, .. } | Part::Damage(place) => place,
        }
    }
}

/// Iterates over the parts of an archive, from its first byte to its last.
pub struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
    /// A record that was found after damage. The damage is returned first.
    next: Option<(Range<usize>, u32)>,
    sums: Sums,
    /// Whether all frames are known to be whole.
    is_whole: bool,
    /// See [`Frames::unsure`].
    unsure: Option<usize>,
}

impl<'a> Frames<'a> {
    /// The parts of these bytes.
    pub fn new(bytes: &'a [u8]) -> Frames<'a> {
        Frames {
            bytes,
            at: 0,
            next: None,
            sums: Sums::new(),
            is_whole: false,
            unsure: None,
        }
    }

    /// The first place in the part that was given last, if that is damage, where a frame may begin
    /// that ends behind these bytes.
    pub fn unsure(&self) -> Option<usize> {
        self.unsure
    }

    /// The frames of bytes that are whole frames and nothing else: their checksums were compared
    /// before.
    pub fn whole(bytes: &'a [u8]) -> Frames<'a> {
        Frames {
            is_whole: true,
            ..Frames::new(bytes)
        }
    }

    /// The record of the frame at `at`, if a whole one is there, and its checksum.
    fn record_at(&mut self, at: usize) -> Option<(Range<usize>, u32)> {
        let bytes = self.bytes.get(at..)?;
        let Some((record, stated)) = head(bytes) else {
            self.unsure = self.unsure.or(may_begin(bytes).then_some(at));
            return None;
        };
        let (start, end) = (at + record.start, at.checked_add(record.end)?);
        if record.len() > MAX_RECORD {
            return None;
        }
        if end > self.bytes.len() {
            self.unsure = self.unsure.or(Some(at));
            return None;
        }
        let is_whole = self.is_whole || self.sums.of(self.bytes, start..end) == stated;
        is_whole.then_some((start..end, stated))
    }

    fn frame(&mut self, start: usize, (record, sum): (Range<usize>, u32)) -> Part<'a> {
        self.at = record.end;
        Part::Frame {
            place: start..record.end,
            record: &self.bytes[record],
            sum,
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        if let Some(record) = self.next.take() {
            return Some(self.frame(self.at, record));
        }
        let start = self.at;
        if start == self.bytes.len() {
            return None;
        }
        self.unsure = None;
        let mut at = start;
        loop {
            if let Some(record) = self.record_at(at) {
                if at == start {
                    return Some(self.frame(start, record));
                }
                self.next = Some(record);
                break;
            }
            match memchr::memchr(MARK, &self.bytes[at + 1..]) {
                Some(further) => at += 1 + further,
                None => {
                    at = self.bytes.len();
                    break;
                }
            }
        }
        self.at = at;
        Some(Part::Damage(start..at))
    }
}

/// The checksum of a record up to this length is computed directly, which is not slower.
const DIRECT: usize = 4096;
/// Bytes between two checksums that are kept.
const STEP: usize = 1024;

/// Checksums of the bytes from `base` on, kept at every [`STEP`].
struct Sums {
    /// The position where the checksums begin.
    base: usize,
    /// The checksums of the bytes from the base to each step. The first is that of no bytes.
    kept: Vec<u32>,
    short: Checksum,
}

impl Sums {
    fn new() -> Sums {
        Sums {
            base: 0,
            kept: vec![0],
            short: Checksum::default(),
        }
    }

    /// The CRC-32 of a range. Callers must ask for ranges in the order of their starts.
    #[inline]
    fn of(&mut self, bytes: &[u8], range: Range<usize>) -> u32 {
        match range.len() <= DIRECT {
            true => self.short.of(&bytes[range]),
            false => self.of_long(bytes, range),
        }
    }

    fn of_long(&mut self, bytes: &[u8], range: Range<usize>) -> u32 {
        let end = self.base + (self.kept.len() - 1) * STEP;
        if range.start > end {
            // Callers ask for no earlier range again.
            self.base = range.start;
            self.kept.truncate(1);
        }
        let whole = self.upto(bytes, range.end);
        // The part of the whole checksum that comes from the bytes before the range. Combining it
        // with a checksum of 0 shifts it by the length of the range and adds nothing.
        let mut before = Hasher::new_with_initial(self.upto(bytes, range.start));
        before.combine(&Hasher::new_with_initial_len(0, range.len() as u64));
        whole ^ before.finalize()
    }

    /// The checksum of the bytes from the base to `end`.
    fn upto(&mut self, bytes: &[u8], end: usize) -> u32 {
        let step = (end - self.base) / STEP;
        while self.kept.len() <= step {
            let from = self.base + (self.kept.len() - 1) * STEP;
            let sum = self.kept[self.kept.len() - 1];
            self.kept.push(more(sum, &bytes[from..from + STEP]));
        }
        more(self.kept[step], &bytes[self.base + step * STEP..end])
    }
}

/// Continues the checksum `sum` with more bytes.
fn more(sum: u32, bytes: &[u8]) -> u32 {
    let mut hasher = Hasher::new_with_initial(sum);
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bytes: &[u8]) -> Vec<Part<'_>> {
        Frames::new(bytes).collect()
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn records_of_every_length_come_back() {
        let noise = noise(70_000);
        for length in [0, 1, 31, 32, 255, 4096, 4097, 65_535, 65_536, 70_000] {
            let mut file = Vec::new();
            put(&noise[..length], &mut Checksum::default(), &mut file);
            put(b"next", &mut Checksum::default(), &mut file);
            let found = parts(&file);
            assert_eq!(found.len(), 2, "{length}");
            for (part, expected) in found.iter().zip([&noise[..length], b"next"]) {
                assert!(matches!(part, Part::Frame { record, .. } if *record == expected));
            }
        }
    }

    #[test]
    fn a_stream_has_each_frame_as_soon_as_it_is_whole() {
        let noise = noise(70_000);
        for length in [0, 1, 31, 32, 300, 65_536] {
            let mut stream = Vec::new();
            put(&noise[..length], &mut Checksum::default(), &mut stream);
            let end = stream.len();
            for known in (0..end).filter(|known| known % 97 == 0 || *known < 20) {
                assert_eq!(super::first(&stream[..known], 1 << 20), Ok(None), "{known}");
            }
            stream.extend_from_slice(b"what follows");
            let found = super::first(&stream, 1 << 20).unwrap().unwrap();
            assert_eq!((&stream[found.clone()], found.end), (&noise[..length], end));
            if length > 0 {
                let long = super::first(&stream[..12], length - 1);
                assert_eq!(long, Err(NotAFrame::Long(length)));
                stream[end - 1] ^= 1;
                assert_eq!(super::first(&stream, 1 << 20), Err(NotAFrame::Damaged));
            }
            for place in [0, 1, 6, 7] {
                let mut other = stream.clone();
                other[place] = b'G';
                let beginning = &other[..place + 1];
                assert_eq!(super::first(beginning, 1 << 20), Err(NotAFrame::Foreign));
            }
        }
    }

    #[test]
    fn damage_ends_at_the_next_frame() {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        put(&noise(300), &mut Checksum::default(), &mut first);
        put(b"second", &mut Checksum::default(), &mut second);
        for cut in 1..first.len() {
            let file = [&first[..cut], &second].concat();
            let found = parts(&file);
            assert_eq!(found[0], Part::Damage(0..cut));
            assert!(matches!(
                found[1],
                Part::Frame {
                    record: b"second",
                    ..
                }
            ));
            assert_eq!(found.len(), 2);
        }
        assert_eq!(parts(&[MARK]), [Part::Damage(0..1)]);
        assert_eq!(parts(b""), []);
    }

    #[test]
    fn sums_that_are_worked_out_are_those_that_are_taken() {
        let bytes = noise(100_000);
        let mut sums = Sums::new();
        for (start, end) in [
            (5, 9_000),
            (6, 99_999),
            (1_029, 50_000),
            (98_000, 98_100),
            (99_000, 99_001),
        ] {
            assert_eq!(
                sums.of(&bytes, start..end),
                crc32fast::hash(&bytes[start..end]),
                "{start}..{end}"
            );
        }
        let mut sums = Sums::new();
        let (first, second) = (sums.of(&bytes, 0..5_000), sums.of(&bytes, 90_000..100_000));
        assert_eq!(first, crc32fast::hash(&bytes[..5_000]));
        assert_eq!(second, crc32fast::hash(&bytes[90_000..]));
        assert_eq!(sums.base, 90_000);
    }

    #[test]
    fn a_file_full_of_long_claims_is_summed_once() {
        // Each mark claims nearly all bytes after it. One by one, their checksums would cover 400
        // GB.
        let claims = 100_000;
        let mut file = Vec::new();
        for i in 0..claims {
            let length = ((claims - i - 1) * 12) as u32;
            file.extend([MARK, UINT32, 1, 2, 3, 4, MARK, STR32]);
            file.extend(length.min(MAX_RECORD as u32).to_be_bytes());
        }
        let mut frames = Frames::new(&file);
        assert_eq!(frames.next(), Some(Part::Damage(0..file.len())));
        assert_eq!(frames.next(), None);
        assert!(frames.sums.kept.len() <= file.len() / STEP + 1);
    }
}
