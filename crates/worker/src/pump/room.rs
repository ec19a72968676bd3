//! Waits for room to open what is recorded to, as a recorder waits for room to write.

use std::time::{Duration, Instant};

use timeline_archive::{ArchiveOutput, OutputTrouble};

use crate::error::{Error, Result};
use crate::options::WorkerOptions;

/// Time before the next attempt.
const PAUSE: Duration = Duration::from_millis(200);

/// An output for which there is no room yet: the disk is full, or read-only.
pub struct RoomWait {
    options: WorkerOptions,
    trouble: OutputTrouble,
    since: Instant,
}

impl RoomWait {
    /// Opens the output; or begins to wait, if there is no room for it.
    ///
    /// # Errors
    /// All that do not pass by themselves.
    pub fn open(
        options: WorkerOptions,
    ) -> Result<std::result::Result<Box<ArchiveOutput>, Box<RoomWait>>> {
        match options.output() {
            Ok(output) => Ok(Ok(Box::new(output))),
            Err(Error::Archive(error)) if error.waits_for_room() => Ok(Err(Box::new(RoomWait {
                trouble: OutputTrouble::of("open", options.place(), error),
                options,
                since: Instant::now(),
            }))),
            Err(error) => Err(error),
        }
    }

    /// Likewise, once more, if the last attempt was not just now.
    ///
    /// # Errors
    /// Those of [`RoomWait::open`].
    pub fn again(
        self: Box<RoomWait>,
    ) -> Result<std::result::Result<Box<ArchiveOutput>, Box<RoomWait>>> {
        match self.since.elapsed() < PAUSE {
            true => Ok(Err(self)),
            false => RoomWait::open(self.options),
        }
    }

    /// Why it waits.
    pub fn trouble(&self) -> &OutputTrouble {
        &self.trouble
    }
}
