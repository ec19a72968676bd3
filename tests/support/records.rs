//! Values for the records of a timeline that a test makes or changes.

use std::sync::atomic::AtomicU8;

use timeline::internal::Record;
use timeline::internal::layout::header::{Anchor, CHECKED, FLAG_SNAPSHOT, Header};
use timeline::internal::layout::records::{Chunk, Lane, Thread};
use timeline::internal::layout::words::{ChunkState, Cursor};
use timeline::internal::layout::{Geometry, HEADER_SIZE, MAGIC};

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

/// Makes the header that of a snapshot of format version 1, with the ticks of a TSC.
pub fn begin_snapshot(header: &mut Header, geometry: &Geometry) {
    header.magic = MAGIC.map(Into::into);
    header.version_major = 1.into();
    header.header_size = (HEADER_SIZE as u32).into();
    header.flags = FLAG_SNAPSHOT.into();
    geometry.store(header);
    header.clock = 1.into();
    // The string table begins with an empty text.
    header.strings_used = 1.into();
}

/// The anchor of this number.
pub fn anchor(number: usize, ticks: u64, monotonic: u64, realtime: u64) -> Anchor {
    Anchor {
        serial: (number as u64 + 1).into(),
        ticks: ticks.into(),
        monotonic: monotonic.into(),
        realtime: realtime.into(),
    }
}

/// Appends a text to the string table, of which `used` bytes are in use; returns its offset.
pub fn put_string(bytes: &mut [u8], geometry: &Geometry, used: &mut usize, text: &str) -> u32 {
    let (offset, at) = (*used, geometry.strings().offset as usize + *used);
    bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
    *used += text.len() + 1;
    Header::edit(bytes, |header| header.strings_used = (*used as u64).into());
    offset as u32
}

/// Fills a slot of the thread table. The texts are the names of the thread and of its process.
pub fn put_thread(
    bytes: &mut [u8],
    geometry: &Geometry,
    slot: u32,
    identity: u32,
    (tid, pid, name, process): (u32, u32, &str, &str),
) {
    Thread::edit(
        &mut bytes[geometry.thread().at(slot) as usize..],
        |thread| {
            thread.identity = identity.into();
            thread.tid = tid.into();
            thread.pid = pid.into();
            thread.name = padded(name);
            thread.process_name = padded(process);
        },
    );
}

/// Writes entries as the closed chunk of a ticket, the last one of its lane, which had `before`
/// entries in earlier chunks. An entry has its first words.
pub fn put_chunk<const WORDS: usize>(
    bytes: &mut [u8],
    geometry: &Geometry,
    (ticket, lane, before): (u64, u64, u64),
    entries: &[[u64; WORDS]],
) {
    let chunk = ticket % u64::from(geometry.chunks);
    Chunk::edit(
        &mut bytes[geometry.chunk().at(chunk) as usize..],
        |record| {
            record.state = ChunkState::closed(ticket, entries.len() as u32).0.into();
            record.before = before.into();
            record.lane = lane.into();
            record.opened = ticket.into();
        },
    );
    let cursor = Cursor::new(ticket, entries.len() as u32);
    Lane::edit(&mut bytes[geometry.lane().at(lane) as usize..], |record| {
        record.cursor = cursor.0.into();
    });
    let first = chunk * u64::from(geometry.chunk_entries);
    for (index, words) in (first..).zip(entries) {
        let entry = &mut bytes[geometry.entry().at(index) as usize..];
        for (place, word) in entry.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
}
