//! Gives the events of all logs, one after the other.

use std::sync::Arc;

use timeline::{Event, Order};
use timeline_reading::{
    EventTime, FollowMerge, Log, LogEvent, LogFollow, LogMerge, Request, Sieve, Stream,
};

use super::input::{AnalysisInput, InputExtent};
use super::sink::ItemSink;
use crate::error::Result;
use crate::subscriptions::Subscriptions;

/// How many events are given in a step.
const STEP: usize = 4096;

/// Reads the logs.
pub enum EventSource<'a> {
    One(Box<Stream<'a>>),
    Several(Box<LogMerge<'a>>),
    Growth(Box<GrowthSource<'a>>),
    /// Nothing more comes.
    Over,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceStep {
    /// There may be more.
    More,
    /// Nothing was new, and something may come.
    Idle,
    Over,
}

/// Logs that are followed.
pub struct GrowthSource<'a> {
    places: Vec<GrowthPlace<'a>>,
    events: FollowMerge,
    is_first: bool,
    batch: Vec<Event>,
}

struct GrowthPlace<'a> {
    log: &'a Log,
    follow: LogFollow<'a>,
    sieve: Sieve<'a>,
    is_over: bool,
}

impl<'a> EventSource<'a> {
    /// Events that none of the analysers wants need not come.
    pub fn new(input: AnalysisInput<'a>, wanted: Vec<Arc<Subscriptions>>) -> EventSource<'a> {
        let mut request = Request::new(Order::OldestFirst);
        if let Some(query) = input.query {
            request = request.query(query);
        }
        if let Some(is_cancelled) = input.is_cancelled {
            request = request.unless(is_cancelled);
        }
        let are_all = request.query.is_some() || wanted.iter().any(|one| one.want_all());
        let stream = move |log: &'a Log, request: Request<'a>| match are_all {
            true => log.stream(request),
            false => {
                let wanted = wanted.clone();
                log.stream_of_definitions(request, move |definition| {
                    wanted.iter().any(|one| one.of(Some(definition)).is_some())
                })
            }
        };
        match input.extent {
            InputExtent::Growth(follows) => {
                let sieve = |log: &'a Log| match request.query {
                    Some(query) => Sieve::new(query, log.source()),
                    None => Sieve::all(),
                };
                let places = input.logs.iter().zip(follows);
                let places = places.map(|(log, follow)| GrowthPlace {
                    log,
                    follow,
                    sieve: sieve(log),
                    is_over: false,
                });
                EventSource::Growth(Box::new(GrowthSource {
                    events: FollowMerge::new(input.logs.len()),
                    places: places.collect(),
                    is_first: true,
                    batch: Vec::new(),
                }))
            }
            InputExtent::Whole => match input.logs[..] {
                [log] if log.clock_offset().is_none() => {
                    EventSource::One(Box::new(stream(log, request)))
                }
                _ => {
                    let logs = input.logs.iter().copied();
                    EventSource::Several(Box::new(LogMerge::by(logs, request, stream)))
                }
            },
        }
    }

    /// Gives what comes next.
    pub fn step(&mut self, sink: &mut impl ItemSink) -> Result<SourceStep> {
        let more = match self {
            EventSource::One(stream) => {
                for _ in 0..STEP {
                    let Some(event) = stream.next() else {
                        tell_lacks([&**stream], sink)?;
                        *self = EventSource::Over;
                        return Ok(SourceStep::Over);
                    };
                    sink.event(0, event)?;
                }
                SourceStep::More
            }
            EventSource::Several(merge) => {
                for _ in 0..STEP {
                    let Some(LogEvent { log, event, .. }) = merge.next() else {
                        tell_lacks(merge.streams(), sink)?;
                        *self = EventSource::Over;
                        return Ok(SourceStep::Over);
                    };
                    sink.event(log, event)?;
                }
                SourceStep::More
            }
            EventSource::Growth(growth) => growth.step(sink)?,
            EventSource::Over => SourceStep::Over,
        };
        Ok(more)
    }
}

/// Tells what logs lack that were read to the end.
fn tell_lacks<'s, 'a: 's>(
    streams: impl IntoIterator<Item = &'s Stream<'a>>,
    sink: &mut impl ItemSink,
) -> Result {
    for (log, stream) in streams.into_iter().enumerate() {
        for lack in stream.lacks()? {
            sink.lack(log, lack)?;
        }
    }
    Ok(())
}

impl GrowthSource<'_> {
    fn step(&mut self, sink: &mut impl ItemSink) -> Result<SourceStep> {
        let mut is_idle = !self.events.begin_look();
        let (is_one, mut is_over) = (self.places.len() == 1, true);
        for (log, place) in self.places.iter_mut().enumerate() {
            if place.is_over {
                continue;
            }
            // Before the look, so that nothing is left that came before this.
            let goes_on = place.follow.goes_on();
            let look = place.follow.look(&mut self.batch)?;
            for lack in look.lacks {
                sink.lack(log, lack)?;
            }
            place.sieve.notice_renames();
            let (source, sieve) = (place.log.source(), &mut place.sieve);
            let mut wanted = self.batch.drain(..).filter(|event| sieve.wants(event));
            if is_one {
                // In order as they are.
                wanted.try_for_each(|event| sink.event(log, event))?;
            } else {
                let timed = wanted.map(|event| {
                    let time = EventTime::of(source, &event);
                    (event, time)
                });
                self.events.add(log, timed.collect());
            }
            place.is_over = look.is_idle && !goes_on;
            is_idle &= look.is_idle;
            is_over &= place.is_over;
        }
        if std::mem::replace(&mut self.is_first, false) {
            self.events.give_all();
        }
        while let Some(LogEvent { log, event, .. }) = self.events.next(true) {
            sink.event(log, event)?;
        }
        let is_empty = (0..self.places.len()).all(|log| self.events.is_empty(log));
        Ok(match (is_over && is_empty, is_idle) {
            (true, _) => SourceStep::Over,
            (_, true) => SourceStep::Idle,
            _ => SourceStep::More,
        })
    }
}
