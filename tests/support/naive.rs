//! What a settled ring holds, read from the bytes of its file in the plainest way the format
//! allows.

use std::collections::HashMap;
use std::path::Path;

use timeline::layout::geometry::{get16, get32, get64};
use timeline::layout::{Geometry, header, records};

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

/// All entries of the ring in this file, by (time, lane, place in the lane).
pub fn entries(file: &Path) -> Vec<Found> {
    let bytes = std::fs::read(file).expect("the file");
    let geometry = Geometry::load(&bytes).expect("a sound header");
    let cursors: HashMap<u64, u64> = (0..u64::from(geometry.lanes()))
        .map(|lane| {
            let at = geometry.lane().offset + lane * geometry.lane().stride;
            (lane, get64(&bytes, at + records::lane::CURSOR))
        })
        .collect();
    let mut found = Vec::new();
    for chunk in 0..u64::from(geometry.chunks) {
        let at = geometry.chunk().offset + chunk * geometry.chunk().stride;
        let state = get64(&bytes, at + records::chunk::STATE);
        let before = get64(&bytes, at + records::chunk::BEFORE);
        let lane = get64(&bytes, at + records::chunk::LANE);
        let (ticket, open, low) = (state >> 16, state & 0x8000 != 0, state & 0x7fff);
        let count = match open {
            false => low,
            true if cursors[&low] >> 16 == ticket => cursors[&low] & 0xffff,
            true => 0,
        };
        for index in 0..count {
            let entry = chunk * u64::from(geometry.chunk_entries) + index;
            let at = geometry.entry().offset + entry * 64;
            found.push(Found {
                ticks: get64(&bytes, at),
                lane,
                sequence: before + index,
                event: get32(&bytes, at + 8),
                core: get16(&bytes, at + 12),
                slots: bytes[at as usize + 14],
                flags: bytes[at as usize + 15],
                tid: get32(&bytes, at + 20),
                args: [24, 32, 40, 48].map(|o| get64(&bytes, at + o) as i64),
            });
        }
    }
    found.sort_by_key(|f| (f.ticks, f.lane, f.sequence));
    found
}

/// The number in a field of the header of a live timeline.
pub fn next_ticket(file: &std::fs::File) -> u64 {
    let mut word = [0; 8];
    std::os::unix::fs::FileExt::read_exact_at(file, &mut word, header::NEXT_TICKET)
        .expect("a header");
    u64::from_le_bytes(word)
}

/// Gives each entry another time, made of its place in the ring, the time that it has, and which of
/// its thread it is.
pub fn change_ticks(file: &Path, change: impl Fn(u64, u64, i64) -> u64) {
    use std::os::unix::fs::FileExt;
    let bytes = std::fs::read(file).expect("the file");
    let geometry = Geometry::load(&bytes).expect("a sound header");
    let file = std::fs::File::options()
        .write(true)
        .open(file)
        .expect("the file");
    for index in 0..geometry.entries {
        let at = geometry.entry().offset + index * 64;
        let number = get64(&bytes, at + 32) as i64;
        let ticks = change(index, get64(&bytes, at), number);
        file.write_all_at(&ticks.to_le_bytes(), at)
            .expect("written");
    }
}
