//! The events of several logs as one stream, by time.

use std::vec;

use timeline::{Event, Order};

use crate::event_time::EventTime;
use crate::log::Log;
use crate::request::Request;
use crate::stream::Stream;

/// The events of several logs that were asked for, by time: the important ones of all, and then the
/// others.
pub struct LogMerge<'a> {
    parts: Vec<Part<'a>>,
    order: Order,
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
}

struct Part<'a> {
    stream: Stream<'a>,
    /// Whether the ticks of all events are of one clock.
    has_one_clock: bool,
    next: Option<(Event, EventTime)>,
}

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
        let streams = logs.into_iter().map(|log| log.stream(request));
        let mut merge = LogMerge::of(streams, order);
        merge.left = most.unwrap_or(usize::MAX);
        if is_from_end {
            let mut newest: Vec<_> = std::iter::from_fn(|| merge.turn()).collect();
            let important = newest.iter().take_while(|one| one.event.important);
            let important = important.count();
            newest[..important].reverse();
            newest[important..].reverse();
            merge.newest = Some(newest.into_iter());
        }
        merge
    }

    /// What these streams have, each of which is in this order.
    pub fn of(streams: impl IntoIterator<Item = Stream<'a>>, order: Order) -> LogMerge<'a> {
        LogMerge {
            parts: streams.into_iter().map(Part::new).collect(),
            order,
            left: usize::MAX,
            newest: None,
        }
    }

    /// The streams of the logs, which say what came of reading them.
    pub fn streams(&self) -> impl Iterator<Item = &Stream<'a>> {
        self.parts.iter().map(|part| &part.stream)
    }

    fn turn(&mut self) -> Option<LogEvent> {
        let order = self.order;
        let key = |(number, part): (usize, &Part)| {
            let (event, time) = part.next.as_ref()?;
            let time = time.unix_nanos.unwrap_or(0);
            // The least comes first. At the same time, the first part has the oldest event.
            Some(match order {
                Order::NewestFirst => (!event.important, u64::MAX - time, usize::MAX - number),
                Order::OldestFirst => (!event.important, time, number),
            })
        };
        let parts = self.parts.iter().enumerate();
        let (_, log) = parts.filter_map(|one| Some((key(one)?, one.0))).min()?;
        let (event, time) = self.parts[log].turn()?;
        if !event.important {
            self.left = self.left.checked_sub(1)?;
        }
        Some(LogEvent { log, event, time })
    }
}

impl<'a> Part<'a> {
    fn new(stream: Stream<'a>) -> Part<'a> {
        let programs = stream.log().programs();
        let mut part = Part {
            stream,
            has_one_clock: programs.is_none_or(|programs| programs.share_a_clock()),
            next: None,
        };
        part.turn();
        part
    }

    /// Takes the next event, and looks for the one behind it.
    fn turn(&mut self) -> Option<(Event, EventTime)> {
        let source = self.stream.log().source();
        let next = self.stream.next().map(|event| {
            let mut time = EventTime::of(source, &event);
            if !self.has_one_clock {
                time.ticks = 0;
            }
            (event, time)
        });
        std::mem::replace(&mut self.next, next)
    }
}

impl Iterator for LogMerge<'_> {
    type Item = LogEvent;

    fn next(&mut self) -> Option<LogEvent> {
        match &mut self.newest {
            Some(newest) => newest.next(),
            None => self.turn(),
        }
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
            let row = |LogEvent { log, event, time }| {
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
