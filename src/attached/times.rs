//! The times of a timeline's events, as a reader knows them.
//!
//! What stretches say of ticks that were read from the clock before the reader looked at them never
//! changes (src/clock/course.rs). So a reader looks again when an event is newer. If the newest
//! stretch has ended or does not hold, a reader that may write to the timeline adds the next, so
//! that all other readers tell the same times; any other reader keeps its own.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use super::Attached;
use crate::access::SHM_DIR;
use crate::clock::{ClockReading, ClockStep, Course, Interpolation, Stretch, Stretches, TimeBase};
use crate::segment::{TimelineMapping, Use};
use crate::shm::{self, Opening};

/// So often a reader lets others run while one of them adds a stretch.
const MOST_YIELDS: u32 = 1_000;

/// What is known of the clocks.
pub struct ClockTimes {
    known: RwLock<ClockState>,
    clock_runs: bool,
}

struct ClockState {
    base: TimeBase,
    /// The number of the newest stretch that was read.
    newest: u64,
    /// The stretches of the timeline.
    shared: Vec<Stretch>,
    /// Stretches that only this reader knows.
    own: Vec<Stretch>,
    /// How many of both the time base knows.
    told: usize,
    /// The ticks up to which nothing changes any more.
    looked: u64,
    /// Ticks when a stretch was last added, or tried to.
    added: Option<u64>,
    /// Ticks when that failed.
    failed: Option<u64>,
}

impl ClockTimes {
    /// Those of a timeline, as of now.
    pub fn of(segment: &TimelineMapping) -> ClockTimes {
        let mut known = ClockState {
            base: segment.time_base(),
            newest: 0,
            shared: Vec::new(),
            own: Vec::new(),
            told: 0,
            looked: 0,
            added: None,
            failed: None,
        };
        // Where no clock runs, none is read: the kernel may forbid it.
        let clock_runs = segment.clock_runs();
        let now = match clock_runs {
            true => segment.facts.clock.now(),
            false => u64::MAX,
        };
        match segment.stretches() {
            Some(stretches) => known.read(&stretches, now),
            None => known.looked = now,
        }
        ClockTimes {
            known: RwLock::new(known),
            clock_runs,
        }
    }

    /// What `tell` says when the times of all events up to these ticks are known. `share` adds a
    /// stretch that all readers see, and returns whether it could.
    pub fn tell<T>(
        &self,
        segment: &TimelineMapping,
        ticks: u64,
        share: impl Fn() -> bool,
        tell: impl Fn(&TimeBase, u64) -> T,
    ) -> T {
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if !self.clock_runs || !known.is_outrun_by(segment, ticks) {
                let is_fixed = !self.clock_runs;
                return tell(&known.base, if is_fixed { u64::MAX } else { known.looked });
            }
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.look(segment, ticks, share);
        tell(&known.base, known.looked)
    }

    /// Nanoseconds since the epoch at ticks.
    pub fn unix_nanos(
        &self,
        segment: &TimelineMapping,
        ticks: u64,
        share: impl Fn() -> bool,
    ) -> Option<u64> {
        self.tell(segment, ticks, share, |base, _| base.unix_nanos(ticks))
    }

    /// Makes sure that the times of all events are known, of which the newest was logged at these
    /// ticks, and that a clock that was set since is known to be.
    pub fn keep(&self, segment: &TimelineMapping, newest: u64, share: impl Fn() -> bool) {
        if self.clock_runs && newest <= segment.facts.clock.now() {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            known.look(segment, newest, share);
        }
    }

    /// The times around ticks, as far as they are fixed.
    pub fn interpolation(
        &self,
        segment: &TimelineMapping,
        ticks: u64,
        share: impl Fn() -> bool,
    ) -> Option<Interpolation> {
        self.tell(segment, ticks, share, |base, looked| {
            let line = base.interpolation(ticks)?;
            match base.course().is_empty() {
                true => Some(line),
                false => Some(line.until(looked.saturating_add(1))),
            }
        })
    }

    /// Changes with each stretch that is read.
    pub fn changes(&self) -> u64 {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.newest.wrapping_add(known.own.len() as u64)
    }

    /// What is known now.
    pub fn now<T>(&self, tell: impl Fn(&TimeBase) -> T) -> T {
        tell(
            &self
                .known
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .base,
        )
    }
}

impl Attached {
    /// Moments at which the wall clock was set while the timeline was written, as far as it still
    /// knows them. An event between the last moment at which the clock was seen to run on and the
    /// one at which the step was seen has its time by the former clock, because nobody knows when
    /// exactly the clock was set.
    pub fn steps(&self) -> Vec<ClockStep> {
        self.times.now(TimeBase::steps)
    }

    /// Changes when more is known of how the wall clock runs.
    pub fn clock_changes(&self) -> u64 {
        self.times.changes()
    }

    /// Ticks per second; `None` if not known.
    pub fn ticks_per_second(&self) -> Option<f64> {
        self.times.now(TimeBase::ticks_per_second)
    }

    /// Adds a stretch of the wall clock to the timeline, if this process may write to it and no
    /// other user can cut it short. A copy somewhere else, that nobody writes to, stays as it is.
    pub(super) fn share_clock(&self) -> bool {
        let opened = self.file.reopen().map(Opening::into_own);
        let Ok(Ok(file)) = opened else {
            return false;
        };
        let is_live_name = self.segment.name.file().parent() == Some(Path::new(SHM_DIR));
        let is_used = is_live_name || shm::slots_locked(&file);
        if !is_used || !matches!(shm::others_may_cut(&file), Ok(false)) {
            return false;
        }
        let Ok(segment) = TimelineMapping::load(&self.segment.name, &file, Use::Control) else {
            return false;
        };
        segment.look_at_clock();
        true
    }
}

impl ClockState {
    /// Whether it is time to look again, before the time at `ticks` is told. Ticks that are still
    /// to come are of a clock that nobody can ask.
    fn is_outrun_by(&self, segment: &TimelineMapping, ticks: u64) -> bool {
        if self.base.course().is_empty() && newest(segment) == self.newest {
            let now = || segment.facts.clock.now();
            return self.base.is_outrun_by(ticks) && self.base.is_outrun_by(now());
        }
        ticks > self.looked && ticks <= segment.facts.clock.now()
    }

    /// Looks at the clocks before the time at `ticks` is told, of an event that is there.
    fn look(&mut self, segment: &TimelineMapping, ticks: u64, share: impl Fn() -> bool) {
        let stretches = segment.stretches();
        let Some(stretches) = stretches.filter(|stretches| stretches.newest() != 0) else {
            self.base = segment.time_base();
            return;
        };
        let now = || segment.facts.clock.now();
        self.read(&stretches, now());
        let Some(last) = self.base.course().last().copied() else {
            return;
        };
        let look = ClockReading {
            ticks: now(),
            realtime: crate::clock::realtime(),
            offset: None,
        };
        let has_passed = |since: Option<u64>, nanos| {
            let passed = |since| look.ticks.wrapping_sub(since) > stretches.rate().ticks(nanos);
            since.is_none_or(passed)
        };
        // Only who follows needs one before the last has ended, and not at each look. Where nothing
        // was logged since the last began, none is needed: readers of a timeline that nobody
        // writes to would fill it with them.
        let is_needed = ticks >= last.end() || has_passed(self.added, 1_000_000_000);
        let is_new = ticks > last.from && has_passed(self.failed, 1_000_000);
        if stretches.hold(self.newest, &last, look) || !is_needed || !is_new {
            return;
        }
        self.added = Some(look.ticks);
        let is_shared = share();
        self.read(&stretches, now());
        // If another process adds one, that is the one. It does not take long, unless it was
        // stopped.
        for _ in 0..MOST_YIELDS {
            if !is_shared || self.has_more_than(&last) || !stretches.is_growing() {
                break;
            }
            std::thread::yield_now();
            self.read(&stretches, now());
        }
        if !self.has_more_than(&last) {
            let own = stretches
                .look()
                .and_then(|look| stretches.next(&last, look));
            self.own.extend(own);
            self.tell_of_all(&stretches, now());
        }
        self.failed = (!self.has_more_than(&last)).then_some(look.ticks);
    }

    fn has_more_than(&self, last: &Stretch) -> bool {
        let newest = self.base.course().last();
        newest.is_some_and(|newest| newest.from > last.from)
    }

    /// Reads the stretches that were added since. `now`: ticks of before. Whoever adds one later
    /// lets it begin later than these.
    fn read(&mut self, stretches: &Stretches, now: u64) {
        let newest = stretches.newest();
        if newest > self.newest {
            self.shared.extend(stretches.after(self.newest, newest));
            self.newest = newest;
        }
        self.tell_of_all(stretches, now);
    }

    /// What is behind the end of the last stretch is not known before another one is added.
    fn tell_of_all(&mut self, stretches: &Stretches, now: u64) {
        let count = self.shared.len() + self.own.len();
        if count != self.told {
            let mut all = self.shared.clone();
            all.extend(&self.own);
            all.sort_by_key(|stretch| stretch.from);
            let base = std::mem::take(&mut self.base);
            self.base = base.with(Course::new(stretches.rate(), all));
            self.told = count;
        }
        let last = self.base.course().last();
        self.looked = last.map_or(now, |last| now.min(last.end() - 1));
    }
}

/// The number of the newest stretch; 0 if there is none.
fn newest(segment: &TimelineMapping) -> u64 {
    segment
        .stretches()
        .map_or(0, |stretches| stretches.newest())
}
