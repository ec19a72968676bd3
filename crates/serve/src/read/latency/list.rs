//! Lists the durations behind a cell of a heat map, or a bucket of a spectrum.

use serde::Serialize;
use serde_json::value::RawValue;
use timeline_latency::Series;
use timeline_reading::{Longest, json};
use utoipa::ToSchema;

use super::find::{DurationFilter, each_duration, id, unknown};
use crate::error::Result;
use crate::logs::Version;
use crate::read::cancel::Cancel;
use crate::read::catalogue::ThreadObject;
use crate::read::events::Moment;
use crate::read::names::{NameNumbers, NameTable};
use crate::read::nanos::json_option;

/// What is listed.
#[derive(Debug, Clone)]
pub struct ListQuery {
    pub asked: DurationFilter,
    /// The id of the series; all if there is none.
    pub series: Option<String>,
    /// The shortest and the longest, in nanoseconds.
    pub min: u64,
    pub max: u64,
    pub limit: usize,
}

/// Durations, the longest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct DurationList {
    /// How many there are.
    pub count: u64,
    /// The longest of them; of equal ones, those that ended first.
    pub durations: Vec<DurationObject>,
    /// What was asked for and is in no definition, in words, with the nearest names. Absent if
    /// there is nothing of that kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A duration.
#[derive(Debug, Serialize, ToSchema)]
pub struct DurationObject {
    /// The id of its series.
    pub series: String,
    /// When it began. The event that began it has this time.
    pub begin: Moment,
    /// When it ended, likewise.
    pub end: Moment,
    /// How long it is, in nanoseconds.
    pub duration: u64,
    /// The name of the thread in which it ended.
    pub thread: Option<String>,
    /// The kernel's id of that thread.
    pub tid: Option<u32>,
    /// That of its process.
    pub pid: Option<u32>,
    /// The name of its process.
    pub process: Option<String>,
    /// The value that both events share, if they are paired by one.
    #[schema(value_type = Option<serde_json::Value>)]
    #[serde(serialize_with = "json_option")]
    pub key: Option<Box<RawValue>>,
    /// In how many other spans of its thread it lies, of those that were asked for.
    pub depth: usize,
}

/// Lists durations.
pub fn list(version: &Version, asked: &ListQuery, cancel: &Cancel) -> Result<DurationList> {
    let mut longest = Longest::new(asked.limit);
    let mut series: Vec<(Series, bool)> = Vec::new();
    each_duration(version, &asked.asked, cancel, |all, found| {
        let new = &all[series.len()..];
        series.extend(new.iter().map(|new| {
            let wanted = asked.series.as_ref();
            let is_wanted = wanted.is_none_or(|wanted| *wanted == id(new));
            (new.clone(), is_wanted)
        }));
        let is_in = (asked.min..=asked.max).contains(&found.value);
        if is_in && series[found.series].1 {
            longest.add(found.value, found);
        }
        true
    })?;
    let count = longest.count;
    let mut numbers = NameNumbers::new(version.archive(), NameTable::default());
    let durations = longest.into_sorted().map(|found| {
        let number = numbers.thread((found.thread, found.tid));
        let logger = &numbers.names.threads[number as usize];
        let thread = ThreadObject::new(logger.thread.clone(), logger.tid, 0);
        DurationObject {
            series: id(&series[found.series].0),
            begin: Moment::of(found.begin),
            end: Moment::of(found.end),
            duration: found.value,
            thread: thread.name,
            tid: thread.tid,
            pid: thread.pid,
            process: thread.process,
            key: found
                .key
                .as_ref()
                .map(|key| json::value(None, &key.value())),
            depth: found.depth,
        }
    });
    Ok(DurationList {
        unknown: match count {
            0 => unknown(version.archive(), &asked.asked),
            _ => Vec::new(),
        },
        count,
        durations: durations.collect(),
    })
}
