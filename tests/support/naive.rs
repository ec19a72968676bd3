//! Reads what a settled ring holds from the bytes of its file.
//! It does so in the plainest way that the format allows.

use std::collections::HashMap;
use std::mem::offset_of;
use std::path::Path;

use timeline::internal::Record;
use timeline::internal::layout::records::{Chunk, Lane};
use timeline::internal::layout::{Geometry, Header};

/// One entry, and its place in the count of its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub ticks: u64,
    pub lane: u64,
    pub sequence: u64,
    pub event: u32,
    pub core: u16,
    pub slots: u8,
    pub flags: u8,
    pub tid: u32,
    pub args: [i64; 4],
}

/// A chunk that holds entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldChunk {
    pub lane: u64,
    pub ticket: u64,
    /// Entries of its lane before it.
    pub before: u64,
    pub count: u64,
    pub number: u64,
}

/// The chunks that hold entries, in the order of the file.
pub fn chunks(bytes: &[u8], geometry: &Geometry) -> Vec<HeldChunk> {
    let cursors: HashMap<u64, u64> = (0..u64::from(geometry.lanes()))
        .map(|lane| {
            let record = Lane::of(&bytes[geometry.lane().at(lane) as usize..]);
            (lane, record.cursor.into_inner())
        })
        .collect();
    let mut held = Vec::new();
    for number in 0..u64::from(geometry.chunks) {
        let record = Chunk::of(&bytes[geometry.chunk().at(number) as usize..]);
        let state = record.state.into_inner();
        let (ticket, open, low) = (state >> 16, state & 0x8000 != 0, state & 0x7fff);
        let count = match open {
            false => low,
            true if cursors[&low] >> 16 == ticket => cursors[&low] & 0xffff,
            true => 0,
        };
        if count > 0 {
            held.push(HeldChunk {
                lane: record.lane.into_inner(),
                ticket,
                before: record.before.into_inner(),
                count,
                number,
            });
        }
    }
    held
}

/// All entries of the ring in this file, by (time, lane, place in the lane).
pub fn entries(file: &Path) -> Vec<Found> {
    let bytes = std::fs::read(file).expect("the file");
    let geometry = Geometry::load(&Header::of(&bytes)).expect("a sound header");
    let mut found = Vec::new();
    for chunk in chunks(&bytes, &geometry) {
        for index in 0..chunk.count {
            let entry = chunk.number * u64::from(geometry.chunk_entries) + index;
            let words = words(&bytes, geometry.entry().at(entry));
            found.push(Found {
                ticks: words[0],
                lane: chunk.lane,
                sequence: chunk.before + index,
                event: words[1] as u32,
                core: (words[1] >> 32) as u16,
                slots: (words[1] >> 48) as u8,
                flags: (words[1] >> 56) as u8,
                tid: (words[2] >> 32) as u32,
                args: [3, 4, 5, 6].map(|word| words[word] as i64),
            });
        }
    }
    found.sort_by_key(|f| (f.ticks, f.lane, f.sequence));
    found
}

/// The words of the entry at an offset.
fn words(bytes: &[u8], at: u64) -> [u64; 8] {
    let (words, _) = bytes[at as usize..].as_chunks();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// The number in a field of the header of a live timeline.
pub fn next_ticket(file: &std::fs::File) -> u64 {
    let mut word = [0; 8];
    std::os::unix::fs::FileExt::read_exact_at(
        file,
        &mut word,
        offset_of!(Header, next_ticket) as u64,
    )
    .expect("a header");
    u64::from_le_bytes(word)
}

/// Gives each entry another time, made of its place in the ring, the time that it has, and which of
/// its thread it is.
pub fn change_ticks(file: &Path, change: impl Fn(u64, u64, i64) -> u64) {
    use std::os::unix::fs::FileExt;
    let bytes = std::fs::read(file).expect("the file");
    let geometry = Geometry::load(&Header::of(&bytes)).expect("a sound header");
    let file = std::fs::File::options()
        .write(true)
        .open(file)
        .expect("the file");
    for index in 0..geometry.entries {
        let at = geometry.entry().at(index);
        let words = words(&bytes, at);
        let ticks = change(index, words[0], words[4] as i64);
        file.write_all_at(&ticks.to_le_bytes(), at)
            .expect("written");
    }
}
