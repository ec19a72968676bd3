//! Reads interval logs, whoever wrote them.

use std::io::BufRead;
use std::sync::Arc;

use super::error::{Error, Flaw, Result};
use super::interval::Interval;
use super::line::Line;
use super::lines::{self, Next};
use super::payload;

/// The most flaws that a reader keeps; it counts all.
pub const MOST_FLAWS: usize = 100;

const SECOND: i64 = 1_000_000_000;
const YEAR: i64 = 365 * 24 * 3600 * SECOND;

/// What the times of a log mean. docs/intervals.md has a table of all cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeRules {
    /// Times count from BaseTime, or from 1970 without one. Offsets count from StartTime, or from
    /// the first interval without one.
    #[default]
    Plain,
    /// As HistogramLogReader in Java guesses. Without BaseTime, times count from StartTime if the
    /// first is more than a year (365 days) less than that. Without StartTime, offsets count from
    /// the time that the first interval has in the file. A range includes its end, and the first
    /// interval behind it ends the reading.
    Java,
}

/// A time to choose intervals by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Nanoseconds since 1970.
    Absolute(u64),
    /// Nanoseconds after StartTime.
    Offset(i64),
}

/// Which intervals are read, by their starts: `from <= start < to`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeRange {
    /// The first start that is read. Without it, all before `to`.
    pub from: Option<Moment>,
    /// The first start that is not read any more.
    pub to: Option<Moment>,
}

/// How a log is read.
#[derive(Debug, Clone)]
pub struct ReaderOptions {
    /// What its times mean.
    pub rules: TimeRules,
    /// Which intervals are read.
    pub range: TimeRange,
    /// Whose intervals are read; `None` among them stands for those without a tag. Without a list,
    /// all are.
    pub tags: Option<Vec<Option<String>>>,
    /// Whether damaged lines are passed over, and kept as [`LogReader::flaws`].
    pub skip_damaged: bool,
    /// The most bytes of a line. Longer ones are damaged, and not kept in memory.
    pub most_line: usize,
    /// The most memory of a histogram, in bytes. What needs more is damaged.
    pub most_histogram: u64,
}

impl Default for ReaderOptions {
    /// All intervals by plain rules; lines of 16 MiB and histograms of 64 MiB, which are more than
    /// any histogram of 5 digits needs.
    fn default() -> Self {
        ReaderOptions {
            rules: TimeRules::Plain,
            range: TimeRange::default(),
            tags: None,
            skip_damaged: false,
            most_line: 16 << 20,
            most_histogram: 64 << 20,
        }
    }
}

/// What a line of a log says.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A comment, without its `#`.
    Comment(String),
    /// The StartTime for what follows, in nanoseconds since 1970.
    StartTime(i64),
    /// The BaseTime for what follows, in nanoseconds since 1970.
    BaseTime(i64),
    /// An interval that was asked for.
    Interval(Interval),
}

/// A damaged line that was passed over.
#[derive(Debug, Clone, PartialEq)]
pub struct Damaged {
    /// The number of the line, counted from 1.
    pub number: u64,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// Reads an interval log line by line. It is an iterator; after an error of a line it goes on with
/// the next one.
///
/// # Example
/// ```
/// use timeline_latency::intervals::{LogReader, ReaderOptions};
///
/// let log = "#[StartTime: 1500000040.000 (seconds since epoch), Fri Jul 14 02:40:40 UTC 2017]
/// ##[BaseTime: 1500003640.000 (seconds since epoch)]
/// 1020.000,60.000,2.771,HISTFAAAACN4nJNpmSzMwMDAwgABzFCaEUza//9v/wEi0H+UkQkAZ7oGEg==
/// ";
/// let mut intervals = LogReader::new(log.as_bytes(), ReaderOptions::default()).intervals();
/// let interval = intervals.next().unwrap()?;
/// // The 17th minute of the second hour.
/// assert_eq!(interval.offset(), 4_620_000_000_000);
/// # Ok::<(), timeline_latency::intervals::Error>(())
/// ```
#[derive(Debug)]
pub struct LogReader<R> {
    from: R,
    options: ReaderOptions,
    line: Vec<u8>,
    number: u64,
    start_time: Option<i64>,
    base_time: Option<i64>,
    flaws: Vec<Damaged>,
    damaged: u64,
    ended: bool,
}

impl<R: BufRead> LogReader<R> {
    /// A reader of this log. Nothing is read yet.
    pub fn new(from: R, options: ReaderOptions) -> LogReader<R> {
        LogReader {
            from,
            options,
            line: Vec::new(),
            number: 0,
            start_time: None,
            base_time: None,
            flaws: Vec::new(),
            damaged: 0,
            ended: false,
        }
    }

    /// The StartTime so far, in nanoseconds since 1970; if there was none, what the rules take for
    /// it once there was an interval.
    pub fn start_time(&self) -> Option<i64> {
        self.start_time
    }

    /// The first damaged lines that were passed over, at most [`MOST_FLAWS`].
    pub fn flaws(&self) -> &[Damaged] {
        &self.flaws
    }

    /// How many damaged lines were passed over.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Only the intervals.
    pub fn intervals(self) -> LogIntervals<R> {
        LogIntervals { reader: self }
    }

    /// What the next line says, if that is anything that was asked for.
    fn entry(&mut self, next: &Next) -> std::result::Result<Option<Entry>, Flaw> {
        if *next == Next::TooLong {
            return Err(Flaw::TooLong {
                most: self.options.most_line,
            });
        }
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let entry = match Line::parse(&text) {
            Ok(Line::Blank | Line::Legend) => Ok(None),
            Ok(Line::Comment(comment)) => Ok(Some(Entry::Comment(comment.to_owned()))),
            Ok(Line::StartTime(nanos)) => {
                self.start_time = Some(nanos);
                Ok(Some(Entry::StartTime(nanos)))
            }
            Ok(Line::BaseTime(nanos)) => {
                self.base_time = Some(nanos);
                Ok(Some(Entry::BaseTime(nanos)))
            }
            Ok(Line::Interval {
                tag,
                start,
                length,
                histogram,
            }) => self
                .interval(tag, (start, length), histogram)
                .map(|interval| interval.map(Entry::Interval)),
            Err(flaw) => Err(flaw),
        };
        drop(text);
        self.line = line;
        entry
    }

    fn interval(
        &mut self,
        tag: Option<&str>,
        (time, length): (i64, i64),
        histogram: &str,
    ) -> std::result::Result<Option<Interval>, Flaw> {
        let (start, origin) = self.place(time)?;
        if !self.is_in_range(start, origin) || !self.is_wanted(tag) {
            return Ok(None);
        }
        let histogram = payload::decode(histogram, self.options.most_histogram)?;
        Ok(Some(Interval {
            tag: tag.map(Arc::from),
            start,
            length: length.unsigned_abs(),
            origin,
            histogram,
        }))
    }

    /// When an interval begins, and where offsets count from. Remembers what the first interval
    /// tells.
    fn place(&mut self, time: i64) -> std::result::Result<(u64, u64), Flaw> {
        if self.options.rules == TimeRules::Java {
            let start_time = *self.start_time.get_or_insert(time);
            let relative = time < start_time.saturating_sub(YEAR);
            self.base_time
                .get_or_insert(if relative { start_time } else { 0 });
        }
        let base = self.base_time.unwrap_or(0);
        let start = time.checked_add(base).filter(|start| *start >= 0);
        let start = start.ok_or(Flaw::Time {
            seconds: time / SECOND + base / SECOND,
        })?;
        let origin = *self.start_time.get_or_insert(start);
        Ok((start.unsigned_abs(), u64::try_from(origin).unwrap_or(0)))
    }

    fn is_in_range(&mut self, start: u64, origin: u64) -> bool {
        let start = i128::from(start);
        let of = |moment| match moment {
            Moment::Absolute(nanos) => i128::from(nanos),
            Moment::Offset(nanos) => i128::from(origin) + i128::from(nanos),
        };
        let TimeRange { from, to } = self.options.range;
        let java = self.options.rules == TimeRules::Java;
        let behind = to.is_some_and(|to| match java {
            true => start > of(to),
            false => start >= of(to),
        });
        self.ended |= java && behind;
        !behind && from.is_none_or(|from| start >= of(from))
    }

    fn is_wanted(&self, tag: Option<&str>) -> bool {
        let tags = self.options.tags.as_ref();
        tags.is_none_or(|tags| tags.iter().any(|wanted| wanted.as_deref() == tag))
    }
}

impl<R: BufRead> Iterator for LogReader<R> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        while !self.ended {
            let next = match lines::next(&mut self.from, self.options.most_line, &mut self.line) {
                Ok(Next::End) => break,
                Ok(next) => next,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error.into()));
                }
            };
            self.number += 1;
            let number = self.number;
            match self.entry(&next) {
                Ok(Some(entry)) => return Some(Ok(entry)),
                Ok(None) => {}
                Err(flaw) if self.options.skip_damaged => {
                    self.damaged += 1;
                    if self.flaws.len() < MOST_FLAWS {
                        self.flaws.push(Damaged { number, flaw });
                    }
                }
                Err(flaw) => return Some(Err(Error::Line { number, flaw })),
            }
        }
        self.ended = true;
        None
    }
}

/// The intervals of a log, without what else it says.
#[derive(Debug)]
pub struct LogIntervals<R> {
    reader: LogReader<R>,
}

impl<R> LogIntervals<R> {
    /// The reader, which knows StartTime and which lines were damaged.
    pub fn reader(&self) -> &LogReader<R> {
        &self.reader
    }
}

impl<R: BufRead> Iterator for LogIntervals<R> {
    type Item = Result<Interval>;

    fn next(&mut self) -> Option<Result<Interval>> {
        self.reader.find_map(|entry| match entry {
            Ok(Entry::Interval(interval)) => Some(Ok(interval)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
    }
}
