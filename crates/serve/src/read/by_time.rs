//! Finds wanted events in pages, and lines by their times.

use serde::Serialize;
use timeline::{Order, Source};
use timeline_reading::Request;
use timeline_search::Query;
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::events::{EventObject, EventObjects};
use super::lines::{LineStart, numbered};
use super::search::pages_with;
use super::unknown_names::unmatched;
use crate::error::{Error, Result};
use crate::logs::Version;

/// Wanted events in the order of their lines, as many as a page has.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Page)]
pub struct EventPage {
    /// The events.
    pub events: Vec<EventObject>,
    /// Where the next page begins: the value of `after`. Null if this is the last page.
    pub next: Option<String>,
    /// How many events between those of this page met all conditions but `pid`, and are left out
    /// because the process is not known: their threads are forgotten.
    pub unknown_process: u64,
    /// If no event was found: a sentence for each name in the filters that is in nothing of the
    /// log, with those like it.
    pub unknown: Vec<String>,
}

/// Reads where a page begins: the version of the log, and the first line.
fn begin(version: &Version, after: &str) -> Result<u64> {
    let place = after
        .split_once('-')
        .and_then(|(number, line)| Some((number.parse::<u64>().ok()?, line.parse::<u64>().ok()?)));
    match place {
        Some((number, line)) if number == version.number => Ok(line),
        Some(_) => Err(Error::request(
            "the lines were numbered anew; begin with the first page",
        )),
        None => {
            let message = format!("expected `next` of a page as after, got {after:?}");
            Err(Error::request(message))
        }
    }
}

/// A page of the wanted events, in the order of their lines.
///
/// # Errors
/// `Request` if `after` is of no page, or if it was cancelled.
pub fn page(
    version: &Version,
    query: &Query,
    after: Option<&str>,
    limit: usize,
    cancel: &Cancel,
) -> Result<EventPage> {
    let archive = version.archive();
    let from = after.map_or(Ok(0), |after| begin(version, after))?;
    let index = version.index();
    let pages = pages_with(archive, query, Vec::new());
    let rest = version.rest(&index);
    let found = index.candidates_where((from, rest), |unit, places| pages.has(unit, places));
    let request = Request::new(Order::OldestFirst);
    let (events, mut numbers) = version.log.numbered(request, found);
    let (mut objects, mut filter) = (EventObjects::new(archive), query.on(archive));
    let mut page = EventPage {
        events: Vec::new(),
        next: None,
        unknown_process: 0,
        unknown: Vec::new(),
    };
    for event in events {
        cancel.check()?;
        let count = objects.lines(&event);
        let (first, _) = numbers.next(&event, count);
        if first < from || !filter.matches(&event) {
            continue;
        }
        if page.events.len() == limit {
            page.next = Some(format!("{}-{first}", version.number));
            break;
        }
        page.events.push(objects.object(&event, Some(first)));
    }
    page.unknown_process = query.of_unknown_process.get();
    if page.events.is_empty() && from == 0 {
        page.unknown = unmatched(version, query, cancel)?;
    }
    Ok(page)
}

/// The first line of the first event at or behind a time, apart from important events; the number
/// of lines if there is none.
pub fn at_time(version: &Version, time: u64, cancel: &Cancel) -> Result<u64> {
    let mut found = None;
    let mut objects = EventObjects::new(version.archive());
    let total = numbered(
        (version, cancel),
        LineStart::Time(time),
        &mut objects,
        |_, event, first, _| {
            let is_it = version.archive().time(event).is_some_and(|at| at >= time);
            if is_it && !event.important {
                found = Some(first);
            }
            found.is_none()
        },
    )?;
    Ok(found.unwrap_or(total))
}
