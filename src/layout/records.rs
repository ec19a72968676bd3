//! Offsets inside the records of the tables: definitions, threads, processes, lanes, chunks.

/// A definition: one event.
pub mod definition {
    /// Bytes of the record as this version writes it.
    pub const SIZE: u64 = 64;
    /// FNV-1a 64 of priority, category, NUL, message: finds an equal definition quickly.
    pub const HASH: u64 = 0;
    /// u32, offset of the category in the string table.
    pub const CATEGORY: u64 = 8;
    /// u32, offset of the message.
    pub const MESSAGE: u64 = 12;
    /// u32, offset of the source file's name; 0 = unknown.
    pub const FILE: u64 = 16;
    /// u32, line in that file; 0 = unknown.
    pub const LINE: u64 = 20;
    /// u16, channel; 0 = none.
    pub const CHANNEL: u64 = 24;
    /// u8, 1 (error) to 7 (library).
    pub const PRIORITY: u64 = 26;
    /// u8, 1 = message with arguments.
    pub const KIND: u64 = 27;
    /// u8, how many arguments.
    pub const ARGUMENTS: u64 = 28;
    /// 5 × u8, their types; 1 = signed 64-bit integer.
    pub const TYPES: u64 = 29;
}

/// A thread that logged.
pub mod thread {
    /// Bytes of the record.
    pub const SIZE: u64 = 64;
    /// u32, generation << 16 | slot: what entries carry. 0 while the record is being written.
    pub const IDENTITY: u64 = 0;
    /// u32, thread id of the kernel.
    pub const TID: u64 = 4;
    /// u32, process id.
    pub const PID: u64 = 8;
    /// u32, identity of its process while it lives; 0 when it ended.
    pub const LIVE: u64 = 12;
    /// u64, ticks of its first event.
    pub const START: u64 = 16;
    /// u64, ticks of its end; 0 while it runs, or when it was killed.
    pub const END: u64 = 24;
    /// 16 bytes, its name, NUL-padded.
    pub const NAME: u64 = 32;
    /// 16 bytes, the name of its process, NUL-padded.
    pub const PROCESS_NAME: u64 = 48;
}

/// A process that writes, or wrote.
pub mod process {
    /// Bytes of the record.
    pub const SIZE: u64 = 64;
    /// u32, generation << 16 | slot + 1; 0 = free, or being written.
    pub const IDENTITY: u64 = 0;
    /// u32, process id.
    pub const PID: u64 = 4;
    /// u64, start of the process, in clock ticks since boot (field 22 of /proc/PID/stat).
    pub const START: u64 = 8;
    /// u64, inode of its pid namespace.
    pub const PID_NAMESPACE: u64 = 16;
    /// u64, ticks when it joined.
    pub const JOINED: u64 = 24;
    /// 16 bytes, its name, NUL-padded.
    pub const NAME: u64 = 32;
    /// u64, ticks when it left; 0 while it writes, or when it was killed.
    pub const LEFT: u64 = 48;
    /// u64, inode of its time namespace.
    pub const TIME_NAMESPACE: u64 = 56;
}

/// A lane. One cache line, so that lanes never share one.
pub mod lane {
    /// Bytes of the record.
    pub const SIZE: u64 = 64;
    /// u64, the cursor.
    pub const CURSOR: u64 = 0;
    /// u64, process identity << 32 | thread identity; 0 = free.
    pub const OWNER: u64 = 8;
    /// u64, events dropped because their signal handler interrupted an append.
    pub const INTERRUPTED: u64 = 16;
    /// u64, in a snapshot: how many entries the lane had committed when it was taken; 0 elsewhere.
    pub const SAVED: u64 = 24;
}

/// A chunk. One cache line: neighbours are taken by different threads.
pub mod chunk {
    /// Bytes of the record.
    pub const SIZE: u64 = 64;
    /// u64, the state word.
    pub const STATE: u64 = 0;
    /// u64, how many entries its lane committed before this chunk.
    pub const BEFORE: u64 = 8;
    /// u64, the lane that wrote it.
    pub const LANE: u64 = 16;
    /// u64, the ticket that BEFORE and LANE belong to, written after them.
    pub const OPENED: u64 = 24;
}

// The offsets are those of docs/format.md and of tests/c/format.h: a change here is a change of the
// format.
const _: () = {
    assert!(definition::SIZE == 64 && definition::CATEGORY == 8 && definition::MESSAGE == 12);
    assert!(definition::FILE == 16 && definition::LINE == 20 && definition::CHANNEL == 24);
    assert!(definition::PRIORITY == 26 && definition::KIND == 27 && definition::ARGUMENTS == 28);
    assert!(definition::TYPES == 29 && definition::TYPES + 5 <= definition::SIZE);
    assert!(thread::SIZE == 64 && thread::TID == 4 && thread::PID == 8 && thread::LIVE == 12);
    assert!(thread::START == 16 && thread::END == 24 && thread::NAME == 32);
    assert!(thread::PROCESS_NAME == 48 && thread::PROCESS_NAME + 16 == thread::SIZE);
    assert!(process::SIZE == 64 && process::PID == 4 && process::START == 8);
    assert!(process::PID_NAMESPACE == 16 && process::JOINED == 24 && process::NAME == 32);
    assert!(process::LEFT == 48 && process::TIME_NAMESPACE == 56 && process::SIZE == 64);
    assert!(lane::SIZE == 64 && lane::CURSOR == 0 && lane::OWNER == 8 && lane::INTERRUPTED == 16);
    assert!(lane::SAVED == 24 && lane::SAVED + 8 <= lane::SIZE);
    assert!(chunk::SIZE == 64 && chunk::STATE == 0 && chunk::BEFORE == 8 && chunk::LANE == 16);
    assert!(chunk::OPENED == 24 && chunk::OPENED + 8 <= chunk::SIZE);
};
