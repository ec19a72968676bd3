//! Snapshots: copies a timeline chunk by chunk into a file, while its writers go on.
//!
//! The file has the format of a timeline, so every reader of timelines reads it. Each chunk is
//! copied by the reader's rule, so every entry is whole. The entries are those of a consistent cut.
//! In the file, all chunks are closed, and each lane points at its last chunk. Chunks are copied
//! from the newest to the oldest, so those that writers overwrite meanwhile are the oldest. A lane
//! says how many entries it had in the cut, so a reader knows how many are missing. Definitions and
//! threads are copied after the events, so no event lacks its own. Important events that were not
//! committed by then are left out. The file has holes where the
//! ring was never written.
//!
//! Of a snapshot with only some of the events, the entries of the others are padding. So lanes,
//! numbers and gaps are those of the ring. Important events that are not wanted are as if they were
//! not committed.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::{NewFile, Replacement};
use crate::layout::words::{ChunkState, Cursor, Entry};
use crate::layout::{Bound, ENTRY_SIZE, Header, Region, header, records};
use crate::ring::reader::{self, Chunk};
use crate::ring::system_names::SystemNames;
use crate::ring::{Storage, executables, threads};
use crate::segment::{self, TimelineMapping};
use crate::shm::{self, Demand, Record, Room, Shortage, store_bytes};
use crate::source::{self, Event, Groups, RingContents};

/// The result of saving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaveTotals {
    /// Length of the file. It can take less space on the disk, because it has holes.
    pub bytes: u64,
    /// Events in it.
    pub events: u64,
    /// Events that were not wanted: see [`Attached::save_only`](crate::Attached::save_only).
    pub left_out: u64,
    /// Entries that were overwritten while the snapshot was taken; an event takes one or more.
    pub overwritten: u64,
}

/// Bytes of the pieces of a table that are left as holes where they are zeros.
const PIECE: usize = 64 << 10;

/// The identity of a process, and the SHA-1 of its executable.
pub(crate) type Digest = (u32, [u8; 20]);

/// Whether an event is wanted.
pub(crate) type EventFilter<'a> = Box<dyn FnMut(&Event) -> bool + 'a>;

/// Saves the wanted events of `segment` to `file`; all of them if there is no function. The file is
/// written under a temporary name.
///
/// `digests`: the SHA-1 of the executables of processes, by their identities.
pub(crate) fn save(
    segment: &TimelineMapping,
    file: &Path,
    wanted: Option<EventFilter>,
    digests: &[Digest],
) -> Result<SaveTotals> {
    let replacement = Replacement::of(file)?;
    refuse_long(segment, file)?;
    replacement.write(|out| whole(segment, out, wanted, digests))
}

/// Saves all events of a timeline that this process may write to. It looks at the clock before,
/// where there are events that need it: see src/attached/times.rs.
pub(crate) fn save_own(segment: &TimelineMapping, file: &Path) -> Result<SaveTotals> {
    let begin_of_newest = segment.stretches().and_then(|it| it.begin_of_newest());
    if RingContents::of(&segment.ring).newest > begin_of_newest {
        segment.look_at_clock();
    }
    // A program does not hash its executable.
    save(segment, file, None, &[])
}

/// Saves all events of `segment` to a new file. It has no name before it is whole.
pub(crate) fn save_new(
    segment: &TimelineMapping,
    file: &Path,
    digests: &[Digest],
) -> Result<SaveTotals> {
    let new = NewFile::at(file).map_err(|e| Error::io("create", file, e))?;
    refuse_long(segment, file)?;
    let written = whole(segment, new.file(), None, digests);
    let written = written.map_err(|e| Error::io("write", file, e))?;
    new.keep().map_err(|e| Error::io("write", file, e))?;
    Ok(written)
}

fn refuse_long(segment: &TimelineMapping, file: &Path) -> Result<()> {
    match segment.geometry.total > shm::file_size_limit() {
        false => Ok(()),
        true => Err(Error::NoSpace {
            path: file.to_path_buf(),
            needed: segment.geometry.total,
            free: shm::file_size_limit(),
            bound: Bound::FileSize,
            replaces: false,
        }),
    }
}

fn whole(
    segment: &TimelineMapping,
    out: &File,
    wanted: Option<EventFilter>,
    digests: &[Digest],
) -> std::io::Result<SaveTotals> {
    let mut snapshot = Snapshot {
        segment,
        out,
        wanted,
        digests,
        room: Room::of(0, shm::is_in_memory(out), Demand::Snapshot),
    };
    let saved = snapshot.write()?;
    // Otherwise lost bytes would be saved as if they had never been written.
    segment.intact().map_err(std::io::Error::other)?;
    Ok(saved)
}

/// How many entries are copied before they are written: 1 MiB.
const AT_ONCE: usize = 1 << 14;

/// The chunks of a ring whose entries were copied.
struct CopiedChunks {
    /// The end of each lane in the cut.
    cut: Vec<Option<u64>>,
    chunks: Vec<Chunk>,
    events: u64,
    left_out: u64,
    /// Entries that were overwritten before they were copied.
    overwritten: u64,
}

struct Snapshot<'a> {
    segment: &'a TimelineMapping,
    out: &'a File,
    wanted: Option<EventFilter<'a>>,
    digests: &'a [Digest],
    room: Room,
}

/// Important events that are saved.
struct CopiedImportant {
    events: u64,
    left_out: u64,
    /// Where the entries of the last one end.
    end: u64,
}

impl Snapshot<'_> {
    fn write(&mut self) -> std::io::Result<SaveTotals> {
        let geometry = &self.segment.geometry;
        self.out.set_len(geometry.total)?;
        // All but the entries, which are looked after as they are written.
        self.make_sure_of(geometry.total - geometry.entry().length)?;
        let CopiedChunks {
            cut,
            chunks,
            events,
            left_out,
            overwritten,
        } = self.entries()?;
        let important = self.important()?;
        self.chunks(&chunks)?;
        self.lanes(&chunks, &cut)?;
        self.threads()?;
        self.processes()?;
        self.region(geometry.enable())?;
        let defined = self.segment.definitions.count();
        let definitions = geometry.definition();
        let strings = geometry.strings();
        let used = self.segment.definitions.strings_used();
        self.copy(definitions.offset, definitions.stride * u64::from(defined))?;
        self.copy(strings.offset, used)?;
        // After the events: the text of each was stored before it was logged.
        self.region(self.segment.definitions.interned.in_use())?;
        self.header(&chunks, defined, used, important.end)?;
        Ok(SaveTotals {
            bytes: geometry.total,
            events: events + important.events,
            left_out: left_out + important.left_out,
            overwritten,
        })
    }

    /// An error if so many bytes do not fit in the memory of this process, and would be its end.
    fn make_sure_of(&self, bytes: u64) -> std::io::Result<()> {
        let Some(Shortage { bound, free }) = self.room.for_the_last(bytes) else {
            return Ok(());
        };
        let why = format!("not enough space: {free} bytes are {}", bound.leaves());
        Err(std::io::Error::new(std::io::ErrorKind::StorageFull, why))
    }

    /// Copies the entries of a cut. Tries again if all of them were overwritten meanwhile: this
    /// happens to a small ring with many writers.
    fn entries(&mut self) -> std::io::Result<CopiedChunks> {
        for _ in 1..source::ATTEMPTS {
            let copied = self.attempt()?;
            if !copied.chunks.is_empty() || copied.overwritten == 0 {
                return Ok(copied);
            }
        }
        self.attempt()
    }

    fn attempt(&mut self) -> std::io::Result<CopiedChunks> {
        let (cut, mut found) = source::contents(self.segment);
        found.sort_unstable_by_key(|chunk| std::cmp::Reverse(chunk.ticket));
        let mut copied = CopiedChunks {
            cut,
            chunks: Vec::new(),
            events: 0,
            left_out: 0,
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
            let left_out = self.leave_out(&mut entries[known..]);
            copied.left_out += left_out;
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

    /// Makes padding of the events of a chunk that are not wanted. Returns how many they are.
    fn leave_out(&mut self, entries: &mut [Entry]) -> u64 {
        let Some(wanted) = &mut self.wanted else {
            return 0;
        };
        let unwanted: Vec<_> = Groups::new(entries)
            .filter(|group| !wanted(&Event::read(self.segment, group)))
            .map(|group| group.at..group.at + 1 + group.rest.len())
            .collect();
        for place in &unwanted {
            let of_event = entries[place.clone()].iter_mut();
            of_event.for_each(|entry| *entry = entry.padding());
        }
        unwanted.len() as u64
    }

    /// Writes the entries of chunks. In `entries`, those of one chunk follow those of the one
    /// before.
    fn put(&mut self, chunks: &[Chunk], mut entries: &[Entry]) -> std::io::Result<()> {
        self.make_sure_of(entries.len() as u64 * ENTRY_SIZE)?;
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

    /// Writes the important events. After the cut was taken, so that all that happened before one
    /// of its events are there.
    fn important(&mut self) -> std::io::Result<CopiedImportant> {
        let segment = self.segment;
        let mut found = segment.look(|| source::important(segment));
        let all = found.len();
        if let Some(wanted) = &mut self.wanted {
            found.retain(|(_, entries)| {
                source::important_event(segment, entries).is_some_and(|event| wanted(&event))
            });
        }
        let region = segment.geometry.important();
        let mut end = 0;
        for (first, entries) in &found {
            let words = entries.iter().flat_map(|entry| entry.0);
            let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
            self.out.write_all_at(&bytes, region.at(*first))?;
            end = u64::from(*first) + entries.len() as u64;
        }
        Ok(CopiedImportant {
            events: found.len() as u64,
            left_out: (all - found.len()) as u64,
            end,
        })
    }

    fn chunks(&mut self, chunks: &[Chunk]) -> std::io::Result<()> {
        let region = self.segment.geometry.chunk();
        let mut bytes = vec![0; region.length as usize];
        for c in chunks {
            let at = c.chunk as usize * region.stride as usize;
            records::Chunk::edit(&mut bytes[at..], |chunk| {
                chunk.state = ChunkState::closed(c.ticket, c.count).0.into();
                chunk.before = c.before.into();
                chunk.lane = u64::from(c.lane).into();
                chunk.opened = c.ticket.into();
            });
        }
        self.out.write_all_at(&bytes, region.offset)
    }

    /// Writes the lanes, each with the last of its chunks in this snapshot.
    fn lanes(&mut self, chunks: &[Chunk], cut: &[Option<u64>]) -> std::io::Result<()> {
        let region = self.segment.geometry.lane();
        let mut bytes = vec![0; region.length as usize];
        self.segment.map.read(region.offset, &mut bytes);
        let empty = Cursor::new(0, self.segment.ring.chunk_entries());
        let mut cursors = vec![empty; cut.len()];
        for c in chunks {
            let cursor = &mut cursors[c.lane as usize];
            if cursor.ticket() < c.ticket {
                *cursor = Cursor::new(c.ticket, c.count);
            }
        }
        let records = bytes.chunks_exact_mut(region.stride as usize);
        for ((record, cursor), count) in records.zip(cursors).zip(cut) {
            records::Lane::edit(record, |lane| {
                lane.cursor = cursor.0.into();
                lane.saved = count.unwrap_or(0).into();
            });
        }
        self.out.write_all_at(&bytes, region.offset)
    }

    /// Writes the thread records, with the names that the system has for threads now; without those
    /// that changed while they were copied. Their threads had logged nothing when the events were
    /// copied.
    fn threads(&mut self) -> std::io::Result<()> {
        let (map, geometry) = (&self.segment.map, &self.segment.geometry);
        let region = geometry.thread();
        let mut names = (!self.segment.facts.snapshot).then(SystemNames::default);
        let mut bytes = vec![0; region.length as usize];
        for (slot, record) in (0_u32..).zip(bytes.chunks_exact_mut(region.stride as usize)) {
            let record = &mut record[..size_of::<records::Thread>()];
            threads::copy(map, geometry, slot, record);
            let Some(recorded) = threads::read(record) else {
                continue;
            };
            let name = names
                .as_mut()
                .and_then(|names| names.of(map, geometry, &recorded));
            if let Some(name) = name {
                threads::put_name(record, name);
            }
        }
        // Most records of a large table may never have been used, and stay holes.
        for (piece, at) in bytes.chunks(PIECE).zip((region.offset..).step_by(PIECE)) {
            if piece.iter().any(|byte| *byte != 0) {
                self.out.write_all_at(piece, at)?;
            }
        }
        Ok(())
    }

    /// Writes the process records, with the digests of executables that are known by now.
    fn processes(&mut self) -> std::io::Result<()> {
        let geometry = &self.segment.geometry;
        let region = geometry.process();
        let mut bytes = vec![0; region.length as usize];
        self.segment.map.read(region.offset, &mut bytes);
        for (identity, sha1) in self.digests {
            executables::put_sha1(&mut bytes, geometry, *identity, sha1);
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

    fn header(
        &mut self,
        chunks: &[Chunk],
        defined: u32,
        used: u64,
        important: u64,
    ) -> std::io::Result<()> {
        let mut h = Header::zeroed();
        self.segment.map.read(0, h.bytes_mut());
        *h.flags.get_mut() |= header::FLAG_SNAPSHOT;
        h.defined = defined.into();
        h.strings_used = used.into();
        h.important_taken = important.into();
        h.boost = 0.into();
        let rules = self.segment.definitions.rules();
        if let Some(level) = rules.level() {
            h.level = u32::from(level.get()).into();
        }
        (h.rules_even, h.rules_odd) = (Record::zeroed(), Record::zeroed());
        (h.level_even, h.level_odd) = (0.into(), 0.into());
        store_bytes(&h.rules_even, rules.text().as_bytes());
        h.rules_serial = 0.into();
        h.rules_applied = 0.into();
        h.sampler_pid = 0.into();
        let next = chunks.iter().map(|c| c.ticket + 1).max();
        let next = next.unwrap_or(self.segment.ring.chunks().into());
        h.next_ticket = next.into();
        self.anchors(&mut h);
        self.stretches(&mut h)?;
        segment::seal(&mut h);
        self.out.write_all_at(h.bytes_mut(), 0)
    }

    /// Writes the stretches of the wall clock, and one that ends behind this moment, if events
    /// follow on those and the clock still runs.
    fn stretches(&self, h: &mut Header) -> std::io::Result<()> {
        h.stretch_begun = 0.into();
        let Some(stretches) = self.segment.stretches() else {
            return Ok(());
        };
        let mut all = stretches.course(stretches.newest()).stretches().to_vec();
        if self.segment.clock_runs()
            && let Some(last) = all.last()
            && RingContents::of(&self.segment.ring).newest >= Some(last.end())
            && let Some(look) = stretches.look()
        {
            all.extend(stretches.next(last, look));
        }
        let region = self.segment.geometry.stretches;
        let slots = (region.length / region.stride) as usize;
        let kept = &all[all.len().saturating_sub(slots)..];
        let mut bytes = vec![0; region.length as usize];
        for (serial, stretch) in (1..).zip(kept) {
            let at = (serial % slots as u64 * region.stride) as usize;
            records::Stretch::edit(&mut bytes[at..], |slot| stretch.put(serial, slot));
        }
        h.newest_stretch = (kept.len() as u64).into();
        self.out.write_all_at(&bytes, region.offset)
    }

    /// Writes the timeline's anchors, and one of this moment if its clock still runs.
    fn anchors(&self, h: &mut Header) {
        let mut anchors = self.segment.anchors();
        let own = (self.segment.clock_runs()).then(|| self.segment.own_anchor(&anchors));
        if let Some(own) = own.flatten() {
            anchors.truncate(h.anchors.len() - 1);
            anchors.push(own);
        }
        h.anchors_taken = (anchors.len() as u64).into();
        h.anchors = Record::zeroed();
        for (serial, (place, anchor)) in (1_u64..).zip(h.anchors.iter_mut().zip(&anchors)) {
            place.serial = serial.into();
            place.ticks = anchor.ticks.into();
            place.monotonic = anchor.monotonic.into();
            place.realtime = anchor.realtime.into();
        }
    }
}
