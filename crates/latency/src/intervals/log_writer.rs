//! Writes interval logs: the text format of HdrHistogram's HistogramLogWriter, version 1.3.

use std::io::Write;

use hdrhistogram::serialization::V2DeflateSerializer;
use jiff::Timestamp;
use timeline::dump::printable;

use super::cutter::is_tag;
use super::error::{Error, Result};
use super::interval::Interval;
use super::{payload, seconds};

/// The maximum is written in milliseconds if values are in nanoseconds, as the Java writer does it.
const MAX_DIVISOR: f64 = 1_000_000.0;

/// What stands before the intervals.
#[derive(Debug, Clone, Default)]
pub struct LogHeader {
    /// Comments: who wrote the log, and of what. Each line of one is a line of the log.
    pub comments: Vec<String>,
    /// When it started, what the log is of: the zero of plots, in nanoseconds since 1970.
    pub start_time: Option<u64>,
    /// What the times of intervals count from, in nanoseconds since 1970. Without it they count
    /// from 1970.
    pub base_time: Option<u64>,
}

/// Writes an interval log.
///
/// Times have three decimals of a second, and are rounded to these.
///
/// # Example
/// ```
/// use timeline_latency::intervals::{Interval, LogHeader, LogReader, LogWriter, HistogramShape};
///
/// let start = 1_500_000_040_000_000_000;
/// let header = LogHeader {
///     comments: vec!["[durations of parse, in nanoseconds]".into()],
///     start_time: Some(start),
///     base_time: Some(start),
/// };
/// let mut log = LogWriter::new(Vec::new(), &header)?;
/// let mut histogram = HistogramShape::default().histogram()?;
/// histogram.record(2_769_000)?;
/// log.write(&Interval {
///     tag: Some("parse".into()),
///     start: start + 127_000_000,
///     length: 1_007_000_000,
///     origin: start,
///     histogram,
/// })?;
/// let text = String::from_utf8(log.into_inner()?)?;
/// let last = text.lines().last().unwrap();
/// assert!(last.starts_with("Tag=parse,0.127,1.007,2.771,HISTFAAAA"), "{last}");
///
/// let mut read = LogReader::new(text.as_bytes(), Default::default()).intervals();
/// let interval = read.next().unwrap()?;
/// assert_eq!(interval.start, start + 127_000_000);
/// assert_eq!(interval.histogram.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LogWriter<W: Write> {
    out: W,
    base_time: i64,
    serializer: V2DeflateSerializer,
}

impl<W: Write> LogWriter<W> {
    /// Begins a log: writes the comments, the version of the format, StartTime, BaseTime and the
    /// legend.
    ///
    /// # Errors
    /// `Io`.
    pub fn new(out: W, header: &LogHeader) -> Result<LogWriter<W>> {
        let mut writer = LogWriter {
            out,
            base_time: 0,
            serializer: V2DeflateSerializer::new(),
        };
        for comment in &header.comments {
            writer.comment(comment)?;
        }
        writer.line("#[Histogram log format version 1.3]")?;
        if let Some(start) = header.start_time {
            writer.start_time(start)?;
        }
        if let Some(base) = header.base_time {
            writer.base_time(base)?;
        }
        writer.line(
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
             \"Interval_Compressed_Histogram\"",
        )?;
        Ok(writer)
    }

    /// Writes a comment, each line behind a `#`, as far as it is printable: it may be of another
    /// log, and a log is looked at in a terminal.
    ///
    /// # Errors
    /// `Io`.
    pub fn comment(&mut self, comment: &str) -> Result<()> {
        for line in comment.split(['\n', '\r']) {
            // Otherwise a reader would take it for one.
            let time = line.starts_with("[StartTime:") || line.starts_with("[BaseTime:");
            let space = if time { " " } else { "" };
            let parts: Vec<_> = line.split('\t').map(printable).collect();
            self.line(&format!("#{space}{}", parts.join("\t")))?;
        }
        Ok(())
    }

    /// Writes a StartTime, in nanoseconds since 1970, for the intervals from here on.
    ///
    /// # Errors
    /// `Io`.
    pub fn start_time(&mut self, start: u64) -> Result<()> {
        let seconds = seconds::format(signed(start));
        self.line(&format!(
            "#[StartTime: {seconds} (seconds since epoch), {}]",
            date(start)
        ))
    }

    /// Writes a BaseTime, in nanoseconds since 1970, which the times of the intervals from here on
    /// count from.
    ///
    /// # Errors
    /// `Io`.
    pub fn base_time(&mut self, base: u64) -> Result<()> {
        // As the line says it: readers know no more.
        self.base_time = signed(base) / 1_000_000 * 1_000_000;
        let seconds = seconds::format(self.base_time);
        self.line(&format!("#[BaseTime: {seconds} (seconds since epoch)]"))
    }

    /// Writes an interval. The order is that of the caller: that of their starts is the best, as
    /// HistogramLogReader in Java ends with the first one behind a range.
    ///
    /// # Errors
    /// `Tag` if its tag would break the line; `Unwritable` if a count is too large; `Io`.
    pub fn write(&mut self, interval: &Interval) -> Result<()> {
        let tag = match interval.tag.as_deref() {
            None => String::new(),
            Some(tag) if is_tag(tag) => format!("Tag={tag},"),
            Some(tag) => return Err(Error::Tag { tag: tag.into() }),
        };
        let encoded = payload::encode(&interval.histogram, &mut self.serializer);
        let histogram = encoded.map_err(|reason| Error::Unwritable { reason })?;
        let start = seconds::format(signed(interval.start) - self.base_time);
        let length = seconds::format(signed(interval.length));
        let max = seconds::fixed(interval.histogram.max() as f64 / MAX_DIVISOR, 3);
        self.line(&format!("{tag}{start},{length},{max},{histogram}"))
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// `Io`.
    pub fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    /// What was written to, which is flushed.
    ///
    /// # Errors
    /// `Io`.
    pub fn into_inner(mut self) -> Result<W> {
        self.flush()?;
        Ok(self.out)
    }

    fn line(&mut self, line: &str) -> Result<()> {
        self.out.write_all(line.as_bytes())?;
        Ok(self.out.write_all(b"\n")?)
    }
}

fn signed(nanos: u64) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

/// The date as Java writes it, in UTC: "Fri Jul 14 02:40:40 UTC 2017".
fn date(nanos: u64) -> String {
    let timestamp = Timestamp::from_nanosecond(nanos.into()).unwrap_or(Timestamp::MAX);
    timestamp.strftime("%a %b %d %H:%M:%S UTC %Y").to_string()
}
