//! Snapshots: copies a timeline chunk by chunk into a file, while its writers go on.
//!
//! The file has the format of a timeline, so every reader of timelines reads it. Each chunk is
//! copied by the reader's rule, so every entry is whole. The entries are those of a consistent cut.
//! In the file, all chunks are closed, and each lane points at its last chunk. Chunks are copied
//! from the newest to the oldest, so those that writers overwrite meanwhile are the oldest. A lane
//! says how many entries it had in the cut, so a reader knows how many are missing. Definitions and
//! threads are copied after the events, so no event lacks its own. The file has holes where the
//! ring was never written.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::Replacement;
use crate::layout::geometry::{get32, get64, put32, put64};
use crate::layout::words::{Cursor, Entry, State};
use crate::layout::{ENTRY_SIZE, HEADER_SIZE, Region, header, records};
use crate::ring::Storage;
use crate::ring::reader::{self, Chunk};
use crate::segment::{self, Segment};
use crate::shm;
use crate::source::{self, Groups};
use crate::sync::Ordering;

/// The result of saving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saved {
    /// Length of the file. It can take less space on the disk, because it has holes.
    pub bytes: u64,
    /// Events in it.
    pub events: u64,
    /// Entries that were overwritten while the snapshot was taken; an event takes one or more.
    pub overwritten: u64,
}

/// Saves `segment` to `file`. The file is written under a temporary name.
pub(crate) fn save(segment: &Segment, file: &Path) -> Result<Saved> {
    let replacement = Replacement::of(file)?;
    if segment.geometry.total > shm::file_size_limit() {
        return Err(Error::NoSpace {
            path: file.to_path_buf(),
            needed: segment.geometry.total,
            free: shm::file_size_limit(),
        });
    }
    replacement.write(|out| {
        let saved = Snapshot { segment, out }.write()?;
        // Otherwise lost bytes would be saved as if they had never been written.
        segment.intact().map_err(std::io::Error::other)?;
        Ok(saved)
    })
}

/// How many entries are copied before they are written: 1 MiB.
const AT_ONCE: usize = 1 << 14;

/// The part of a ring that was copied.
struct Copied {
    /// The end of each lane in the cut.
    cut: Vec<Option<u64>>,
    chunks: Vec<Chunk>,
    events: u64,
    /// Entries that were overwritten before they were copied.
    overwritten: u64,
}

struct Snapshot<'a> {
    segment: &'a Segment,
    out: &'a File,
}

impl Snapshot<'_> {
    fn write(&mut self) -> std::io::Result<Saved> {
        let geometry = &self.segment.geometry;
        self.out.set_len(geometry.total)?;
        let Copied {
            cut,
            chunks,
            events,
            overwritten,
        } = self.entries()?;
        self.chunks(&chunks)?;
        self.lanes(&chunks, &cut)?;
        self.threads()?;
        self.region(geometry.process())?;
        self.region(geometry.enable())?;
        let defined = self.segment.definitions.count();
        let definitions = geometry.definition();
        let strings = geometry.strings();
        let used = self.segment.definitions.string_bytes();
        self.copy(definitions.offset, definitions.stride * u64::from(defined))?;
        self.copy(strings.offset, used)?;
        self.header(&chunks, defined, used)?;
        Ok(Saved {
            bytes: geometry.total,
            events,
            overwritten,
        })
    }

    /// Copies the entries of a cut. Tries again if all of them were overwritten meanwhile: this
    /// happens to a small ring with many writers.
    fn entries(&mut self) -> std::io::Result<Copied> {
        for _ in 1..source::ATTEMPTS {
            let copied = self.attempt()?;
            if !copied.chunks.is_empty() || copied.overwritten == 0 {
                return Ok(copied);
            }
        }
        self.attempt()
    }

    fn attempt(&mut self) -> std::io::Result<Copied> {
        let (cut, mut found) = source::contents(self.segment);
        found.sort_unstable_by_key(|chunk| std::cmp::Reverse(chunk.ticket));
        let mut copied = Copied {
            cut,
            chunks: Vec::new(),
            events: 0,
            overwritten: 0,
        };
        let mut entries = Vec::new();
        let mut written = 0;
        for chunk in found {
            let known = entries.len();
            if reader::copy(&self.segment.ring, &chunk, 0, &mut entries).is_err() {
                copied.overwritten += u64::from(chunk.count);
                continue;
            }
            copied.events += Groups::new(&entries[known..]).count() as u64;
            copied.chunks.push(chunk);
            // Writes several chunks at once, because writing takes longer than copying.
            if entries.len() >= AT_ONCE {
                self.put(&copied.chunks[written..], &entries)?;
                written = copied.chunks.len();
                entries.clear();
            }
        }
        self.put(&copied.chunks[written..], &entries)?;
        Ok(copied)
    }

    /// Writes the entries of chunks. In `entries`, those of one chunk follow those of the one
    /// before.
    fn put(&mut self, chunks: &[Chunk], mut entries: &[Entry]) -> std::io::Result<()> {
        let first = self.segment.geometry.entry().offset;
        let size = u64::from(self.segment.ring.chunk_entries()) * ENTRY_SIZE;
        let mut bytes = Vec::new();
        for chunk in chunks {
            let (of_chunk, others) = entries.split_at(chunk.count as usize);
            entries = others;
            bytes.clear();
            for word in of_chunk.iter().flat_map(|e| e.0) {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            let place = first + u64::from(chunk.chunk) * size;
            self.out.write_all_at(&bytes, place)?;
        }
        Ok(())
    }

    fn chunks(&mut self, chunks: &[Chunk]) -> std::io::Result<()> {
        let region = self.segment.geometry.chunk();
        let mut bytes = vec![0; region.length as usize];
        for c in chunks {
            let at = u64::from(c.chunk) * region.stride;
            let state = State::closed(c.ticket, c.count);
            put64(&mut bytes, at + records::chunk::STATE, state.0);
            put64(&mut bytes, at + records::chunk::BEFORE, c.before);
            put64(&mut bytes, at + records::chunk::LANE, c.lane.into());
            put64(&mut bytes, at + records::chunk::OPENED, c.ticket);
        }
        self.out.write_all_at(&bytes, region.offset)
    }

    /// Writes the lanes, each with the last of its chunks in this snapshot.
    fn lanes(&mut self, chunks: &[Chunk], cut: &[Option<u64>]) -> std::io::Result<()> {
        let region = self.segment.geometry.lane();
        let mut bytes = vec![0; region.length as usize];
        self.segment.map.read(region.offset, &mut bytes);
        let empty = Cursor::new(0, self.segment.ring.chunk_entries());
        for (lane, count) in (0..).zip(cut) {
            let at = lane * region.stride;
            put64(&mut bytes, at + records::lane::CURSOR, empty.0);
            put64(&mut bytes, at + records::lane::SAVED, count.unwrap_or(0));
        }
        for c in chunks {
            let at = u64::from(c.lane) * region.stride + records::lane::CURSOR;
            if Cursor(get64(&bytes, at)).ticket() < c.ticket {
                put64(&mut bytes, at, Cursor::new(c.ticket, c.count).0);
            }
        }
        self.out.write_all_at(&bytes, region.offset)
    }

    /// Writes the thread records, without those that changed while they were copied. Their threads
    /// had logged nothing when the events were copied.
    fn threads(&mut self) -> std::io::Result<()> {
        let region = self.segment.geometry.thread();
        let mut bytes = vec![0; region.length as usize];
        for slot in 0..u64::from(self.segment.geometry.threads) {
            let at = slot * region.stride;
            let identity = self
                .segment
                .map
                .u32(region.offset + at + records::thread::IDENTITY);
            // The same protocol as in threads::lookup.
            let before = identity.load(Ordering::Acquire);
            let record = &mut bytes[at as usize..][..region.stride as usize];
            self.segment.map.read(region.offset + at, record);
            crate::sync::fence(Ordering::Acquire);
            if identity.load(Ordering::Relaxed) != before {
                record.fill(0);
            }
        }
        self.out.write_all_at(&bytes, region.offset)
    }

    fn region(&mut self, region: Region) -> std::io::Result<()> {
        self.copy(region.offset, region.length)
    }

    fn copy(&mut self, offset: u64, length: u64) -> std::io::Result<()> {
        let mut bytes = vec![0; length as usize];
        self.segment.map.read(offset, &mut bytes);
        self.out.write_all_at(&bytes, offset)
    }

    fn header(&mut self, chunks: &[Chunk], defined: u32, used: u64) -> std::io::Result<()> {
        let mut h = vec![0; HEADER_SIZE as usize];
        self.segment.map.read(0, &mut h);
        let flags = get32(&h, header::FLAGS);
        put32(&mut h, header::FLAGS, flags | header::FLAG_SNAPSHOT);
        put32(&mut h, header::DEFINED, defined);
        put64(&mut h, header::STRINGS_USED, used);
        put32(&mut h, header::BOOST, 0);
        put32(&mut h, header::SAMPLER_PID, 0);
        let next = chunks.iter().map(|c| c.ticket + 1).max();
        let next = next.unwrap_or(self.segment.ring.chunks().into());
        put64(&mut h, header::NEXT_TICKET, next);
        self.anchors(&mut h);
        segment::seal(&mut h);
        self.out.write_all_at(&h, 0)
    }

    /// Writes the timeline's anchors, and one of this moment if its clock still runs.
    fn anchors(&self, h: &mut [u8]) {
        let mut anchors = self.segment.anchors();
        let own = (self.segment.clock_runs()).then(|| self.segment.own_anchor(&anchors));
        if let Some(own) = own.flatten() {
            anchors.truncate(header::ANCHORS_COUNT as usize - 1);
            anchors.push(own);
        }
        let end = header::ANCHORS + header::ANCHORS_COUNT * header::ANCHOR_SIZE;
        h[header::ANCHORS as usize..end as usize].fill(0);
        put64(h, header::ANCHORS_TAKEN, anchors.len() as u64);
        for (i, anchor) in (0..).zip(&anchors) {
            let at = header::ANCHORS + i * header::ANCHOR_SIZE;
            put64(h, at, i + 1);
            put64(h, at + 8, anchor.ticks);
            put64(h, at + 16, anchor.monotonic);
            put64(h, at + 24, anchor.realtime);
        }
    }
}
