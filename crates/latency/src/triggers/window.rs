//! A window that slides over time in ten steps: how many came in it, or how long they took.

use hdrhistogram::Histogram;

use super::kind::Percentile;
use crate::percentile;

/// Steps of a window.
pub const STEPS: u64 = 10;
const SLOTS: usize = STEPS as usize;

/// A window. It is judged at the end of each step, when the events of the last ten are in it.
pub struct Window {
    /// The length of a step in nanoseconds.
    step: u64,
    /// The number of the present step, counted from 1970. `None` until the first one begins.
    present: Option<u64>,
    /// The step from which on nothing is missing.
    whole_from: u64,
    content: Content,
}

enum Content {
    Counts([u64; SLOTS]),
    Durations(Box<Durations>),
}

/// The durations of each step, and of all of them.
struct Durations {
    slots: Vec<Histogram<u32>>,
    all: Histogram<u32>,
    longest: [u64; SLOTS],
    percentile: Percentile,
}

/// What a window has at the end of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InWindow {
    /// How many in a second.
    PerSecond(f64),
    /// A percentile in nanoseconds; `None` of nothing.
    Nanoseconds(Option<u64>),
}

/// Steps that ended with the same content.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepRun {
    pub content: InWindow,
    /// The ends of the first and the last of them, in nanoseconds since 1970.
    pub first: u64,
    pub last: u64,
    pub step: u64,
    /// Whether all events of the window are known: it did not begin before the first of them, and
    /// none is missing.
    pub is_whole: bool,
}

impl Window {
    /// Counts.
    pub fn of_counts(length: u64) -> Window {
        Window::new(length, Content::Counts([0; SLOTS]))
    }

    /// Looks at how long they took.
    pub fn of_durations(length: u64, percentile: Percentile) -> Window {
        let slots = (0..SLOTS).map(|_| histogram()).collect();
        let durations = Durations {
            slots,
            all: histogram(),
            longest: [0; SLOTS],
            percentile,
        };
        Window::new(length, Content::Durations(Box::new(durations)))
    }

    fn new(length: u64, content: Content) -> Window {
        Window {
            step: (length / STEPS).max(1),
            present: None,
            whole_from: 0,
            content,
        }
    }

    /// Passes on to a time. Tells of the steps that have ended.
    #[inline]
    pub fn pass(&mut self, time: u64, ended: impl FnMut(StepRun)) {
        let step = time / self.step;
        match self.present {
            Some(present) if step <= present => {}
            Some(present) => self.end_steps(present, step, ended),
            // The first step has begun before its first event.
            None => {
                self.present = Some(step);
                self.whole_from = self.whole_from.max(step + 1);
            }
        }
    }

    fn end_steps(&mut self, present: u64, next: u64, mut ended: impl FnMut(StepRun)) {
        let mut tell = |window: &Window, first: u64, last: u64| {
            ended(StepRun {
                content: window.content.now(window.step),
                first: (first + 1).saturating_mul(window.step),
                last: (last + 1).saturating_mul(window.step),
                step: window.step,
                is_whole: first + 1 >= window.whole_from + STEPS,
            });
        };
        // After so many, nothing is in the window.
        for step in present..next.min(present + STEPS + 1) {
            tell(self, step, step);
            self.content.clear(step + 1);
        }
        let rest = present + STEPS + 1;
        // Windows of one half of them may be whole.
        let whole = (self.whole_from + STEPS - 1).clamp(rest, next.max(rest));
        for (first, behind) in [(rest, whole), (whole, next)] {
            if first < behind {
                tell(self, first, behind - 1);
            }
        }
        self.present = Some(next);
    }

    /// Takes one event, or one duration.
    #[inline]
    pub fn add(&mut self, duration: u64) {
        let slot = slot(self.present.unwrap_or(0));
        match &mut self.content {
            Content::Counts(counts) => counts[slot] += 1,
            Content::Durations(durations) => durations.add(slot, duration),
        }
    }

    /// No more is known from this time on. Returns the end of the last step at which the window has
    /// a time before it; none of those to come is whole.
    pub fn end(&mut self, now: u64) -> u64 {
        self.gap(now);
        let present = self.present.unwrap_or(now / self.step);
        present.saturating_add(STEPS).saturating_mul(self.step)
    }

    /// Events are missing before this time. Nobody knows how long before.
    pub fn gap(&mut self, time: u64) {
        self.whole_from = self.whole_from.max(time / self.step + 1);
    }
}

fn slot(step: u64) -> usize {
    (step % STEPS) as usize
}

/// With three digits: a duration is known to a thousandth.
fn histogram() -> Histogram<u32> {
    Histogram::new(3).expect("three digits are allowed")
}

impl Content {
    fn now(&self, step: u64) -> InWindow {
        match self {
            Content::Counts(counts) => {
                let count: u64 = counts.iter().sum();
                let seconds = (step * STEPS) as f64 / 1e9;
                InWindow::PerSecond(count as f64 / seconds)
            }
            Content::Durations(durations) => InWindow::Nanoseconds(durations.now()),
        }
    }

    /// Forgets the step that this one takes the place of.
    fn clear(&mut self, step: u64) {
        match self {
            Content::Counts(counts) => counts[slot(step)] = 0,
            Content::Durations(durations) => durations.clear(slot(step)),
        }
    }
}

impl Durations {
    fn add(&mut self, slot: usize, duration: u64) {
        // A histogram does not grow beyond this: 73 years.
        let recorded = duration.min(1 << 61);
        // They grow as they have to.
        let _ = self.slots[slot].record(recorded);
        let _ = self.all.record(recorded);
        self.longest[slot] = self.longest[slot].max(duration);
    }

    fn clear(&mut self, slot: usize) {
        let old = &mut self.slots[slot];
        if !old.is_empty() {
            // All of them were recorded.
            let _ = self.all.subtract(&*old);
            old.reset();
        }
        self.longest[slot] = 0;
    }

    fn now(&self) -> Option<u64> {
        let longest = self.longest.iter().copied().max();
        let longest = longest.filter(|_| !self.all.is_empty())?;
        Some(match self.percentile {
            Percentile::Longest => longest,
            Percentile::Of(percent) => percentile(&self.all, percent).min(longest),
        })
    }
}
