//! Writes what time it is at the destination, for readers that order the events of several hosts.

use std::time::Duration;

use super::Recorder;
use crate::format::clock::ClockComparison;
use crate::record::output::ReferenceClock;

/// A reading that is older says less than the next one.
const OLDEST: Duration = Duration::from_secs(1);

impl Recorder<'_> {
    /// Writes a new comparison, if there were events since the last one.
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
        if self
            .clock_told
            .as_ref()
            .is_none_or(|(_, before)| events > *before)
        {
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
