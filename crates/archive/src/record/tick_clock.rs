//! Computes wall-clock times of events, without asking the ring for each.

use std::ops::Range;

use timeline::{Attached, Interpolation};

/// Computes the same times as [`Attached::unix_nanos`], without its divisions.
#[derive(Default)]
pub struct TickClock {
    even: Option<Interpolation>,
}

impl TickClock {
    /// Nanoseconds since the epoch at `ticks`.
    #[inline]
    pub fn unix_nanos(&mut self, ring: &Attached, ticks: u64) -> Option<u64> {
        let even = self.even.and_then(|even| even.unix_nanos(ticks));
        even.or_else(|| self.ask(ring, ticks))
    }

    /// The ticks over which the clock runs evenly at present.
    pub fn even_ticks(&self) -> Range<u64> {
        self.even.map_or(0..0, |even| even.ticks())
    }

    /// Nanoseconds since the epoch at some of [`TickClock::even_ticks`].
    #[inline]
    pub fn even_time(&self, ticks: u64) -> u64 {
        let time = self.even.and_then(|even| even.unix_nanos(ticks));
        time.unwrap_or_default()
    }

    #[cold]
    fn ask(&mut self, ring: &Attached, ticks: u64) -> Option<u64> {
        self.even = ring.interpolation(ticks);
        ring.unix_nanos(ticks)
    }
}
