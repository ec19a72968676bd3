//! Counts the events of a log by category, priority, name, thread and time.

use std::collections::HashMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::catalogue::{ThreadObject, threads};
use super::events::Moment;
use super::summary::LogSummary;
use crate::error::Result;
use crate::logs::Version;

/// Parts of the time of a log whose events are counted.
const PARTS: usize = 200;
/// Most names and threads that are listed.
const MOST: usize = 1_000;

/// The counts of a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct Overview {
    /// How many events there are.
    pub events: u64,
    /// The first time.
    pub first: Option<Moment>,
    /// The last time.
    pub last: Option<Moment>,
    /// How many entries are known to be missing.
    pub missed: u64,
    /// By category, the most events first.
    pub categories: Vec<Amount>,
    /// By priority.
    pub priorities: Vec<Amount>,
    /// By the names of events; the 1,000 with the most events.
    pub names: Vec<NameAmount>,
    /// By thread; the 1,000 with the most events.
    pub threads: Vec<ThreadObject>,
    /// By time.
    pub rate: Option<Rate>,
}

/// How many events there are of a kind.
#[derive(Debug, Serialize, ToSchema)]
pub struct Amount {
    /// The name; null if it is not known.
    pub name: Option<String>,
    /// How many events there are.
    pub count: u64,
}

/// How many events have a name.
#[derive(Debug, Serialize, ToSchema)]
pub struct NameAmount {
    /// The name, such as `engine.got_packet`.
    pub name: Option<String>,
    /// The category of the definition.
    pub category: Option<String>,
    /// The priority of the definition.
    pub priority: Option<&'static str>,
    /// How many events there are.
    pub count: u64,
}

/// How many events there are in each of equal parts of a range of time.
#[derive(Debug, Serialize, ToSchema)]
pub struct Rate {
    /// The first time, in nanoseconds since 1970.
    pub from: String,
    /// The last time.
    pub to: String,
    /// The counts. Runs of events are spread evenly over their time.
    pub counts: Vec<f64>,
}

/// Counts the events of a log.
pub fn overview(version: &Version, cancel: &Cancel) -> Result<Overview> {
    let archive = version.archive();
    let summary = LogSummary::of(version, cancel)?;
    let mut by_category: HashMap<Option<String>, u64> = HashMap::new();
    let mut by_priority: HashMap<Option<&'static str>, u64> = HashMap::new();
    let mut names = Vec::new();
    for (number, kind) in summary.names.kinds.iter().enumerate() {
        let count = summary.of_kind(number);
        if count == 0 {
            continue;
        }
        *by_category.entry(kind.category.clone()).or_default() += count;
        *by_priority.entry(kind.priority).or_default() += count;
        names.push(NameAmount {
            name: kind.name.clone(),
            category: kind.category.clone(),
            priority: kind.priority,
            count,
        });
    }
    names.sort_by(|left, right| {
        right
            .count
            .cmp(&left.count)
            .then(left.name.cmp(&right.name))
    });
    names.truncate(MOST);
    let mut threads = threads(version, cancel)?;
    threads.truncate(MOST);
    Ok(Overview {
        events: summary.events(),
        first: summary.span().map(|(first, _)| Moment::of(first)),
        last: summary.span().map(|(_, last)| Moment::of(last)),
        missed: archive.missed(),
        categories: amounts(by_category),
        priorities: amounts(by_priority),
        names,
        threads,
        rate: rate(&summary),
    })
}

fn amounts<T: Into<String>>(counts: HashMap<Option<T>, u64>) -> Vec<Amount> {
    let amounts = counts.into_iter().map(|(name, count)| Amount {
        name: name.map(Into::into),
        count,
    });
    let mut amounts: Vec<_> = amounts.collect();
    amounts.sort_by(|left, right| {
        right
            .count
            .cmp(&left.count)
            .then(left.name.cmp(&right.name))
    });
    amounts
}

fn rate(summary: &LogSummary) -> Option<Rate> {
    let (first, last) = summary.span()?;
    let mut counts = vec![0.0; PARTS];
    let length = (last - first) as f64 + 1.0;
    let at = |time: u64| (time - first) as f64 / length * PARTS as f64;
    for page in &summary.pages {
        let (start, end) = (at(page.time.0), at(page.time.1.saturating_add(1)));
        let events = f64::from(page.events);
        let parts = (start as usize)..=(end as usize).min(PARTS - 1);
        for part in parts {
            let (low, high) = (start.max(part as f64), end.min(part as f64 + 1.0));
            counts[part] += events * ((high - low) / (end - start)).max(0.0);
        }
    }
    Some(Rate {
        from: first.to_string(),
        to: last.to_string(),
        counts,
    })
}
