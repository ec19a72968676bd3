//! The header.
//!
//! The first half is written once, at creation, and carries a checksum; the second half changes
//! while the timeline lives.

use std::mem::offset_of;

use super::records::record;
use crate::sync::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

record! {
    /// The header of a timeline.
    Header: 4096 {
        /// A file that starts with zeros instead was never finished.
        0x000 pub magic: [AtomicU8; 8],
        /// Readers refuse another one.
        0x008 pub version_major: AtomicU16,
        /// Readers accept any.
        0x00a pub version_minor: AtomicU16,
        /// Bytes of the header.
        0x00c pub header_size: AtomicU32,
        /// [`FLAG_SNAPSHOT`], [`FLAG_REDUCED`].
        0x010 pub flags: AtomicU32,
        /// CRC-32 (IEEE) of the first [`CHECKED`] bytes with this field as 0.
        0x014 pub checksum: AtomicU32,
        /// Bytes of the whole file.
        0x018 pub total_size: AtomicU64,
        /// Entries of the ring.
        0x020 pub entries: AtomicU64,
        /// Entries of one chunk.
        0x028 pub chunk_entries: AtomicU32,
        /// Chunks of the ring.
        0x02c pub chunks: AtomicU32,
        /// Lanes of CPUs: lane n < cpu_lanes belongs to CPU n.
        0x030 pub cpu_lanes: AtomicU32,
        /// Lanes of threads, after those of the CPUs.
        0x034 pub thread_lanes: AtomicU32,
        /// Records of the definition table; also bytes of the enable table.
        0x038 pub definitions: AtomicU32,
        /// Records of the thread table.
        0x03c pub threads: AtomicU32,
        /// Records of the process table.
        0x040 pub processes: AtomicU32,
        /// 1 = invariant TSC, 2 = CLOCK_MONOTONIC_RAW in nanoseconds.
        0x044 pub clock: AtomicU32,
        /// Enable table, definitions, threads, processes, lanes, chunks, entries, strings,
        /// important events.
        0x048 pub regions: [Region; 9],
        /// Nanoseconds since the epoch.
        0x120 pub created_unix: AtomicU64,
        /// Ticks.
        0x128 pub created_ticks: AtomicU64,
        /// The creator's process id.
        0x130 pub creator_pid: AtomicU32,
        /// Why it has fewer entries than the default: the number of a [`Bound`](super::Bound); 0 =
        /// it has not, or that is not known.
        0x134 pub bound: AtomicU32,
        /// Start of the creator, in clock ticks since boot.
        0x138 pub creator_start: AtomicU64,
        /// The kernel's boot id.
        0x140 pub boot_id: [AtomicU8; 16],
        /// About how many ticks a second has; 0 = unknown.
        0x150 pub tick_rate: AtomicU64,
        /// Bytes at the end of the strings that are kept for [interned](super::words::INTERNED)
        /// texts.
        0x158 pub interned: AtomicU64,
        /// Bytes that there was room for then.
        0x160 pub room: AtomicU64,
        /// Where the stretches of the wall clock stand; zeros in a timeline that has none.
        0x168 pub stretches: Region,
        /// Path of the creator's executable, NUL-padded.
        0x180 pub creator_exe: [AtomicU8; 256],
        0x280 _unused_280: [AtomicU8; 352],
        /// The name of the kernel's clock source, NUL-padded; empty if its creator could not read
        /// it.
        0x3e0 pub clock_source: [AtomicU8; 16],
        /// Why `clock` is not 1: the number of a [`ClockReason`](crate::clock::ClockReason); 0 = it
        /// is, or that is not known.
        0x3f0 pub clock_reason: AtomicU32,
        0x3f4 _unused_3f4: [AtomicU8; 12],
        /// Of each CPU its NUMA node; 0xff = unknown.
        0x400 pub cpu_nodes: [AtomicU8; 1024],
        /// The next ticket.
        0x800 pub next_ticket: AtomicU64,
        0x808 _unused_808: [AtomicU8; 56],
        /// The level that was asked for: 0 none, 1 to 7, 8 all. That of the rules in force goes
        /// before it.
        0x840 pub level: AtomicU32,
        /// The level a sampler holds up just now; 0 = none.
        0x844 pub boost: AtomicU32,
        /// Process id of the sampler; 0 = none.
        0x848 pub sampler_pid: AtomicU32,
        0x84c _unused_84c: [AtomicU8; 4],
        /// Start of the sampler's process, in clock ticks since boot.
        0x850 pub sampler_start: AtomicU64,
        /// Inode of the sampler's pid namespace.
        0x858 pub sampler_namespace: AtomicU64,
        /// Inode of the sampler's time namespace.
        0x860 pub sampler_time_namespace: AtomicU64,
        0x868 _unused_868: [AtomicU8; 24],
        /// Events defined, event 0 included: ids below this are defined.
        0x880 pub defined: AtomicU32,
        0x884 _unused_884: [AtomicU8; 4],
        /// Bytes of the string table in use.
        0x888 pub strings_used: AtomicU64,
        /// Serial number of thread records handed out.
        0x890 pub thread_serial: AtomicU64,
        /// Serial number of process records handed out.
        0x898 pub process_serial: AtomicU64,
        /// Entries of important events handed out.
        0x8a0 pub important_taken: AtomicU64,
        /// Counts the changes of names and groups of threads.
        0x8a8 pub renames: AtomicU64,
        /// Bytes taken for interned texts.
        0x8b0 pub interned_taken: AtomicU64,
        0x8b8 _unused_8b8: [AtomicU8; 8],
        /// Events of handlers that interrupted their thread in joining, or in an append to its own
        /// lane.
        0x8c0 pub dropped_interrupted: AtomicU64,
        /// Events dropped because no lane was free.
        0x8c8 pub dropped_no_lane: AtomicU64,
        /// Events dropped because no chunk was free.
        0x8d0 pub dropped_no_chunk: AtomicU64,
        /// Events dropped because their id was beyond the definition table.
        0x8d8 pub dropped_bad_event: AtomicU64,
        /// Events dropped because their statement could not be defined at that time.
        0x8e0 pub dropped_undefined: AtomicU64,
        /// Important events dropped because there was no room left for them.
        0x8e8 pub dropped_important: AtomicU64,
        /// Texts to be interned that were copied, because there was no room left for them.
        0x8f0 pub not_interned: AtomicU64,
        /// Events dropped because the definition of their statement was refused.
        0x8f8 pub dropped_refused: AtomicU64,
        /// Anchors ever taken.
        0x900 pub anchors_taken: AtomicU64,
        /// Events that came after their process had closed the timeline.
        0x908 pub dropped_closed: AtomicU64,
        /// Events dropped because their thread or its process could not join.
        0x910 pub dropped_not_joined: AtomicU64,
        /// The serial number of the newest stretch of the wall clock; 0 = there is none.
        0x918 pub newest_stretch: AtomicU64,
        /// The ticks at which somebody began to add one; 0 = nobody does.
        0x920 pub stretch_begun: AtomicU64,
        /// Ticks at which the newest was last seen to hold.
        0x928 pub stretch_seen: AtomicU64,
        0x930 _unused_930: [AtomicU8; 16],
        /// The anchors kept: the first for good, the rest in turn.
        0x940 pub anchors: [Anchor; 16],
        /// Changes of the rules: says which of the two copies is in force.
        0xb40 pub rules_serial: AtomicU64,
        /// The same number once all enable bytes follow them.
        0xb48 pub rules_applied: AtomicU64,
        /// Which channels are on, as bits.
        0xb50 pub channels_on: AtomicU64,
        /// Which channels somebody has switched, as bits.
        0xb58 pub channels_switched: AtomicU64,
        0xb60 _unused_b60: [AtomicU8; 32],
        /// The names of the channels, as offsets in the string table; 0 = no further channel.
        0xb80 pub channels: [AtomicU32; 64],
        /// Which events are logged, in words, NUL-padded: in force while `rules_serial` is even.
        0xc80 pub rules_even: [AtomicU8; 447],
        /// The level that was asked for with them, and 1; 0 = `level` says it.
        0xe3f pub level_even: AtomicU8,
        /// The same while it is odd.
        0xe40 pub rules_odd: [AtomicU8; 447],
        /// The level that was asked for with those.
        0xfff pub level_odd: AtomicU8,
    }
}

record! {
    /// Where a region stands.
    Region: 24 {
        /// Bytes from the start of the file.
        0 pub offset: AtomicU64,
        /// Bytes of the region.
        8 pub length: AtomicU64,
        /// Bytes from one record to the next.
        16 pub stride: AtomicU64,
    }
}

record! {
    /// One moment, as the timeline's clock and the clocks of the system told it.
    Anchor: 32 {
        /// Which one it is, of all that were ever taken; 0 = none, or being written.
        0 pub serial: AtomicU64,
        /// Ticks.
        8 pub ticks: AtomicU64,
        /// CLOCK_MONOTONIC_RAW, in nanoseconds; 0 = not comparable.
        16 pub monotonic: AtomicU64,
        /// CLOCK_REALTIME, in nanoseconds since the epoch.
        24 pub realtime: AtomicU64,
    }
}

/// The most channels: each is a bit of a word.
pub const CHANNELS: usize = 64;

/// Bytes of the rules, with a NUL.
pub const RULES: usize = 447;

/// Bytes that the checksum covers: those that never change.
pub const CHECKED: usize = offset_of!(Header, next_ticket);

/// Bit of `flags`: the file is a snapshot, and nobody writes to it.
pub const FLAG_SNAPSHOT: u32 = 1;
/// Bit of `flags`: nobody said how many entries, and there was no room for the default.
pub const FLAG_REDUCED: u32 = 2;

const _: () = {
    assert!(size_of::<Header>() as u64 == super::HEADER_SIZE);
    assert!(offset_of!(Header, channels) + CHANNELS * 4 == offset_of!(Header, rules_even));
    assert!(offset_of!(Header, rules_even) + RULES + 1 == offset_of!(Header, rules_odd));
    // What changes at another rate is on another cache line.
    assert!(offset_of!(Header, next_ticket).is_multiple_of(64));
    assert!(offset_of!(Header, level) - offset_of!(Header, next_ticket) == 64);
};
