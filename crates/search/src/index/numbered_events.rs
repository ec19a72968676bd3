//! Reads candidates among the events of an archive, whose lines have numbers.

use timeline::Order;
use timeline_archive::{Archive, ArchiveEvents};

use super::archive_index::Candidates;
use super::lines::LineNumbers;

/// The candidates among the events of an archive, or all of them, the oldest first, and what
/// numbers their lines.
pub fn numbered_events(
    archive: &Archive,
    candidates: Option<Candidates>,
) -> (ArchiveEvents<'_>, LineNumbers) {
    let order = Order::OldestFirst;
    match candidates {
        Some(found) => {
            let events = archive.events_by_time_where(order, found.selection.into());
            (events, found.lines)
        }
        None => (archive.events_by_time(order), LineNumbers::new(order)),
    }
}
