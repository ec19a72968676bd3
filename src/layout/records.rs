//! The records of a timeline: structs of atomics, as they stand in the memory that processes share.
//!
//! All fields are atomics, because any process may change any byte at any time, also bytes without
//! a meaning. `record!` declares a struct. It does not compile where a field is not at the offset
//! that stands before it, or where there is a gap between two fields.

use crate::sync::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// A field of a record, for the test that compares them with docs/format.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordField {
    /// Its name. The names of bytes without a meaning begin with an underscore.
    pub name: &'static str,
    /// Where it stands in the record.
    pub offset: usize,
    /// Its type.
    pub kind: &'static str,
}

/// Made of atomics alone.
pub trait Atomics {}

impl Atomics for AtomicU8 {}
impl Atomics for AtomicU16 {}
impl Atomics for AtomicU32 {}
impl Atomics for AtomicU64 {}
impl<T: Atomics, const N: usize> Atomics for [T; N] {}

/// Declares a record of so many bytes, with the offset of each field before it.
macro_rules! record {
    ($(#[$about:meta])* $name:ident: $size:literal {
        $($(#[$said:meta])* $at:literal $seen:vis $field:ident: $kind:ty,)*
    }) => {
        $(#[$about])*
        #[repr(C)]
        pub struct $name {
            $($(#[$said])* $seen $field: $kind,)*
        }

        impl $crate::layout::records::Atomics for $name {}

        impl $name {
            /// Its fields, in order.
            pub const FIELDS: &[$crate::layout::records::RecordField] = &[
                $($crate::layout::records::RecordField {
                    name: stringify!($field),
                    offset: ::core::mem::offset_of!($name, $field),
                    kind: stringify!($kind),
                },)*
            ];
        }

        const _: () = {
            const fn size_of_atomics<T: $crate::layout::records::Atomics>() -> usize {
                ::core::mem::size_of::<T>()
            }
            let mut end = 0;
            $(
                assert!(::core::mem::offset_of!($name, $field) == $at && end == $at);
                end += size_of_atomics::<$kind>();
            )*
            assert!(end == $size && size_of_atomics::<$name>() == $size);
        };
    };
}
pub(super) use record;

record! {
    /// How the wall clock runs over some ticks.
    Stretch: 80 {
        /// Which one it is, of all that were ever added; 0 = none, or being written.
        0 pub serial: AtomicU64,
        /// Its first ticks.
        8 pub from: AtomicU64,
        /// How many ticks it is sure of.
        16 pub ticks: AtomicU64,
        /// Nanoseconds since the epoch at the first.
        24 pub unix: AtomicU64,
        /// Nanoseconds that pass in them.
        32 pub nanos: AtomicU64,
        /// Nanoseconds since the epoch at the first, as the clocks were read.
        40 pub realtime: AtomicU64,
        /// Ticks at which the stretch before was last seen to hold.
        48 pub seen: AtomicU64,
        /// Nanoseconds by which the wall clock was ahead of CLOCK_MONOTONIC, in two's complement;
        /// 0 = not known.
        56 pub offset: AtomicU64,
        /// The next ticket of a chunk when it was added.
        64 pub ticket: AtomicU64,
        /// The words before, combined by exclusive or.
        72 pub check: AtomicU64,
    }
}

record! {
    /// A definition: one event.
    Definition: 64 {
        /// FNV-1a 64 of priority, category, NUL, message: finds an equal definition quickly.
        0 pub hash: AtomicU64,
        /// Offset of the category in the string table.
        8 pub category: AtomicU32,
        /// Offset of the message.
        12 pub message: AtomicU32,
        /// Offset of the source file's name; 0 = unknown.
        16 pub file: AtomicU32,
        /// Line in that file; 0 = unknown.
        20 pub line: AtomicU32,
        24 _unused_24: [AtomicU8; 2],
        /// 1 (error) to 7 (library).
        26 pub priority: AtomicU8,
        /// 1 = message with arguments.
        27 pub kind: AtomicU8,
        /// How many arguments.
        28 pub arguments: AtomicU8,
        29 _unused_29: [AtomicU8; 5],
        /// [`FLAG_IMPORTANT`].
        34 pub flags: AtomicU8,
        /// What the rules say of it: 0 nothing, 1 to 9 a level, 10 log it, 11 do not.
        35 pub rule: AtomicU8,
        36 _unused_36: [AtomicU8; 4],
        /// Its channels, as bits.
        40 pub channels: AtomicU64,
        48 _unused_48: [AtomicU8; 16],
    }
}

/// In the time at which a process left: it was killed, and another one noticed then.
pub const FOUND_DEAD: u64 = 1 << 63;

/// Bit of a definition's `flags`: its events are important.
pub const FLAG_IMPORTANT: u8 = 1;
/// Bit of a thread's `flags`: its name is the system's, which may have changed since.
pub const FLAG_SYSTEM_NAME: u16 = 1;
/// Bytes of a thread's name in its record, with at least one NUL.
pub const THREAD_NAME: usize = 40;
/// Bytes of a thread's group in its record, with at least one NUL.
pub const THREAD_GROUP: usize = 32;

record! {
    /// A thread that logged.
    Thread: 128 {
        /// Generation << 16 | slot: what entries carry. 0 while the record is being written. No
        /// other thread of the timeline ever has it.
        0 pub identity: AtomicU32,
        /// Thread id of the kernel.
        4 pub tid: AtomicU32,
        /// Process id.
        8 pub pid: AtomicU32,
        /// Identity of its process; 0 when it ended. It ended as well if that process did, or if
        /// the process with that slot has another identity by now.
        12 pub live: AtomicU32,
        /// Ticks of its first event.
        16 pub start: AtomicU64,
        /// Ticks of its end, or when another thread found that its process had ended; 0 before. No
        /// meaning while it runs.
        24 pub end: AtomicU64,
        /// The name of its process, NUL-padded.
        32 pub process_name: [AtomicU8; 16],
        /// The generation of the slot: that of its last thread, or of one that was killed before it
        /// had an identity. A slot with the last one gets no more threads.
        48 pub generation: AtomicU16,
        /// [`FLAG_SYSTEM_NAME`].
        50 pub flags: AtomicU16,
        /// Counts the changes of the name and the group. Odd while they are being written.
        52 pub renames: AtomicU32,
        /// Its name, NUL-padded.
        56 pub name: [AtomicU8; 40],
        /// Its group, NUL-padded.
        96 pub group: [AtomicU8; 32],
    }
}

record! {
    /// A process that writes, or wrote. Its executable is on cache lines of its own, which nobody
    /// reads who looks whether it lives.
    Process: 384 {
        /// Generation << 16 | slot + 1; 0 = free, or being written.
        0 pub identity: AtomicU32,
        /// Process id.
        4 pub pid: AtomicU32,
        /// Start of the process, in clock ticks since boot (field 22 of /proc/PID/stat).
        8 pub start: AtomicU64,
        /// Inode of its pid namespace.
        16 pub pid_namespace: AtomicU64,
        /// Ticks when it joined.
        24 pub joined: AtomicU64,
        /// Its name, NUL-padded.
        32 pub name: [AtomicU8; 16],
        /// Ticks when it left; 0 while it writes, or when it was killed. With [`FOUND_DEAD`], when
        /// another process found that it had been killed.
        48 pub left: AtomicU64,
        /// Inode of its time namespace.
        56 pub time_namespace: AtomicU64,
        /// The path of its executable, NUL-padded; empty = not known.
        64 pub executable: [AtomicU8; 256],
        /// Bytes of that file; 0 = not known, as the two below.
        320 pub size: AtomicU64,
        /// When it was written, in nanoseconds since the epoch.
        328 pub modified: AtomicU64,
        /// Its inode.
        336 pub inode: AtomicU64,
        /// Its SHA-1; zeros = not known.
        344 pub sha1: [AtomicU8; 20],
        364 _unused: [AtomicU8; 20],
    }
}

record! {
    /// A lane. One cache line, so that lanes never share one.
    Lane: 64 {
        /// The cursor.
        0 pub cursor: AtomicU64,
        /// Process identity << 32 | thread identity; 0 = free.
        8 pub owner: AtomicU64,
        /// In a snapshot: how many entries the lane had committed when it was taken; 0 elsewhere.
        16 pub saved: AtomicU64,
        24 _unused: [AtomicU8; 40],
    }
}

record! {
    /// A chunk. One cache line: neighbours are taken by different threads.
    Chunk: 64 {
        /// The state word.
        0 pub state: AtomicU64,
        /// How many entries its lane committed before this chunk.
        8 pub before: AtomicU64,
        /// The lane that wrote it.
        16 pub lane: AtomicU64,
        /// The ticket that `before` and `lane` belong to, written after them.
        24 pub opened: AtomicU64,
        32 _unused: [AtomicU8; 32],
    }
}
