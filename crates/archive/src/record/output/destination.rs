//! Says what takes the frames of a recorder: files on a disk, or a connection to somewhere else.

use std::io;
use std::time::{Duration, Instant};

use super::current::FileChange;
use super::trouble::OutputTrouble;
use crate::error::Result;
use crate::format::preamble::Preamble;
use crate::record::resume::{ResumeState, RunState};

/// When another file is to be begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileLimits {
    /// The largest size of a file, in bytes.
    pub size: Option<u64>,
    /// The time after which another file is begun, if the current one has events.
    pub age: Option<Duration>,
}

/// What the clock of another machine shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceClock {
    /// When it was read.
    pub taken: Instant,
    /// What it showed then, in nanoseconds since the epoch.
    pub unix_nanos: u64,
    /// By how much that may be wrong in either direction, in nanoseconds.
    pub error: u64,
    /// The kernel's boot id of that machine.
    pub boot_id: String,
    /// Its name.
    pub host: String,
}

/// Takes the frames of an archive, in one file after the other, wherever these are.
///
/// No call waits for a disk to have room, or for another machine to take anything: what cannot be
/// taken now stays with the caller, who asks again.
pub trait Destination: Send {
    /// Goes to a run, and returns how far it is recorded there. `None` for a new one.
    ///
    /// # Errors
    /// `Io` of the kind `WouldBlock` as long as that is not known.
    fn begin_run(&mut self, run: &Preamble) -> Result<Option<RunState>>;

    /// When another file is to be begun.
    fn limits(&self) -> FileLimits;

    /// Bytes of whole frames in the current file.
    fn size(&self) -> u64;

    /// Takes whole frames, as many as there is room for. Returns the number of bytes.
    ///
    /// # Errors
    /// If there is room for none of them at present.
    fn write(&mut self, frames: &[u8]) -> io::Result<usize>;

    /// Whether nothing can be written at present.
    fn is_full(&self) -> bool;

    /// Whether nothing will ever be written again: waiting is of no use.
    fn is_over(&self) -> bool;

    /// Begins another file. Everything that belongs to this one has been written. Returns whether
    /// that worked; if it does not, the current file stays.
    fn begin_next(&mut self) -> bool;

    /// Whether another file may be begun: a failed attempt was not just now.
    fn may_begin_next(&self) -> bool;

    /// The change of the file, if somebody else changed it. Asked before each look into the ring.
    fn change(&mut self) -> Option<FileChange>;

    /// Goes on after a change, and returns what is in the file then. `None` if nothing can be
    /// written yet.
    fn reopen(&mut self, change: FileChange) -> Option<ResumeState>;

    /// Whether what was taken is of no use any more, because what it goes on with is gone there.
    /// Nothing is taken until [`Destination::begin_run`] says where to go on.
    fn is_cut_off(&self) -> bool;

    /// Removes what stands behind the last whole frame, because a recorder goes on there.
    fn cut_off_rest(&mut self);

    /// Whether everything that was taken has arrived, as far as this destination promises it.
    fn is_settled(&mut self) -> bool;

    /// Bytes that lie on this machine until another one has them. They outlive this process.
    fn waiting(&self) -> u64 {
        0
    }

    /// Ends a run: makes what was written as durable as this destination promises. If `waits` is
    /// false, it only does what can be done at once.
    fn finish(&mut self, waits: bool);

    /// The events in frames that were taken since the last call, and will never arrive.
    fn take_lost(&mut self) -> u64;

    /// What the clock of the machine shows that the frames go to, if it was read since the last
    /// call. `None` for what stays on this machine.
    fn take_clock(&mut self) -> Option<ReferenceClock> {
        None
    }

    /// The step that fails at present.
    fn trouble(&self) -> Option<&OutputTrouble>;

    /// Whether somebody waits for new events, so that they should come at once.
    fn is_watched(&self) -> bool;
}
