//! Finds events by the numbers of their lines.

use serde::Serialize;
use timeline::{Event, Order};
use timeline_reading::Request;
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::events::{EventObject, EventObjects};
use crate::error::{Error, Result};
use crate::logs::Version;

/// Events by the numbers of their lines.
#[derive(Debug, Serialize, ToSchema)]
pub struct Lines {
    /// Changes when lines are numbered anew.
    pub version: u64,
    /// How many lines the log has.
    pub total: u64,
    /// The events, by their lines.
    pub lines: Vec<EventObject>,
}

/// The events whose lines are among the `count` lines from `from` on.
pub fn range(version: &Version, from: u64, count: u64, cancel: &Cancel) -> Result<Lines> {
    let end = from.saturating_add(count);
    let mut objects = EventObjects::new(version.archive());
    let mut lines = Vec::new();
    let total = numbered(
        (version, cancel),
        LineStart::Range(from, end),
        &mut objects,
        |objects, event, first, last| {
            if first >= end {
                return false;
            }
            if last >= from {
                lines.push(objects.object(event, Some(first)));
            }
            last + 1 < end
        },
    )?;
    Ok(Lines {
        version: version.number,
        total,
        lines,
    })
}

/// The events with these lines, which rise.
pub fn at(version: &Version, wanted: &[u64], cancel: &Cancel) -> Result<Lines> {
    let mut objects = EventObjects::new(version.archive());
    let (mut lines, mut next) = (Vec::new(), 0);
    let total = numbered(
        (version, cancel),
        LineStart::Lines(wanted),
        &mut objects,
        |objects, event, first, last| {
            let before = next;
            while wanted.get(next).is_some_and(|wanted| *wanted <= last) {
                next += 1;
            }
            if next > before {
                lines.push(objects.object(event, Some(first)));
            }
            next < wanted.len()
        },
    )?;
    Ok(Lines {
        version: version.number,
        total,
        lines,
    })
}

/// Where reading begins.
#[derive(Debug, Clone, Copy)]
pub enum LineStart<'l> {
    /// At a line. Events behind another line are not needed.
    Range(u64, u64),
    /// At several lines, and nowhere else.
    Lines(&'l [u64]),
    /// A time, in nanoseconds since 1970.
    Time(u64),
}

/// Calls `each` with the events from a place on, and some before it, and the numbers of the first
/// and the last line of each, until it returns false. Returns the number of all lines.
pub fn numbered<'v>(
    (version, cancel): (&'v Version, &Cancel),
    from: LineStart,
    objects: &mut EventObjects<'v>,
    mut each: impl FnMut(&mut EventObjects<'v>, &Event, u64, u64) -> bool,
) -> Result<u64> {
    let index = version.index();
    let (lines, rest) = (version.lines(), version.rest(&index));
    let candidates = match from {
        LineStart::Range(first, end) => index.lines(first..end, rest),
        LineStart::Lines(wanted) => index.at_lines(wanted, rest),
        LineStart::Time(time) => index.from_time(time),
    };
    let request = Request::new(Order::OldestFirst);
    let (events, mut numbers) = version.log.numbered(request, candidates);
    for event in events {
        cancel.check()?;
        let count = objects.lines(&event);
        let (first, _) = numbers.next(&event, count);
        // A message without a line has the number of the next one.
        if !each(objects, &event, first, first + count.max(1) - 1) {
            break;
        }
    }
    Ok(lines.total)
}

/// The event with a line, and the number of its first line.
pub fn event_at(version: &Version, line: u64, cancel: &Cancel) -> Result<(Event, u64)> {
    let mut found = None;
    let mut objects = EventObjects::new(version.archive());
    numbered(
        (version, cancel),
        LineStart::Range(line, line.saturating_add(1)),
        &mut objects,
        |_, event, first, last| {
            if last >= line && found.is_none() {
                found = Some((event.clone(), first));
            }
            found.is_none()
        },
    )?;
    found.ok_or_else(|| Error::request(format!("there is no line {line}")))
}
