//! Computes wall-clock times of events, by interpolation between two moments close to each other.

use std::ops::Range;

use timeline::Attached;

/// Ticks over which the clock is taken to run evenly: some milliseconds.
const EVEN_TICKS: u64 = 1 << 24;
/// A higher rate, in 2^-32 nanoseconds a tick, could not be multiplied by so many ticks.
const MOST_RATE: u64 = 1 << 39;

/// Computes the same times as [`Attached::unix_nanos`], without its divisions.
#[derive(Default)]
pub struct TickClock {
    /// The first of the ticks over which the clock runs evenly, and how many there are: 0 if no
    /// rate is known.
    from: u64,
    even_ticks: u64,
    unix: u64,
    /// In 2^-32 nanoseconds a tick.
    rate: u64,
}

impl TickClock {
    /// Nanoseconds since the epoch at `ticks`.
    #[inline]
    pub fn unix_nanos(&mut self, ring: &Attached, ticks: u64) -> Option<u64> {
        if ticks.wrapping_sub(self.from) < self.even_ticks {
            return Some(self.even_time(ticks));
        }
        self.move_even_part(ticks, |ticks| ring.unix_nanos(ticks))
    }

    /// The ticks over which the clock runs evenly at present.
    pub fn even_ticks(&self) -> Range<u64> {
        self.from..self.from + self.even_ticks
    }

    /// Nanoseconds since the epoch at some of [`TickClock::even_ticks`].
    #[inline]
    pub fn even_time(&self, ticks: u64) -> u64 {
        self.unix + (((ticks - self.from) * self.rate) >> 32)
    }

    #[cold]
    fn move_even_part(
        &mut self,
        ticks: u64,
        unix_nanos: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        self.even_ticks = 0;
        // That part begins before `ticks`, because the events of several threads are not exactly in
        // order.
        let from = ticks.saturating_sub(EVEN_TICKS / 4);
        let ends = unix_nanos(from).zip(from.checked_add(EVEN_TICKS).and_then(&unix_nanos));
        if let Some((first, last)) = ends
            && let Some(rate) = last.checked_sub(first).and_then(|s| s.checked_mul(1 << 32))
            && rate / EVEN_TICKS < MOST_RATE
            && last < u64::MAX / 2
        {
            *self = TickClock {
                from,
                even_ticks: EVEN_TICKS,
                unix: first,
                rate: rate / EVEN_TICKS,
            };
        }
        unix_nanos(ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_clock() {
        let clock = |ticks: u64| Some(1_700_000_000_000_000_000 + ticks * 10 / 29);
        let mut times = TickClock::default();
        let mut ticks = 5_000_000_000;
        for step in (0..2_000u64).map(|i| i * i * 7 % 90_001) {
            let since = ticks - times.from.min(ticks);
            let found = match since < times.even_ticks {
                true => Some(times.unix + ((since * times.rate) >> 32)),
                false => times.move_even_part(ticks, clock),
            };
            assert!(found.unwrap().abs_diff(clock(ticks).unwrap()) <= 1);
            ticks += step;
        }
        assert!(times.from > 5_000_000_000, "it moves on");
    }

    #[test]
    fn a_clock_that_is_senseless_is_asked_each_time() {
        for clock in [
            |_| None,
            |ticks: u64| Some(u64::MAX - ticks),
            |ticks: u64| Some(ticks.wrapping_mul(200)),
        ] {
            let mut times = TickClock::default();
            for ticks in [0, 1, EVEN_TICKS, u64::MAX] {
                assert_eq!(times.move_even_part(ticks, clock), clock(ticks));
                assert_eq!(times.even_ticks, 0);
            }
        }
    }
}
