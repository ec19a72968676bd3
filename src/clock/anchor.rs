//! Anchors tie ticks to the wall clock; a time base tells the time at ticks.
//!
//! An anchor is one moment read on three clocks: ticks, CLOCK_MONOTONIC_RAW and CLOCK_REALTIME.
//! There is no calibration and no waiting: each process that attaches adds an anchor, so the span
//! between the first and the last grows while the timeline lives, and with it the precision of the
//! tick rate. Between two anchors the wall clock is interpolated, so a step of the system's clock
//! only affects the times between its neighbours. Outside of all anchors the overall rate is used.
//!
//! Of a timeline that has stretches (course.rs), those tell the times, and its anchors only the
//! rate.
//!
//! Time namespaces shift CLOCK_MONOTONIC_RAW, so an anchor has the value in the machine's first
//! namespace. If the shift is not known, it has none. A rate far from the one that the creator of
//! the timeline measured is rejected.
//!
//! If ticks come from CLOCK_MONOTONIC_RAW, an anchor with an unknown shift counts only if all
//! shifts are unknown. That clock never goes back, so anchors whose ticks do not rise in the order
//! in which they were taken cannot all be right: those that contradict most of the others do not
//! count.
//!
//! **Why does nothing calibrate?** Waiting in `new` would cost every program some milliseconds.
//! Anchors cost nothing, and the rate gets better with the span between the first and the last.
//! `new` only takes some ten microseconds to measure a rough rate, with an error of at most 1/32.
//!
//! **What if the clocks of two processes cannot be compared?** All processes read the same counter
//! and the same wall clock. But the rate comes from CLOCK_MONOTONIC_RAW, which a time namespace
//! shifts. Two anchors, one of a container that was restored with its clocks set back, once
//! resulted in a counter of 9 kHz and dates that were days off. So a process subtracts the shift of
//! its namespace from each anchor, and leaves that clock out if it cannot know the shift (without
//! /proc). A writer may still be wrong, so a pair of anchors is rejected if its rate differs by
//! more than 1/16 from the one that the creator measured.
//!
//! The ticks of a timeline without a counter come from CLOCK_MONOTONIC_RAW itself, and are
//! corrected in the same way. Only a process in a time namespace, without /proc, on a machine
//! without a counter cannot correct them: the times of its events do not fit those of the others.
//! It adds no anchor, which would make the times of the others wrong, unless no process that knows
//! its shift has added one. A process looks up its namespace when it opens a timeline, when it
//! takes an anchor, and when it first logs after a fork. A program that moves by `setns` should
//! open the timeline after that; without /proc, the move is not noticed at all. But this clock
//! never goes back. So a reader keeps the largest set of anchors whose ticks rise in the order in
//! which they were taken. A jump of the wall clock between two anchors does not exclude either: the
//! clock may have been set, and CLOCK_MONOTONIC_RAW stands still while the machine is suspended.

use super::{ClockKind, ClockStep, Course, Interpolation, monotonic_raw, realtime, settle};

/// One moment on three clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Anchor {
    /// Ticks of the timeline's clock.
    pub ticks: u64,
    /// Nanoseconds of CLOCK_MONOTONIC_RAW in the machine's first time namespace; 0 = not known.
    pub monotonic: u64,
    /// Nanoseconds since the epoch.
    pub realtime: u64,
}

impl Anchor {
    /// Reads the three clocks as close together as the scheduler permits.
    pub fn take(kind: ClockKind) -> Anchor {
        let is_known = settle();
        let (mut anchor, _) = read(kind);
        if !is_known {
            anchor.monotonic = 0;
        }
        anchor
    }

    /// Whether its ticks can be compared with those of other processes in any time namespace.
    pub fn is_comparable(&self, kind: ClockKind) -> bool {
        kind == ClockKind::Tsc || self.monotonic != 0
    }
}

/// Reads the three clocks, and returns how many ticks that took. Of a few attempts it keeps the one
/// that took the fewest ticks, and none whose ticks ran backwards.
pub(super) fn read(kind: ClockKind) -> (Anchor, u64) {
    let mut best = Anchor::default();
    let mut narrowest = u64::MAX;
    for _ in 0..8 {
        let before = kind.now();
        let monotonic = monotonic_raw();
        let realtime = realtime();
        let after = kind.now();
        let Some(width) = after.checked_sub(before) else {
            continue;
        };
        if width < narrowest {
            narrowest = width;
            best = Anchor {
                ticks: before + width / 2,
                monotonic,
                realtime,
            };
        }
    }
    (best, narrowest)
}

/// Converts ticks to time.
#[derive(Debug, Clone, Default)]
pub struct TimeBase {
    /// Sorted by their ticks.
    anchors: Vec<Anchor>,
    /// Ticks of the anchor that was taken last, even if it does not count.
    last_look: Option<u64>,
    /// Ticks per second.
    rate: Option<f64>,
    /// How the wall clock ran, if the timeline says it. Then the anchors only tell the rate.
    course: Course,
}

impl TimeBase {
    /// Takes anchors in the order in which they were taken. Those with ticks 0 and those that do
    /// not count are left out. `tick_rate`: approximate ticks per second; 0 = not known.
    pub fn new(kind: ClockKind, tick_rate: u64, mut anchors: Vec<Anchor>) -> TimeBase {
        anchors.retain(|a| a.ticks != 0);
        let last_look = anchors.last().map(|a| a.ticks);
        if kind == ClockKind::Monotonic {
            if anchors.iter().any(|a| a.is_comparable(kind)) {
                anchors.retain(|a| a.is_comparable(kind));
            }
            anchors = consistent(anchors);
        }
        anchors.sort_by_key(|a| a.ticks);
        anchors.dedup_by_key(|a| a.ticks);
        let rate = match kind {
            ClockKind::Monotonic => Some(TICKS_OF_NANOS as f64),
            ClockKind::Tsc => {
                let monotonic = |a: &Anchor| (a.monotonic != 0).then_some(a.monotonic);
                let by_monotonic = rate(&anchors, tick_rate, monotonic);
                // The wall clock may have been set in between, but only so little that the rate is
                // still credible.
                by_monotonic.or_else(|| rate(&anchors, tick_rate, |a| Some(a.realtime)))
            }
        };
        TimeBase {
            anchors,
            last_look,
            rate,
            course: Course::default(),
        }
    }

    /// The same with the course of the wall clock.
    pub fn with(self, course: Course) -> TimeBase {
        TimeBase { course, ..self }
    }

    /// How the wall clock ran; empty if the timeline does not say it.
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// Where the wall clock was set.
    pub fn steps(&self) -> Vec<ClockStep> {
        self.course.steps()
    }

    /// The anchors that count, sorted by their ticks.
    pub fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// Whether `ticks` are more than a second after the last reading of the clocks. If so, it is
    /// time to read them again.
    pub fn is_outrun_by(&self, ticks: u64) -> bool {
        match (self.last_look, self.ticks_per_second()) {
            (Some(last), Some(rate)) => ticks.saturating_sub(last) as f64 > rate,
            _ => true,
        }
    }

    /// Ticks per second; `None` if no two anchors give a rate.
    pub fn ticks_per_second(&self) -> Option<f64> {
        self.rate
    }

    /// The times around `ticks`, if they are between two anchors.
    pub fn interpolation(&self, ticks: u64) -> Option<Interpolation> {
        if !self.course.is_empty() {
            return self.course.interpolation(ticks);
        }
        let after = self.anchors.partition_point(|a| a.ticks <= ticks);
        let (first, last) = (
            self.anchors.get(after.checked_sub(1)?)?,
            self.anchors.get(after)?,
        );
        Interpolation::between((first.ticks, first.realtime), (last.ticks, last.realtime))
    }

    /// Nanoseconds since the epoch at `ticks`; `None` without a rate, or outside of u64.
    pub fn unix_nanos(&self, ticks: u64) -> Option<u64> {
        if !self.course.is_empty() {
            return self.course.unix_nanos(ticks);
        }
        let after = self.anchors.partition_point(|a| a.ticks <= ticks);
        let before = after.checked_sub(1).and_then(|i| self.anchors.get(i));
        match (before, self.anchors.get(after)) {
            (Some(a), Some(b)) => {
                // 128 bits hold the exact product of two durations, unless the anchors are damaged.
                let elapsed = i128::from(b.realtime) - i128::from(a.realtime);
                let part = elapsed.checked_mul(i128::from(ticks - a.ticks))?;
                let part = part / i128::from(b.ticks - a.ticks);
                u64::try_from(i128::from(a.realtime) + part).ok()
            }
            (Some(a), None) | (None, Some(a)) => {
                let rate = self.ticks_per_second()?;
                let away = i128::from(ticks) - i128::from(a.ticks);
                let nanoseconds = (away as f64 * 1e9 / rate) as i128;
                u64::try_from(nanoseconds.checked_add(a.realtime.into())?).ok()
            }
            (None, None) => None,
        }
    }
}

/// The largest set of anchors with rising ticks; the argument has them in the order in which they
/// were taken. Of sets of the same size, it is the one with the most neighbours that give a
/// credible rate, and then the one taken last.
///
/// Ticks only fall from one anchor to a later one if a process mistook its time namespace. A jump
/// of the wall clock between two anchors proves nothing: the machine may have been suspended, or
/// its clock set.
fn consistent(anchors: Vec<Anchor>) -> Vec<Anchor> {
    // The best set that ends with each anchor: its size, its number of credible rates, and the
    // index of its last anchor but one.
    let mut best: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for (i, last) in anchors.iter().enumerate() {
        let before = anchors[..i].iter().zip(&best).enumerate();
        let rising = before.filter(|(_, (a, _))| a.ticks < last.ticks);
        let longer = rising.map(|(at, (a, (count, credible, _)))| {
            let is_credible =
                credible_rate(a, last, TICKS_OF_NANOS, |a| Some(a.realtime)).is_some();
            (count + 1, credible + usize::from(is_credible), Some(at))
        });
        best.push(longer.max().unwrap_or((1, 0, None)));
    }
    let ends = best.iter().enumerate();
    let end = ends.max_by_key(|(at, (count, credible, _))| (*count, *credible, *at));
    let chain = std::iter::successors(end.map(|(at, _)| at), |at| best[*at].2);
    let mut kept: Vec<Anchor> = chain.map(|at| anchors[at]).collect();
    kept.reverse();
    kept
}

/// Ticks per second if ticks are nanoseconds.
pub(super) const TICKS_OF_NANOS: u64 = 1_000_000_000;

/// Ticks per second by `clock` between two anchors, the first with the lower ticks. `None` if the
/// rate is absurd.
fn credible_rate(
    first: &Anchor,
    last: &Anchor,
    tick_rate: u64,
    clock: impl Fn(&Anchor) -> Option<u64>,
) -> Option<f64> {
    // No invariant counter is slower, and no counter is faster.
    let (least, most) = match tick_rate {
        0 => (1e8, 1e10),
        known => (known as f64 * 0.9375, known as f64 * 1.0625),
    };
    let nanoseconds = clock(last)?.checked_sub(clock(first)?)?;
    let rate = (last.ticks - first.ticks) as f64 * 1e9 / nanoseconds as f64;
    (least..=most).contains(&rate).then_some(rate)
}

/// Ticks per second by `clock`, from the two anchors farthest apart that give a credible rate.
fn rate(anchors: &[Anchor], tick_rate: u64, clock: impl Fn(&Anchor) -> Option<u64>) -> Option<f64> {
    let mut widest = (0, None);
    for (i, first) in anchors.iter().enumerate() {
        for last in &anchors[i + 1..] {
            let ticks = last.ticks - first.ticks;
            if ticks > widest.0
                && let Some(rate) = credible_rate(first, last, tick_rate, &clock)
            {
                widest = (ticks, Some(rate));
            }
        }
    }
    widest.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::measure;

    fn at(ticks: u64, ns: u64) -> Anchor {
        Anchor {
            ticks,
            monotonic: ns,
            realtime: 1_000_000_000_000 + ns,
        }
    }

    #[test]
    fn time_is_exact_between_anchors_and_goes_on_outside() {
        let base = TimeBase::new(ClockKind::Tsc, 0, vec![at(3_000, 1_000), at(6_000, 2_000)]);
        assert_eq!(base.ticks_per_second(), Some(3e9));
        let ns = |t| base.unix_nanos(t).map(|n| n - 1_000_000_000_000);
        assert_eq!(ns(3_000), Some(1_000));
        assert_eq!(ns(4_500), Some(1_500));
        assert_eq!(ns(9_000), Some(3_000));
        assert_eq!(ns(0), Some(0));
    }

    #[test]
    fn one_anchor_tells_only_its_own_moment_without_a_rate() {
        let base = TimeBase::new(ClockKind::Tsc, 0, vec![at(3_000, 1_000)]);
        assert_eq!(base.ticks_per_second(), None);
        assert_eq!(base.unix_nanos(4_000), None);
        let base = TimeBase::new(ClockKind::Monotonic, 0, vec![at(3_000, 3_000)]);
        assert_eq!(base.unix_nanos(4_000), Some(1_000_000_004_000));
    }

    /// An anchor of a process that does not know that its clock is `ahead` of the others'.
    fn shifted(ticks: u64, ns: u64, ahead: u64) -> Anchor {
        Anchor {
            monotonic: ns + ahead,
            ..at(ticks, ns)
        }
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_rate_that_the_processor_cannot_have_is_refused() {
        let day = 86_400 * SECOND;
        // With the wrong anchors between the others, before and after them.
        for (first, second) in [(1, 5), (2, 3), (8, 9), (1, 9)] {
            let wrong = |s: u64| shifted(3 * s * SECOND, s * SECOND, day);
            let right = |s: u64| at(3 * s * SECOND, s * SECOND);
            let anchors = vec![right(4), wrong(first), right(7), wrong(second)];
            for known in [0, 2_950_000_000] {
                let base = TimeBase::new(ClockKind::Tsc, known, anchors.clone());
                assert_eq!(base.ticks_per_second(), Some(3e9), "{first} {second}");
                let end = base.unix_nanos(60 * SECOND);
                assert_eq!(end, Some(1_000_000_000_000 + 20 * SECOND));
            }
        }
        // Only a known tick rate reveals this shift.
        let anchors = vec![
            at(3 * SECOND, SECOND),
            shifted(6 * SECOND, 2 * SECOND, SECOND),
        ];
        let base = TimeBase::new(ClockKind::Tsc, 3_000_000_000, anchors.clone());
        assert_eq!(base.ticks_per_second(), Some(3e9), "by the wall clock");
        let base = TimeBase::new(ClockKind::Tsc, 0, anchors);
        assert_eq!(
            base.ticks_per_second(),
            Some(1.5e9),
            "the best that can be said"
        );
        // And one that runs backwards.
        let anchors = vec![at(3 * SECOND, 9 * SECOND), at(6 * SECOND, SECOND)];
        let base = TimeBase::new(ClockKind::Tsc, 3_000_000_000, anchors);
        assert_eq!(base.ticks_per_second(), None);
    }

    #[test]
    fn anchors_without_a_monotonic_time_still_tell_the_wall_clock() {
        let without = |ticks, ns| Anchor {
            monotonic: 0,
            ..at(ticks, ns)
        };
        let anchors = vec![at(3_000, 1_000), without(6_000, 1_500), at(9_000, 3_000)];
        let base = TimeBase::new(ClockKind::Tsc, 0, anchors);
        assert_eq!(base.ticks_per_second(), Some(3e9));
        assert_eq!(base.unix_nanos(6_000), Some(1_000_000_001_500));
        let anchors = vec![without(3_000, 1_000), without(6_000, 2_000)];
        let base = TimeBase::new(ClockKind::Tsc, 0, anchors);
        assert_eq!(base.ticks_per_second(), Some(3e9), "by the wall clock");
    }

    /// An anchor taken `seconds` after the first, with nanoseconds as ticks, by a process whose
    /// clock is `ahead`.
    fn raw(seconds: u64, ahead: i64) -> Anchor {
        let ticks = (1_000 + seconds)
            .saturating_add_signed(ahead)
            .saturating_mul(SECOND);
        Anchor {
            monotonic: ticks,
            ..at(ticks, seconds * SECOND)
        }
    }

    fn by_raw(anchors: &[Anchor]) -> TimeBase {
        TimeBase::new(ClockKind::Monotonic, SECOND, anchors.to_vec())
    }

    #[test]
    fn of_a_clock_that_is_shifted_only_anchors_that_agree_count() {
        let right: Vec<Anchor> = (0..6).map(|s| raw(2 * s, 0)).collect();
        for ahead in [-999, -500, -5, 5, 500, 86_400] {
            for place in 0..6 {
                // The last anchor is a reader's own.
                let mut mixed = right.clone();
                mixed.insert(place, raw(2 * place as u64, ahead));
                // If the ticks rise, the jump may be one of the wall clock.
                let is_in_order = mixed.is_sorted_by(|a, b| a.ticks < b.ticks);
                let expected = if is_in_order { &mixed } else { &right };
                let base = by_raw(&mixed);
                assert_eq!(base.anchors(), expected, "{ahead} at {place}");
            }
        }
        // Of two anchors, the rate decides.
        for (wrong, at) in [(-500, 0), (-500, 1), (86_400, 1)] {
            let mut anchors = vec![raw(0, 0), raw(2, 0)];
            anchors.insert(at, raw(1, wrong));
            assert_eq!(by_raw(&anchors).anchors().len(), 2 + usize::from(at == 0));
            assert!(by_raw(&anchors).anchors().contains(&raw(2, 0)));
        }
        assert_eq!(by_raw(&[]).anchors(), []);
    }

    #[test]
    fn where_the_wall_clock_jumped_all_anchors_count() {
        let jumped = |a: &Anchor, by: i64| Anchor {
            realtime: a.realtime.saturating_add_signed(by * SECOND as i64),
            ..*a
        };
        let right: Vec<Anchor> = (0..6).map(|s| raw(2 * s, 0)).collect();
        // The wall clock was set, or the machine was suspended.
        for by in [-900, -3, 3, 1_000_000] {
            for since in 0..6 {
                let mut all = right.clone();
                all[since..].iter_mut().for_each(|a| *a = jumped(a, by));
                assert_eq!(by_raw(&all).anchors(), all, "{by} since {since}");
            }
        }
    }

    #[test]
    fn an_anchor_of_an_unknown_shift_counts_only_alone() {
        let unknown = |seconds, ahead| Anchor {
            monotonic: 0,
            ..raw(seconds, ahead)
        };
        let mixed = [
            unknown(0, 0),
            raw(1, 0),
            unknown(2, 3600),
            raw(3, 0),
            unknown(4, 0),
        ];
        let base = by_raw(&mixed);
        assert_eq!(base.anchors(), [raw(1, 0), raw(3, 0)]);
        let nanos = |seconds: u64| base.unix_nanos((1_000 + seconds) * SECOND);
        for seconds in [0, 2, 9, 60] {
            assert_eq!(nanos(seconds), Some(1_000_000_000_000 + seconds * SECOND));
        }
        // The clocks were read all the same, and need not be read again at once.
        assert!(!base.is_outrun_by(1_005 * SECOND));
        assert!(base.is_outrun_by(1_006 * SECOND));
        let alone = [unknown(0, 0), unknown(2, 0)];
        assert_eq!(by_raw(&alone).anchors(), alone);
        // The ticks of a counter are comparable without a known shift.
        let counted = TimeBase::new(ClockKind::Tsc, 0, mixed.to_vec());
        assert_eq!(counted.anchors().len(), 5);
    }

    #[test]
    fn what_is_measured_is_near_the_truth() {
        let kind = ClockKind::detect();
        let about = measure(kind);
        let first = Anchor::take(kind);
        let later = loop {
            let later = Anchor::take(kind);
            if later.realtime - first.realtime > 20_000_000 {
                break later;
            }
        };
        let base = TimeBase::new(kind, about, vec![first, later]);
        assert!(
            base.ticks_per_second().is_some(),
            "{about} {first:?} {later:?}"
        );
    }

    #[test]
    fn damaged_anchors_do_no_harm() {
        let wild = [at(0, 5), at(u64::MAX, 3), at(7, u64::MAX / 2), at(7, 9)];
        let base = TimeBase::new(ClockKind::Tsc, 0, wild.to_vec());
        for t in [0, 1, 7, 8, u64::MAX] {
            let _ = base.unix_nanos(t);
        }
        let empty = TimeBase::new(ClockKind::Tsc, 0, vec![]);
        assert_eq!(empty.unix_nanos(1), None);
    }

    #[test]
    fn a_real_anchor_is_near_now() {
        let kind = ClockKind::detect();
        let a = Anchor::take(kind);
        let now = realtime();
        assert!(a.realtime <= now && now - a.realtime < 60_000_000_000);
        assert!(a.ticks <= kind.now());
    }
}
