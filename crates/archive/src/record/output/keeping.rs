//! Holds the options of an archive that concern its files.
//! They say when a new file is begun, which files are removed, and when files are made durable.

use std::time::Duration;

/// When written frames are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// After each write.
    Every,
    /// When a file is finished, and at the end.
    #[default]
    Rotate,
    /// Never by the recorder.
    Never,
}

/// Options of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keeping {
    /// The largest size of a file: a new one is begun before. A file is larger only if it holds a
    /// single event with all that the event refers to, or while no other file can be begun.
    pub rotate_size: Option<u64>,
    /// The time after which a new file is begun, if the current one has events.
    pub rotate_every: Option<Duration>,
    /// The largest size of all files together: the oldest are removed. The current file stays.
    pub keep_size: Option<u64>,
    /// When the archive is made durable.
    pub fsync: Fsync,
}

impl Keeping {
    /// Whether these options need a directory.
    pub fn rotates(&self) -> bool {
        self.rotate_size.is_some() || self.rotate_every.is_some() || self.keep_size.is_some()
    }
}
