//! A timeline as a program writes it: define, log, priority, sample, save.

mod options;

pub use options::Options;

use std::path::Path;
use std::time::Duration;

use crate::control::{Control, Sampler};
use crate::error::{Error, Result};
use crate::event::{EventId, Level, Module, Priority};
use crate::layout::MAX_ARGUMENTS;
use crate::layout::words::{FLAG_BACKTRACE, FLAG_PAYLOAD};
use crate::ring::handle::Index;
use crate::ring::local::MAX_OPEN;
use crate::ring::log::Log;
use crate::ring::processes;
use crate::save::{self, Saved};
use crate::segment::Segment;
use crate::shm::{self, LockFile, Name, SharedFile};

/// A timeline open for writing, by any number of threads at once.
///
/// Dropping it detaches this process. The timeline itself stays, for others to read or to be kept
/// as evidence, until [`unlink`](crate::unlink).
///
/// # Example
/// ```
/// use timeline::{Priority, Timeline};
/// # let path = format!("/timeline-doc-writer-{}", std::process::id());
/// # let path = path.as_str();
/// let timeline = Timeline::new(path)?; // "/timeline", say
/// let message = "processed $tcp, $udp, and $other";
/// let processed = timeline.define("example", Priority::Trace, message)?;
/// timeline.log(processed, [10, 20, 3]);
/// timeline.log(processed, [50, 60, 8]);
/// # timeline::unlink(path)?;
/// # Ok::<(), timeline::Error>(())
/// ```
pub struct Timeline {
    // Before `control`: it leaves the process table before the memory goes.
    log: Box<Log>,
    control: Control,
}

impl Timeline {
    /// Creates a timeline of 1,048,576 entries (66 MiB in all) and a string table of 1 MiB. If that
    /// does not fit, as in the 64 MiB of shared memory of a container, it gets the largest power of
    /// two that fits, of at least 65,536 entries; [`Info::reduced`](crate::Info::reduced) says so.
    ///
    /// One leading slash and no other (`/timeline`) names a POSIX shared-memory object; anything
    /// else is a file. If the name was used before and all its writers have ended, their timeline
    /// is kept as `NAME.prev`, in the place of the one before. If something else has that name, or
    /// a timeline that is not ours to replace, it is kept as `NAME.prev-` and a number.
    /// [`Attached::former`](crate::Attached::former) finds it.
    ///
    /// # Errors
    /// `InUse` while others write to that name, with their names; `NoSpace` if not even 65,536
    /// entries fit, with the space needed and the space free; `NotATimeline` if the file is
    /// something else, which is left alone; `BadName`; `Io`.
    pub fn new(path: impl AsRef<Path>) -> Result<Timeline> {
        Timeline::options().create(path)
    }

    /// As [`new`](Timeline::new), with `entries` (a power of two from 256 to 2^30, 64 bytes each)
    /// and a string table of `string_table_size` bytes (1,024 to 2^31; one event may be defined for
    /// every 64 of them, 65,536 at most).
    ///
    /// # Errors
    /// Those of `new`, `NoSpace` if that size does not fit, and `BadSize`.
    pub fn with_size(
        path: impl AsRef<Path>,
        entries: u64,
        string_table_size: u64,
    ) -> Result<Timeline> {
        let options = Timeline::options().entries(entries);
        options.string_table_size(string_table_size).create(path)
    }

    /// Joins the living timeline at `path` as a further writer, if it belongs to root or to our own
    /// user; see [`Options::trust_user`] for others.
    ///
    /// # Errors
    /// `NotFound`; `NotTrusted` for the timeline of another user, or one that everybody may write
    /// to; `ReadOnly` for a snapshot; `ProcessTableFull`; `TooManyOpen`; those of a damaged or
    /// foreign file; `Locked`; `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Timeline> {
        Timeline::options().open(path)
    }

    /// Joins the timeline at `path` if somebody writes to it, and creates it otherwise, as
    /// [`new`](Timeline::new) does. A timeline that an earlier run has left is not joined, but kept
    /// as `NAME.prev`. If several processes do this at once, one creates the timeline and the
    /// others join it.
    ///
    /// # Errors
    /// Those of `new` and [`open`](Timeline::open), without `InUse` and `NotFound`.
    ///
    /// # Example
    /// ```
    /// use timeline::Timeline;
    /// # let path = format!("/timeline-doc-shared-{}", std::process::id());
    /// # let path = path.as_str();
    /// let first = Timeline::open_or_create(path)?; // "/timeline", say
    /// let second = Timeline::open_or_create(path)?; // in any other process: the same
    /// # timeline::unlink(path)?;
    /// # Ok::<(), timeline::Error>(())
    /// ```
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Timeline> {
        Timeline::options().open_or_create(path)
    }

    /// For other sizes, for sharing with a group, and for joining timelines of other users.
    pub fn options() -> Options {
        Options::new()
    }

    fn join(segment: Segment, lifecycle: LockFile, index: Index) -> Result<Timeline> {
        let path = segment.name.given().to_path_buf();
        let fail = |e| Error::io("open", &path, e);
        let file = lifecycle.file().try_clone().map_err(fail)?;
        let file = SharedFile::new(file, segment.name.c_file()).map_err(fail)?;
        // An opening of its own, on which nothing is locked: the lifecycle lock goes with this
        // call.
        if let Ok(own) = file.reopen().map_err(fail)?.into_own() {
            file.replace(own);
        }
        let (geometry, clock) = (segment.geometry, segment.facts.clock);
        let log = Log::join(index, &segment.shared(), &geometry, clock, file);
        let Some(log) = log else {
            let file = lifecycle.file();
            if processes::is_held_by_readers(&geometry, file) {
                let owner = shm::owner(file).map_err(|e| Error::io("examine", &path, e))?;
                return Err(Error::Locked { path, owner });
            }
            return Err(Error::ProcessTableFull {
                path,
                capacity: geometry.processes,
            });
        };
        // One of its own, too: a child that is forked now must not have the lifecycle lock for as
        // long as it runs.
        let file = match log.file().reopen().map_err(fail)?.into_own() {
            Ok(own) => own,
            Err(_) => lifecycle.file().try_clone().map_err(fail)?,
        };
        let control = Control::over(segment, file)?;
        Ok(Timeline { log, control })
    }

    /// Defines an event; the same category, priority and message give the same event in every
    /// thread and process.
    ///
    /// `category` is one line. `message` may have several: words of its first line that start with
    /// `$` (letters, digits, `_`) are the arguments, at most four; further lines explain the event.
    /// Takes a lock and may take microseconds: define once, log often.
    ///
    /// # Errors
    /// `TooManyArguments`; `BadText` for an empty text, one with NUL, a category of several lines;
    /// `StringTableFull`; `DefinitionTableFull`; `Locked`; `Io`. Nothing is then defined.
    pub fn define(&self, category: &str, priority: Priority, message: &str) -> Result<EventId> {
        self.control.define(category, priority, message)
    }

    /// Logs an event with up to four arguments, if it is enabled.
    ///
    /// Takes no lock, allocates nothing, never blocks, and makes system calls only in a thread's
    /// first event, and in one of 1,024 for which there is no lane. Safe in signal handlers. Where
    /// there are no restartable sequences, an event from a handler that interrupted this very call
    /// in its own thread is dropped, and counted. Arguments beyond those of the definition are not
    /// shown.
    #[inline]
    pub fn log<const N: usize>(&self, event: EventId, args: [i64; N]) {
        const { assert!(N <= MAX_ARGUMENTS, "an event has at most four arguments") };
        let mut all = [0; MAX_ARGUMENTS];
        all[..N].copy_from_slice(&args);
        self.log.log(event.0, all);
    }

    /// Defines the event of one statement that logs in the manner of printf.
    ///
    /// `format`: of printf; `file` and `line`: where the statement stands, which tells it from
    /// others that say the same. Its values travel in the payload: see [`Timeline::log_payload`].
    ///
    /// Waits for the lock as `define` does, up to some seconds. Once that was in vain, this and
    /// [`Timeline::define_module`] wait for some 2 milliseconds, until one of them gets the lock,
    /// so that a program does not stand still for seconds with each of its statements. A forked
    /// child begins anew.
    ///
    /// # Errors
    /// As for [`Timeline::define`]. `Locked` and `Io` may pass; see
    /// [`Timeline::dropped_undefined`].
    pub fn define_printf(
        &self,
        category: &str,
        priority: Priority,
        format: &str,
        file: &str,
        line: u32,
    ) -> Result<EventId> {
        self.control
            .define_printf(category, priority, format, (file, line))
    }

    /// Counts an event that was lost because its statement could not be defined just then
    /// ([`Dropped::undefined`](crate::Dropped::undefined)), if the level would have it logged. No
    /// lock and no system call; safe in signal handlers.
    pub fn dropped_undefined(&self, priority: Priority) {
        let level = self.control.segment().definitions.effective_level();
        if level.allows(priority) {
            self.log.undefined();
        }
    }

    /// Keeps what is needed to read call stacks of this process after its end: an object that it
    /// has loaded.
    ///
    /// # Errors
    /// As for [`Timeline::define_printf`].
    pub fn define_module(&self, module: &Module) -> Result<()> {
        self.control.define_module(&module.encode())
    }

    /// Logs an event with a payload, if it is enabled.
    ///
    /// `values`: msgpack, one value after the other. `backtrace`: whether an array of return
    /// addresses comes first. What exceeds [`Timeline::payload_capacity`] is cut off. As safe as
    /// [`Timeline::log`], and as quick but for what is to be copied.
    pub fn log_payload(&self, event: EventId, values: &[u8], backtrace: bool) {
        let flags = FLAG_PAYLOAD | if backtrace { FLAG_BACKTRACE } else { 0 };
        self.log.log_payload(event.0, flags, values);
    }

    /// Bytes of payload that an event can have: 1,526, and fewer in rings of less than 32,768
    /// entries.
    pub fn payload_capacity(&self) -> usize {
        self.log.payload_capacity()
    }

    /// Whether an event is logged just now: worth asking before its arguments are costly to get.
    #[inline]
    pub fn enabled(&self, event: EventId) -> bool {
        self.log.enabled(event.0)
    }

    /// The enable table, one byte per event, and its length; for checks inlined into other
    /// languages. Valid as long as this timeline is open.
    pub fn enable_table(&self) -> (*const u8, u32) {
        self.log.enable_table()
    }

    /// Logs events up to `level` from now on, in every process that writes to this timeline.
    ///
    /// # Errors
    /// `Io` if the timeline cannot be locked.
    pub fn priority(&self, level: Level) -> Result<()> {
        self.control.priority(level)
    }

    /// The level, as it was last set.
    pub fn level(&self) -> Level {
        self.control.level()
    }

    /// Raises the level in bursts; see [`Control::sample`].
    ///
    /// # Errors
    /// Those of [`Control::sample`].
    pub fn sample(&self, level: Level, for_: Duration, every: Duration) -> Result<Sampler> {
        self.control.sample(level, for_, every)
    }

    /// Saves a snapshot, in which every entry is whole although others go on writing.
    ///
    /// # Errors
    /// `Io`, also for lack of space; a file that was there stays as it was.
    pub fn save(&self, file: impl AsRef<Path>) -> Result<Saved> {
        save::save(self.control.segment(), file.as_ref())
    }

    /// What may be done to it from any process.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The name as it was given.
    pub fn path(&self) -> &Path {
        self.control.path()
    }
}

fn claim_index(name: &Name) -> Result<Index> {
    let doing = "get memory that a fork wipes (Linux 4.14 or later) for";
    Index::claim()
        .map_err(|e| Error::io(doing, name.given(), e))?
        .ok_or(Error::TooManyOpen { limit: MAX_OPEN })
}
