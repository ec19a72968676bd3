//! Merges logs into one stream of intervals.

use super::cutter::MOST_TAGS;
use super::error::{Error, Result};
use super::interval::Interval;
use super::log_reader::LogEntry;
use super::memory::Memory;

/// The most that is kept of what stands before an interval, in bytes of comments.
const MOST_NOTES: usize = 1 << 20;

/// What each StartTime and BaseTime counts as, in bytes.
const TIME: usize = 64;

/// The entries of several logs, the intervals by their starts, those of one start as the logs come.
///
/// Intervals of the same tag, start and length become one, with the durations of all. So the logs
/// of several threads or machines become one if they were cut at the same times
/// ([`aligned`](super::IntervalOptions::aligned)), and the logs of several hours become a day.
/// A log whose intervals are not ordered by their starts comes out in its own order.
///
/// A single log keeps its StartTimes and BaseTimes. Of several, offsets count from the earliest
/// StartTime, and these entries are left out. A comment stays before the interval that it stood
/// before; of more than a MiB between two intervals, the rest is left out, which another comment
/// says.
pub struct IntervalMerge<I> {
    logs: Vec<Log<I>>,
    origin: Option<u64>,
    /// What is given away next, the first one last.
    ready: Vec<Result<LogEntry>>,
}

/// A log that is being merged.
struct Log<I> {
    entries: I,
    /// The next interval, or error.
    head: Option<Result<Interval>>,
    /// What stands before it.
    notes: Vec<LogEntry>,
    notes_bytes: usize,
    left_out: u64,
}

/// Merges logs: see [`IntervalMerge`].
///
/// # Example
/// ```
/// use timeline_latency::intervals::{LogReader, merge};
///
/// let [one, other] = [&b"# without intervals\n"[..], b""];
/// let logs = [one, other].map(|log| LogReader::new(log, Default::default()));
/// assert_eq!(merge(logs).count(), 1);
/// ```
pub fn merge<I>(logs: impl IntoIterator<Item = I>) -> IntervalMerge<I>
where
    I: Iterator<Item = Result<LogEntry>>,
{
    let log = |entries| Log {
        entries,
        head: None,
        notes: Vec::new(),
        notes_bytes: 0,
        left_out: 0,
    };
    IntervalMerge {
        logs: logs.into_iter().map(log).collect(),
        origin: None,
        ready: Vec::new(),
    }
}

impl<I: Iterator<Item = Result<LogEntry>>> Log<I> {
    /// The next interval, or error, which is read only once.
    fn head(&mut self) -> Option<&Result<Interval>> {
        while self.head.is_none() {
            match self.entries.next()? {
                Ok(LogEntry::Interval(interval)) => self.head = Some(Ok(interval)),
                Ok(note) => self.keep(note),
                Err(error) => self.head = Some(Err(error)),
            }
        }
        self.head.as_ref()
    }

    fn keep(&mut self, note: LogEntry) {
        let bytes = match &note {
            LogEntry::Comment(text) => text.len() + TIME,
            _ => TIME,
        };
        if self.notes_bytes + bytes > MOST_NOTES {
            self.left_out += 1;
            return;
        }
        self.notes_bytes += bytes;
        self.notes.push(note);
    }

    /// What stands before the next interval, once.
    fn notes(&mut self) -> impl Iterator<Item = LogEntry> {
        let left_out = match std::mem::take(&mut self.left_out) {
            0 => None,
            count => Some(LogEntry::Comment(format!("[{count} more lines left out]"))),
        };
        self.notes_bytes = 0;
        std::mem::take(&mut self.notes).into_iter().chain(left_out)
    }
}

impl<I: Iterator<Item = Result<LogEntry>>> IntervalMerge<I> {
    /// Takes all that begin first. What cannot be read in a log ends its part.
    fn gather(&mut self) {
        let is_single = self.logs.len() == 1;
        let (mut start, mut origin) = (None, None);
        for log in &mut self.logs {
            if let Some(Ok(head)) = log.head() {
                start = Some(start.map_or(head.start, |start: u64| start.min(head.start)));
                origin = Some(origin.map_or(head.origin, |origin: u64| origin.min(head.origin)));
            }
        }
        self.origin = self.origin.or(origin);
        let (mut notes, mut joined, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        // Behind the last interval of a log.
        let mut last = Vec::new();
        let is_kept = |note: &LogEntry| is_single || matches!(note, LogEntry::Comment(_));
        let mut memory = Memory::default();
        for log in &mut self.logs {
            while let Some(head) = log.head() {
                let is_next = head.as_ref().map_or(true, |head| Some(head.start) == start);
                // In a single log, each stays where it is.
                let is_behind = is_single && !joined.is_empty() && !log.notes.is_empty();
                if !is_next || is_behind {
                    break;
                }
                notes.extend(log.notes().filter(is_kept));
                let Some(head) = log.head.take() else { break };
                if let Err(error) = head.and_then(|one| join(&mut joined, &mut memory, one)) {
                    errors.push(Err(error));
                    break;
                }
            }
            if log.head.is_none() {
                last.extend(log.notes().filter(is_kept));
            }
        }
        if !is_single {
            for interval in &mut joined {
                interval.origin = self.origin.unwrap_or(interval.origin);
            }
        }
        let joined = joined.into_iter().map(|one| Ok(LogEntry::Interval(one)));
        let (notes, last) = (notes.into_iter().map(Ok), last.into_iter().map(Ok));
        self.ready = notes.chain(errors).chain(joined).chain(last).collect();
        self.ready.reverse();
    }
}

impl<I: Iterator<Item = Result<LogEntry>>> Iterator for IntervalMerge<I> {
    type Item = Result<LogEntry>;

    fn next(&mut self) -> Option<Result<LogEntry>> {
        if self.ready.is_empty() {
            self.gather();
        }
        self.ready.pop()
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
