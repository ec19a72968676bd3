//! Frames as docs/archive.md says that they are, found byte by byte and without the library.

use std::ops::Range;

/// Most bytes in a record.
const MOST: usize = 1 << 24;

/// A frame, and the record in it.
pub struct Frame {
    pub place: Range<usize>,
    pub record: Range<usize>,
}

/// The whole frames of a file.
pub fn whole(bytes: &[u8]) -> Vec<Frame> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match record(&bytes[at..]) {
            Some(record) => {
                let record = at + record.start..at + record.end;
                let place = at..record.end;
                at = record.end;
                found.push(Frame { place, record });
            }
            None => at += 1,
        }
    }
    found
}

/// Where the record of the frame is that these bytes begin with.
fn record(bytes: &[u8]) -> Option<Range<usize>> {
    let [0xc1, 0xce, a, b, c, d, 0xc1, kind, rest @ ..] = bytes else {
        return None;
    };
    let size = match kind {
        0xa0..=0xbf => 0,
        0xda => 2,
        0xdb => 4,
        _ => return None,
    };
    let length = match size {
        0 => usize::from(kind - 0xa0),
        _ => big_endian(rest.get(..size)?),
    };
    let start = 8 + size;
    let record = bytes.get(start..start + length)?;
    let sum = u32::from_be_bytes([*a, *b, *c, *d]);
    let sound = length <= MOST && crc32fast::hash(record) == sum;
    sound.then_some(start..start + length)
}

fn big_endian(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, b| n << 8 | usize::from(*b))
}

/// Appends a frame around a record.
pub fn put(record: &[u8], out: &mut Vec<u8>) {
    out.extend([0xc1, 0xce]);
    out.extend(crc32fast::hash(record).to_be_bytes());
    out.push(0xc1);
    match record.len() {
        n @ 0..=31 => out.push(0xa0 + n as u8),
        n @ 32..=0xffff => {
            out.push(0xda);
            out.extend((n as u16).to_be_bytes());
        }
        n => {
            out.push(0xdb);
            out.extend((n as u32).to_be_bytes());
        }
    }
    out.extend(record);
}
