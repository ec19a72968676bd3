//! A timeline as others see it: attached read-only, live or saved.

#[cfg(feature = "symbols")]
mod frames;

use std::fs::File;
use std::path::Path;
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::clock::TimeBase;
use crate::error::{Error, Result};
use crate::event::{Definition, EventId, Level, Module};
use crate::info::{self, Info};
use crate::layout::DEFAULT_STRING_TABLE;
use crate::lifecycle;
use crate::ring::threads::{self, Thread};
use crate::save::{self, Saved};
use crate::segment::Segment;
use crate::shm::{self, Name, SharedFile};
use crate::source::{Event, Events, Follow, Frame, From, Order, Source};
use crate::sync::{AtomicU64, Ordering};

/// A timeline attached for reading: a live one, what a killed program left, or a snapshot.
///
/// Attaching changes nothing in it and needs nobody's help: no daemon, nor the program itself.
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
    segment: Segment,
    file: SharedFile,
    time: RwLock<TimeBase>,
    clock_runs: bool,
    definitions: Vec<OnceLock<Box<Definition>>>,
    /// Bytes of text that definitions may still take.
    text_left: AtomicU64,
    #[cfg(feature = "symbols")]
    frames: frames::Frames,
}

/// How often the whole string table may be spent on definitions, which share their categories.
/// Damaged ones could otherwise name one endless string again and again.
const SHARING: u64 = 16;

/// System calls for a glance at what another user could cut short: some seconds. A ring of 2^27
/// entries needs less.
const CALLS_OF_A_GLANCE: u64 = 1 << 22;

impl Attached {
    /// Attaches to the live name or file at `path`.
    ///
    /// # Errors
    /// `NotFound`; `NotATimeline`, `Unfinished`, `Version`, `Truncated`, `Corrupt`, which say what
    /// is wrong with the file; `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Attached> {
        let name = Name::new(path.as_ref())?;
        let (segment, file) = lifecycle::attach(&name)?;
        Attached::of(segment, file)
    }

    fn of(segment: Segment, file: File) -> Result<Attached> {
        let name = &segment.name;
        let file = SharedFile::new(file, name.c_file())
            .map_err(|e| Error::io("examine", name.given(), e))?;
        let mut definitions = Vec::new();
        definitions.resize_with(segment.geometry.definitions as usize, OnceLock::new);
        Ok(Attached {
            clock_runs: segment.clock_runs(),
            time: RwLock::new(segment.time_base()),
            definitions,
            text_left: AtomicU64::new(
                SHARING * segment.geometry.strings().length.max(DEFAULT_STRING_TABLE),
            ),
            segment,
            file,
            #[cfg(feature = "symbols")]
            frames: frames::Frames::default(),
        })
    }

    /// The name as it was given.
    pub fn path(&self) -> &Path {
        self.segment.name.given()
    }

    /// Whether this is a snapshot, which nobody writes to.
    pub fn is_snapshot(&self) -> bool {
        self.segment.facts.snapshot
    }

    /// Whether the name leads elsewhere by now: the program was restarted, or the timeline removed.
    pub fn replaced(&self) -> bool {
        !self.file.is_at(self.segment.name.file())
    }

    /// The run of the program right before this one, as far as
    /// [`Timeline::new`](crate::Timeline::new) has kept it: what stands at `NAME.prev`, or at
    /// `NAME.prev-` and a number. Of several, the last that belongs to the owner of this one, or
    /// else the last of all.
    ///
    /// Any user may put files at such names. So those of other users than the owner of this one,
    /// root and the user of this process are left out, and those that everybody may write to. Of
    /// the numbered ones at most 64 are opened.
    pub fn former(&self) -> Option<Attached> {
        if self.is_snapshot() {
            return None;
        }
        lifecycle::attach_kept(&self.segment.name, self.user())
            .filter_map(|(segment, file)| Attached::of(segment, file).ok())
            .filter(|former| former.is_before(self))
            .max_by_key(|former| (former.user() == self.user(), former.run()))
    }

    /// When this was created, and by which process.
    fn run(&self) -> (u64, u32) {
        let facts = &self.segment.facts;
        (facts.created_unix, facts.creator_pid)
    }

    /// Whether this is of an earlier run than `next`, which stands, or stood, at the name.
    fn is_before(&self, next: &Attached) -> bool {
        let (run, after) = (self.run(), next.run());
        // While the name belongs to one run, the other cannot be after it, whatever the clock said.
        run.0 < after.0 || (run != after && !next.replaced())
    }

    /// Whose it is.
    fn user(&self) -> Option<u32> {
        let owner = self.file.read(shm::owner).ok()?;
        owner.ok().map(|owner| owner.user)
    }

    /// An error if the file was cut short while it was read, or was not read to the end.
    ///
    /// A file that another user could cut short is not mapped but read piece by piece. Lost parts
    /// read as if nothing had ever been there. So do parts of a ring that its owner makes so large,
    /// or changes so often, that a look at it would take longer than at any honest one. Call this
    /// after reading: if it fails, events, definitions and [`info`](Attached::info) may be
    /// incomplete.
    ///
    /// Such a file is read through a descriptor. If this program closes it, as daemons close what
    /// they do not know, the file is opened again by its name. It is lost if the name leads
    /// elsewhere by then.
    ///
    /// # Errors
    /// `Truncated`; `Io` if it is lost, or was not read to the end.
    pub fn intact(&self) -> Result<()> {
        self.segment.intact()
    }

    /// How it is doing: sizes, fill, writers, losses.
    pub fn info(&self) -> Info {
        self.segment.look(|| self.unbounded_info())
    }

    /// The same, for whoever asks about all that there are: an error where it would take long.
    ///
    /// Another user can make a ring, without any memory, that takes a reader half a minute.
    pub(crate) fn brief_info(&self) -> Result<Info> {
        let map = &self.segment.map;
        let info = map.at_most(CALLS_OF_A_GLANCE, || self.unbounded_info());
        self.intact().map(|()| info)
    }

    fn unbounded_info(&self) -> Info {
        let time = |ticks| self.unix_nanos(ticks);
        let info =
            |file: Option<&File>| info::info(&self.segment, file, self.ticks_per_second(), time);
        let asked = self.file.read(|file| info(Some(file)));
        // Only the locks are not there to be asked, then.
        asked.unwrap_or_else(|_| info(None))
    }

    /// The level up to which events are logged.
    pub fn level(&self) -> Level {
        self.segment.definitions.level()
    }

    /// The events in it, merged over all threads by time.
    pub fn events(&self, order: Order) -> Events<'_> {
        Events::new(&self.segment, order)
    }

    /// The events to come.
    pub fn follow(&self, from: From) -> Follow<'_> {
        Follow::new(&self.segment, from)
    }

    /// The events to come, from given places on: lanes, and the number of the next event of each.
    /// Lanes that are not named start with their first event. See [`Follow::places`].
    pub fn follow_at(&self, places: &[(u32, u64)]) -> Follow<'_> {
        Follow::at(&self.segment, places)
    }

    /// Ticks, and nanoseconds since the epoch at them: those that count of what stands in the
    /// timeline.
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

    /// What an event means; `None` if no such event is defined.
    pub fn definition(&self, id: EventId) -> Option<&Definition> {
        let cached = self.definitions.get(id.0 as usize)?;
        if let Some(definition) = cached.get() {
            return Some(definition);
        }
        // Relaxed: only a bound, and not an exact one.
        let left = self.text_left.load(Ordering::Relaxed);
        if left == 0 {
            return None;
        }
        let definition = self.segment.definitions.get(id)?;
        let text = definition.category.len() + definition.message.len();
        let left = left.saturating_sub(text as u64);
        self.text_left.store(left, Ordering::Relaxed);
        Some(cached.get_or_init(|| Box::new(definition)))
    }

    /// All events defined by now.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        (1..self.segment.definitions.count()).filter_map(|id| self.definition(EventId(id)))
    }

    /// The objects that its processes said they have loaded: what call stacks are read with.
    pub fn modules(&self) -> impl Iterator<Item = Module> {
        let modules = self.segment.definitions.modules();
        modules.filter_map(|text| Module::parse(&text))
    }

    /// The thread that logged an event; `None` if so many threads came since that its record is
    /// gone.
    pub fn thread(&self, event: &Event) -> Option<Thread> {
        let thread = threads::lookup(&self.segment.map, &self.segment.geometry, event.thread.0);
        // Generations come again after 65,535 threads: then the record is that of another.
        thread.filter(|thread| thread.tid == event.tid)
    }

    /// Nanoseconds since the epoch at `ticks`; `None` when the timeline holds no way to tell.
    ///
    /// Interpolated between the moments at which somebody looked at both clocks, of which the
    /// attaching was one: two attachments can differ by nanoseconds. On a timeline that is followed
    /// for long, the clocks are looked at again when events are more than a second past the last
    /// such moment.
    pub fn unix_nanos(&self, ticks: u64) -> Option<u64> {
        {
            let time = self.time.read().unwrap_or_else(PoisonError::into_inner);
            let now = || self.segment.facts.clock.now();
            if !self.clock_runs || !time.is_outrun_by(ticks) || !time.is_outrun_by(now()) {
                return time.unix_nanos(ticks);
            }
        }
        let mut time = self.time.write().unwrap_or_else(PoisonError::into_inner);
        *time = self.segment.time_base();
        time.unix_nanos(ticks)
    }

    /// Ticks per second; `None` when it cannot be told.
    pub fn ticks_per_second(&self) -> Option<f64> {
        let time = self.time.read().unwrap_or_else(PoisonError::into_inner);
        time.ticks_per_second()
    }

    /// Saves a snapshot; see [`Timeline::save`](crate::Timeline::save).
    ///
    /// # Errors
    /// `Io`, also for lack of space; a file that was there stays as it was.
    pub fn save(&self, file: impl AsRef<Path>) -> Result<Saved> {
        save::save(&self.segment, file.as_ref())
    }
}

impl Source for Attached {
    fn definition(&self, id: EventId) -> Option<&Definition> {
        Attached::definition(self, id)
    }

    fn thread(&self, event: &Event) -> Option<Thread> {
        Attached::thread(self, event)
    }

    fn time(&self, event: &Event) -> Option<u64> {
        self.unix_nanos(event.ticks)
    }

    #[cfg(feature = "symbols")]
    fn frame(&self, event: &Event, address: u64) -> Frame {
        let pid = Attached::thread(self, event).map(|thread| thread.pid);
        // As many are defined as there are modules, at least: whether there are new ones.
        let known = self.segment.definitions.count();
        pid.and_then(|pid| self.frames.find(pid, address, known, || self.modules()))
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
