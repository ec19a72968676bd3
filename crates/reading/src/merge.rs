//! The events of several logs as one stream, by time.

use std::vec;

use timeline::{Event, Order};

use crate::clock_alignment::ClockAlignment;
use crate::event_time::EventTime;
use crate::log::Log;
use crate::request::Request;
use crate::stream::Stream;

/// The events of several logs that were asked for, by time: the important ones of all, and then the
/// others.
pub struct LogMerge<'a> {
    parts: Vec<Part<'a>>,
    alignment: Option<ClockAlignment>,
    /// In which order events are read, and given.
    order: Order,
    given: Order,
    /// How many of those that are not important may still come.
    left: usize,
    /// The newest, oldest first, which are only known from the end.
    newest: Option<vec::IntoIter<LogEvent>>,
}

/// An event, the number of the log that has it, and when it was logged.
pub struct LogEvent {
    /// The place of its log among all.
    pub log: usize,
    /// The event.
    pub event: Event,
    /// When it was logged. Its ticks are 0 if its log has those of several clocks.
    pub time: EventTime,
    /// By how many nanoseconds its time may be wrong in either direction, against those of other
    /// machines; `None` if nobody has compared their clocks.
    pub error: Option<u64>,
    /// Whether an event of another machine that came before this one may belong behind it: their
    /// times differ by less than they may be wrong.
    pub may_be_earlier: bool,
}

struct Part<'a> {
    stream: Stream<'a>,
    request: Request<'a>,
    /// Whether the ticks of all events are of one clock.
    has_one_clock: bool,
    next: Option<PartEvent>,
    /// How far the events that were given may reach: the others, and the important ones.
    reach: [Option<u64>; 2],
}

/// An event, its time, and by how much that may be wrong.
type PartEvent = (Event, EventTime, Option<u64>);

impl<'a> LogMerge<'a> {
    /// The same is asked of all logs. Of the events that are not important, at most the newest so
    /// many come.
    pub fn new(
        logs: impl IntoIterator<Item = &'a Log>,
        request: Request<'a>,
        most: Option<usize>,
    ) -> LogMerge<'a> {
        let is_from_end = request.order == Order::OldestFirst && most.is_some();
        let order = match is_from_end {
            true => Order::NewestFirst,
            false => request.order,
        };
        let request = Request { order, ..request };
        let mut merge = LogMerge::by(logs, request, |log, request| log.stream(request));
        merge.left = most.unwrap_or(usize::MAX);
        if is_from_end {
            let mut newest: Vec<_> = std::iter::from_fn(|| merge.turn()).collect();
            let important = newest.iter().take_while(|one| one.event.important);
            let important = important.count();
            newest[..important].reverse();
            newest[important..].reverse();
            merge.newest = Some(newest.into_iter());
            merge.given = Order::OldestFirst;
        }
        merge
    }

    /// What the streams of these logs have that `stream` makes of a request.
    pub fn by(
        logs: impl IntoIterator<Item = &'a Log>,
        request: Request<'a>,
        mut stream: impl FnMut(&'a Log, Request<'a>) -> Stream<'a>,
    ) -> LogMerge<'a> {
        let logs: Vec<&Log> = logs.into_iter().collect();
        let alignment = ClockAlignment::of(logs.iter().copied());
        let part = |log: &&'a Log| Part::new(stream(log, request.locally(log)), request);
        LogMerge {
            parts: logs.iter().map(part).collect(),
            alignment,
            order: request.order,
            given: request.order,
            left: usize::MAX,
            newest: None,
        }
    }

    /// How the clocks of the logs compare. `None` if they are of one machine.
    pub fn alignment(&self) -> Option<&ClockAlignment> {
        self.alignment.as_ref()
    }

    /// The streams of the logs, which say what came of reading them.
    pub fn streams(&self) -> impl Iterator<Item = &Stream<'a>> {
        self.parts.iter().map(|part| &part.stream)
    }

    fn turn(&mut self) -> Option<LogEvent> {
        let order = self.order;
        let key = |(number, part): (usize, &Part)| {
            let (event, time, _) = part.next.as_ref()?;
            let time = time.unix_nanos.unwrap_or(0);
            // The least comes first. At the same time, the first part has the oldest event.
            Some(match order {
                Order::NewestFirst => (!event.important, u64::MAX - time, usize::MAX - number),
                Order::OldestFirst => (!event.important, time, number),
            })
        };
        let parts = self.parts.iter().enumerate();
        let (_, log) = parts.filter_map(|one| Some((key(one)?, one.0))).min()?;
        let (event, time, error) = self.parts[log].turn()?;
        if !event.important {
            self.left = self.left.checked_sub(1)?;
        }
        Some(LogEvent {
            log,
            event,
            time,
            error,
            may_be_earlier: false,
        })
    }

    /// Whether an event of another machine that was given before may belong behind this one.
    fn overlaps(&mut self, next: &LogEvent) -> bool {
        let LogEvent {
            log, time, error, ..
        } = *next;
        let (Some(alignment), Some(at)) = (&self.alignment, time.unix_nanos) else {
            return false;
        };
        let kind = usize::from(time.important);
        // As numbers that grow in the order in which events are given.
        let onward = |time: u64| match self.given {
            Order::OldestFirst => time,
            Order::NewestFirst => u64::MAX - time,
        };
        let error = error.unwrap_or(u64::MAX);
        let first = onward(at).saturating_sub(error);
        let machine = alignment.machines[log];
        let others = self.parts.iter().zip(&alignment.machines);
        let mut others = others.filter(|(_, other)| **other != machine);
        let overlaps = others.any(|(part, _)| part.reach[kind] >= Some(first));
        let reach = &mut self.parts[log].reach[kind];
        *reach = (*reach).max(Some(onward(at).saturating_add(error)));
        overlaps
    }
}

impl<'a> Part<'a> {
    /// The times of the request are those of the reference.
    fn new(stream: Stream<'a>, request: Request<'a>) -> Part<'a> {
        let programs = stream.log().programs();
        let mut part = Part {
            stream,
            request,
            has_one_clock: programs.is_none_or(|programs| programs.share_a_clock()),
            next: None,
            reach: [None; 2],
        };
        part.turn();
        part
    }

    /// Takes the next event, and looks for the one behind it.
    fn turn(&mut self) -> Option<PartEvent> {
        let next = self.look();
        std::mem::replace(&mut self.next, next)
    }

    fn look(&mut self) -> Option<PartEvent> {
        let log = self.stream.log();
        loop {
            let mut event = self.stream.next()?;
            let error = log.correct(&mut event);
            let mut time = EventTime::of(log.source(), &event);
            // What was asked for by the clock of its machine may be a little outside.
            if log.host_clock().is_some() && !self.request.has_time(time.unix_nanos) {
                continue;
            }
            if !self.has_one_clock {
                time.ticks = 0;
            }
            return Some((event, time, error));
        }
    }
}

impl Iterator for LogMerge<'_> {
    type Item = LogEvent;

    fn next(&mut self) -> Option<LogEvent> {
        let mut next = match &mut self.newest {
            Some(newest) => newest.next(),
            None => self.turn(),
        }?;
        next.may_be_earlier = self.overlaps(&next);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;
    use timeline_archive::{Archive, Form, RawEvent, Writer};
    use timeline_search::Query;

    /// An archive with events of these times, each of which says its number.
    fn log(path: &str, events: &[(u64, bool)]) -> Log {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Blocks);
        for (number, (time, important)) in (0..).zip(events) {
            let time = Some(*time);
            let mut event = RawEvent {
                unix_nanos: time,
                ticks: time,
                number: Some(number),
                lane: Some(if *important { 32_768 } else { 0 }),
                ..RawEvent::default()
            };
            event.args = vec![number as i64];
            event.definition.category = Some(writer.string(["even", "odd"][number as usize % 2]));
            event.definition.format = Some(writer.string("$number"));
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
        Log::of_archive(path.as_ref(), Archive::from_bytes(file))
    }

    /// An event as the merge gives it: important or not, its time, its log and its number.
    type Row = (bool, u64, usize, i64);

    /// All events that are wanted, important ones first, of the others the newest.
    fn naive(logs: &[Vec<(u64, bool)>], wants_odd: bool, most: Option<usize>) -> [Vec<Row>; 2] {
        let mut rows: Vec<Row> = Vec::new();
        for (log, events) in logs.iter().enumerate() {
            for (number, (time, important)) in (0..).zip(events) {
                if !wants_odd || number % 2 == 1 {
                    rows.push((*important, *time, log, number));
                }
            }
        }
        rows.sort_unstable();
        let (important, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.0);
        let surplus = others.len().saturating_sub(most.unwrap_or(usize::MAX));
        [important, others[surplus..].to_vec()]
    }

    /// The times of the events of a log, and which of them are important.
    fn any_log() -> impl Strategy<Value = Vec<(u64, bool)>> {
        let event = (1..40_u64, prop::bool::weighted(0.1));
        // Events of one lane are in the order of their times.
        prop::collection::vec(event, 0..30).prop_map(|mut events| {
            events.sort_by_key(|(time, important)| (!*important, *time));
            events
        })
    }

    proptest! {
        #[test]
        fn it_has_the_wanted_events_of_all_logs_by_time(
            logs in prop::collection::vec(any_log(), 1..4),
            reverse: bool,
            most in prop::option::of(0..20_usize),
            wants_odd: bool,
        ) {
            let opened: Vec<Log> = logs.iter().map(|events| log("x.tla", events)).collect();
            let query = Query {
                categories: wants_odd.then(|| "odd".to_owned()).into_iter().collect(),
                ..Query::default()
            };
            let order = if reverse { Order::NewestFirst } else { Order::OldestFirst };
            let merge = LogMerge::new(&opened, Request::new(order).query(&query), most);
            let row = |LogEvent { log, event, time, .. }| {
                (event.important, time.unix_nanos.unwrap(), log, event.args[0])
            };
            let found: Vec<Row> = merge.map(row).collect();
            let mut parts = naive(&logs, wants_odd, most);
            if reverse {
                parts.iter_mut().for_each(|part| part.reverse());
            }
            prop_assert_eq!(found, parts.concat());
        }
    }
}
