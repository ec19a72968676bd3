//! How an archive is kept: when a new file is begun, which ones are removed, and when they are made
//! durable.

use std::time::Duration;

/// When written frames are made to survive the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// After each write.
    Every,
    /// When a file is finished, and at the end.
    #[default]
    Rotate,
    /// When the system sees fit.
    Never,
}

/// How an archive is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keeping {
    /// A new file is begun before one has more bytes than this. A file has more only if it holds a
    /// single event with all that the event refers to, or while no other file can be begun.
    pub rotate_size: Option<u64>,
    /// A new file is begun when one was written for so long, and has events.
    pub rotate_every: Option<Duration>,
    /// All files together have at most so many bytes: the oldest go. The one being written stays.
    pub keep_size: Option<u64>,
    /// When it is made to survive the machine.
    pub fsync: Fsync,
}

impl Keeping {
    /// Whether it takes a directory.
    pub fn rotates(&self) -> bool {
        self.rotate_size.is_some() || self.rotate_every.is_some() || self.keep_size.is_some()
    }
}
