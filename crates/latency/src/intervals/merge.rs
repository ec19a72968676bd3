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
    /// The memory that their histograms take.
    memory: Memory,
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
        memory: Memory::default(),
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
        self.memory = Memory::default();
        for log in &mut self.logs {
            let is_next = |head: &Result<Interval>| match head {
                Ok(head) => Some(head.start) == start,
                Err(_) => true,
            };
            while let Some(read) = log.next_if(is_next) {
                let joined =
                    read.and_then(|interval| join(&mut self.ready, &mut self.memory, interval));
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
fn join(to: &mut Vec<Interval>, memory: &mut Memory, interval: Interval) -> Result<()> {
    let same = |other: &&mut Interval| other.tag == interval.tag && other.length == interval.length;
    if let Some(same) = to.iter_mut().find(same) {
        return memory.add(&mut same.histogram, &interval.histogram);
    }
    if to.len() == MOST_TAGS {
        return Err(Error::TooManyTags { most: MOST_TAGS });
    }
    memory.take(&interval.histogram)?;
    to.push(interval);
    Ok(())
}

/// The histograms that are kept beside each other may take so many bytes.
const MOST_BYTES: u64 = 1 << 30;

/// Counts the memory of the histograms that are kept beside each other.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    bytes: u64,
    most: u64,
    histograms: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            bytes: 0,
            most: MOST_BYTES,
            histograms: 0,
        }
    }
}

impl Memory {
    /// Counts one that is kept from now on.
    pub(super) fn take(&mut self, histogram: &Histogram<u64>) -> Result<()> {
        self.histograms += 1;
        self.bytes += bytes(histogram);
        self.check()
    }

    /// Adds the durations of a histogram to those of one that is kept.
    pub(super) fn add(&mut self, to: &mut Histogram<u64>, other: &Histogram<u64>) -> Result<()> {
        let before = bytes(to);
        to.auto(true);
        let added = to.add(other);
        self.bytes += bytes(to) - before;
        added.map_err(|error| Error::Unwritable {
            reason: error.to_string(),
        })?;
        self.check()
    }

    fn check(&self) -> Result<()> {
        match self.bytes > self.most {
            true => Err(Error::TooMuch {
                tags: self.histograms,
                most: self.most,
            }),
            false => Ok(()),
        }
    }
}

/// The memory of its counts.
fn bytes(histogram: &Histogram<u64>) -> u64 {
    8 * histogram.distinct_values() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::Shape;

    #[test]
    fn histograms_that_take_too_much_together_are_an_error() {
        let exact = Shape {
            digits: 5,
            highest: Some(1 << 30),
        };
        let histogram = exact.histogram().unwrap();
        let mut memory = Memory {
            most: 3 * bytes(&histogram),
            ..Memory::default()
        };
        for _ in 0..2 {
            memory.take(&histogram).unwrap();
        }
        let mut small = Shape::default().histogram().unwrap();
        memory.take(&small).unwrap();
        let mut long = Shape::default().histogram().unwrap();
        long.record(1_000_000).unwrap();
        memory.add(&mut small, &long).unwrap();
        assert_eq!(memory.bytes, 2 * bytes(&histogram) + bytes(&small));
        let error = memory.take(&histogram).unwrap_err();
        assert!(matches!(error, Error::TooMuch { tags: 4, .. }), "{error}");
    }
}
