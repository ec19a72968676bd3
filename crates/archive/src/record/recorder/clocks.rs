//! Writes what time it is at the destination, for readers that order the events of several hosts.

use std::time::Duration;

use super::Recorder;
use crate::format::clock::ClockComparison;
use crate::record::output::ReferenceClock;

/// A comparison is written at the latest so long after the one before.
const OFTEN: Duration = Duration::from_secs(60);

/// A reading that is older says less than the next one.
const OLDEST: Duration = Duration::from_secs(1);

impl Recorder<'_> {
    /// Writes a new comparison, if there were events since the last one, and it says more.
    pub(super) fn tell_clock(&mut self) {
        if !self.introduced {
            return;
        }
        let Some(reference) = self.writer.output().destination().take_clock() else {
            return;
        };
        let Some(comparison) = self.compare(reference) else {
            return;
        };
        let events = self.totals.events;
        let is_of_use =
            |(last, before): &(_, u64)| events > *before && says_more(&comparison, last);
        if self.clock_told.as_ref().is_none_or(is_of_use) {
            self.writer.clock(&comparison);
            self.clock_told = Some((comparison, events));
        }
    }

    /// The moment of a reading in the ring's clock. `None` if both are of one machine: nothing
    /// could be learnt.
    fn compare(&mut self, reference: ReferenceClock) -> Option<ClockComparison> {
        if self.preamble.boot_id.as_ref() == Some(&reference.boot_id) {
            return None;
        }
        let info = self.at.info();
        let rate = info.ticks_per_second?;
        // Another process may run between the two.
        let before = reference.taken.elapsed();
        let now = info.clock.now();
        let since = reference.taken.elapsed();
        if since > OLDEST {
            return None;
        }
        let apart = u64::try_from((since - before).as_nanos()).unwrap_or(u64::MAX);
        let ticks = now.checked_sub((since.as_secs_f64() * rate) as u64)?;
        Some(ClockComparison {
            magic: self.preamble.magic,
            ticks: Some(ticks),
            unix_nanos: Some(self.at.unix_nanos(ticks)?),
            reference_nanos: Some(reference.unix_nanos),
            error: Some(reference.error.saturating_add(apart)),
            boot_id: Some(reference.boot_id),
            host: Some(reference.host),
        })
    }
}

/// Whether a comparison is of another clock, long after the last one, twice as exact, or shows that
/// one of the clocks was set.
fn says_more(new: &ClockComparison, last: &ClockComparison) -> bool {
    let elapsed = new
        .unix_nanos
        .unwrap_or(0)
        .abs_diff(last.unix_nanos.unwrap_or(0));
    let error = |one: &ClockComparison| one.error.unwrap_or(u64::MAX);
    let offset = |one: &ClockComparison| one.offset().unwrap_or(i64::MAX);
    let moved = offset(new).abs_diff(offset(last));
    new.boot_id != last.boot_id
        || elapsed >= OFTEN.as_nanos() as u64
        || error(new) < error(last) / 2
        || moved > error(new).saturating_add(error(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(unix: u64, reference: u64, error: u64) -> ClockComparison {
        ClockComparison {
            unix_nanos: Some(unix),
            reference_nanos: Some(reference),
            error: Some(error),
            boot_id: Some("a".into()),
            ..ClockComparison::default()
        }
    }

    #[test]
    fn only_what_says_more_is_written() {
        let last = comparison(1_000, 5_000, 100);
        assert!(!says_more(&comparison(2_000, 6_100, 100), &last));
        assert!(!says_more(&comparison(2_000, 6_000, 51), &last));
        assert!(says_more(&comparison(2_000, 6_000, 49), &last));
        assert!(says_more(&comparison(2_000, 6_201, 100), &last));
        assert!(says_more(
            &comparison(60_000_001_000, 60_000_005_000, 200),
            &last
        ));
        let other = ClockComparison {
            boot_id: Some("b".into()),
            ..last.clone()
        };
        assert!(says_more(&other, &last));
    }
}
