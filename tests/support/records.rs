//! Values for the records of a timeline that a test makes or changes.

use std::sync::atomic::AtomicU8;

use timeline::Record;
use timeline::layout::header::{CHECKED, Header};

/// Makes the header's checksum right (docs/format.md).
pub fn seal(header: &mut Header) {
    header.checksum = 0.into();
    header.checksum = crc32fast::hash(&header.bytes_mut()[..CHECKED]).into();
}

/// A text, NUL-padded.
pub fn padded<const N: usize>(text: &str) -> [AtomicU8; N] {
    let mut bytes = [0; N];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes.map(Into::into)
}
