//! Where everything stands: computed when a timeline is created, read back and distrusted ever
//! after.

use super::{
    ENTRY_SIZE, HEADER_SIZE, MAX_ENTRIES, MAX_STRING_TABLE, MIN_ENTRIES, MIN_STRING_TABLE, header,
    records, words,
};

/// One region of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Region {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes of the region.
    pub length: u64,
    /// Bytes from one record to the next.
    pub stride: u64,
}

/// The counts and places of one timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of the whole file.
    pub total: u64,
    /// Entries of the ring, a power of two.
    pub entries: u64,
    /// Entries of a chunk, a power of two.
    pub chunk_entries: u32,
    /// Chunks, a power of two.
    pub chunks: u32,
    /// Lanes that belong to CPUs.
    pub cpu_lanes: u32,
    /// Lanes that belong to threads.
    pub thread_lanes: u32,
    /// Records of the definition table, and bytes of the enable table.
    pub definitions: u32,
    /// Records of the thread table.
    pub threads: u32,
    /// Records of the process table.
    pub processes: u32,
    /// The eight regions, in the order of [`REGION_NAMES`].
    pub regions: [Region; 8],
}

/// The regions' names, as docs/format.md has them.
pub const REGION_NAMES: [&str; 8] = [
    "enable table",
    "definitions",
    "threads",
    "processes",
    "lanes",
    "chunks",
    "entries",
    "strings",
];

/// What a header got wrong: field, expected, found.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field's name.
    pub field: &'static str,
    /// What it should have been.
    pub expected: &'static str,
    /// What it was.
    pub found: u64,
}

impl Geometry {
    /// The layout for a ring of `entries` and a string table of `strings` bytes, both within
    /// bounds.
    ///
    /// Chunks are 1,024 entries when the ring is large, so that a refill is rare, and shrink with
    /// it to no less than sixteen, so that there are always more chunks than lanes. Thread lanes
    /// are half of the chunks and the place kept for CPU lanes an eighth: even with every lane
    /// holding a chunk, three eighths of the ring still turn over.
    pub fn new(entries: u64, strings: u64) -> Geometry {
        debug_assert!(entries.is_power_of_two());
        debug_assert!((MIN_ENTRIES..=MAX_ENTRIES).contains(&entries));
        debug_assert!((MIN_STRING_TABLE..=MAX_STRING_TABLE).contains(&strings));
        let chunk_entries = (entries / 1024).clamp(16, 1024);
        let chunks = entries / chunk_entries;
        let cpu_lanes = (chunks / 8).min(1024);
        let thread_lanes = (chunks / 2).min(4096);
        let definitions = (strings / 64).next_power_of_two().clamp(64, 65536);
        let threads = (entries / 64).clamp(64, 4096);
        let processes = 256u64;
        let sizes = [
            (definitions, 1),
            (definitions, records::definition::SIZE),
            (threads, records::thread::SIZE),
            (processes, records::process::SIZE),
            (cpu_lanes + thread_lanes, records::lane::SIZE),
            (chunks, records::chunk::SIZE),
            (entries, ENTRY_SIZE),
            (strings, 1),
        ];
        let mut offset = HEADER_SIZE;
        let regions = sizes.map(|(count, stride)| {
            let region = Region {
                offset,
                length: count * stride,
                stride,
            };
            offset = (offset + region.length).next_multiple_of(4096);
            region
        });
        Geometry {
            total: offset,
            entries,
            chunk_entries: chunk_entries as u32,
            chunks: chunks as u32,
            cpu_lanes: cpu_lanes as u32,
            thread_lanes: thread_lanes as u32,
            definitions: definitions as u32,
            threads: threads as u32,
            processes: processes as u32,
            regions,
        }
        .sized()
    }

    fn sized(self) -> Geometry {
        debug_assert_eq!(self.check(), Ok(()));
        self
    }

    /// All lanes.
    pub fn lanes(&self) -> u32 {
        self.cpu_lanes + self.thread_lanes
    }
    /// One byte per event: log it or not.
    pub fn enable(&self) -> Region {
        self.regions[0]
    }
    /// Definition records.
    pub fn definition(&self) -> Region {
        self.regions[1]
    }
    /// Thread records.
    pub fn thread(&self) -> Region {
        self.regions[2]
    }
    /// Process records.
    pub fn process(&self) -> Region {
        self.regions[3]
    }
    /// Lane records.
    pub fn lane(&self) -> Region {
        self.regions[4]
    }
    /// Chunk records.
    pub fn chunk(&self) -> Region {
        self.regions[5]
    }
    /// The ring.
    pub fn entry(&self) -> Region {
        self.regions[6]
    }
    /// The string table.
    pub fn strings(&self) -> Region {
        self.regions[7]
    }

    /// Writes the fields into a header.
    pub fn store(&self, h: &mut [u8]) {
        put64(h, header::TOTAL_SIZE, self.total);
        put64(h, header::ENTRIES, self.entries);
        put32(h, header::CHUNK_ENTRIES, self.chunk_entries);
        put32(h, header::CHUNKS, self.chunks);
        put32(h, header::CPU_LANES, self.cpu_lanes);
        put32(h, header::THREAD_LANES, self.thread_lanes);
        put32(h, header::DEFINITIONS, self.definitions);
        put32(h, header::THREADS, self.threads);
        put32(h, header::PROCESSES, self.processes);
        for (i, r) in self.regions.iter().enumerate() {
            let at = header::REGIONS + i as u64 * header::REGION_SIZE;
            put64(h, at, r.offset);
            put64(h, at + 8, r.length);
            put64(h, at + 16, r.stride);
        }
    }

    /// Reads the fields from a header and checks each of them.
    ///
    /// After this, every index below its count addresses bytes inside `total`.
    pub fn load(h: &[u8]) -> Result<Geometry, Fault> {
        let mut regions = [Region::default(); 8];
        for (i, r) in regions.iter_mut().enumerate() {
            let at = header::REGIONS + i as u64 * header::REGION_SIZE;
            *r = Region {
                offset: get64(h, at),
                length: get64(h, at + 8),
                stride: get64(h, at + 16),
            };
        }
        let geometry = Geometry {
            total: get64(h, header::TOTAL_SIZE),
            entries: get64(h, header::ENTRIES),
            chunk_entries: get32(h, header::CHUNK_ENTRIES),
            chunks: get32(h, header::CHUNKS),
            cpu_lanes: get32(h, header::CPU_LANES),
            thread_lanes: get32(h, header::THREAD_LANES),
            definitions: get32(h, header::DEFINITIONS),
            threads: get32(h, header::THREADS),
            processes: get32(h, header::PROCESSES),
            regions,
        };
        geometry.check()?;
        Ok(geometry)
    }

    fn check(&self) -> Result<(), Fault> {
        let fault = |field, expected, found| {
            Err(Fault {
                field,
                expected,
                found,
            })
        };
        if !self.entries.is_power_of_two() || !(MIN_ENTRIES..=MAX_ENTRIES).contains(&self.entries) {
            return fault("entries", "a power of two from 256 to 2^30", self.entries);
        }
        let size = self.chunk_entries;
        if !size.is_power_of_two() || !(2..=words::MAX_COUNT).contains(&size) {
            let expected = "a power of two from 2 to 16384";
            return fault("chunk_entries", expected, size.into());
        }
        if u64::from(self.chunks) * u64::from(size) != self.entries {
            let expected = "entries / chunk_entries";
            return fault("chunks", expected, self.chunks.into());
        }
        if self.chunks > 1 << 20 {
            return fault("chunks", "at most 2^20", self.chunks.into());
        }
        let most = words::MAX_COUNT;
        if self.cpu_lanes > most {
            return fault("cpu_lanes", "at most 32767", self.cpu_lanes.into());
        }
        if self.thread_lanes == 0 || self.thread_lanes > most - self.cpu_lanes {
            let expected = "1 to 32767 less cpu_lanes";
            return fault("thread_lanes", expected, self.thread_lanes.into());
        }
        if !(2..=1 << 20).contains(&self.definitions) {
            return fault("definitions", "2 to 2^20", self.definitions.into());
        }
        if !(1..=65536).contains(&self.threads) {
            return fault("threads", "1 to 65536", self.threads.into());
        }
        if !(1..=65535).contains(&self.processes) {
            return fault("processes", "1 to 65535", self.processes.into());
        }
        if self.total < HEADER_SIZE || self.total > 1 << 40 {
            return fault("total_size", "4096 to 2^40", self.total);
        }
        self.check_regions()
    }

    fn check_regions(&self) -> Result<(), Fault> {
        // Strides other than ours are for later minor versions, whose records may be longer.
        let needs = [
            (u64::from(self.definitions), 1, 1),
            (u64::from(self.definitions), records::definition::SIZE, 4096),
            (u64::from(self.threads), records::thread::SIZE, 4096),
            (u64::from(self.processes), records::process::SIZE, 4096),
            (u64::from(self.lanes()), records::lane::SIZE, 4096),
            (u64::from(self.chunks), records::chunk::SIZE, 4096),
            (self.entries, ENTRY_SIZE, ENTRY_SIZE),
            (MIN_STRING_TABLE, 1, 1),
        ];
        let mut end = HEADER_SIZE;
        for (i, (region, (count, least, most))) in self.regions.iter().zip(needs).enumerate() {
            let fault = |expected, found| {
                Err(Fault {
                    field: REGION_NAMES[i],
                    expected,
                    found,
                })
            };
            if region.offset < end || !region.offset.is_multiple_of(64) {
                let expected = "an offset at a multiple of 64 behind the region before";
                return fault(expected, region.offset);
            }
            let aligned = least == 1 || region.stride.is_multiple_of(8);
            if region.stride < least || region.stride > most || !aligned {
                return fault("a stride that holds the record", region.stride);
            }
            let exact = REGION_NAMES[i] != "strings";
            if (exact && region.length != count * region.stride)
                || region.length < count * least
                || region.length > MAX_ENTRIES * ENTRY_SIZE
            {
                return fault("a length of its records times the stride", region.length);
            }
            end = match region.offset.checked_add(region.length) {
                Some(end) if end <= self.total => end,
                _ => return fault("a region inside the file", region.offset),
            };
        }
        if self.strings().length > MAX_STRING_TABLE {
            return Err(Fault {
                field: "strings",
                expected: "a length of at most 2^31",
                found: self.strings().length,
            });
        }
        Ok(())
    }
}

/// Reads a little-endian u16 at `at`.
pub fn get16(b: &[u8], at: u64) -> u16 {
    let at = at as usize;
    u16::from_le_bytes([b[at], b[at + 1]])
}

/// Reads a little-endian u32 at `at`.
pub fn get32(b: &[u8], at: u64) -> u32 {
    let at = at as usize;
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

/// Reads a little-endian u64 at `at`.
pub fn get64(b: &[u8], at: u64) -> u64 {
    u64::from(get32(b, at)) | u64::from(get32(b, at + 4)) << 32
}

/// Writes a little-endian u16 at `at`.
pub fn put16(b: &mut [u8], at: u64, v: u16) {
    b[at as usize..][..2].copy_from_slice(&v.to_le_bytes());
}

/// Writes a little-endian u32 at `at`.
pub fn put32(b: &mut [u8], at: u64, v: u32) {
    b[at as usize..][..4].copy_from_slice(&v.to_le_bytes());
}

/// Writes a little-endian u64 at `at`.
pub fn put64(b: &mut [u8], at: u64, v: u64) {
    b[at as usize..][..8].copy_from_slice(&v.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_valid_layout_that_survives_the_header() {
        let mut entries = MIN_ENTRIES;
        while entries <= MAX_ENTRIES {
            for strings in [MIN_STRING_TABLE, 5000, 1 << 20, MAX_STRING_TABLE] {
                let g = Geometry::new(entries, strings);
                let mut h = vec![0; HEADER_SIZE as usize];
                g.store(&mut h);
                assert_eq!(Geometry::load(&h), Ok(g));
                assert!(g.lanes() < g.chunks);
            }
            entries *= 2;
        }
    }

    #[test]
    fn the_default_ring_is_as_the_documents_say() {
        let g = Geometry::new(crate::layout::DEFAULT_ENTRIES, 1 << 20);
        assert_eq!((g.chunk_entries, g.chunks), (1024, 1024));
        assert_eq!((g.cpu_lanes, g.thread_lanes), (128, 512));
        assert_eq!((g.definitions, g.threads, g.processes), (16384, 4096, 256));
    }
}
