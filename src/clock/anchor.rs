//! Anchors tie ticks to the wall clock; a time base interpolates between them.
//!
//! An anchor is one moment read on three clocks: ticks, CLOCK_MONOTONIC_RAW and CLOCK_REALTIME. Nobody
//! calibrates and nobody waits: each attacher adds an anchor, so the span between the first and the last
//! grows while the timeline lives, and with it the precision of the tick rate. Between two anchors the
//! wall clock is interpolated, so that a step of the system's clock is felt only between its neighbours;
//! outside of them it goes on at the overall rate.

use super::{ClockKind, monotonic_raw, realtime};

/// One moment on three clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Anchor {
    /// Ticks of the timeline's clock.
    pub ticks: u64,
    /// Nanoseconds of CLOCK_MONOTONIC_RAW.
    pub monotonic: u64,
    /// Nanoseconds since the epoch.
    pub realtime: u64,
}

impl Anchor {
    /// Reads the three clocks as close together as the scheduler lets us: of a few attempts the one whose
    /// two tick readings lie closest, and none whose ticks ran backwards.
    pub fn take(kind: ClockKind) -> Anchor {
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
        best
    }
}

/// What turns ticks into time.
#[derive(Debug, Clone)]
pub struct TimeBase {
    kind: ClockKind,
    anchors: Vec<Anchor>,
}

impl TimeBase {
    /// From anchors in any order. Those of ticks 0, and those that run backwards on the monotonic clock
    /// (another boot, or damage), are left out.
    pub fn new(kind: ClockKind, mut anchors: Vec<Anchor>) -> TimeBase {
        anchors.retain(|a| a.ticks != 0);
        anchors.sort_by_key(|a| a.ticks);
        let mut last = 0;
        anchors.retain(|a| {
            let rises = a.monotonic >= last;
            if rises {
                last = a.monotonic;
            }
            rises
        });
        anchors.dedup_by_key(|a| a.ticks);
        TimeBase { kind, anchors }
    }

    /// Whether `ticks` lie more than a second behind the last anchor: time for another one.
    pub fn is_outrun_by(&self, ticks: u64) -> bool {
        match (self.anchors.last(), self.ticks_per_second()) {
            (Some(last), Some(rate)) => ticks.saturating_sub(last.ticks) as f64 > rate,
            _ => true,
        }
    }

    /// Ticks per second, from the widest pair of anchors; `None` when there is only one.
    pub fn ticks_per_second(&self) -> Option<f64> {
        if self.kind == ClockKind::Monotonic {
            return Some(1e9);
        }
        let (first, last) = (self.anchors.first()?, self.anchors.last()?);
        let nanoseconds = last.monotonic - first.monotonic;
        if nanoseconds == 0 {
            return None;
        }
        Some((last.ticks - first.ticks) as f64 * 1e9 / nanoseconds as f64)
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
        let base = TimeBase::new(ClockKind::Tsc, vec![at(3_000, 1_000), at(6_000, 2_000)]);
        assert_eq!(base.ticks_per_second(), Some(3e9));
        let ns = |t| base.unix_nanos(t).map(|n| n - 1_000_000_000_000);
        assert_eq!(ns(3_000), Some(1_000));
        assert_eq!(ns(4_500), Some(1_500));
        assert_eq!(ns(9_000), Some(3_000));
        assert_eq!(ns(0), Some(0));
    }

    #[test]
    fn one_anchor_tells_only_its_own_moment_without_a_rate() {
        let base = TimeBase::new(ClockKind::Tsc, vec![at(3_000, 1_000)]);
        assert_eq!(base.ticks_per_second(), None);
        assert_eq!(base.unix_nanos(4_000), None);
        let base = TimeBase::new(ClockKind::Monotonic, vec![at(3_000, 3_000)]);
        assert_eq!(base.unix_nanos(4_000), Some(1_000_000_004_000));
    }

    #[test]
    fn damaged_anchors_do_no_harm() {
        let wild = [at(0, 5), at(u64::MAX, 3), at(7, u64::MAX / 2), at(7, 9)];
        let base = TimeBase::new(ClockKind::Tsc, wild.to_vec());
        for t in [0, 1, 7, 8, u64::MAX] {
            let _ = base.unix_nanos(t);
        }
        let empty = TimeBase::new(ClockKind::Tsc, vec![]);
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
