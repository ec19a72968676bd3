//! Reads interval logs, whoever wrote them.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;

use super::error::{Error, Flaw, Result};
use super::interval::Interval;
use super::line::IntervalLine;
use super::lines::{self, LineStep};
use super::payload::{self, NumberKind};

/// The most flaws that a reader keeps; it counts all.
pub const MOST_FLAWS: usize = 100;

/// The most tags that a reader keeps of which no interval is wanted.
pub const MOST_OTHERS: usize = 1024;

/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

const SECOND: i64 = 1_000_000_000;
const YEAR: i64 = 365 * 24 * 3600 * SECOND;

/// What the times of a log mean. docs/intervals.md has a table of all cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeRules {
    /// Times count from BaseTime. Without one they count from StartTime, if the first behind it
    /// would be of the first year since 1970, and StartTime is more than a year later; else from
    /// 1970. Offsets count from StartTime, or from the first interval without one.
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
pub enum TimePoint {
    /// Nanoseconds since 1970.
    Absolute(u64),
    /// Nanoseconds after StartTime.
    Offset(i64),
}

/// Which intervals are read, by their starts: `from <= start < to`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeRange {
    /// The first start that is read. Without it, all before `to`.
    pub from: Option<TimePoint>,
    /// The first start that is not read any more.
    pub to: Option<TimePoint>,
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
    /// How many nanoseconds 1 is in histograms of floating-point numbers.
    pub float_unit: f64,
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
            float_unit: 1.0,
            skip_damaged: false,
            most_line: 16 << 20,
            most_histogram: 64 << 20,
        }
    }
}

/// What a line of a log says.
#[derive(Debug, Clone)]
pub enum LogEntry {
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
pub struct LineDamage {
    /// The number of the line, counted from 1.
    pub number: u64,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// What a reader took for granted, and did not read: how many of the intervals that it gave away it
/// concerns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guesses {
    /// Their times count from StartTime, although the log does not say that.
    pub from_start_time: u64,
    /// They begin more than a year before StartTime. By [`TimeRules::Java`], they would not.
    pub long_before_start: u64,
    /// Their histograms are of floating-point numbers, whose unit the log does not say.
    pub floats: u64,
    /// Of these, whole nanoseconds have fewer digits than they had.
    pub rounded: u64,
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
    /// By plain rules, what times count from without a BaseTime; not known before the first
    /// interval, and anew behind each StartTime.
    counted_from: Option<Origin>,
    guesses: Guesses,
    flaws: Vec<LineDamage>,
    damaged: u64,
    ended: bool,
    tags: SeenTags,
}

/// The tags of a log of which only some are wanted.
#[derive(Debug, Default)]
struct SeenTags {
    /// Whether any interval has one that is wanted, whatever its time.
    wanted: bool,
    /// Some of the others.
    others: BTreeSet<Option<Arc<str>>>,
}

/// What times count from without a BaseTime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// 1970.
    Epoch,
    /// 1970, and that is more than a year before StartTime.
    LongAgo,
    /// StartTime.
    Start(i64),
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
            counted_from: None,
            guesses: Guesses::default(),
            flaws: Vec::new(),
            damaged: 0,
            ended: false,
            tags: SeenTags::default(),
        }
    }

    /// If a log that was read has intervals, and none with a tag that was asked for: the tags that
    /// it has, of which at most 1,024 are kept. `None` stands for intervals without one.
    pub fn other_tags(&self) -> Option<impl Iterator<Item = Option<&str>>> {
        let SeenTags { wanted, others } = &self.tags;
        let are_all = !wanted && !others.is_empty();
        are_all.then(|| others.iter().map(Option::as_deref))
    }

    /// The StartTime so far, in nanoseconds since 1970; if there was none, what the rules take for
    /// it once there was an interval.
    pub fn start_time(&self) -> Option<i64> {
        self.start_time
    }

    /// What was taken for granted so far.
    pub fn guesses(&self) -> Guesses {
        self.guesses
    }

    /// The first damaged lines that were passed over, at most [`MOST_FLAWS`].
    pub fn flaws(&self) -> &[LineDamage] {
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
    fn entry(&mut self, next: &LineStep) -> std::result::Result<Option<LogEntry>, Flaw> {
        if *next == LineStep::TooLong {
            return Err(Flaw::TooLong {
                most: self.options.most_line,
            });
        }
        let line = std::mem::take(&mut self.line);
        let mark: &[u8] = if self.number == 1 {
            BYTE_ORDER_MARK
        } else {
            b""
        };
        let text = String::from_utf8_lossy(line.strip_prefix(mark).unwrap_or(&line));
        let entry = match IntervalLine::parse(&text) {
            Ok(IntervalLine::Blank | IntervalLine::Legend) => Ok(None),
            Ok(IntervalLine::Comment(comment)) => Ok(Some(LogEntry::Comment(comment.to_owned()))),
            Ok(IntervalLine::StartTime(nanos)) => {
                (self.start_time, self.counted_from) = (Some(nanos), None);
                Ok(Some(LogEntry::StartTime(nanos)))
            }
            Ok(IntervalLine::BaseTime(nanos)) => {
                self.base_time = Some(nanos);
                Ok(Some(LogEntry::BaseTime(nanos)))
            }
            Ok(IntervalLine::Interval {
                tag,
                start,
                length,
                histogram,
            }) => self
                .interval(tag, (start, length), histogram)
                .map(|interval| interval.map(LogEntry::Interval)),
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
        let is_wanted = self.is_wanted(tag);
        if !self.is_in_range(start, origin) || !is_wanted {
            return Ok(None);
        }
        let (unit, most) = (self.options.float_unit, self.options.most_histogram);
        let (histogram, numbers) = payload::decode(histogram, unit, most)?;
        self.note(numbers);
        Ok(Some(Interval {
            tag: tag.map(Arc::from),
            start,
            length: length.unsigned_abs(),
            origin,
            histogram,
        }))
    }

    /// Counts what an interval was guessed by.
    fn note(&mut self, numbers: NumberKind) {
        let Guesses {
            from_start_time,
            long_before_start,
            floats,
            rounded,
        } = &mut self.guesses;
        *floats += u64::from(numbers != NumberKind::Whole);
        *rounded += u64::from(numbers == NumberKind::Rounded);
        match self.counted_from.filter(|_| self.base_time.is_none()) {
            Some(Origin::Start(_)) => *from_start_time += 1,
            Some(Origin::LongAgo) => *long_before_start += 1,
            Some(Origin::Epoch) | None => {}
        }
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
        let base = self.base_time.unwrap_or_else(|| self.guessed_base(time));
        let start = time.checked_add(base).filter(|start| *start >= 0);
        let start = start.ok_or(Flaw::Time {
            seconds: time / SECOND + base / SECOND,
        })?;
        let origin = *self.start_time.get_or_insert(start);
        Ok((start.unsigned_abs(), u64::try_from(origin).unwrap_or(0)))
    }

    /// By plain rules, without a BaseTime: what times count from, of which this is the first behind
    /// a StartTime.
    fn guessed_base(&mut self, time: i64) -> i64 {
        let start = self.start_time;
        let origin = *self.counted_from.get_or_insert_with(|| match start {
            Some(start) if time >= start.saturating_sub(YEAR) => Origin::Epoch,
            // Nobody measured in 1970.
            Some(start) if time < YEAR => Origin::Start(start),
            Some(_) => Origin::LongAgo,
            None => Origin::Epoch,
        });
        match origin {
            Origin::Start(start) => start,
            Origin::Epoch | Origin::LongAgo => 0,
        }
    }

    fn is_in_range(&mut self, start: u64, origin: u64) -> bool {
        let start = i128::from(start);
        let of = |moment| match moment {
            TimePoint::Absolute(nanos) => i128::from(nanos),
            TimePoint::Offset(nanos) => i128::from(origin) + i128::from(nanos),
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

    fn is_wanted(&mut self, tag: Option<&str>) -> bool {
        let tags = self.options.tags.as_ref();
        let is_wanted = tags.is_none_or(|tags| tags.iter().any(|wanted| wanted.as_deref() == tag));
        let SeenTags { wanted, others } = &mut self.tags;
        *wanted |= is_wanted;
        if !*wanted && others.len() < MOST_OTHERS {
            others.insert(tag.map(Arc::from));
        }
        is_wanted
    }
}

impl<R: BufRead> Iterator for LogReader<R> {
    type Item = Result<LogEntry>;

    fn next(&mut self) -> Option<Result<LogEntry>> {
        while !self.ended {
            let next = match lines::next(&mut self.from, self.options.most_line, &mut self.line) {
                Ok(LineStep::End) => break,
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
                        self.flaws.push(LineDamage { number, flaw });
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
            Ok(LogEntry::Interval(interval)) => Some(Ok(interval)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
    }
}
