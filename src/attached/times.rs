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
use crate::clock::{Course, Interpolation, Look, Stretch, Stretches, TimeBase};
use crate::segment::{Segment, Use};
use crate::shm::{self, Opening};

/// What is known of the clocks.
pub struct Times {
    known: RwLock<Known>,
    clock_runs: bool,
}

struct Known {
    base: TimeBase,
    /// The number of the newest stretch that was read.
    newest: u64,
    /// Stretches that only this reader knows.
    own: Vec<Stretch>,
    /// The ticks up to which nothing changes any more.
    looked: u64,
    /// Ticks when a stretch was last added, or tried to.
    added: Option<u64>,
}

impl Times {
    /// Those of a timeline, as of now.
    pub fn of(segment: &Segment) -> Times {
        let newest = newest(segment);
        // Where no clock runs, none is read: the kernel may forbid it.
        let clock_runs = segment.clock_runs();
        let looked = if clock_runs {
            segment.facts.clock.now()
        } else {
            0
        };
        let course = segment.stretches().map(|it| it.course(newest));
        Times {
            known: RwLock::new(Known {
                base: segment.time_base().with(course.unwrap_or_default()),
                newest,
                own: Vec::new(),
                looked,
                added: None,
            }),
            clock_runs,
        }
    }

    /// What `tell` says when the times of all events up to these ticks are known. `share` adds a
    /// stretch that all readers see, and returns whether it could.
    pub fn tell<T>(
        &self,
        segment: &Segment,
        ticks: u64,
        share: impl Fn() -> bool,
        tell: impl Fn(&TimeBase, u64) -> T,
    ) -> T {
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if !self.clock_runs || !known.is_outrun_by(segment, ticks) {
                let looked = if self.clock_runs {
                    known.looked
                } else {
                    u64::MAX
                };
                return tell(&known.base, looked);
            }
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.look(segment, ticks, share);
        tell(&known.base, known.looked)
    }

    /// Nanoseconds since the epoch at ticks.
    pub fn unix_nanos(
        &self,
        segment: &Segment,
        ticks: u64,
        share: impl Fn() -> bool,
    ) -> Option<u64> {
        self.tell(segment, ticks, share, |base, _| base.unix_nanos(ticks))
    }

    /// The times around ticks, as far as they are fixed.
    pub fn interpolation(
        &self,
        segment: &Segment,
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
        let Ok(segment) = Segment::load(&self.segment.name, &file, Use::Control) else {
            return false;
        };
        segment.look_at_clock();
        true
    }
}

impl Known {
    /// Whether it is time to look again, before the time at `ticks` is told. Ticks that are still
    /// to come are of a clock that nobody can ask.
    fn is_outrun_by(&self, segment: &Segment, ticks: u64) -> bool {
        if self.base.course().is_empty() && newest(segment) == self.newest {
            let now = || segment.facts.clock.now();
            return self.base.is_outrun_by(ticks) && self.base.is_outrun_by(now());
        }
        ticks > self.looked && ticks <= segment.facts.clock.now()
    }

    fn look(&mut self, segment: &Segment, ticks: u64, share: impl Fn() -> bool) {
        let stretches = segment.stretches();
        let Some(stretches) = stretches.filter(|stretches| stretches.newest() != 0) else {
            self.base = segment.time_base();
            return;
        };
        self.read(segment, &stretches);
        let Some(last) = self.base.course().last().copied() else {
            return;
        };
        let look = Look {
            ticks: self.looked,
            realtime: crate::clock::realtime(),
        };
        // Only who follows needs one before the last has ended, and not at each look.
        let is_needed = ticks >= last.end();
        let second = stretches.rate().ticks(1_000_000_000);
        let is_time = self
            .added
            .is_none_or(|added| look.ticks.wrapping_sub(added) > second);
        if last.holds(look, stretches.rate()) || !(is_needed || is_time) {
            return;
        }
        self.added = Some(look.ticks);
        if share() {
            self.read(segment, &stretches);
        }
        let newest = self.base.course().last();
        if newest.is_some_and(|newest| newest.from == last.from) {
            let own = stretches
                .look()
                .and_then(|look| stretches.next(&last, look));
            self.own.extend(own);
            self.read(segment, &stretches);
        }
    }

    /// Reads the stretches that were added since.
    fn read(&mut self, segment: &Segment, stretches: &Stretches) {
        // Before the number: whoever adds one later lets it begin later than this.
        let looked = segment.facts.clock.now();
        let newest = stretches.newest();
        let of_others = stretches.course(newest);
        let mut all: Vec<Stretch> = of_others.stretches().to_vec();
        all.extend(&self.own);
        all.sort_by_key(|stretch| stretch.from);
        let base = std::mem::take(&mut self.base);
        self.base = base.with(Course::new(stretches.rate(), all));
        (self.newest, self.looked) = (newest, looked);
    }
}

/// The number of the newest stretch; 0 if there is none.
fn newest(segment: &Segment) -> u64 {
    segment
        .stretches()
        .map_or(0, |stretches| stretches.newest())
}
