//! Offsets of the header's fields.
//!
//! The first half is written once, at creation, and carries a checksum; the second half changes
//! while the timeline lives.

/// 8 bytes. A file that starts with zeros instead was never finished.
pub const MAGIC: u64 = 0x000;
/// u16.
pub const VERSION_MAJOR: u64 = 0x008;
/// u16.
pub const VERSION_MINOR: u64 = 0x00a;
/// u32, bytes of the header.
pub const HEADER_SIZE: u64 = 0x00c;
/// u32, bit 0: a snapshot.
pub const FLAGS: u64 = 0x010;
/// u32, CRC-32 (IEEE) of the bytes 0 to 0x7ff with this field as 0.
pub const CHECKSUM: u64 = 0x014;
/// u64, bytes of the whole file.
pub const TOTAL_SIZE: u64 = 0x018;
/// u64, entries of the ring.
pub const ENTRIES: u64 = 0x020;
/// u32, entries of one chunk.
pub const CHUNK_ENTRIES: u64 = 0x028;
/// u32, chunks of the ring.
pub const CHUNKS: u64 = 0x02c;
/// u32, lanes of CPUs: lane n < cpu_lanes belongs to CPU n.
pub const CPU_LANES: u64 = 0x030;
/// u32, lanes of threads, after those of the CPUs.
pub const THREAD_LANES: u64 = 0x034;
/// u32, records of the definition table; also bytes of the enable table.
pub const DEFINITIONS: u64 = 0x038;
/// u32, records of the thread table.
pub const THREADS: u64 = 0x03c;
/// u32, records of the process table.
pub const PROCESSES: u64 = 0x040;
/// u32, 1 = invariant TSC, 2 = CLOCK_MONOTONIC_RAW in nanoseconds.
pub const CLOCK: u64 = 0x044;
/// Eight regions of { offset u64, length u64, stride u64 }: enable table, definitions, threads,
/// processes, lanes, chunks, entries, strings.
pub const REGIONS: u64 = 0x048;
/// Bytes of one region's description.
pub const REGION_SIZE: u64 = 24;
/// u64, nanoseconds since the epoch.
pub const CREATED_UNIX: u64 = 0x110;
/// u64, ticks.
pub const CREATED_TICKS: u64 = 0x118;
/// u32.
pub const CREATOR_PID: u64 = 0x120;
/// u64, start of the creator, in clock ticks since boot.
pub const CREATOR_START: u64 = 0x128;
/// 16 bytes, the kernel's boot id.
pub const BOOT_ID: u64 = 0x130;
/// u64, about how many ticks a second has; 0 = unknown.
pub const TICK_RATE: u64 = 0x140;
/// 256 bytes, path of the creator's executable, NUL-padded.
pub const CREATOR_EXE: u64 = 0x180;
/// Bytes of the path.
pub const CREATOR_EXE_SIZE: u64 = 256;
/// u8 per CPU: its NUMA node; 0xff = unknown.
pub const CPU_NODES: u64 = 0x400;
/// CPUs in that map.
pub const CPU_NODES_COUNT: u64 = 1024;
/// End of the part that the checksum covers.
pub const CHECKED: u64 = 0x800;

/// u64, the next ticket.
pub const NEXT_TICKET: u64 = 0x800;
/// u32, the level that was asked for: 0 none, 1 to 7, 8 all.
pub const LEVEL: u64 = 0x840;
/// u32, the level a sampler holds up just now; 0 = none.
pub const BOOST: u64 = 0x844;
/// u32, pid of the sampler; 0 = none.
pub const SAMPLER_PID: u64 = 0x848;
/// u64, start of the sampler's process, in clock ticks since boot.
pub const SAMPLER_START: u64 = 0x850;
/// u64, inode of the sampler's pid namespace.
pub const SAMPLER_NAMESPACE: u64 = 0x858;
/// u64, inode of the sampler's time namespace.
pub const SAMPLER_TIME_NAMESPACE: u64 = 0x860;
/// u32, events defined, event 0 included: ids below this are defined.
pub const DEFINED: u64 = 0x880;
/// u64, bytes of the string table in use.
pub const STRINGS_USED: u64 = 0x888;
/// u64, serial number of thread records handed out.
pub const THREAD_SERIAL: u64 = 0x890;
/// u64, serial number of process records handed out.
pub const PROCESS_SERIAL: u64 = 0x898;
/// u64, events dropped while their thread was only just joining.
pub const DROPPED_INTERRUPTED: u64 = 0x8c0;
/// u64, events dropped because no lane was free.
pub const DROPPED_NO_LANE: u64 = 0x8c8;
/// u64, events dropped because no chunk was free.
pub const DROPPED_NO_CHUNK: u64 = 0x8d0;
/// u64, events dropped because their id was beyond the definition table.
pub const DROPPED_BAD_EVENT: u64 = 0x8d8;
/// u64, events dropped because their statement could not be defined just then.
pub const DROPPED_UNDEFINED: u64 = 0x8e0;
/// u64, anchors ever taken.
pub const ANCHORS_TAKEN: u64 = 0x900;
/// 16 anchors of { serial u64, ticks u64, monotonic u64, realtime u64 }.
pub const ANCHORS: u64 = 0x940;
/// Anchors kept: the first for good, the rest in turn.
pub const ANCHORS_COUNT: u64 = 16;
/// Bytes of one anchor.
pub const ANCHOR_SIZE: u64 = 32;

/// Bit of [`FLAGS`]: the file is a snapshot, and nobody writes to it.
pub const FLAG_SNAPSHOT: u32 = 1;
/// Bit of [`FLAGS`]: nobody said how many entries, and there was no room for the default.
pub const FLAG_REDUCED: u32 = 2;

const _: () = {
    assert!(REGIONS + 8 * REGION_SIZE <= CREATED_UNIX);
    assert!(BOOT_ID + 16 <= TICK_RATE && TICK_RATE + 8 <= CREATOR_EXE);
    assert!(CREATOR_EXE + CREATOR_EXE_SIZE <= CPU_NODES);
    assert!(CPU_NODES + CPU_NODES_COUNT == CHECKED);
    assert!(ANCHORS + ANCHORS_COUNT * ANCHOR_SIZE <= super::HEADER_SIZE);
    assert!(NEXT_TICKET.is_multiple_of(64) && LEVEL - NEXT_TICKET == 64);
};
