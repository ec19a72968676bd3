//! Finds the durations of a timeline or an archive.

use timeline::{Event, Order};
use timeline_latency::intervals::IntervalLoss;
use timeline_latency::{Lack, Losses, Matcher, Measure, Measurement, Series};
use timeline_reading::{DurationRequest, Log, Request, each_duration};
use timeline_search::{Filter, Query};

use super::DurationArgs;
use crate::export;
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::health;
use crate::output;

/// Finds durations. The filters are about the events that end them.
pub struct Finding<'a> {
    pub matcher: Matcher<'a>,
    filter: Filter<'a>,
    query: &'a Query,
    /// Whether the events are imported lines, which do not say their threads, and durations are
    /// paired by these.
    lacks_threads: bool,
    longest: u64,
    /// What the ring had overwritten when it was read to the end.
    overwritten: Option<IntervalLoss>,
    /// The same when reading began.
    overwritten_before: Option<IntervalLoss>,
}

impl<'a> Finding<'a> {
    pub fn new(
        log: &'a Log,
        measures: &'a [Measure],
        durations: &DurationArgs,
        query: &'a Query,
    ) -> Finding<'a> {
        let source = log.source();
        Finding {
            matcher: Matcher::new(measures, source),
            filter: query.on(source),
            query,
            lacks_threads: log.archive().is_some_and(export::is_imported)
                && measures.iter().any(is_by_thread),
            longest: durations.longest(),
            overwritten: None,
            overwritten_before: None,
        }
    }

    /// What the ring has overwritten up to now, if it is one and has: none of that is read.
    pub fn begin(&mut self, log: &Log) -> Option<IntervalLoss> {
        self.overwritten_before = self.overwritten_before.or_else(|| overwritten(log));
        self.overwritten_before
    }

    /// Tells `found` of all durations that there are, in the order of their ends, and which series
    /// there are so far.
    pub fn all<F>(&mut self, log: &Log, mut found: F) -> Result
    where
        F: FnMut(&[Series], Measurement),
    {
        let Some(archive) = log.archive() else {
            self.begin(log);
            let mut stream = log.stream(Request::new(Order::OldestFirst));
            for event in stream.by_ref() {
                self.add(&event, &mut found);
            }
            self.overwritten = overwritten(log);
            return health::report_stream(&stream);
        };
        let wanted = DurationRequest {
            longest: self.longest,
            ..DurationRequest::new(self.query)
        };
        let lost = each_duration(archive, &mut self.matcher, &wanted, &mut found);
        health::report(log.path(), archive, lost);
        Ok(())
    }

    /// What the ring has overwritten while it was read, if it is one and has.
    pub fn overwritten(&self) -> Option<IntervalLoss> {
        let (all, before) = (self.overwritten?, self.overwritten_before);
        let entries = |missed: IntervalLoss| missed.what.entries().unwrap_or(0);
        let new = entries(all).saturating_sub(before.map_or(0, entries));
        (new > 0).then_some(IntervalLoss {
            what: Lack::Unread(new),
            since: before.map_or(all.since, |before| before.until),
            ..all
        })
    }

    /// Fails if there is nothing of the name of a measure.
    pub fn refuse_unknown(&self) -> Result {
        let unknown = self
            .matcher
            .unknown()
            .filter(|unknown| !unknown.is_pattern());
        unknown.map_or(Ok(()), |unknown| Err(Failure::Message(unknown.to_string())))
    }

    /// Takes the next event, and tells `found` of the wanted durations that it ends.
    pub fn add(&mut self, event: &Event, mut found: impl FnMut(&[Series], Measurement)) {
        let (filter, mut ended) = (&mut self.filter, Vec::new());
        self.matcher.add(event, |duration| {
            if filter.matches(event) {
                ended.push(duration);
            }
        });
        for duration in ended {
            found(self.matcher.series(), duration);
        }
    }

    /// Says on standard error what has no other half.
    pub fn report(&self) {
        let Losses {
            ends,
            begins,
            threads,
            values,
            reversed,
            entries: _,
        } = self.matcher.losses();
        let open = self.matcher.open() as u64;
        let parts = [
            (ends, "end", "without a begin"),
            (begins, "begin", "without an end"),
            (open, "span", "still open"),
            (threads, "event", "of an unknown thread"),
            (
                values,
                "event",
                "without a time, or a value that can be counted",
            ),
            (reversed, "pair", "that ends before it begins"),
        ];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<_> = parts
            .map(|(count, thing, why)| format!("{} {why}", things(count, thing)))
            .collect();
        if let Some(missed) = self.overwritten {
            output::say(format_args!("{missed}: nothing of that time is measured"));
        }
        if self.lacks_threads && !self.matcher.series().is_empty() {
            output::say(
                "imported lines do not say their threads: what is paired by thread is paired over \
                 each file, and wrong if several threads wrote it",
            );
        }
        if !parts.is_empty() {
            output::say(format_args!("not measured: {}", parts.join(", ")));
        }
    }
}

/// Whether durations are of two events of a thread.
fn is_by_thread(measure: &Measure) -> bool {
    match measure {
        Measure::Spans(_) | Measure::Every(_) => true,
        Measure::Between { key, .. } => key.is_none(),
        Measure::Values { .. } => false,
    }
}

/// What a ring has overwritten, from its creation on, if it is one and has.
fn overwritten(log: &Log) -> Option<IntervalLoss> {
    let info = log.ring()?.info();
    let entries = info.entries_written.saturating_sub(info.entries_held);
    let until = info.complete_since_unix_nanos;
    until.filter(|_| entries > 0).map(|until| IntervalLoss {
        what: Lack::Unread(entries),
        since: info.created_unix_nanos,
        until,
    })
}
