//! Controls a timeline from any process: its level, its sampling, its definitions.
//!
//! All of this is cold code, under locks that the kernel drops when their holder ends. A `Control`
//! is not a writer of events: a timeline to which only controls are attached is not in use.
//!
//! sampler.rs raises the level in bursts.

mod sampler;

pub use sampler::Sampler;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::event::{
    Attributes, Channel, Definitions, EventId, Level, Priority, Rules, Selection, Switch,
    channel_name,
};
use crate::lifecycle;
use crate::segment::{TimelineMapping, Use};
use crate::shm::{self, Lock, LockFile, Name, Opening, Patience, SharedFile, Trust};
use crate::sync::{AtomicU32, Ordering};

/// A timeline attached for changing its level.
///
/// # Example
/// ```
/// use timeline::{Control, Level, Timeline};
/// # let path = format!("/timeline-doc-control-{}", std::process::id());
/// let timeline = Timeline::with_size(&path, 1024, 4096)?;
/// // ... from another process:
/// Control::open(&path)?.priority("info".parse()?)?;
/// assert_eq!(timeline.level(), "info".parse::<Level>()?);
/// # timeline::unlink(&path)?;
/// # Ok::<(), timeline::Error>(())
/// ```
#[derive(Clone)]
pub struct Control {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub segment: TimelineMapping,
    pub file: SharedFile,
    /// The process in which a call site waited for the lock in vain: until one gets the lock, none
    /// waits for long. 0 = none.
    hasty: AtomicU32,
    /// What who started this program wants of channels. Those that are not defined yet are switched
    /// when this process defines an event of them. They never change.
    wishes: Vec<Switch>,
}

impl Control {
    /// Attaches to the timeline at `path`.
    ///
    /// # Errors
    /// `NotFound`; `NotTrusted` if it belongs neither to root nor to our own user, or if all users
    /// may write to it; `ReadOnly` for a snapshot; those of a file that is damaged or not a
    /// timeline; `Locked`; `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Control> {
        Control::open_trusting(path, Trust::default())
    }

    /// Like [`open`](Control::open), but also opens a timeline of a user or group in `trust`. That
    /// user could end this process by cutting the file short.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn open_trusting(path: impl AsRef<Path>, trust: Trust) -> Result<Control> {
        Control::open_within(&Name::new(path.as_ref())?, trust, || Patience::SECONDS)
    }

    fn open_within(name: &Name, trust: Trust, patience: fn() -> Patience) -> Result<Control> {
        let (segment, lock) = lifecycle::join_within(name, Use::Control, &trust, patience)?;
        let file = lock.file().try_clone();
        drop(lock);
        let file = file.map_err(|e| Error::io("open", name.given(), e))?;
        Control::over_within(segment, file, patience())
    }

    /// If a sampler was killed and left the level of the timeline at `path` raised, brings it back.
    /// Returns whether it did. Waits for locks for a few milliseconds at most: who follows a
    /// timeline calls this now and then, and tries again later.
    ///
    /// # Errors
    /// Those of [`open`](Control::open), if the level is to be brought back; those of attaching.
    pub fn restore_level(path: impl AsRef<Path>) -> Result<bool> {
        let name = Name::new(path.as_ref())?;
        let (segment, file) = lifecycle::attach(&name)?;
        let is_raised = segment.definitions.boost() != Level::NONE;
        if segment.facts.snapshot || !is_raised || segment.sampler(Some(&file)).is_some() {
            return Ok(false);
        }
        // Whoever locks it clears what a dead sampler left.
        let control = Control::open_within(&name, Trust::default(), || Patience::MOMENT)?;
        Ok(control.segment().definitions.boost() == Level::NONE)
    }

    pub(crate) fn over(segment: TimelineMapping, file: File) -> Result<Control> {
        Control::over_within(segment, file, Patience::SECONDS)
    }

    fn over_within(segment: TimelineMapping, file: File, patience: Patience) -> Result<Control> {
        let file = SharedFile::new(file, segment.name.c_file())
            .map_err(|e| Error::io("examine", segment.name.given(), e))?;
        let control = Control {
            inner: Arc::new(Inner {
                segment,
                file,
                hasty: AtomicU32::new(0),
                wishes: Vec::new(),
            }),
        };
        let lock = control.lock_within(patience)?;
        control.segment().add_anchor();
        drop(lock);
        Ok(control)
    }

    /// Whether nobody else has it: no sampler runs.
    pub(crate) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.inner) == 1
    }

    /// Closes its descriptor.
    pub(crate) fn close(&self) {
        self.inner.file.close();
    }

    pub(crate) fn segment(&self) -> &TimelineMapping {
        &self.inner.segment
    }

    /// The name by which it was opened.
    pub fn path(&self) -> &Path {
        self.segment().name.given()
    }

    fn reopen(&self) -> Result<Opening> {
        let fail = |e| Error::io("open again", self.path(), e);
        self.inner.file.reopen().map_err(fail)
    }

    /// A descriptor of the timeline, of the caller's own as far as that can be had.
    pub(crate) fn file(&self) -> Result<File> {
        let copy = |opening: Opening| opening.file().try_clone();
        let file = self.reopen()?.into_own().or_else(copy);
        file.map_err(|e| Error::io("open again", self.path(), e))
    }

    /// Takes the define lock, and clears the boost of a dead sampler.
    pub(crate) fn lock(&self) -> Result<LockFile> {
        self.lock_within(Patience::SECONDS)
    }

    /// The same for definitions at the first call of a call site. After a wait in vain, waits are
    /// short until this process gets the lock again. Otherwise each call site would stop the host
    /// program for seconds.
    fn lock_in_passing(&self) -> Result<LockFile> {
        // Relaxed: guards nothing; a thread that sees the change late waits as well.
        let hasty = &self.inner.hasty;
        let me = std::process::id();
        let patience = match hasty.load(Ordering::Relaxed) == me {
            true => Patience::MOMENT,
            false => Patience::SECONDS,
        };
        let locked = self.lock_within(patience);
        match &locked {
            Ok(_) => hasty.store(0, Ordering::Relaxed),
            Err(Error::Locked { .. }) => hasty.store(me, Ordering::Relaxed),
            // Other errors do not say that another process has the lock.
            Err(_) => {}
        }
        locked
    }

    fn lock_within(&self, patience: Patience) -> Result<LockFile> {
        lifecycle::check_clock(self.path())?;
        let opening = self.reopen()?;
        let owner = shm::owner(opening.file()).map_err(|e| Error::io("examine", self.path(), e))?;
        let lock = LockFile::acquire(opening, Lock::Define, patience)
            .map_err(|e| Error::lock(self.path(), &owner, e))?;
        let definitions = &self.segment().definitions;
        if definitions.boost() != Level::NONE && self.segment().sampler(Some(lock.file())).is_none()
        {
            definitions.set_boost(Level::NONE);
        }
        definitions.catch_up();
        Ok(lock)
    }

    /// Makes this process the only sampler. The caller keeps the result while it samples. It is
    /// `Ok(None)` if a child forked by a dead sampler still has that sampler's lock.
    fn become_sampler(&self) -> Result<Option<LockFile>> {
        let lock = self.lock()?;
        let segment = self.segment();
        if let Some(pid) = segment.sampler(Some(lock.file())) {
            let path = self.path().to_path_buf();
            return Err(Error::SamplerBusy { path, pid });
        }
        let held = LockFile::try_acquire(self.reopen()?.for_long(), Lock::Sample)
            .map_err(|e| Error::io("lock", self.path(), e))?;
        segment.set_sampler(true);
        Ok(held)
    }

    /// The level up to which events are logged, as last set.
    pub fn level(&self) -> Level {
        self.segment().definitions.level()
    }

    /// Logs events up to `level` from now on, in every process. Ends all rules so far.
    ///
    /// # Errors
    /// `Io` if the timeline cannot be locked.
    pub fn priority(&self, level: Level) -> Result<()> {
        self.switch(&Rules::from(level))
    }

    /// The rules in force: which events are logged, as last asked for, beginning with the level.
    pub fn rules(&self) -> Rules {
        self.segment().definitions.rules()
    }

    /// Adds rules about which events are logged, in every process. They hold for events that are
    /// defined later, too. Each event follows the last rule that speaks of it.
    ///
    /// # Errors
    /// `RulesFull` if there is no room for all rules; then nothing has changed. `Locked`; `Io`.
    ///
    /// # Example
    /// ```
    /// use timeline::{Control, Timeline};
    /// # let path = format!("/timeline-doc-switch-{}", std::process::id());
    /// let timeline = Timeline::with_size(&path, 1024, 4096)?;
    /// let control = Control::open(&path)?;
    /// control.switch(&"info,engine=packet".parse()?)?;
    /// control.switch(&"-engine.idle_*".parse()?)?;
    /// assert_eq!(timeline.rules().to_string(), "info,engine=packet,-engine.idle_*");
    /// # timeline::unlink(&path)?;
    /// # Ok::<(), timeline::Error>(())
    /// ```
    pub fn switch(&self, rules: &Rules) -> Result<()> {
        let _lock = self.lock()?;
        self.segment().definitions.add_rules(self.path(), rules)?;
        self.segment().add_anchor();
        Ok(())
    }

    /// The channels, in the order in which they were defined.
    pub fn channels(&self) -> Vec<Channel> {
        self.segment().definitions.channels()
    }

    /// Switches a channel on or off, in every process. A channel that no event names yet is
    /// defined, so it holds for events that are defined later.
    ///
    /// # Errors
    /// `BadChannel`; `ChannelTableFull`; `StringTableFull`; `Locked`; `Io`.
    pub fn channel(&self, name: &str, on: bool) -> Result<()> {
        self.select(&Selection {
            channels: vec![(name.to_owned(), on)],
            rules: None,
        })
    }

    /// Switches channels, and adds rules, as a person selects them at the start of a program.
    ///
    /// # Errors
    /// Those of [`channel`](Control::channel) and [`switch`](Control::switch). Channels may then
    /// have been switched already.
    pub fn select(&self, selection: &Selection) -> Result<()> {
        if *selection == Selection::default() {
            return Ok(());
        }
        for (name, _) in &selection.channels {
            channel_name(name)?;
        }
        let _lock = self.lock()?;
        let definitions = &self.segment().definitions;
        definitions.switch_channels(self.path(), &selection.channels)?;
        if let Some(rules) = &selection.rules {
            definitions.add_rules(self.path(), rules)?;
        }
        self.segment().add_anchor();
        Ok(())
    }

    /// Does what who started this program wants, without using up what others need: no channel is
    /// defined, and rules take at most half of the room for them. The caller has the only copy.
    ///
    /// # Errors
    /// Those of [`select`](Control::select), except for channels. Then nothing has changed.
    pub(crate) fn wish(&mut self, selection: Selection) -> Result<()> {
        if selection == Selection::default() {
            return Ok(());
        }
        let lock = self.lock()?;
        let (definitions, path) = (&self.segment().definitions, self.path());
        if let Some(rules) = &selection.rules {
            definitions.refuse_many_rules(path, rules)?;
        }
        definitions.switch_known_channels(path, &selection.channels)?;
        if let Some(rules) = &selection.rules {
            definitions.add_rules(path, rules)?;
        }
        self.segment().add_anchor();
        drop(lock);
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.wishes = selection.channels;
        }
        Ok(())
    }

    /// Raises the level for a short time, again and again: `for_` of every `every`. Dropping the
    /// result restores the level. Meant for bursts of detail: 100 µs every 10 ms, say.
    ///
    /// # Errors
    /// `SamplerBusy` if another sampler runs; `BadSize` if `for_` is 0 or not below `every`.
    pub fn sample(&self, level: Level, for_: Duration, every: Duration) -> Result<Sampler> {
        Sampler::start(self.clone(), level, for_, every)
    }

    /// The definition with this category, priority, message and attributes. It is added if it is
    /// missing.
    pub(crate) fn define(
        &self,
        category: &str,
        priority: Priority,
        message: &str,
        attributes: &Attributes,
    ) -> Result<EventId> {
        let lock = self.lock()?;
        self.defining(lock, attributes, |all| {
            all.define(self.path(), category, priority, message, attributes)
        })
    }

    pub(crate) fn define_event(
        &self,
        category: &str,
        priority: Priority,
        message: &str,
        statement: (&str, u32),
        attributes: &Attributes,
    ) -> Result<EventId> {
        let lock = self.lock_in_passing()?;
        self.defining(lock, attributes, |all| {
            let path = self.path();
            all.define_event(path, category, priority, message, statement, attributes)
        })
    }

    pub(crate) fn define_printf(
        &self,
        category: &str,
        priority: Priority,
        format: &str,
        statement: (&str, u32),
        attributes: &Attributes,
    ) -> Result<EventId> {
        let lock = self.lock_in_passing()?;
        self.defining(lock, attributes, |all| {
            let path = self.path();
            all.define_printf(path, category, priority, format, statement, attributes)
        })
    }

    pub(crate) fn define_module(&self, module: &str) -> Result<()> {
        let lock = self.lock_in_passing()?;
        let none = Attributes::default();
        self.defining(lock, &none, |all| all.define_module(self.path(), module))
    }

    fn defining<T>(
        &self,
        _lock: LockFile,
        attributes: &Attributes,
        define: impl FnOnce(&Definitions) -> Result<T>,
    ) -> Result<T> {
        let definitions = &self.segment().definitions;
        let defined = define(definitions)?;
        if !self.inner.wishes.is_empty() {
            definitions.grant(self.path(), attributes.channels, &self.inner.wishes)?;
        }
        self.segment().add_anchor();
        Ok(defined)
    }
}
