//! Cuts a stream of durations into intervals, each with a histogram for each tag.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::error::{Error, Result};
use super::interval::Interval;
use super::shape::{self, HistogramShape};

/// Most tags, of each of which there are histograms in memory.
pub const MOST_TAGS: usize = 1024;

/// Most empty intervals between two durations. A longer gap has none.
pub const MOST_EMPTY: u64 = 1_000_000;

const MILLISECOND: u64 = 1_000_000;
const MOST_DAYS: u64 = 36_500;
const DAY: u64 = 86_400_000_000_000;

/// How durations are cut into intervals.
#[derive(Debug, Clone)]
pub struct IntervalOptions {
    /// The length of an interval: whole milliseconds, because a log has no finer times.
    pub length: Duration,
    /// Whether intervals begin at multiples of their length since 1970, so that those of several
    /// programs agree. Otherwise the first begins at `start`.
    pub aligned: bool,
    /// Where the first interval begins, in nanoseconds since 1970; what there is of a millisecond
    /// is left out. Without it: where the first duration is.
    pub start: Option<u64>,
    /// How many intervals stay open behind the newest, for durations that come late.
    pub late: u32,
    /// The histograms.
    pub shape: HistogramShape,
    /// How often something is measured: see [`shape::record_corrected`].
    pub expected: Option<Duration>,
}

impl Default for IntervalOptions {
    /// One second, not aligned, one open behind the newest, not corrected.
    fn default() -> Self {
        IntervalOptions {
            length: Duration::from_secs(1),
            aligned: false,
            start: None,
            late: 1,
            shape: HistogramShape::default(),
            expected: None,
        }
    }
}

/// Which tag a duration belongs to; [`Intervals::tag`] gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagId(usize);

/// A stream of durations, cut into intervals of one length.
///
/// Durations come in roughly by time. An interval is due once a duration, or [`Intervals::pass`],
/// is later than it by more than the open ones; whoever records takes those that are due at once,
/// and no more are kept in memory than are open. They come by their starts, and those of one start
/// by their tags, in the order in which the tags became known. A tag without durations has an
/// empty histogram, from the interval on in which it became known.
///
/// A duration that is older than all open intervals is recorded in the oldest of these, and
/// counted: no duration is lost, and an interval that was given away never changes.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use timeline_latency::intervals::{IntervalOptions, Intervals};
///
/// let options = IntervalOptions {
///     length: Duration::from_millis(100),
///     ..IntervalOptions::default()
/// };
/// let mut intervals = Intervals::new(options)?;
/// let parse = intervals.tag(Some("parse"))?;
/// let begin = 1_500_000_000_000_000_000;
/// let mut counts = Vec::new();
/// for (at, duration) in [(10, 1_200), (90, 800), (450, 900)] {
///     intervals.record(parse, begin + at * 1_000_000, duration);
///     while let Some(interval) = intervals.due() {
///         counts.push(interval.histogram.len());
///     }
/// }
/// intervals.finish();
/// while let Some(interval) = intervals.due() {
///     counts.push(interval.histogram.len());
/// }
/// assert_eq!(counts, [2, 0, 0, 0, 1]);
/// # Ok::<(), timeline_latency::intervals::Error>(())
/// ```
#[derive(Debug)]
pub struct Intervals {
    /// In nanoseconds.
    length: u64,
    options: IntervalOptions,
    empty: Histogram<u64>,
    tags: Vec<Option<Arc<str>>>,
    /// The longest duration of the interval of each tag that was given away last. The next
    /// histogram is made for it: to grow costs more than all records.
    longest: Vec<u64>,
    /// Where interval 0 begins.
    base: Option<u64>,
    /// What was recorded, by interval and tag.
    open: BTreeMap<u64, Vec<Option<Histogram<u64>>>>,
    /// The interval that is next given away, and its tag.
    next: (u64, usize),
    /// The newest interval that time has reached.
    newest: u64,
    /// The interval of the last time that was reached, and the times of that interval.
    reached: (u64, Range<u64>),
    finished: bool,
    late: u64,
    clamped: u64,
    left_out: u64,
}

impl Intervals {
    /// Begins a stream without tags.
    ///
    /// # Errors
    /// `Length` unless the length is whole milliseconds, from one to a hundred years; `Shape`.
    pub fn new(options: IntervalOptions) -> Result<Intervals> {
        let nanoseconds = options.length.as_nanos();
        let length = u64::try_from(nanoseconds).unwrap_or(0);
        if length == 0 || !length.is_multiple_of(MILLISECOND) || length > MOST_DAYS * DAY {
            return Err(Error::Length {
                nanoseconds,
                most_days: MOST_DAYS,
            });
        }
        let empty = options.shape.histogram()?;
        let mut intervals = Intervals {
            length,
            empty,
            tags: Vec::new(),
            longest: Vec::new(),
            base: None,
            open: BTreeMap::new(),
            next: (0, 0),
            newest: 0,
            reached: (0, 0..0),
            finished: false,
            late: 0,
            clamped: 0,
            left_out: 0,
            options,
        };
        if let Some(start) = intervals.options.start {
            intervals.begin(start);
        }
        Ok(intervals)
    }

    /// The tag of this name, which is known from now on; `None`: durations without a tag.
    ///
    /// # Errors
    /// `Tag` if a log cannot have it; `TooManyTags`.
    pub fn tag(&mut self, name: Option<&str>) -> Result<TagId> {
        if let Some(known) = self.tags.iter().position(|tag| tag.as_deref() == name) {
            return Ok(TagId(known));
        }
        if let Some(tag) = name.filter(|name| !is_tag(name)) {
            return Err(Error::Tag { tag: tag.into() });
        }
        if self.tags.len() == MOST_TAGS {
            return Err(Error::TooManyTags { most: MOST_TAGS });
        }
        self.tags.push(name.map(Arc::from));
        self.longest.push(0);
        Ok(TagId(self.tags.len() - 1))
    }

    /// Records a duration of `value` nanoseconds that ended at `time`, in nanoseconds since 1970.
    pub fn record(&mut self, tag: TagId, time: u64, value: u64) {
        let interval = self.reach(time);
        let (next, next_tag) = self.next;
        // Where some tags of an interval were given away, it is open no more.
        let oldest = next + u64::from(next_tag > 0);
        let interval = match interval {
            Some(interval) if interval >= oldest => interval,
            _ => {
                self.late += 1;
                self.newest = self.newest.max(oldest);
                oldest
            }
        };
        let expected = self.options.expected;
        let there = self.open.get_mut(&interval);
        let there = there.and_then(|slot| slot.get_mut(tag.0)?.as_mut());
        let within = match there {
            Some(histogram) => record_in(histogram, value, expected),
            None => record_in(self.begin_histogram(interval, tag), value, expected),
        };
        self.clamped += u64::from(!within);
    }

    /// The new histogram of an interval and a tag.
    #[inline(never)]
    fn begin_histogram(&mut self, interval: u64, tag: TagId) -> &mut Histogram<u64> {
        let slot = self.open.entry(interval).or_default();
        if slot.len() <= tag.0 {
            slot.resize_with(tag.0 + 1, || None);
        }
        let made = self
            .options
            .shape
            .histogram_up_to(self.longest[tag.0])
            .unwrap_or_else(|_| self.empty.clone());
        slot[tag.0].insert(made)
    }

    /// Tells that it is `now`, in nanoseconds since 1970, and intervals before are due although
    /// nothing was recorded.
    pub fn pass(&mut self, now: u64) {
        self.reach(now);
    }

    /// Tells that nothing more comes: all intervals are due, up to the newest.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next interval that is due, if there is one.
    #[inline]
    pub fn due(&mut self) -> Option<Interval> {
        let last = match self.finished {
            true => self.newest.checked_add(1)?,
            false => self.newest.saturating_sub(self.options.late.into()),
        };
        // Asked after each duration, and nearly always in vain.
        if self.next.0 >= last || self.tags.is_empty() {
            return None;
        }
        self.give_next(last)
    }

    /// The end of the interval that is next given away. What is earlier than that, such as a loss,
    /// stands before it. All that is known does where there are no intervals yet.
    pub fn next_end(&self) -> u64 {
        let (number, tag) = self.next;
        let Some(base) = self.base.filter(|_| !self.tags.is_empty()) else {
            return u64::MAX;
        };
        // Where one of its tags was given away, all that is earlier stands before that.
        let passed = number + u64::from(tag == 0);
        base.saturating_add(passed.saturating_mul(self.length))
    }

    /// Gives away the next interval, of those before `last`.
    fn give_next(&mut self, last: u64) -> Option<Interval> {
        let base = self.base?;
        let (number, tag) = self.next;
        if tag == 0 && self.skips_gap(last) {
            return self.due();
        }
        let slot = self.open.get_mut(&number);
        let recorded = slot.and_then(|slot| slot.get_mut(tag)?.take());
        if let Some(recorded) = &recorded {
            self.longest[tag] = recorded.max();
        }
        if tag + 1 < self.tags.len() {
            self.next = (number, tag + 1);
        } else {
            self.open.remove(&number);
            self.next = (number + 1, 0);
        }
        Some(Interval {
            tag: self.tags[tag].clone(),
            start: base + number * self.length,
            length: self.length,
            origin: base,
            histogram: recorded.unwrap_or_else(|| self.empty.clone()),
        })
    }

    /// How many durations came too late for their interval, and are in a later one.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// How many durations were longer than the highest of the histograms.
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// How many empty intervals were left out, of gaps with more than [`MOST_EMPTY`].
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Leaves out the empty intervals before the next one, if there are too many of them.
    fn skips_gap(&mut self, last: u64) -> bool {
        let next = self.next.0;
        let until = self
            .open
            .keys()
            .next()
            .map_or(last, |&first| first.min(last));
        let gap = until.saturating_sub(next);
        if gap <= MOST_EMPTY {
            return false;
        }
        self.left_out += gap;
        self.next = (until, 0);
        true
    }

    fn begin(&mut self, start: u64) -> u64 {
        let unit = if self.options.aligned {
            self.length
        } else {
            MILLISECOND
        };
        *self.base.insert(start - start % unit)
    }

    /// Which interval this time is in, if it is not before the first; and time has come so far.
    #[inline]
    fn reach(&mut self, time: u64) -> Option<u64> {
        // Most times are in the interval of the one before: no division tells that.
        match &self.reached {
            (interval, times) if times.contains(&time) => Some(*interval),
            _ => self.reach_other(time),
        }
    }

    fn reach_other(&mut self, time: u64) -> Option<u64> {
        let base = match self.base {
            Some(base) => base,
            None => self.begin(time),
        };
        let interval = time.checked_sub(base)? / self.length;
        self.newest = self.newest.max(interval);
        let start = base + interval * self.length;
        self.reached = (interval, start..start.saturating_add(self.length));
        Some(interval)
    }
}

/// Records a duration; false if it is longer than the highest of the histogram.
#[inline]
fn record_in(histogram: &mut Histogram<u64>, value: u64, expected: Option<Duration>) -> bool {
    match expected {
        Some(expected) => {
            let expected = u64::try_from(expected.as_nanos()).unwrap_or(u64::MAX);
            shape::record_corrected(histogram, value, expected)
        }
        None => shape::record(histogram, value),
    }
}

/// Whether a log can have this tag.
pub fn is_tag(name: &str) -> bool {
    let breaks = |c: char| c == ',' || c.is_whitespace() || c.is_control();
    !name.is_empty() && !name.contains(breaks)
}
