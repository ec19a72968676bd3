//! Decides when another file is begun, wherever the files are.

use std::io;
use std::time::Instant;

use super::current::FileChange;
use super::destination::Destination;
use crate::record::resume::ResumeState;

/// The next write, after the bytes that are waiting.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NextWrite {
    /// Events that were read together. Another file is begun if this one is too old.
    Batch,
    /// A record of at most so many bytes.
    Record(u64),
    /// A block that begins with a record of at most so many bytes. If less than an eighth of the
    /// file is left, another file is begun, because a block of few events compresses badly.
    Block(u64),
    /// The introduction of a run, of at most so many bytes.
    Run(u64),
}

/// A destination, and the age and the introduction of its current file.
pub(crate) struct Rotation {
    destination: Box<dyn Destination>,
    /// Bytes at the beginning of the file, before any event.
    introduction: u64,
    begun: Instant,
    /// Bytes written to all files.
    written: u64,
}

impl Rotation {
    /// Of a destination whose current file was begun at this time.
    pub fn new(destination: Box<dyn Destination>, begun: Instant) -> Rotation {
        Rotation {
            destination,
            introduction: 0,
            begun,
            written: 0,
        }
    }

    /// The destination.
    pub fn destination(&mut self) -> &mut dyn Destination {
        &mut *self.destination
    }

    /// The same, to look at.
    pub fn present(&self) -> &dyn Destination {
        &*self.destination
    }

    /// Bytes written to all files.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The bytes that the file may still get; `u64::MAX` if that has no limit.
    pub fn room(&self) -> u64 {
        let most = self.destination.limits().size;
        most.map_or(u64::MAX, |most| {
            most.saturating_sub(self.destination.size())
        })
    }

    /// Whether another file is to be begun before `next`. From `least` to `most` bytes are waiting,
    /// and belong to this file. A file without events stays the current one, except that the
    /// introduction of a run needs only some bytes before it.
    pub fn is_due(&self, (least, most): (u64, u64), next: NextWrite) -> bool {
        let limits = self.destination.limits();
        let has_room = |more: u64| most.saturating_add(more) <= self.room();
        let fits = match next {
            NextWrite::Batch => limits.age.is_none_or(|age| self.begun.elapsed() < age),
            NextWrite::Record(more) | NextWrite::Run(more) => has_room(more),
            NextWrite::Block(more) => has_room(more.max(limits.size.unwrap_or(0) / 8)),
        };
        let may_stay_alone = match next {
            NextWrite::Run(_) => 0,
            _ => self.introduction,
        };
        let size = self.destination.size().saturating_add(least);
        !fits && size > may_stay_alone && self.destination.may_begin_next()
    }

    /// Counts `bytes` bytes as written before any event, unless the file has events.
    pub fn introduce(&mut self, bytes: u64) {
        if self.destination.size() == self.introduction {
            self.introduction += bytes;
        }
    }

    /// Begins another file. Everything that belongs to this one has been written. Returns whether
    /// that worked.
    pub fn begin_next(&mut self) -> bool {
        let has_begun = self.destination.begin_next();
        if has_begun {
            self.begin();
        }
        has_begun
    }

    /// Opens the file again after a change, and returns its contents. If that fails, nothing is
    /// written until a later attempt succeeds.
    pub fn reopen(&mut self, change: FileChange) -> Option<ResumeState> {
        let found = self.destination.reopen(change);
        if found.is_some() {
            self.begin();
        }
        found
    }

    /// A file was begun just now.
    pub fn begin(&mut self) {
        self.introduction = 0;
        self.begun = Instant::now();
    }

    /// Writes whole frames, as many as there is room for.
    pub fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        let done = self.destination.write(frames)?;
        self.written += done as u64;
        Ok(done)
    }
}
