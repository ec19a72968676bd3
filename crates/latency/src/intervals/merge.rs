//! Merges logs into one stream of intervals.

use std::iter::Peekable;

use hdrhistogram::Histogram;

use super::cutter::MOST_TAGS;
use super::error::{Error, Result};
use super::interval::Interval;

/// The intervals of several logs by their starts, those of one start as the logs come.
///
/// Intervals of the same tag, start and length become one, with the durations of all. So the logs
/// of several threads or machines become one if they were cut at the same times
/// ([`aligned`](super::IntervalOptions::aligned)), and the logs of several hours become a day.
/// Offsets count from the earliest StartTime. A log whose intervals are not ordered by their starts
/// comes out in its own order.
pub struct Merged<I: Iterator<Item = Result<Interval>>> {
    logs: Vec<Peekable<I>>,
    origin: Option<u64>,
    /// Those of one start, the first one last.
    ready: Vec<Interval>,
    errors: Vec<Error>,
}

/// Merges logs: see [`Merged`].
///
/// # Example
/// ```
/// use timeline_latency::intervals::{LogReader, merge};
///
/// let [one, other] = [&b"# without intervals\n"[..], b""];
/// let logs = [one, other].map(|log| LogReader::new(log, Default::default()).intervals());
/// assert_eq!(merge(logs).count(), 0);
/// ```
pub fn merge<I>(logs: impl IntoIterator<Item = I>) -> Merged<I>
where
    I: Iterator<Item = Result<Interval>>,
{
    Merged {
        logs: logs.into_iter().map(Iterator::peekable).collect(),
        origin: None,
        ready: Vec::new(),
        errors: Vec::new(),
    }
}

impl<I: Iterator<Item = Result<Interval>>> Merged<I> {
    /// Takes all that begin first. What cannot be read in a log ends its part.
    fn gather(&mut self) {
        let heads = self.logs.iter_mut().filter_map(Peekable::peek);
        let (mut start, mut origin) = (None, None);
        for head in heads.flatten() {
            start = Some(start.map_or(head.start, |start: u64| start.min(head.start)));
            origin = Some(origin.map_or(head.origin, |origin: u64| origin.min(head.origin)));
        }
        self.origin = self.origin.or(origin);
        for log in &mut self.logs {
            let is_next = |head: &Result<Interval>| match head {
                Ok(head) => Some(head.start) == start,
                Err(_) => true,
            };
            while let Some(read) = log.next_if(is_next) {
                let joined = read.and_then(|interval| join(&mut self.ready, interval));
                if let Err(error) = joined {
                    self.errors.push(error);
                    break;
                }
            }
        }
        for interval in &mut self.ready {
            interval.origin = self.origin.unwrap_or(interval.origin);
        }
        self.ready.reverse();
        self.errors.reverse();
    }
}

impl<I: Iterator<Item = Result<Interval>>> Iterator for Merged<I> {
    type Item = Result<Interval>;

    fn next(&mut self) -> Option<Result<Interval>> {
        if self.ready.is_empty() && self.errors.is_empty() {
            self.gather();
        }
        let error = self.errors.pop().map(Err);
        error.or_else(|| self.ready.pop().map(Ok))
    }
}

/// Adds an interval to one of the same tag and length, or to the others.
fn join(to: &mut Vec<Interval>, interval: Interval) -> Result<()> {
    let same = |other: &&mut Interval| other.tag == interval.tag && other.length == interval.length;
    if let Some(same) = to.iter_mut().find(same) {
        return add(&mut same.histogram, &interval.histogram);
    }
    if to.len() == MOST_TAGS {
        return Err(Error::TooManyTags { most: MOST_TAGS });
    }
    to.push(interval);
    Ok(())
}

/// Adds the durations of a histogram to those of another one.
pub(super) fn add(to: &mut Histogram<u64>, other: &Histogram<u64>) -> Result<()> {
    to.auto(true);
    let added = to.add(other);
    added.map_err(|error| Error::Unwritable {
        reason: error.to_string(),
    })
}
