//! Writes an archive with the wanted events of a log, for somebody who reads it elsewhere.

use std::io::{self, Write};

use timeline::{Definition, Event, EventId, Order, Source};
use timeline_archive::{Archive, BlockColumns, Places, Select, UnitInfo};
use timeline_search::{Filter, Query, SearchSelect};

use crate::logs::Version;

/// Which events of a log are written.
#[derive(Debug, Clone)]
pub struct ExcerptQuery {
    /// What they meet.
    pub query: Query,
    /// Whether the begins and ends of all spans are wanted as well, so that whoever reads the
    /// excerpt finds the durations that the log has.
    pub with_edges: bool,
}

/// Writes the events of a log that are wanted, and perhaps others: whoever reads them chooses once
/// more. If all are, or if the log is damaged, that is all
/// bytes of its files, one behind the other, with what is damaged in them.
///
/// # Errors
/// Those of reading and of writing.
pub fn excerpt(version: &Version, wanted: &ExcerptQuery, out: &mut impl Write) -> io::Result<()> {
    let archive = version.archive();
    // Whoever reads it is to be told of the damage, as whoever reads the files.
    if wanted.query.is_empty() || !archive.damage().is_empty() {
        return archive.bytes().copy(0..archive.bytes().len(), out);
    }
    let filter = wanted.query.on(archive);
    let edges = match wanted.with_edges {
        true => edges(archive),
        false => Vec::new(),
    };
    if edges.is_empty() {
        let mut index = version.index();
        let texts = wanted.query.texts.iter();
        let pages = texts.map(|text| index.candidates(text, Order::OldestFirst, None).selection);
        let mut select = SearchSelect::of(pages.collect::<Vec<_>>()).and(filter);
        return archive.copy_around(out, &mut select);
    }
    let mut select = EdgesToo { filter, edges };
    archive.copy_around(out, &mut select)
}

/// The definitions of begins and ends.
fn edges(archive: &Archive) -> Vec<EventId> {
    let is_edge = |definition: &&Definition| definition.span_part().is_some();
    let edges = archive.definitions().filter(is_edge);
    edges.map(|definition| definition.id).collect()
}

/// Chooses the events that a filter wants, and the begins and ends of all spans.
struct EdgesToo<'a> {
    filter: Filter<'a>,
    edges: Vec<EventId>,
}

impl Select for EdgesToo<'_> {
    fn wants_unit(&mut self, _: &UnitInfo) -> bool {
        true
    }

    fn choose(&mut self, _: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
        places.ask_all();
    }

    fn wants(&mut self, event: &Event) -> bool {
        self.edges.contains(&event.id) || self.filter.matches(event)
    }
}
