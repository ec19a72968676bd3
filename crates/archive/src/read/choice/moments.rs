//! Reads from the columns of a block when its events were logged.

use crate::format::block::{HAS_TICKS, HAS_TIME, TICKS, TIME};
use crate::format::varint::signed;
use crate::read::choice::columns::BlockColumns;

impl BlockColumns<'_> {
    /// The time of each event in nanoseconds since 1970; 0 if it is not known.
    pub fn times(&self) -> Option<Vec<u64>> {
        self.moments(|_, time| time)
    }

    /// The ticks and the time of each event; 0 stands for those that are not known.
    pub fn ticks_and_times(&self) -> Option<Vec<(u64, u64)>> {
        self.moments(|ticks, time| (ticks.unwrap_or(0), time))
    }

    fn moments<T>(&self, make: impl Fn(Option<u64>, u64) -> T) -> Option<Vec<T>> {
        let (mut of_ticks, mut of_times) = (self.columns[TICKS], self.columns[TIME]);
        let (mut ticks, steps) = (self.pace.ticks, self.pace.steps());
        let mut time = steps.map_or(0, |(_, before)| before);
        let mut moments = Vec::with_capacity(self.shapes().len());
        for has in self.masks() {
            if has & HAS_TICKS != 0 {
                ticks = ticks.wrapping_add(signed(of_ticks.get_any()?));
            }
            let ticks = (has & HAS_TICKS != 0).then_some(ticks);
            let time = match steps {
                _ if has & HAS_TIME == 0 => 0,
                Some((unit, _)) => {
                    let passed = signed(of_times.get_any()?);
                    time = time.wrapping_add(passed.wrapping_mul(unit));
                    time
                }
                None => of_times.difference(self.pace.expect(ticks))?,
            };
            moments.push(make(ticks, time));
        }
        Some(moments)
    }
}
