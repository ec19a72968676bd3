//! A timeline attached read-only: in use, left behind or saved.
//!
//! frames.rs names addresses in call stacks, joined_processes.rs and processes.rs say who joined
//! with which executables, and times.rs has the times of events. own.rs attaches to what this
//! process writes to. last_name.rs tests a thread that ends while it is looked up.

#[cfg(feature = "symbols")]
mod frames;
mod joined_processes;
#[cfg(all(test, not(loom)))]
mod last_name;
mod own;
mod processes;
mod times;

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::clock::{Interpolation, TimeBase};
use crate::error::{Error, Result};
use crate::event::{Definition, EventId, Level, Module};
use crate::info::{self, Info};
use crate::layout::DEFAULT_STRING_TABLE;
use crate::lifecycle;
use crate::ring::system_names::SystemNames;
use crate::ring::threads::{self, Thread};
use crate::save::{self, SaveTotals};
use crate::segment::TimelineMapping;
use crate::shm::{self, Name, SharedFile};
use crate::source::{
    self, Event, Events, Follow, FollowFrom, Frame, Order, PlacedEvent, RingContents, Source,
    ThreadRef,
};
use crate::sync::{AtomicU64, Ordering};
use processes::ProcessCache;
use times::ClockTimes;

/// A timeline attached for reading: one in use, one that a killed program left, or a snapshot.
///
/// Attaching changes nothing in it, and needs neither a daemon nor the program that writes.
///
/// # Example
/// ```
/// use timeline::{Attached, Order, Priority, Timeline};
/// # let path = format!("/timeline-doc-attached-{}", std::process::id());
/// # let path = path.as_str();
/// # let timeline = Timeline::with_size(path, 1024, 4096)?;
/// # let got = timeline.define("net", Priority::Info, "got $bytes")?;
/// # timeline.log(got, [1500]);
/// let attached = Attached::open(path)?;
/// for event in attached.events(Order::OldestFirst) {
///     let definition = attached.definition(event.id).expect("was defined before it was logged");
///     let mut text = String::new();
///     definition.render(&event.args, &mut text)?;
///     assert_eq!(text, "got bytes(1500)");
/// }
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Attached {
    segment: TimelineMapping,
    file: SharedFile,
    times: ClockTimes,
    system_names: Mutex<SystemNames>,
    definitions: Vec<OnceLock<Box<Definition>>>,
    /// Bytes of text that may still be copied into definitions.
    text_left: AtomicU64,
    #[cfg(feature = "symbols")]
    frames: frames::FrameNames,
    processes: ProcessCache,
}

/// How many times the size of the string table may be copied into definitions, which share their
/// categories. Without a limit, a damaged table could use one endless string again and again.
const SHARING: u64 = 16;

/// System calls for a brief reading of a file that another user could cut short: some seconds'
/// worth. A ring of 2^27 entries needs fewer.
const CALLS_OF_A_GLANCE: u64 = 1 << 22;

impl Attached {
    /// Attaches to the timeline or file at `path`.
    ///
    /// # Errors
    /// `NotFound`; `NotATimeline`, `Unfinished`, `Version`, `Truncated` and `Corrupt` say what is
    /// wrong with the file; `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Attached> {
        let name = Name::new(path.as_ref())?;
        let (segment, file) = lifecycle::attach(&name)?;
        Attached::of(segment, file)
    }

    fn of(segment: TimelineMapping, file: File) -> Result<Attached> {
        let name = &segment.name;
        let file = SharedFile::new(file, name.c_file())
            .map_err(|e| Error::io("examine", name.given(), e))?;
        let mut definitions = Vec::new();
        definitions.resize_with(segment.geometry.definitions as usize, OnceLock::new);
        Ok(Attached {
            times: ClockTimes::of(&segment),
            system_names: Mutex::new(SystemNames::default()),
            definitions,
            text_left: AtomicU64::new(
                SHARING * segment.geometry.strings().length.max(DEFAULT_STRING_TABLE),
            ),
            segment,
            file,
            #[cfg(feature = "symbols")]
            frames: frames::FrameNames::default(),
            processes: ProcessCache::default(),
        })
    }

    /// The name by which it was opened.
    pub fn path(&self) -> &Path {
        self.segment.name.given()
    }

    /// Whether this is a snapshot, which has no writers.
    pub fn is_snapshot(&self) -> bool {
        self.segment.facts.snapshot
    }

    /// Whether the name leads to another file by now: the program was restarted, or the timeline
    /// removed.
    pub fn replaced(&self) -> bool {
        !self.file.is_at(self.segment.name.file())
    }

    /// The last run of the program before this one, as [`Timeline::new`](crate::Timeline::new) kept
    /// it at `NAME.prev`, or at `NAME.prev-` and a number. If there are several, it is the last
    /// that belongs to the owner of this one, or else the last of all.
    ///
    /// Any user may put files at such names. So a file is left out if it belongs to a user other
    /// than the owner of this one, root and the user of this process, or if all users may write to
    /// it. At most 64 of the numbered files are opened.
    pub fn former(&self) -> Option<Attached> {
        if self.is_snapshot() {
            return None;
        }
        lifecycle::attach_kept(&self.segment.name, self.user())
            .filter_map(|(segment, file)| Attached::of(segment, file).ok())
            .filter(|former| former.is_before(self))
            .max_by_key(|former| (former.user() == self.user(), former.run()))
    }

    /// When it was created, and by which process.
    fn run(&self) -> (u64, u32) {
        let facts = &self.segment.facts;
        (facts.created_unix, facts.creator_pid)
    }

    /// Whether this is of an earlier run than `next`, which has or had the name.
    fn is_before(&self, next: &Attached) -> bool {
        let (run, after) = (self.run(), next.run());
        // While the name belongs to `next`, the other run cannot be later, whatever the clock said.
        run.0 < after.0 || (run != after && !next.replaced())
    }

    /// The user that owns it.
    fn user(&self) -> Option<u32> {
        let owner = self.file.read(shm::owner).ok()?;
        owner.ok().map(|owner| owner.user)
    }

    /// An error if the file was cut short while it was read, or if reading was given up.
    ///
    /// A file that another user could cut short is not mapped but read piece by piece. Lost parts
    /// read as if they had never been written. So do parts of a ring that its owner makes so large,
    /// or changes so often, that reading it takes longer than for any intact ring. Call this after
    /// reading: if it fails, events, definitions and [`info`](Attached::info) may be incomplete.
    ///
    /// Such a file is read through a descriptor. If this program closes the descriptor, as daemons
    /// close all that they do not know, the file is opened again by its name. It is lost if the
    /// name leads to another file by then.
    ///
    /// # Errors
    /// `Truncated`; `Io` if the file is lost, or if reading was given up.
    pub fn intact(&self) -> Result<()> {
        self.segment.intact()
    }

    /// Its state: sizes, fill, writers, losses.
    pub fn info(&self) -> Info {
        self.keep_clock();
        self.segment.look(|| self.unbounded_info())
    }

    /// The same for listing all timelines: an error if it would take long.
    ///
    /// Another user can create a ring that takes no memory, but half a minute to read.
    pub(crate) fn brief_info(&self) -> Result<Info> {
        let map = &self.segment.map;
        let info = map.at_most(CALLS_OF_A_GLANCE, || self.unbounded_info());
        self.intact().map(|()| info)
    }

    fn unbounded_info(&self) -> Info {
        let time = |ticks| self.unix_nanos(ticks);
        let info = |file: Option<&File>| {
            let info = info::info(&self.segment, file, self.ticks_per_second(), time);
            let steps = self.steps();
            Info { steps, ..info }
        };
        let asked = self.file.read(|file| info(Some(file)));
        // Without the descriptor, all but the locks can be read.
        asked.unwrap_or_else(|_| info(None))
    }

    /// The level up to which events are logged.
    pub fn level(&self) -> Level {
        self.segment.definitions.level()
    }

    /// Its events, merged over all threads by time.
    pub fn events(&self, order: Order) -> Events<'_> {
        Events::new(&self.segment, order)
    }

    /// Its important events, each with its number, in the order of time. Other readers give them as
    /// well, before all others.
    #[doc(hidden)]
    pub fn important(&self) -> Vec<PlacedEvent> {
        self.segment
            .look(|| source::important_placed(&self.segment))
    }

    /// Its new events.
    pub fn follow(&self, from: FollowFrom) -> Follow<'_> {
        Follow::new(&self.segment, from)
    }

    /// Its new events from given positions on: each has a lane, and the number of its next entry.
    /// Lanes without a position start with their first entry. See [`Follow::positions`].
    pub fn follow_at(&self, positions: &[(u32, u64)]) -> Follow<'_> {
        Follow::at(&self.segment, positions)
    }

    /// The anchors in the timeline that count: ticks, and nanoseconds since the epoch at them.
    pub fn anchors(&self) -> Vec<(u64, u64)> {
        let facts = &self.segment.facts;
        let base = TimeBase::new(facts.clock, facts.tick_rate, self.segment.anchors());
        let anchors = base.anchors().iter();
        anchors.map(|a| (a.ticks, a.realtime)).collect()
    }

    /// The NUMA node of each CPU from 0 on, up to the last that is known; 255 is not known.
    pub fn nodes(&self) -> Vec<u64> {
        let node = |cpu| self.segment.node(cpu).map(u64::from);
        let known = (0..=u16::MAX).take_while(|cpu| node(*cpu).is_some());
        known.filter_map(node).collect()
    }

    /// The definition of an event; `None` if there is none.
    pub fn definition(&self, id: EventId) -> Option<&Definition> {
        let cached = self.definitions.get(id.0 as usize)?;
        if let Some(definition) = cached.get() {
            return Some(definition);
        }
        // Relaxed: only an approximate bound.
        let left = self.text_left.load(Ordering::Relaxed);
        if left == 0 {
            return None;
        }
        let definition = self.segment.definitions.get(id)?;
        let text = definition.category.len() + definition.message.len() + definition.channels.len();
        let left = left.saturating_sub(text as u64);
        self.text_left.store(left, Ordering::Relaxed);
        Some(cached.get_or_init(|| Box::new(definition)))
    }

    /// All definitions so far.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        (1..self.segment.definitions.count()).filter_map(|id| self.definition(EventId(id)))
    }

    /// Whether the events of a definition are logged at present: as the level, the rules and its
    /// channels say.
    pub fn is_enabled(&self, id: EventId) -> bool {
        self.segment.definitions.is_enabled(id)
    }

    /// The objects that its processes have loaded. Call stacks are read with them.
    pub fn modules(&self) -> impl Iterator<Item = Module> {
        let modules = self.segment.definitions.modules();
        modules.filter_map(|text| Module::parse(&text))
    }

    /// The thread that logged an event; `None` if its record was taken by another thread since.
    ///
    /// If its name is that of the system and it still runs, the kernel tells the name, and
    /// [`Attached::renames`] notices when it changes.
    pub fn thread(&self, event: &Event) -> Option<Thread> {
        self.thread_of(event.thread, event.tid)
    }

    fn thread_of(&self, thread: ThreadRef, tid: u32) -> Option<Thread> {
        let (map, geometry) = (&self.segment.map, &self.segment.geometry);
        let mut recorded = threads::lookup(map, geometry, thread.0)
            // Only in damaged memory does the record of an identity have another thread id.
            .filter(|recorded| recorded.thread.tid == tid)?;
        if !self.is_snapshot() {
            let mut names = self.system_names();
            if let Some(name) = names.of(map, geometry, &recorded) {
                recorded.thread.name = Some(name.to_string());
            }
        }
        recorded.thread.executable = self.processes.executable(map, geometry, &recorded);
        Some(recorded.thread)
    }

    /// How many events it holds, important ones included, of threads that are forgotten: see
    /// [`Info::thread_capacity`]. Reads all events if there were more threads than that.
    pub fn forgotten(&self) -> u64 {
        let info = self.info();
        if info.threads <= info.thread_capacity.into() {
            return 0;
        }
        let mut known = HashMap::new();
        let is_forgotten = |event: &Event| {
            let is_forgotten = || self.thread(event).is_none();
            *(known.entry((event.thread, event.tid))).or_insert_with(is_forgotten)
        };
        self.events(Order::OldestFirst).filter(is_forgotten).count() as u64
    }

    /// Changes if [`Attached::thread`] may give other names than before. The kernel is asked again
    /// for the names of the system, at most once in a second.
    pub fn renames(&self) -> u64 {
        let (map, geometry) = (&self.segment.map, &self.segment.geometry);
        let by_programs = threads::renames(map);
        by_programs.wrapping_add(self.system_names().changes(map, geometry))
    }

    fn system_names(&self) -> MutexGuard<'_, SystemNames> {
        let names = self.system_names.lock();
        names.unwrap_or_else(PoisonError::into_inner)
    }

    /// Nanoseconds since the epoch at `ticks`; `None` if they are not known.
    ///
    /// An event has the same time for each reader, whenever it is asked. It is that of the wall
    /// clock, which whoever logs compares with the ticks now and then. Where nobody had done so
    /// for long, this call does, and writes that to the timeline if it may: otherwise two readers
    /// can differ by some nanoseconds there. See [`Attached::steps`] for a clock that was set.
    pub fn unix_nanos(&self, ticks: u64) -> Option<u64> {
        let share = || self.share_clock();
        self.times.unix_nanos(&self.segment, ticks, share)
    }

    /// The times around `ticks`, if more than one can be told in the same way.
    pub fn interpolation(&self, ticks: u64) -> Option<Interpolation> {
        let share = || self.share_clock();
        self.times.interpolation(&self.segment, ticks, share)
    }

    /// Makes sure that the times of all events so far are known.
    fn keep_clock(&self) {
        let newest = self
            .segment
            .look(|| RingContents::of(&self.segment.ring).newest);
        if let Some(newest) = newest {
            let share = || self.share_clock();
            self.times.keep(&self.segment, newest, share);
        }
    }

    /// Saves a snapshot; see [`Timeline::save`](crate::Timeline::save).
    ///
    /// # Errors
    /// `Io`, for lack of space as well. Then an existing file stays as it was.
    pub fn save(&self, file: impl AsRef<Path>) -> Result<SaveTotals> {
        self.keep_clock();
        save::save(
            &self.segment,
            file.as_ref(),
            None,
            &self.processes.digests(&self.segment),
        )
    }

    /// Saves a snapshot to a new file, which has no name before it is whole. A file of this name is
    /// not replaced.
    ///
    /// # Errors
    /// `Io`, of the kind `AlreadyExists` if there is a file of this name.
    ///
    /// # Example
    /// ```
    /// use timeline::{Attached, Timeline};
    /// # let path = format!("/timeline-doc-save-new-{}", std::process::id());
    /// # let path = path.as_str();
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("snapshot.timeline");
    /// let timeline = Timeline::with_size(path, 1024, 4096)?; // "/timeline", say
    /// let at = Attached::open(path)?;
    /// at.save_new(&file)?;
    /// assert!(at.save_new(&file).is_err());
    /// # timeline::unlink(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_new(&self, file: impl AsRef<Path>) -> Result<SaveTotals> {
        self.keep_clock();
        save::save_new(
            &self.segment,
            file.as_ref(),
            &self.processes.digests(&self.segment),
        )
    }

    /// Saves a snapshot with only those events for which `is_wanted` returns true, also of the
    /// important ones. Events that it leaves out are not missing in the snapshot: the numbers of
    /// the others, and the gaps between them, are those of this timeline.
    ///
    /// # Errors
    /// Those of [`Attached::save`].
    ///
    /// # Example
    /// ```
    /// use timeline::{Attached, Order, Priority, Timeline};
    /// # let path = format!("/timeline-doc-save-only-{}", std::process::id());
    /// # let path = path.as_str();
    /// # let file = std::env::temp_dir().join(path.trim_start_matches('/'));
    /// let timeline = Timeline::with_size(path, 1024, 4096)?; // "/timeline", say
    /// let got = timeline.define("net", Priority::Info, "got $bytes")?;
    /// timeline.log(got, [100]);
    /// timeline.log(got, [1500]);
    ///
    /// let saved = Attached::open(path)?.save_only(&file, |event| event.args[0] > 1000)?;
    /// assert_eq!((saved.events, saved.left_out), (1, 1));
    /// let large = Attached::open(&file)?;
    /// assert_eq!(large.events(Order::OldestFirst).count(), 1);
    /// # std::fs::remove_file(&file)?;
    /// # timeline::unlink(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_only(
        &self,
        file: impl AsRef<Path>,
        is_wanted: impl FnMut(&Event) -> bool,
    ) -> Result<SaveTotals> {
        self.keep_clock();
        let wanted: save::EventFilter = Box::new(is_wanted);
        save::save(
            &self.segment,
            file.as_ref(),
            Some(wanted),
            &self.processes.digests(&self.segment),
        )
    }
}

impl Source for Attached {
    fn definition(&self, id: EventId) -> Option<&Definition> {
        Attached::definition(self, id)
    }

    fn thread_of(&self, thread: ThreadRef, tid: u32) -> Option<Thread> {
        Attached::thread_of(self, thread, tid)
    }

    fn renames(&self) -> u64 {
        Attached::renames(self)
    }

    fn time(&self, event: &Event) -> Option<u64> {
        self.unix_nanos(event.ticks)
    }

    fn interpolation(&self, event: &Event) -> Option<Interpolation> {
        Attached::interpolation(self, event.ticks)
    }

    #[cfg(feature = "symbols")]
    fn frame(&self, event: &Event, address: u64) -> Frame {
        let pid = Attached::thread(self, event).map(|thread| thread.pid);
        // Each module is a definition, so there are new ones only if this count has grown.
        let known = self.segment.definitions.count();
        pid.and_then(|pid| {
            self.frames
                .find(pid, address, known, || (self.modules(), self.programs()))
        })
        .unwrap_or(Frame::unknown(address))
    }

    #[cfg(not(feature = "symbols"))]
    fn frame(&self, _: &Event, address: u64) -> Frame {
        Frame::unknown(address)
    }

    fn definitions(&self) -> Box<dyn Iterator<Item = &Definition> + '_> {
        Box::new(Attached::definitions(self))
    }
}
