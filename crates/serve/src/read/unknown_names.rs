//! Says which names of filters are in nothing of a log, and which ones are like them.

use std::collections::BTreeSet;

use timeline::{Definition, Source, Thread};
use timeline_reading::unknown_among;
use timeline_search::Query;

use super::cancel::Cancel;
use super::summary::{LogSummary, UNKNOWN_CORE};
use crate::error::Result;
use crate::logs::Version;

/// A sentence for each name of a category, an event, a field, a thread, a process or a core that
/// nothing in the log has. For filters that have met no event: it counts all events of the log, if
/// nobody did before.
pub fn unmatched(version: &Version, query: &Query, cancel: &Cancel) -> Result<Vec<String>> {
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
    Ok(unknown.iter().map(ToString::to_string).collect())
}
