//! Finds events by their times.

use serde::Serialize;
use timeline::{Event, Order, Source};
use timeline_archive::{BlockColumns, Places, Select, UnitInfo};
use timeline_search::Query;
use utoipa::ToSchema;

use super::events::{EventObject, Objects};
use super::lines::{From, numbered};
use crate::error::{Error, Result};
use crate::logs::Version;

/// Wanted events by time, as many as a page has.
#[derive(Debug, Serialize, ToSchema)]
pub struct Page {
    /// The events, without the numbers of their lines.
    pub events: Vec<EventObject>,
    /// Where the next page begins: the value of `after`. Null if this is the last page.
    pub next: Option<String>,
}

/// The place behind a page: the time of its last event, and how many events of that time were
/// given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    time: u64,
    given: usize,
}

impl Place {
    fn parse(text: &str) -> Result<Place> {
        let read = || {
            let (time, given) = text.split_once('-')?;
            Some(Place {
                time: time.parse().ok()?,
                given: given.parse().ok()?,
            })
        };
        let wrong = || Error::request(format!("expected `next` of a page as after, got {text:?}"));
        read().ok_or_else(wrong)
    }
}

/// A page of the wanted events, from the oldest on. The important events come with the others, by
/// their times. Events of an unknown time are on no page.
pub fn page(version: &Version, query: &Query, after: Option<&str>, limit: usize) -> Result<Page> {
    let archive = &version.archive;
    let after = after.map(Place::parse).transpose()?;
    let mut query = query.clone();
    let since = query
        .since
        .unwrap_or(0)
        .max(after.map_or(0, |place| place.time));
    query.since = Some(since);
    let mut objects = Objects::new(archive);
    let mut of_time = after.map_or(0, |place| place.given);
    let mut left = of_time;
    let (mut events, mut last) = (Vec::new(), after.map_or(since, |place| place.time));
    let mut is_more = false;
    for (time, event) in by_time(version, &query) {
        if left > 0 && time == last {
            left -= 1;
            continue;
        }
        if events.len() == limit {
            is_more = true;
            break;
        }
        of_time = if time == last { of_time + 1 } else { 1 };
        last = time;
        left = 0;
        events.push(objects.object(&event, None));
    }
    Ok(Page {
        events,
        next: is_more.then(|| format!("{last}-{of_time}")),
    })
}

/// The wanted events with their times: important ones and others merged.
fn by_time<'a>(version: &'a Version, query: &'a Query) -> impl Iterator<Item = (u64, Event)> {
    let archive = &version.archive;
    let important = {
        let select = Box::new((OnlyImportant, query.on(archive)));
        archive.events_by_time_where(Order::OldestFirst, select)
    };
    let others = archive.events_by_time_where(Order::OldestFirst, Box::new(query.on(archive)));
    let time = |event: Event| Some((archive.time(&event)?, event));
    let mut important: Vec<_> = important
        .filter(|event| event.important)
        .filter_map(time)
        .collect();
    important.sort_by_key(|(time, _)| *time);
    let mut important = important.into_iter().peekable();
    let mut others = others
        .filter(|event| !event.important)
        .filter_map(time)
        .peekable();
    std::iter::from_fn(move || match (important.peek(), others.peek()) {
        (Some((first, _)), Some((second, _))) if first <= second => important.next(),
        (Some(_), None) => important.next(),
        _ => others.next(),
    })
}

/// Leaves out all but the important events.
struct OnlyImportant;

impl Select for OnlyImportant {
    fn wants_unit(&mut self, _: &UnitInfo) -> bool {
        false
    }

    fn choose(&mut self, _: &UnitInfo, _: Option<&mut BlockColumns<'_>>, places: &mut Places) {
        places.clear_range(0..places.len());
    }
}

/// The first line of the first event at or behind a time, apart from important events; the number
/// of lines if there is none.
pub fn at_time(version: &Version, time: u64) -> Result<u64> {
    let mut found = None;
    let mut objects = Objects::new(&version.archive);
    let total = numbered(
        version,
        From::Time(time),
        &mut objects,
        |_, event, first, _| {
            let is_it = version.archive.time(event).is_some_and(|at| at >= time);
            if is_it && !event.important {
                found = Some(first);
            }
            found.is_none()
        },
    )?;
    Ok(found.unwrap_or(total))
}
