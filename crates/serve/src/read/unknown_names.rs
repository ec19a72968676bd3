//! Says which names of filters are in nothing of a log, and which ones are like them.

use std::collections::BTreeSet;

use serde::Serialize;
use timeline::{Definition, Source, Thread};
use timeline_reading::unknown_among;
use timeline_search::Query;
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::summary::{LogSummary, UNKNOWN_CORE};
use crate::error::Result;
use crate::logs::Version;

/// A name in filters that is in nothing of a log.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnknownName {
    /// What it would be the name of: category, event, field, thread, process or core.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// A sentence with names that are like it.
    pub sentence: String,
}

/// The sentences of [`unknown_names`].
pub fn unmatched(version: &Version, query: &Query, cancel: &Cancel) -> Result<Vec<String>> {
    let unknown = unknown_names(version, query, cancel)?;
    Ok(unknown.into_iter().map(|one| one.sentence).collect())
}

/// Each name of a category, an event, a field, a thread, a process or a core that
/// nothing in the log has. It counts all events of the log, if nobody did before.
pub fn unknown_names(
    version: &Version,
    query: &Query,
    cancel: &Cancel,
) -> Result<Vec<UnknownName>> {
    if query.is_empty() {
        return Ok(Vec::new());
    }
    // After that, the archive knows all definitions.
    let summary = LogSummary::of(version, cancel)?;
    let definitions: Vec<&Definition> = version.archive().definitions().collect();
    let threads = summary.names.threads.iter().map(|logger| {
        let thread = logger.thread.clone().unwrap_or_default();
        Thread {
            tid: logger.tid,
            ..thread
        }
    });
    let threads: Vec<Thread> = threads.collect();
    let cores = summary.all_entries().map(|entry| entry.core);
    let cores: BTreeSet<u16> = cores.filter(|core| *core != UNKNOWN_CORE).collect();
    let unknown = unknown_among(query, &definitions, &threads, &cores);
    let named = unknown.iter().map(|one| UnknownName {
        what: one.what(),
        name: one.name().into(),
        sentence: one.to_string(),
    });
    Ok(named.collect())
}
