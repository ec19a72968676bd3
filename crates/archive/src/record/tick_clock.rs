//! Computes wall-clock times of events, by interpolation between two moments close to each other.

use timeline::Attached;

/// Ticks over which the clock is taken to run evenly: some milliseconds.
const SPAN: u64 = 1 << 24;
/// A higher rate, in 2^-32 nanoseconds a tick, could not be multiplied by the span.
const MOST_RATE: u64 = 1 << 39;

/// Computes the same times as [`Attached::unix_nanos`], without its divisions.
#[derive(Default)]
pub struct TickClock {
    from: u64,
    /// 0 if no rate is known.
    span: u64,
    unix: u64,
    /// In 2^-32 nanoseconds a tick.
    rate: u64,
}

impl TickClock {
    /// Nanoseconds since the epoch at `ticks`.
    #[inline]
    pub fn unix_nanos(&mut self, ring: &Attached, ticks: u64) -> Option<u64> {
        let since = ticks.wrapping_sub(self.from);
        if since < self.span {
            return Some(self.unix + ((since * self.rate) >> 32));
        }
        self.move_span(ticks, |ticks| ring.unix_nanos(ticks))
    }

    #[cold]
    fn move_span(&mut self, ticks: u64, unix_nanos: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        self.span = 0;
        // The span begins before `ticks`, because the events of several threads are not exactly in
        // order.
        let from = ticks.saturating_sub(SPAN / 4);
        let ends = unix_nanos(from).zip(from.checked_add(SPAN).and_then(&unix_nanos));
        if let Some((first, last)) = ends
            && let Some(rate) = last.checked_sub(first).and_then(|s| s.checked_mul(1 << 32))
            && rate / SPAN < MOST_RATE
            && last < u64::MAX / 2
        {
            *self = TickClock {
                from,
                span: SPAN,
                unix: first,
                rate: rate / SPAN,
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
            let found = match since < times.span {
                true => Some(times.unix + ((since * times.rate) >> 32)),
                false => times.move_span(ticks, clock),
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
            for ticks in [0, 1, SPAN, u64::MAX] {
                assert_eq!(times.move_span(ticks, clock), clock(ticks));
                assert_eq!(times.span, 0);
            }
        }
    }
}
