//! The state of a timeline: sizes, fill, writers, losses.
//!
//! All is Relaxed: counts and marks of one moment or the next, each true by itself.

use std::fs::File;

use crate::clock::{ClockKind, ClockReason, ClockStep};
use crate::event::{Channel, Level, Rules};
use crate::layout::words::Cursor;
use crate::layout::{Bound, Header};
use crate::ring::roster::{self, WriterProcess};
use crate::ring::{Storage, important};
use crate::segment::TimelineMapping;
use crate::source::RingContents;
use crate::sync::{AtomicU64, Ordering};

/// The state of a timeline.
#[derive(Debug, Clone)]
pub struct Info {
    /// Whether it is a snapshot.
    pub snapshot: bool,
    /// Format version, major and minor.
    pub version: (u16, u16),
    /// Size of the file in bytes.
    pub size: u64,
    /// Entries of the ring.
    pub entries: u64,
    /// Whether `entries` is less than the default of 1,048,576, because there was too little room
    /// for the default when the timeline was created. False if its creator asked for a number of
    /// entries.
    pub reduced: bool,
    /// What left too little room for the default, and the bytes that there was room for, if the
    /// timeline says so.
    pub bound: Option<(Bound, u64)>,
    /// Entries of one chunk.
    pub chunk_entries: u32,
    /// Chunks.
    pub chunks: u32,
    /// Lanes that belong to CPUs.
    pub cpu_lanes: u32,
    /// Lanes that threads can take.
    pub thread_lanes: u32,
    /// Lanes of CPUs that threads have logged through.
    pub cpu_lanes_in_use: u32,
    /// Lanes that threads have taken, because they lack restartable sequences or a lane for their
    /// CPU.
    pub thread_lanes_in_use: u32,
    /// The level that was asked for.
    pub level: Level,
    /// Which events are logged, beginning with that level.
    pub rules: Rules,
    /// The channels, in the order in which they were defined.
    pub channels: Vec<Channel>,
    /// The level that a sampler asks for at the moment; none otherwise.
    pub boost: Level,
    /// Whether `boost` was left by a sampler that died. It is cleared when a process changes the
    /// level, defines an event, opens the timeline for writing, or reads it with the command.
    pub boost_is_stale: bool,
    /// The clock that ticks are read from.
    pub clock: ClockKind,
    /// Why it is not the time stamp counter, if that is known.
    pub clock_reason: Option<ClockReason>,
    /// The kernel's clock source as its creator found it; empty if it is not known.
    pub clock_source: String,
    /// Ticks per second, if known.
    pub ticks_per_second: Option<f64>,
    /// Moments at which the wall clock was set: see [`Attached::steps`](crate::Attached::steps).
    pub steps: Vec<ClockStep>,
    /// When it was created, in nanoseconds since the epoch.
    pub created_unix_nanos: u64,
    /// The process that created it.
    pub creator_pid: u32,
    /// The executable of that process.
    pub creator_exe: String,
    /// The kernel's boot id.
    pub boot_id: String,
    /// The processes that write, and those that were killed while they wrote.
    pub writers: Vec<WriterProcess>,
    /// Entries ever written: an event takes one, or several with a payload. Entries that fill up a
    /// chunk count as well.
    pub entries_written: u64,
    /// Entries in the ring now, counted in the same way.
    pub entries_held: u64,
    /// Entries that important events take. They are not among the others.
    pub important_used: u32,
    /// Entries that there is room for in all.
    pub important_capacity: u32,
    /// Events that could not be logged.
    pub dropped: DropCounts,
    /// Threads that have ever logged.
    pub threads: u64,
    /// Of how many of them the timeline remembers the names and the process; those that ended first
    /// are forgotten. [`Attached::forgotten`](crate::Attached::forgotten) counts their events.
    pub thread_capacity: u32,
    /// Definitions in the table.
    pub definitions: u32,
    /// Most definitions that the table can hold.
    pub definition_capacity: u32,
    /// Bytes of the string table in use.
    pub string_bytes: u64,
    /// Bytes of the string table.
    pub string_capacity: u64,
    /// Interned texts.
    pub interned: u32,
    /// How many there can be.
    pub interned_most: u32,
    /// Bytes that they take of those kept for them.
    pub interned_bytes: u64,
    /// Bytes that are kept for them.
    pub interned_capacity: u64,
    /// Texts to be interned that were copied, because there was no room left for them.
    pub not_interned: u64,
    /// Ticks of the newest event.
    pub newest_ticks: Option<u64>,
    /// Ticks of the oldest event.
    pub oldest_ticks: Option<u64>,
    /// No event since these ticks is missing. `None` if nothing was ever overwritten. Later than
    /// the newest event if even that one may be missing.
    pub complete_since: Option<u64>,
    /// The same in nanoseconds since the epoch, if that is known.
    pub complete_since_unix_nanos: Option<u64>,
    /// Entries in the ring that are older than that. Other entries of their time may be missing.
    pub entries_older: u64,
}

/// Events that could not be logged, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DropCounts {
    /// Logged by a signal handler that interrupted a log call of its own thread.
    pub interrupted: u64,
    /// Logged by a thread for which no lane was free.
    pub no_lane: u64,
    /// Logged by a thread that could not join, or whose process could not: the process table was
    /// full, there was no memory or no free descriptor, it was a child of vfork, or the kernel
    /// forbade it to read the clock.
    pub not_joined: u64,
    /// Logged while every chunk was the current chunk of some lane.
    pub no_chunk: u64,
    /// Logged with an event id beyond the definition table. (An id inside of the table without a
    /// definition is just disabled.)
    pub bad_event: u64,
    /// Logged by a call site of C or C++ (`TIMELINE_PRINTF`) that could not be defined at that
    /// time: another process held the lock of the timeline, or the system refused. One in 1,024 of
    /// its calls tries again.
    pub undefined: u64,
    /// Important events for which there was no room left.
    pub important: u64,
    /// Logged by a statement whose definition was refused: its message and its arguments do not
    /// agree, or it cannot be defined at all. The timeline has an event of the category `timeline`
    /// that says which statement, and why.
    pub refused: u64,
    /// Logged by a thread after its process had closed the timeline, as the end of a C or C++
    /// program does. Known when that process has ended.
    pub closed: u64,
}

impl DropCounts {
    /// The sum of all reasons.
    pub fn total(&self) -> u64 {
        [
            self.interrupted,
            self.no_lane,
            self.not_joined,
            self.no_chunk,
            self.bad_event,
            self.undefined,
            self.important,
            self.refused,
            self.closed,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

/// `file` is for its locks; `None` if the host program has closed it.
pub(crate) fn info(
    segment: &TimelineMapping,
    file: Option<&File>,
    ticks_per_second: Option<f64>,
    unix_nanos: impl Fn(u64) -> Option<u64>,
) -> Info {
    let (ring, geometry, facts) = (&segment.ring, &segment.geometry, &segment.facts);
    let held = RingContents::of(ring);
    let live = !facts.snapshot;
    Info {
        snapshot: facts.snapshot,
        version: facts.version,
        size: geometry.total,
        entries: geometry.entries,
        reduced: facts.reduced,
        bound: facts.bound,
        chunk_entries: geometry.chunk_entries,
        chunks: geometry.chunks,
        cpu_lanes: geometry.cpu_lanes,
        thread_lanes: geometry.thread_lanes,
        cpu_lanes_in_use: count_cpu_lanes(segment),
        thread_lanes_in_use: count_thread_lanes(segment),
        level: segment.definitions.level(),
        rules: segment.definitions.rules(),
        channels: segment.definitions.channels(),
        boost: segment.definitions.boost(),
        boost_is_stale: segment.definitions.boost() != Level::NONE
            && segment.sampler(file).is_none(),
        clock: facts.clock,
        clock_reason: facts.clock_reason,
        clock_source: facts.clock_source.clone(),
        ticks_per_second,
        steps: Vec::new(),
        created_unix_nanos: facts.created_unix,
        creator_pid: facts.creator_pid,
        creator_exe: facts.creator_exe.clone(),
        boot_id: uuid(&facts.boot_id),
        writers: roster::writers(&segment.map, geometry, live, file),
        entries_written: held.written,
        entries_held: held.entries,
        important_used: important::taken(ring),
        important_capacity: geometry.important_entries(),
        dropped: dropped(segment),
        threads: count(segment, |header| &header.thread_serial),
        thread_capacity: geometry.threads,
        definitions: segment.definitions.count() - 1,
        definition_capacity: geometry.definitions - 1,
        string_bytes: segment.definitions.strings_used(),
        string_capacity: geometry.strings().length,
        interned: segment.definitions.interned.count(),
        interned_most: segment.definitions.interned.most(),
        interned_bytes: segment.definitions.interned.taken(),
        interned_capacity: segment.definitions.interned.capacity(),
        not_interned: count(segment, |header| &header.not_interned),
        newest_ticks: held.newest,
        oldest_ticks: held.oldest,
        complete_since: held.complete_since,
        complete_since_unix_nanos: held.complete_since.and_then(unix_nanos),
        entries_older: held.older,
    }
}

fn count_cpu_lanes(segment: &TimelineMapping) -> u32 {
    let ring = &segment.ring;
    let used = |lane: &u32| Cursor(ring.cursor(*lane).load(Ordering::Relaxed)).ticket() != 0;
    (0..segment.geometry.cpu_lanes).filter(used).count() as u32
}

fn count_thread_lanes(segment: &TimelineMapping) -> u32 {
    let ring = &segment.ring;
    let owner = |lane| ring.lane(lane).field(|lane| &lane.owner);
    let taken = |lane: &u32| owner(*lane).load(Ordering::Relaxed) != 0;
    (segment.geometry.cpu_lanes..ring.lanes())
        .filter(taken)
        .count() as u32
}

fn count(segment: &TimelineMapping, field: fn(&Header) -> &AtomicU64) -> u64 {
    segment.map.header().field(field).load(Ordering::Relaxed)
}

fn dropped(segment: &TimelineMapping) -> DropCounts {
    let count = |field| count(segment, field);
    DropCounts {
        interrupted: count(|header| &header.dropped_interrupted),
        no_lane: count(|header| &header.dropped_no_lane),
        not_joined: count(|header| &header.dropped_not_joined),
        no_chunk: count(|header| &header.dropped_no_chunk),
        bad_event: count(|header| &header.dropped_bad_event),
        undefined: count(|header| &header.dropped_undefined),
        important: count(|header| &header.dropped_important),
        refused: count(|header| &header.dropped_refused),
        closed: count(|header| &header.dropped_closed),
    }
}

/// A boot id as the kernel prints it.
fn uuid(id: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (i, byte) in id.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
