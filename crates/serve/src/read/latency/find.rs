//! Finds the durations of an archive that are asked for.

use std::cell::Cell;

use timeline::Event;
use timeline_archive::Archive;
use timeline_latency::{Losses, Matcher, Measure, Measurement, OpenSpan, Series};
use timeline_reading::DurationRequest;
use timeline_search::Query;

use crate::error::Result;
use crate::logs::Version;
use crate::read::cancel::Cancel;

/// So long before a range begins are looked for, in nanoseconds.
pub const LONGEST: u64 = timeline_latency::DEFAULT_LONGEST.as_nanos() as u64;

/// Which durations are wanted.
#[derive(Debug, Clone)]
pub struct DurationFilter {
    pub measures: Vec<Measure>,
    /// Those that end from a time on and before another, in nanoseconds since 1970.
    pub range: Option<(u64, u64)>,
    /// Which events may end one.
    pub query: Query,
}

impl DurationFilter {
    /// The filters with the range.
    fn query(&self) -> Query {
        match self.range {
            Some((from, to)) => self.query.within(from..to),
            None => self.query.clone(),
        }
    }
}

/// A text that no other series of an answer has.
pub fn id(series: &Series) -> String {
    match &series.key {
        Some(key) => format!("{} by {key}", series.name),
        None => series.name.clone(),
    }
}

/// What is asked for and is in no definition, in words. To be asked if nothing was found: all of
/// the log may be read to know.
pub fn unknown(archive: &Archive, asked: &DurationFilter) -> Vec<String> {
    let unknown = asked.measures.iter().filter_map(|one| one.unknown(archive));
    unknown.map(|one| one.to_string()).collect()
}

/// Has `each` take the durations in the order of their ends, until it returns false. Returns what
/// has no other half, and how many are open.
///
/// # Errors
/// If it was cancelled.
pub fn each_duration(
    version: &Version,
    asked: &DurationFilter,
    cancel: &Cancel,
    mut each: impl FnMut(&[Series], Measurement) -> bool,
) -> Result<(Losses, u64)> {
    let (query, is_enough) = (asked.query(), Cell::new(false));
    let mut matcher = Matcher::new(&asked.measures, version.archive());
    let wanted = DurationRequest {
        longest: LONGEST,
        is_cancelled: &|| is_enough.get() || cancel.is_set(),
        ..DurationRequest::new(&query)
    };
    let mut found = |series: &[Series], found: Measurement| {
        if !is_enough.get() {
            is_enough.set(!each(series, found));
        }
    };
    timeline_reading::each_duration(version.archive(), &mut matcher, &wanted, &mut found);
    cancel.check()?;
    Ok((matcher.losses(), matcher.open() as u64))
}

/// Has `each` take the events that play a part, the oldest first, each with the durations that it
/// ends, until it returns false. Returns those that are open then.
///
/// # Errors
/// If it was cancelled.
pub fn each_event(
    version: &Version,
    asked: &DurationFilter,
    cancel: &Cancel,
    each: impl FnMut(&Matcher, &Event, &mut Vec<Measurement>) -> bool,
) -> Result<Vec<OpenSpan>> {
    let (archive, query) = (version.archive(), asked.query());
    let mut matcher = Matcher::new(&asked.measures, archive);
    let wanted = DurationRequest {
        longest: LONGEST,
        is_cancelled: &|| cancel.is_set(),
        ..DurationRequest::new(&query)
    };
    timeline_reading::each_event(archive, &mut matcher, &wanted, each);
    cancel.check()?;
    let mut open = Vec::new();
    matcher.overdue(u64::MAX, 0, |one| open.push(one));
    Ok(open)
}
