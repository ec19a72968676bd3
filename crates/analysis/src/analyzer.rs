//! What an analysis calls: an analyser.

use timeline_latency::Lack;

use crate::context::EventContext;
use crate::error::Result;
use crate::gap::StreamGap;
use crate::subscriptions::Subscriptions;

/// Receives events of logs, in order of time over all threads: see [`Analysis`](crate::Analysis).
///
/// An error ends the analysis for all of its analysers.
pub trait Analyzer {
    /// Says which events are wanted, and asks for handles of their fields. Called once, before all
    /// others.
    fn begin(&mut self, wanted: &mut Subscriptions);

    /// Takes the next event that is wanted. The important ones come first.
    ///
    /// # Errors
    /// What the analyser cannot go on with.
    fn event(&mut self, event: &EventContext) -> Result;

    /// Between the event before and the next one, others may be missing, of any thread: what began
    /// before may have ended unseen. Called for all gaps, whatever is wanted; where nobody knows
    /// what is missing, before each event.
    ///
    /// # Errors
    /// What the analyser cannot go on with.
    fn gap(&mut self, _gap: &StreamGap) -> Result {
        Ok(())
    }

    /// So much of a log, by its number, is missing. Of a log that is followed, this comes before
    /// the events that were read together with the loss; otherwise behind the last event.
    ///
    /// # Errors
    /// What the analyser cannot go on with.
    fn loss(&mut self, _log: usize, _what: Lack) -> Result {
        Ok(())
    }

    /// All that came was given. Not called if the analysis failed.
    ///
    /// # Errors
    /// What the analyser cannot end with.
    fn end(&mut self, _end: AnalysisEnd) -> Result {
        Ok(())
    }
}

/// Why an analysis has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnalysisEnd {
    /// No more events come.
    Whole,
    /// Nobody waits for the rest.
    Cancelled,
    /// All analysers have [enough](EventContext::enough).
    Enough,
}
