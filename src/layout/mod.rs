//! Every byte of format version 1: magic, version, sizes and offsets. No I/O, no allocation.
//!
//! docs/format.md states the same in prose. tests/archive/format/ compares its tables with the
//! records here; the `_Static_assert`s of tests/c/layout.c are about the same bytes.
//!
//! header.rs is the header, records.rs has the other records as structs of atomics with their
//! offsets, words.rs the packed words, geometry.rs says where everything is, and bound.rs what
//! bounds the size.

#[cfg(not(loom))]
pub mod bound;
// Loom's atomics have another size; its model needs the words alone.
#[cfg(not(loom))]
pub mod geometry;
#[cfg(not(loom))]
pub mod header;
#[cfg(not(loom))]
pub mod records;
pub mod words;

#[cfg(not(loom))]
pub use bound::Bound;
#[cfg(not(loom))]
pub use geometry::{Geometry, Region};
#[cfg(not(loom))]
pub use header::Header;

/// The first eight bytes. The first is not ASCII and the last four break under newline translation
/// and stop a terminal's listing, so that no text file and no mangled copy passes for a timeline.
pub const MAGIC: [u8; 8] = *b"\x89TLN\r\n\x1a\n";
/// Readers refuse another major version.
pub const VERSION_MAJOR: u16 = 1;
/// Readers accept any minor version: it only adds.
pub const VERSION_MINOR: u16 = 0;

/// Bytes of the header.
pub const HEADER_SIZE: u64 = 4096;
/// Bytes of one entry of the ring.
pub const ENTRY_SIZE: u64 = 64;
/// 64-bit words of one entry.
pub const ENTRY_WORDS: usize = 8;
/// Arguments of an event without a payload.
pub const MAX_ARGUMENTS: usize = 4;

/// The enable byte of an event that goes into the ring.
pub const ENABLED: u8 = 1;
/// The enable byte of an important event that is enabled.
pub const ENABLED_IMPORTANT: u8 = 2;

/// Entries that one event takes at most, and never more than a chunk has.
pub const MAX_EVENT_ENTRIES: usize = 32;
/// Words of an event's payload in its first entry, and in each of the others.
pub const PAYLOAD_WORDS: [usize; 2] = [5, 6];
/// Words of the largest payload.
pub const MAX_PAYLOAD_WORDS: usize = PAYLOAD_WORDS[0] + (MAX_EVENT_ENTRIES - 1) * PAYLOAD_WORDS[1];
/// Fields of one message, or values of one format.
pub const MAX_FIELDS: usize = 64;

/// Entries of a timeline when the caller does not say.
pub const DEFAULT_ENTRIES: u64 = 1024 * 1024;
/// Bytes of the string table when the caller does not say.
pub const DEFAULT_STRING_TABLE: u64 = 1024 * 1024;
/// The smallest ring: sixteen chunks of sixteen entries.
pub const MIN_ENTRIES: u64 = 256;
/// The largest ring: 64 GiB of entries.
pub const MAX_ENTRIES: u64 = 1 << 30;
/// The smallest string table.
pub const MIN_STRING_TABLE: u64 = 1024;
/// Most entries of important events.
pub const MAX_IMPORTANT_ENTRIES: u32 = 1 << 16;
/// The largest string table: offsets are 32 bits.
pub const MAX_STRING_TABLE: u64 = 1 << 31;

/// The longest text that is interned.
pub const LONGEST_INTERNED: usize = 256;
/// The least and the most bytes that a new timeline keeps for interned texts.
pub const INTERNED_BYTES: [u64; 2] = [4096, 256 * 1024];
/// Bytes of the interned part of the string table for each of its slots.
pub const BYTES_OF_A_SLOT: u64 = 64;

const _: () = {
    assert!(ENTRY_SIZE as usize == ENTRY_WORDS * 8);
    assert!(HEADER_SIZE.is_multiple_of(4096));
};
