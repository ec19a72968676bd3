//! Tells where in a file events may be missing, in whatever lane.

use crate::format::record::{LossRecord, Record};

/// A place in the file where events may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Break {
    /// How many units are before it.
    pub unit: usize,
    pub what: BreakKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakKind {
    /// Entries, or nobody knows what.
    Some,
    /// Entries of a lane, which the event behind them counts.
    Gap,
    /// Entries that were logged before these ticks.
    Until(u64),
    /// The rest of a run: another one begins. Runs of the same time are none of each other.
    Run,
    /// The events of the unit that is behind it.
    Unit,
}

/// What a record without a lane says is missing where it stands, if anything.
pub fn missing(missed: &LossRecord) -> Option<BreakKind> {
    match (missed.gap(), missed.count, missed.ticks) {
        (None, Some(0), None) | (Some(_), ..) => None,
        (None, _, Some(ticks)) => Some(BreakKind::Until(ticks)),
        (None, _, None) => Some(BreakKind::Some),
    }
}

/// Whether a record is the preamble of another run than the one before, which `run` keeps.
pub fn begins_run(record: &Record, run: &mut Option<u64>) -> bool {
    let Record::Preamble(preamble) = record else {
        return false;
    };
    let begun = preamble
        .magic
        .map(|magic| run.replace(magic).is_some_and(|run| run != magic));
    begun.unwrap_or(false)
}
