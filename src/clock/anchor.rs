//! Anchors tie ticks to the wall clock; a time base interpolates between them.
//!
//! An anchor is one moment read on three clocks: ticks, CLOCK_MONOTONIC_RAW and CLOCK_REALTIME. Nobody
//! calibrates and nobody waits: each attacher adds an anchor, so the span between the first and the last
//! grows while the timeline lives, and with it the precision of the tick rate. Between two anchors the
//! wall clock is interpolated, so that a step of the system's clock is felt only between its neighbours;
//! outside of them it goes on at the overall rate.
//!
//! Time namespaces shift CLOCK_MONOTONIC_RAW, so an anchor has it as the machine's first namespace does. Where the
//! shift is not known, an anchor does not have it. A rate far from the one that the creator of the timeline measured is
//! not believed.

use super::{ClockKind, knows_shift, monotonic_raw, realtime};

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
    /// Reads the three clocks as close together as the scheduler lets us.
    pub fn take(kind: ClockKind) -> Anchor {
        let is_known = knows_shift();
        let (mut anchor, _) = read(kind);
        if !is_known {
            anchor.monotonic = 0;
        }
        anchor
    }
}

/// The three clocks, and in how many ticks they were read: of a few attempts the one whose two tick readings lie
/// closest, and none whose ticks ran backwards.
fn read(kind: ClockKind) -> (Anchor, u64) {
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

/// A span is this many times as long as its two ends are uncertain, before a rate is taken from it.
const SHARPNESS: u64 = 64;

/// Ticks per second, right within a thirty-second part; 0 if that cannot be had. Takes some microseconds.
pub fn measure(kind: ClockKind) -> u64 {
    if kind == ClockKind::Monotonic {
        return 1_000_000_000;
    }
    let (first, blur) = read(kind);
    for _ in 0..10_000 {
        let (last, again) = read(kind);
        let (ticks, blur) = (
            last.ticks.wrapping_sub(first.ticks),
            blur.saturating_add(again),
        );
        let nanoseconds = last.monotonic.wrapping_sub(first.monotonic);
        if nanoseconds > 0 && ticks / SHARPNESS >= blur {
            let rate = u128::from(ticks) * 1_000_000_000 / u128::from(nanoseconds);
            return u64::try_from(rate).unwrap_or(0);
        }
    }
    0
}

/// What turns ticks into time.
#[derive(Debug, Clone)]
pub struct TimeBase {
    anchors: Vec<Anchor>,
    /// Ticks per second.
    rate: Option<f64>,
}

impl TimeBase {
    /// From anchors in any order, of which those of ticks 0 are left out. `tick_rate`: about how many ticks a second
    /// has; 0 = not known.
    pub fn new(kind: ClockKind, tick_rate: u64, mut anchors: Vec<Anchor>) -> TimeBase {
        anchors.retain(|a| a.ticks != 0);
        anchors.sort_by_key(|a| a.ticks);
        anchors.dedup_by_key(|a| a.ticks);
        let rate = match kind {
            ClockKind::Monotonic => Some(1e9),
            ClockKind::Tsc => {
                let monotonic = |a: &Anchor| (a.monotonic != 0).then_some(a.monotonic);
                let by_monotonic = rate(&anchors, tick_rate, monotonic);
                // The wall clock may have been set in between, but not so far that the rate is still credible.
                by_monotonic.or_else(|| rate(&anchors, tick_rate, |a| Some(a.realtime)))
            }
        };
        TimeBase { anchors, rate }
    }

    /// Whether `ticks` lie more than a second behind the last anchor: time for another one.
    pub fn is_outrun_by(&self, ticks: u64) -> bool {
        match (self.anchors.last(), self.ticks_per_second()) {
            (Some(last), Some(rate)) => ticks.saturating_sub(last.ticks) as f64 > rate,
            _ => true,
        }
    }

    /// Ticks per second; `None` when no two anchors tell.
    pub fn ticks_per_second(&self) -> Option<f64> {
        self.rate
    }

    /// Nanoseconds since the epoch at `ticks`; `None` without a rate, or outside of u64.
    pub fn unix_nanos(&self, ticks: u64) -> Option<u64> {
        let after = self.anchors.partition_point(|a| a.ticks <= ticks);
        let before = after.checked_sub(1).and_then(|i| self.anchors.get(i));
        match (before, self.anchors.get(after)) {
            (Some(a), Some(b)) => {
                // 128 bits: an exact product of two spans, of which only damage makes one too long.
                let span = i128::from(b.realtime) - i128::from(a.realtime);
                let part = span.checked_mul(i128::from(ticks - a.ticks))?;
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

/// Ticks per second by that clock, from the two anchors farthest apart of those that tell a credible one.
fn rate(anchors: &[Anchor], tick_rate: u64, clock: impl Fn(&Anchor) -> Option<u64>) -> Option<f64> {
    // No counter is invariant and slower, none is faster.
    let (least, most) = match tick_rate {
        0 => (1e8, 1e10),
        known => (known as f64 * 0.9375, known as f64 * 1.0625),
    };
    let mut widest = (0, None);
    for (i, first) in anchors.iter().enumerate() {
        for last in &anchors[i + 1..] {
            let ticks = last.ticks - first.ticks;
            let span = clock(last)
                .zip(clock(first))
                .map(|(b, a)| b.saturating_sub(a));
            if let Some(nanoseconds @ 1..) = span
                && ticks > widest.0
            {
                let rate = ticks as f64 * 1e9 / nanoseconds as f64;
                if (least..=most).contains(&rate) {
                    widest = (ticks, Some(rate));
                }
            }
        }
    }
    widest.1
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// As somebody takes it who does not know that his clock is `ahead` of the others'.
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
        // In any order, those of the others in between, before and after.
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
        // A shift that only who knows the processor notices.
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
