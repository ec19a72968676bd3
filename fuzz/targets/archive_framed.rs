//! Records, around which the frames are whole: what is behind the sums, and in the blocks.
//!
//! The bytes are a list of parts, each of which begins with what it is and its length (2 bytes,
//! little-endian).

use super::{archive, frames};

/// A record, as it stands there.
pub const RECORD: u8 = 0;
/// Flags, magic and count of a block (4 bytes), and what it expands to.
pub const BLOCK: u8 = 1;
/// Bytes between frames.
pub const DAMAGE: u8 = 2;

/// A flag of a block: another codec than we know.
pub const OTHER_CODEC: u8 = 1;
/// Another flag: times from 0 to 200 in place of none.
pub const TIMED: u8 = 2;
/// Another flag: values in columns of their ways of storing.
pub const COLUMNS: u8 = 4;

/// Reads what they make as an archive, and makes all checks.
pub fn run(bytes: &[u8]) {
    archive::run(&file(bytes));
}

/// Reads what they make as an archive, and makes one of the checks.
pub fn run_part(bytes: &[u8]) {
    archive::run_part(&file(bytes));
}

/// The archive that these parts make.
pub fn file(mut parts: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    while let [kind, low, high, rest @ ..] = parts {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let (part, after) = rest.split_at(length.min(rest.len()));
        parts = after;
        match kind % 3 {
            BLOCK => {
                if let [flags, magic, low, high, expanded @ ..] = part {
                    let count = u16::from_le_bytes([*low, *high]);
                    frames::put(&block(*flags, *magic, count, expanded), &mut file);
                }
            }
            DAMAGE => file.extend(part),
            _ => frames::put(part, &mut file),
        }
    }
    file
}

/// A block's record; docs/archive.md numbers its fields.
fn block(flags: u8, magic: u8, count: u16, expanded: &[u8]) -> Vec<u8> {
    let payload = lz4_flex::block::compress(expanded);
    let timed = flags & TIMED != 0;
    let mut record = vec![16, if timed { 0x89 } else { 0x85 }];
    record.extend([1, 0xcc, magic]);
    let codec = match flags {
        _ if flags & OTHER_CODEC != 0 => "lz5",
        _ if flags & COLUMNS != 0 => "lz4+columns",
        _ => "lz4",
    };
    record.extend([2, 0xa0 | codec.len() as u8]);
    record.extend(codec.bytes());
    record.extend([3, 0xce]);
    record.extend((expanded.len() as u32).to_be_bytes());
    record.extend([4, 0xcd]);
    record.extend(count.to_be_bytes());
    if timed {
        record.extend([5, 0, 6, 0xcc, 200, 7, 0, 8, 0xcc, 200]);
    }
    record.extend([9, 0xc6]);
    record.extend((payload.len() as u32).to_be_bytes());
    record.extend(payload);
    record
}
