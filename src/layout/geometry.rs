//! Says where everything is in the file of a timeline.
//! It is computed when a timeline is created. Readers take it from the file, and check it.

use super::{
    ENTRY_SIZE, HEADER_SIZE, Header, INTERNED_BYTES, MAX_ENTRIES, MAX_IMPORTANT_ENTRIES,
    MAX_STRING_TABLE, MIN_ENTRIES, MIN_STRING_TABLE, header, records, words,
};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

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

impl Region {
    /// Where a record of the region stands.
    #[inline]
    pub fn at(&self, index: impl Into<u64>) -> u64 {
        self.offset + index.into() * self.stride
    }
}

/// Bytes of a record as this version writes it.
const fn size<T: records::Atomics>() -> u64 {
    size_of::<T>() as u64
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
    /// Bytes at the end of the strings for interned texts.
    pub interned: u64,
    /// The nine regions, in the order of [`REGION_NAMES`].
    pub regions: [Region; 9],
    /// The stretches of the wall clock, behind those; zeros if there are none.
    pub stretches: Region,
}

/// The regions' names, as docs/format.md has them.
pub const REGION_NAMES: [&str; 9] = [
    "enable table",
    "definitions",
    "threads",
    "processes",
    "lanes",
    "chunks",
    "entries",
    "strings",
    "important",
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
    /// bounds, with the usual room for important events.
    pub fn new(entries: u64, strings: u64) -> Geometry {
        Geometry::with_important(entries, strings, default_important_entries(entries))
    }

    /// The layout for a ring of `entries`, a string table of `strings` bytes and `important`
    /// entries of important events, all within bounds.
    ///
    /// Chunks are 1,024 entries when the ring is large, so that a refill is rare, and shrink with
    /// it to no less than sixteen, so that there are always more chunks than lanes. Thread lanes
    /// are half of the chunks and the place kept for CPU lanes an eighth: even with every lane
    /// holding a chunk, three eighths of the ring still turn over. Threads that log sixteen entries
    /// or more keep their names for as long as the ring keeps their entries: an eighth of its size.
    pub fn with_important(entries: u64, strings: u64, important: u32) -> Geometry {
        debug_assert!(entries.is_power_of_two());
        debug_assert!((MIN_ENTRIES..=MAX_ENTRIES).contains(&entries));
        debug_assert!((MIN_STRING_TABLE..=MAX_STRING_TABLE).contains(&strings));
        debug_assert!((1..=MAX_IMPORTANT_ENTRIES).contains(&important));
        let chunk_entries = (entries / 1024).clamp(16, 1024);
        let chunks = entries / chunk_entries;
        let cpu_lanes = (chunks / 8).min(1024);
        let thread_lanes = (chunks / 2).min(4096);
        let definitions = (strings / 64).next_power_of_two().clamp(64, 65536);
        let threads = (entries / 16).clamp(64, 65536);
        let processes = 256u64;
        let interned = entries.clamp(INTERNED_BYTES[0], INTERNED_BYTES[1]);
        let sizes = [
            (definitions, 1),
            (definitions, size::<records::Definition>()),
            (threads, size::<records::Thread>()),
            (processes, size::<records::Process>()),
            (cpu_lanes + thread_lanes, size::<records::Lane>()),
            (chunks, size::<records::Chunk>()),
            (entries, ENTRY_SIZE),
            (strings.next_multiple_of(64) + interned, 1),
            (important.into(), ENTRY_SIZE),
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
        // A clock that runs evenly needs a few in an hour, and entries of a slow program are of
        // weeks.
        let count = (entries / 64).clamp(STRETCHES[0], STRETCHES[1]);
        let stretches = Region {
            offset,
            length: count * size::<records::Stretch>(),
            stride: size::<records::Stretch>(),
        };
        Geometry {
            total: (offset + stretches.length).next_multiple_of(4096),
            entries,
            chunk_entries: chunk_entries as u32,
            chunks: chunks as u32,
            cpu_lanes: cpu_lanes as u32,
            thread_lanes: thread_lanes as u32,
            definitions: definitions as u32,
            threads: threads as u32,
            processes: processes as u32,
            interned,
            regions,
            stretches,
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
    /// The string table, without the interned texts at its end.
    pub fn strings(&self) -> Region {
        Region {
            length: self.regions[7].length - self.interned,
            ..self.regions[7]
        }
    }
    /// The interned texts, which stand behind their slots.
    pub fn interned(&self) -> Region {
        let strings = self.strings();
        Region {
            offset: strings.offset + strings.length,
            length: self.interned,
            stride: 1,
        }
    }
    /// The important events.
    pub fn important(&self) -> Region {
        self.regions[8]
    }
    /// Entries that the important events have room for.
    pub fn important_entries(&self) -> u32 {
        // At most 65,536: see `check_regions`.
        (self.important().length / ENTRY_SIZE) as u32
    }

    /// Writes the fields into a header.
    pub fn store(&self, h: &mut Header) {
        h.total_size = self.total.into();
        h.entries = self.entries.into();
        h.chunk_entries = self.chunk_entries.into();
        h.chunks = self.chunks.into();
        h.cpu_lanes = self.cpu_lanes.into();
        h.thread_lanes = self.thread_lanes.into();
        h.definitions = self.definitions.into();
        h.threads = self.threads.into();
        h.processes = self.processes.into();
        h.interned = self.interned.into();
        h.regions = self.regions.map(Into::into);
        h.stretches = self.stretches.into();
    }

    /// Reads the fields from a copy of a header and checks each of them.
    ///
    /// After this, every index below its count addresses bytes inside `total`.
    pub fn load(h: &Header) -> Result<Geometry, Fault> {
        // Relaxed: nobody else has the copy.
        let long = |field: &AtomicU64| field.load(Ordering::Relaxed);
        let short = |field: &AtomicU32| field.load(Ordering::Relaxed);
        let region = |region: &header::Region| Region {
            offset: long(&region.offset),
            length: long(&region.length),
            stride: long(&region.stride),
        };
        let geometry = Geometry {
            total: long(&h.total_size),
            entries: long(&h.entries),
            chunk_entries: short(&h.chunk_entries),
            chunks: short(&h.chunks),
            cpu_lanes: short(&h.cpu_lanes),
            thread_lanes: short(&h.thread_lanes),
            definitions: short(&h.definitions),
            threads: short(&h.threads),
            processes: short(&h.processes),
            interned: long(&h.interned),
            regions: h.regions.each_ref().map(region),
            stretches: region(&h.stretches),
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
            (
                u64::from(self.definitions),
                size::<records::Definition>(),
                4096,
            ),
            (u64::from(self.threads), size::<records::Thread>(), 4096),
            (u64::from(self.processes), size::<records::Process>(), 4096),
            (u64::from(self.lanes()), size::<records::Lane>(), 4096),
            (u64::from(self.chunks), size::<records::Chunk>(), 4096),
            (self.entries, ENTRY_SIZE, ENTRY_SIZE),
            (MIN_STRING_TABLE, 1, 1),
            (1, ENTRY_SIZE, ENTRY_SIZE),
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
            // The length of the others says how many records they have.
            let exact = !matches!(REGION_NAMES[i], "strings" | "important");
            if (exact && region.length != count * region.stride)
                || !region.length.is_multiple_of(region.stride)
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
        self.check_strings()?;
        self.check_stretches(end)?;
        if self.important().length > u64::from(MAX_IMPORTANT_ENTRIES) * ENTRY_SIZE {
            return Err(Fault {
                field: "important",
                expected: "a length of at most 2^16 entries",
                found: self.important().length,
            });
        }
        Ok(())
    }

    /// `end`: where the other regions end.
    fn check_stretches(&self, end: u64) -> Result<(), Fault> {
        let Region {
            offset,
            length,
            stride,
        } = self.stretches;
        if self.stretches == Region::default() {
            return Ok(());
        }
        let fault = |expected, found| {
            Err(Fault {
                field: "stretches",
                expected,
                found,
            })
        };
        let record = size::<records::Stretch>();
        let inside = offset
            .checked_add(length)
            .is_some_and(|end| end <= self.total);
        if offset < end || !offset.is_multiple_of(64) || !inside {
            return fault("zeros, or an offset behind the other regions", offset);
        }
        if !(record..=WIDEST_STRETCH).contains(&stride) || !stride.is_multiple_of(8) {
            return fault("a stride of 80 to 256 bytes", stride);
        }
        if !length.is_multiple_of(stride) || !(1..=MOST_STRETCHES).contains(&(length / stride)) {
            return fault("a length of 1 to 65536 records", length);
        }
        Ok(())
    }

    fn check_strings(&self) -> Result<(), Fault> {
        let strings = self.regions[7].length;
        let whole = |bytes: u64| bytes.is_multiple_of(64);
        let least = self.interned.checked_add(MIN_STRING_TABLE);
        let fits = least.is_some_and(|least| least <= strings);
        if self.interned != 0 && !(fits && whole(self.interned) && whole(strings)) {
            return Err(Fault {
                field: "interned",
                expected: "a multiple of 64 that leaves 1024 bytes of the strings",
                found: self.interned,
            });
        }
        if self.strings().length.max(self.interned) > MAX_STRING_TABLE {
            return Err(Fault {
                field: "strings",
                expected: "a length of at most 2^31",
                found: strings,
            });
        }
        Ok(())
    }
}

/// The least and the most stretches of the wall clock that a new timeline has room for.
const STRETCHES: [u64; 2] = [256, 4096];
/// The most that a reader accepts, and their largest stride: it copies all of them.
const MOST_STRETCHES: u64 = 1 << 16;
const WIDEST_STRETCH: u64 = 256;

impl From<Region> for header::Region {
    fn from(region: Region) -> header::Region {
        header::Region {
            offset: region.offset.into(),
            length: region.length.into(),
            stride: region.stride.into(),
        }
    }
}

/// Entries that the important events of a ring of so many entries get when its creator does not
/// say.
pub const fn default_important_entries(entries: u64) -> u32 {
    match entries / 64 {
        0..64 => 64,
        part @ 64..1024 => part as u32,
        _ => 1024,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_ring_is_as_the_documents_say() {
        let g = Geometry::new(crate::layout::DEFAULT_ENTRIES, 1 << 20);
        assert_eq!((g.chunk_entries, g.chunks), (1024, 1024));
        assert_eq!((g.cpu_lanes, g.thread_lanes), (128, 512));
        assert_eq!((g.definitions, g.threads, g.processes), (16384, 65536, 256));
    }
}
