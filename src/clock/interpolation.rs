//! Computes the times between two moments without a division for each.

use std::ops::Range;

/// The ticks from one moment to another, over which the clock is taken to run evenly.
#[derive(Debug, Clone, Copy)]
pub struct Interpolation {
    from: u64,
    ticks: u64,
    /// For how many of these ticks it is asked.
    valid: u64,
    unix: u64,
    /// Whole nanoseconds in a tick.
    whole: u64,
    /// The nanoseconds beyond those, in all of these ticks.
    rest: u64,
    /// `rest` divided by `ticks`, in 2^-64, rounded down.
    rate: u64,
}

impl Interpolation {
    /// Between two moments in ticks and in nanoseconds since the epoch, the first with the lower
    /// ticks. `None` if the clock was set back in between, or if the numbers are too large.
    pub fn between(first: (u64, u64), last: (u64, u64)) -> Option<Interpolation> {
        let ticks = last.0.checked_sub(first.0)?;
        let elapsed = last.1.checked_sub(first.1)?;
        if ticks == 0 || ticks >> 63 != 0 {
            return None;
        }
        let (whole, rest) = (elapsed / ticks, elapsed % ticks);
        Some(Interpolation {
            from: first.0,
            ticks,
            valid: ticks,
            unix: first.1,
            whole,
            rest,
            rate: ((u128::from(rest) << 64) / u128::from(ticks)) as u64,
        })
    }

    /// The same, for ticks before `end`.
    pub fn until(self, end: u64) -> Interpolation {
        let valid = self.valid.min(end.saturating_sub(self.from));
        Interpolation { valid, ..self }
    }

    /// The ticks that it has times for.
    pub fn ticks(&self) -> Range<u64> {
        self.from..self.from + self.valid
    }

    /// Nanoseconds since the epoch at `ticks`, rounded down; `None` if they are not between the
    /// two moments.
    #[inline]
    pub fn unix_nanos(&self, ticks: u64) -> Option<u64> {
        let since = ticks.wrapping_sub(self.from);
        if since >= self.valid {
            return None;
        }
        let part = ((u128::from(since) * u128::from(self.rate)) >> 64) as u64;
        // The rate is too small by less than 2^-64, so that the part is too small by 1 at most.
        let product = since.wrapping_mul(self.rest);
        let left = product.wrapping_sub(part.wrapping_mul(self.ticks));
        let part = part + u64::from(left >= self.ticks);
        Some(self.unix + self.whole * since + part)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::{Anchor, ClockKind, TimeBase};

    fn anchor(ticks: u64, realtime: u64) -> Anchor {
        Anchor {
            ticks,
            realtime,
            monotonic: 1 + ticks / 3,
        }
    }

    proptest! {
        #[test]
        fn times_are_those_of_the_anchors(
            from in 1..1_u64 << 62,
            ticks in 1..1_u64 << 62,
            unix in 0..1_u64 << 62,
            elapsed in 0..1_u64 << 62,
            shifts in (0..62_u32, 0..62_u32),
            parts in prop::collection::vec(any::<u64>(), 50),
        ) {
            let (ticks, elapsed): (u64, u64) = (ticks >> shifts.0, elapsed >> shifts.1);
            let ticks = ticks.max(1);
            let ends = [anchor(from, unix), anchor(from + ticks, unix + elapsed)];
            let base = TimeBase::new(ClockKind::Tsc, 0, ends.to_vec());
            let line = base.interpolation(from).expect("between two anchors");
            for since in parts.into_iter().map(|part| part % ticks).chain([0, ticks - 1]) {
                prop_assert_eq!(line.unix_nanos(from + since), base.unix_nanos(from + since));
            }
            prop_assert_eq!(line.unix_nanos(from + ticks), None);
            prop_assert_eq!(line.unix_nanos(from - 1), None);
            prop_assert!(base.interpolation(from + ticks).is_none());
            prop_assert!(base.interpolation(from - 1).is_none());
        }
    }

    #[test]
    fn a_clock_that_was_set_back_is_not_even() {
        assert!(Interpolation::between((5, 9), (7, 8)).is_none());
        assert!(Interpolation::between((5, 9), (5, 9)).is_none());
        assert!(Interpolation::between((5, 9), (u64::MAX, 19)).is_none());
    }
}
