//! A timeline in the program that writes it: define, log, priority, sample, save.
//!
//! A timeline is created or joined by options.rs, as environment.rs says. interning.rs logs events
//! with interned texts, enabled.rs those of statements, refused.rs tells of statements whose
//! definition was refused, span.rs has spans and their guards, and close.rs closes while threads
//! may log. The C ABI, Lua and the command are thin over this room and attached/.

mod close;
mod enabled;
mod environment;
mod interning;
mod options;
mod refused;
mod span;

pub use options::Options;
pub use span::{AsyncSpan, Span, SpanEvents, SpanValues};

use std::path::Path;
use std::time::Duration;

use crate::control::{Control, Sampler};
use crate::error::{Error, Result};
use crate::event::{
    Attributes, Catalogue, CatalogueEvent, EventId, FieldType, Level, Module, Priority, Rules,
    typed_message,
};
use crate::layout::MAX_ARGUMENTS;
use crate::layout::words::FLAG_BACKTRACE;
use crate::ring::handle::HandleIndex;
use crate::ring::log::{NamingError, RingLog};
use crate::ring::processes;
use crate::ring::threads::ThreadNames;
use crate::save::{self, SaveTotals};
use crate::segment::TimelineMapping;
use crate::shm::{self, LockFile, SharedFile};

/// Whether events are logged at all: not with the feature `off`.
pub const ON: bool = !cfg!(feature = "off");

/// A timeline open for writing by any number of threads at once.
///
/// Dropping it detaches this process. The timeline itself stays, and others can read or keep it,
/// until [`unlink`](crate::unlink).
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
    // Before `control`: it leaves the process table before the memory is unmapped.
    log: Box<RingLog>,
    control: Control,
}

impl Timeline {
    /// Creates a timeline of 1,048,576 entries (74.8 MiB) and a string table of 1 MiB. If that does
    /// not fit three times, for itself and those of two earlier runs, or would take more than a
    /// quarter of the memory that the control groups of this process leave it, it gets the largest
    /// power of two that does, at least 65,536 entries, and the same at each start.
    /// [`Info::reduced`](crate::Info::reduced) says so, and [`Info::bound`](crate::Info::bound)
    /// why. If others took the space meanwhile, the timeline of the run before the last is removed
    /// first.
    ///
    /// A name with one leading slash and no other (`/timeline`) is a POSIX shared-memory object;
    /// any other name is a file. If the name was used before and all its writers have ended, their
    /// timeline is kept as `NAME.prev`, and replaces the one kept there before. If `NAME.prev` is
    /// something else, or a timeline that we must not replace or that has a writer, theirs is kept
    /// as `NAME.prev-` and a number. [`Attached::former`](crate::Attached::former) finds it.
    ///
    /// # Errors
    /// `InUse` while other processes write to that name, with their names; `NoSpace` if not even
    /// 65,536 entries fit, with the space needed and the space free; `NotATimeline` if the file is
    /// something else, which is not changed; `BadName`; `Io`.
    pub fn new(path: impl AsRef<Path>) -> Result<Timeline> {
        Timeline::options().create(path)
    }

    /// Like [`new`](Timeline::new), with `entries` (a power of two from 256 to 2^30, 64 bytes each)
    /// and a string table of `string_table_size` bytes (1,024 to 2^31; it has room for one
    /// definition per 64 bytes, 65,536 at most).
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

    /// Joins the timeline at `path` as a further writer, if it belongs to root or to our own user;
    /// see [`Options::trust_user`] for others.
    ///
    /// # Errors
    /// `NotFound`; `NotTrusted` for the timeline of another user, or one that all users may write
    /// to; `ReadOnly` for a snapshot; `ProcessTableFull`; `TooManyOpen`; those of a file that is
    /// damaged or not a timeline; `Locked`; `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Timeline> {
        Timeline::options().open(path)
    }

    /// Joins the timeline at `path` if it has writers, and otherwise creates it like
    /// [`new`](Timeline::new). A timeline that an earlier run left is not joined, but kept as
    /// `NAME.prev`. If several processes do this at once, one creates the timeline and the others
    /// join it.
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

    /// Options for other sizes, for sharing with a group, and for joining timelines of other users.
    pub fn options() -> Options {
        Options::new()
    }

    fn join(segment: TimelineMapping, lifecycle: LockFile, index: HandleIndex) -> Result<Timeline> {
        let path = segment.name.given().to_path_buf();
        let fail = |e| Error::io("open", &path, e);
        let file = lifecycle.file().try_clone().map_err(fail)?;
        let file = SharedFile::new(file, segment.name.c_file()).map_err(fail)?;
        // An opening of its own without locks: the lifecycle lock ends with this call.
        if let Ok(own) = file.reopen().map_err(fail)?.into_own() {
            file.replace(own);
        }
        let (geometry, clock) = (segment.geometry, segment.facts.clock);
        let log = RingLog::join(index, &segment.shared(), &geometry, clock, file);
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
        // Another opening of its own, so that a child forked now does not keep the lifecycle lock
        // for as long as it runs.
        let file = match log.file().reopen().map_err(fail)?.into_own() {
            Ok(own) => own,
            Err(_) => lifecycle.file().try_clone().map_err(fail)?,
        };
        let mut control = Control::over(segment, file)?;
        environment::follow(&mut control);
        Ok(Timeline { log, control })
    }

    /// Defines an event. The same category, priority and message give the same id in every thread
    /// and process.
    ///
    /// `category` is one line. `message` may have several: words of its first line that start with
    /// `$` (letters, digits, `_`) are the arguments, at most 64; further lines explain the event.
    /// Takes a lock and may take microseconds: define once, log often.
    ///
    /// # Errors
    /// `TooManyArguments`; `BadText` for an empty text, one with NUL, a category of several lines;
    /// `StringTableFull`; `DefinitionTableFull`; `Locked`; `Io`. Nothing is then defined.
    pub fn define(&self, category: &str, priority: Priority, message: &str) -> Result<EventId> {
        self.define_with(category, priority, message, &Attributes::default())
    }

    /// Like [`define`](Timeline::define), with attributes. They are part of the definition: the
    /// same message with other attributes is another event.
    ///
    /// # Errors
    /// Those of `define`; `BadChannel`; `ChannelTableFull`.
    ///
    /// # Example
    /// ```
    /// use timeline::{Attributes, Priority, Timeline};
    /// # let path = format!("/timeline-doc-channels-{}", std::process::id());
    /// # let timeline = Timeline::with_size(&path, 1024, 4096)?;
    /// let both = Attributes { channels: "itv|bbc", ..Attributes::default() };
    /// let event = timeline.define_with("news", Priority::Info, "on air", &both)?;
    /// timeline.channel("itv", true)?;
    /// assert!(!timeline.enabled(event));
    /// timeline.channel("bbc", true)?;
    /// assert!(timeline.enabled(event));
    /// # timeline::unlink(&path)?;
    /// # Ok::<(), timeline::Error>(())
    /// ```
    pub fn define_with(
        &self,
        category: &str,
        priority: Priority,
        message: &str,
        attributes: &Attributes,
    ) -> Result<EventId> {
        self.log.follow_name();
        self.control.define(category, priority, message, attributes)
    }

    /// Defines all events of a [catalogue](Catalogue), a text file. See docs/events.md.
    ///
    /// # Errors
    /// `Io` and `Catalogue` if the file cannot be read, or has a mistake: then nothing
    /// is defined. Those of [`define_with`](Timeline::define_with): then events that come before in
    /// the file are defined.
    pub fn define_file(&self, path: impl AsRef<Path>) -> Result<Vec<(CatalogueEvent, EventId)>> {
        let events = Catalogue::read(path)?.sound()?;
        let define = |event: CatalogueEvent| {
            let attributes = Attributes {
                channels: &event.channels,
                important: event.important,
            };
            let id =
                self.define_with(&event.category, event.priority, &event.message, &attributes)?;
            Ok((event, id))
        };
        events.into_iter().map(define).collect()
    }

    /// Logs an event with up to four arguments, if it is enabled.
    ///
    /// Takes no lock, allocates nothing and never blocks. It makes system calls only for the first
    /// event of a thread, and for one in 1,024 events without a free lane. Safe in signal handlers.
    /// Without restartable sequences, an event from a handler that interrupted this very call in
    /// its own thread is dropped and counted. Arguments beyond those of the definition are not
    /// shown. Those with texts or arrays, or more than four, are for
    /// [`log_payload`](Timeline::log_payload): here they show as `?` or `…`, without an error. With
    /// the feature `off` it does nothing.
    #[inline]
    pub fn log<const N: usize>(&self, event: EventId, args: [i64; N]) {
        const { assert!(N <= MAX_ARGUMENTS, "an event has at most four arguments") };
        if ON {
            let mut all = [0; MAX_ARGUMENTS];
            all[..N].copy_from_slice(&args);
            self.log.log(event.0, all);
        }
    }

    /// Defines the event of one call site with a message with arguments, whose types are `given`.
    ///
    /// An argument without a type in the message gets that of the call. `file` and `line` are the
    /// place of the call site. They distinguish it from others with the same text. If all arguments
    /// are numbers and there are at most four, [`Timeline::log`] logs their words, else
    /// [`Timeline::log_payload`]. Waits for the lock like [`Timeline::define_printf`].
    ///
    /// # Errors
    /// `ArgumentCount`, `ArgumentType` and `UnknownFieldType`; those of
    /// [`Timeline::define_with`].
    pub fn define_event(
        &self,
        category: &str,
        priority: Priority,
        message: &str,
        given: &[FieldType<'static>],
        (file, line): (&str, u32),
        attributes: &Attributes,
    ) -> Result<EventId> {
        let message = typed_message(message, given)?;
        self.control
            .define_event(category, priority, &message, (file, line), attributes)
    }

    /// Defines the event of one call site with a format of printf.
    ///
    /// `file` and `line` are the place of the call site. They distinguish it from others with the
    /// same text. `attributes` as for [`Timeline::define_with`]. Its values are in the payload: see
    /// [`Timeline::log_payload`].
    ///
    /// Waits for the lock like `define`, up to some seconds. After a wait in vain, this and
    /// [`Timeline::define_module`] wait only about 2 milliseconds each, until one of them gets the
    /// lock again. Otherwise each call site would stop the program for seconds. A forked child
    /// waits for seconds again.
    ///
    /// # Errors
    /// Those of [`Timeline::define_with`]. `Locked` and `Io` may be temporary; see
    /// [`Timeline::dropped_undefined`].
    pub fn define_printf(
        &self,
        category: &str,
        priority: Priority,
        format: &str,
        (file, line): (&str, u32),
        attributes: &Attributes,
    ) -> Result<EventId> {
        self.log.follow_name();
        self.control
            .define_printf(category, priority, format, (file, line), attributes)
    }

    /// Counts an event that was dropped because its call site could not be defined
    /// ([`DropCounts::undefined`](crate::DropCounts::undefined)), if the level or any rule may have
    /// it logged. Takes no lock and makes no system call; safe in signal handlers.
    pub fn dropped_undefined(&self, priority: Priority) {
        if self.control.segment().definitions.may_allow(priority) {
            self.log.undefined();
        }
    }

    /// How many important events were dropped so far, by all processes, because there was no room
    /// left for them: see [`Options::important_entries`]. A program that logs important events can
    /// ask for this afterwards. Takes no lock; safe in signal handlers.
    pub fn dropped_important(&self) -> u64 {
        self.log.dropped_important()
    }

    /// Records an object that this process has loaded, so that readers can name addresses in its
    /// call stacks after its end.
    ///
    /// # Errors
    /// Those of [`Timeline::define_printf`].
    pub fn define_module(&self, module: &Module) -> Result<()> {
        self.control.define_module(&module.encode())
    }

    /// Logs an event with a payload, if it is enabled.
    ///
    /// `words` is the payload as the definition lays it out: see [`Layout`](crate::Layout).
    /// `backtrace` says that the number of return addresses and the addresses come first. Words
    /// beyond [`Timeline::payload_capacity`] are cut off. As safe as [`Timeline::log`], and as fast
    /// except for the copying.
    #[inline]
    pub fn log_payload(&self, event: EventId, words: &[u64], backtrace: bool) {
        if ON {
            let flags = if backtrace { FLAG_BACKTRACE } else { 0 };
            self.log.log_payload(event.0, flags, words);
        }
    }

    /// Words of payload that an event can have: 191, or fewer in rings of less than 32,768
    /// entries.
    pub fn payload_capacity(&self) -> usize {
        self.log.payload_capacity()
    }

    /// Whether an event is logged at the moment. Worth calling if its arguments are costly to get.
    #[inline]
    pub fn enabled(&self, event: EventId) -> bool {
        self.log.enabled(event.0)
    }

    /// Distinguishes it from the other timelines that this process has opened.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.log.number()
    }

    /// The enable table and its length, one byte per event id. For checks inlined into other
    /// languages. Valid as long as this timeline is open.
    pub fn enable_table(&self) -> (*const u8, u32) {
        self.log.enable_table()
    }

    /// Logs events up to `level` from now on, in every process that writes to this timeline. Ends
    /// all rules so far.
    ///
    /// # Errors
    /// `Io` if the timeline cannot be locked.
    pub fn priority(&self, level: Level) -> Result<()> {
        self.control.priority(level)
    }

    /// Adds rules about which events are logged; see [`Control::switch`].
    ///
    /// # Errors
    /// Those of [`Control::switch`].
    pub fn switch(&self, rules: &Rules) -> Result<()> {
        self.control.switch(rules)
    }

    /// Switches a channel on or off; see [`Control::channel`].
    ///
    /// # Errors
    /// Those of [`Control::channel`].
    pub fn channel(&self, name: &str, on: bool) -> Result<()> {
        self.control.channel(name, on)
    }

    /// Follows an argument of the command line, if it is `-trace=SELECTION` or
    /// `--trace=SELECTION`, as in `-trace=itv,bbc:packet`; returns whether it is. See
    /// [`Selection`](crate::Selection).
    ///
    /// # Errors
    /// Those of [`Control::select`]; `BadRule`, `BadLevel` and `BadChannel` for a selection that
    /// cannot be read.
    pub fn option(&self, argument: &str) -> Result<bool> {
        let option = argument
            .strip_prefix('-')
            .map(|rest| rest.strip_prefix('-').unwrap_or(rest));
        let Some(selection) = option.and_then(|option| option.strip_prefix("trace=")) else {
            return Ok(false);
        };
        self.control.select(&selection.parse()?)?;
        Ok(true)
    }

    /// The rules in force, beginning with the level.
    pub fn rules(&self) -> Rules {
        self.control.rules()
    }

    /// The level, as last set.
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

    /// Saves a snapshot. Every entry in it is whole, although writers go on.
    ///
    /// # Errors
    /// `Io`, for lack of space as well. Then an existing file stays as it was.
    pub fn save(&self, file: impl AsRef<Path>) -> Result<SaveTotals> {
        save::save_own(self.control.segment(), file.as_ref())
    }

    /// The control of this timeline.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Names the calling thread, and puts it in a group of threads. Readers show this name instead
    /// of that of the system, for all events of the thread that are still in the ring.
    ///
    /// A name has at most 39 bytes of UTF-8, a group 31; longer ones are cut between characters,
    /// and both end at a NUL. Without a name (`None`, or an empty one), the thread has that of the
    /// system again, and without a group it is in none. May be called before the thread's first
    /// event, and any number of times. A forked child has the system's name.
    ///
    /// A thread that is not named here has the name that the system has for it. Readers ask the
    /// kernel while the thread runs, and again about once in a second. In the timeline is the name
    /// of its first event, of the last event that it defined, of its last call of this without a
    /// name, or of its end. That is for threads that were killed, and for readers in other
    /// containers.
    ///
    /// # Errors
    /// `ThreadTableFull`; `ThreadNotJoined`; `ThreadBusy` in a signal handler that interrupted its
    /// thread in this call, or in its first event.
    pub fn thread<'a>(
        &self,
        name: impl Into<Option<&'a str>>,
        group: impl Into<Option<&'a str>>,
    ) -> Result<()> {
        let [name, group] = [name.into(), group.into()].map(Option::unwrap_or_default);
        self.thread_of_bytes(name.as_bytes(), group.as_bytes())
    }

    /// Like [`Timeline::thread`], with bytes that need not be UTF-8. Readers replace those that are
    /// not.
    ///
    /// # Errors
    /// Those of [`Timeline::thread`].
    pub fn thread_of_bytes(&self, name: &[u8], group: &[u8]) -> Result<()> {
        let named = self.log.name_thread(&ThreadNames::new(name, group));
        named.map_err(|reason| {
            let path = self.path().to_path_buf();
            match reason {
                NamingError::Interrupted => Error::ThreadBusy { path },
                NamingError::NotJoined => Error::ThreadNotJoined { path },
                NamingError::NoRecord => Error::ThreadTableFull {
                    path,
                    limit: self.control.segment().geometry.threads,
                },
            }
        })
    }

    /// The name by which it was opened.
    pub fn path(&self) -> &Path {
        self.control.path()
    }
}
