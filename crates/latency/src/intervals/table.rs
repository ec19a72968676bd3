//! Writes a row for each interval and each tag: as text, CSV or lines of JSON.

use std::io::Write;

use timeline::Bytes;
use timeline::dump::{is_printable, printable};

use super::error::Result;
use super::interval::Interval;
use super::interval_loss::IntervalLoss;
use super::seconds;
use super::spark::spark_line;
use super::summary::{PERCENTILES, Summary, SummaryRow};
use super::units::duration;
use crate::lack::Lack;
use crate::spans::ValueUnit;

/// Columns of a spark line.
const SPARK: usize = 16;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Columns for people: durations with units, and the distribution as a spark line.
    Text,
    /// Comma-separated values, durations in nanoseconds, behind a line of names.
    Csv,
    /// A JSON object in each line, durations in nanoseconds.
    Json,
}

/// Writes a table of intervals.
///
/// # Example
/// ```
/// use timeline_latency::ValueUnit;
/// use timeline_latency::intervals::{IntervalOptions, Intervals, IntervalTable, TableFormat};
///
/// let mut intervals = Intervals::new(IntervalOptions::default())?;
/// let untagged = intervals.tag(None)?;
/// intervals.record(untagged, 1_500_000_000_000_000_000, 850);
/// intervals.finish();
/// let range = (1, 1_000_000_000);
/// let unit = ValueUnit::Nanoseconds;
/// let mut table = IntervalTable::new(Vec::new(), TableFormat::Csv, unit, range)?;
/// while let Some(interval) = intervals.due() {
///     table.interval(&interval)?;
/// }
/// assert_eq!(
///     String::from_utf8(table.into_inner())?,
///     "tag,start,offset,length,count,min,p50,p90,p99,p99.9,p99.99,max,mean\n\
///      ,1500000000.000,0.000,1.000,1,850,850,850,850,850,850,850,850.0\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IntervalTable<W> {
    out: W,
    format: TableFormat,
    unit: ValueUnit,
    range: (u64, u64),
}

impl<W: Write> IntervalTable<W> {
    /// Begins a table; writes the names of its columns. Its values are in this unit. The spark
    /// lines go from `range.0` to `range.1`: [`spark_line`].
    ///
    /// # Errors
    /// `Io`.
    pub fn new(
        out: W,
        format: TableFormat,
        unit: ValueUnit,
        range: (u64, u64),
    ) -> Result<IntervalTable<W>> {
        let mut table = IntervalTable {
            out,
            format,
            unit,
            range,
        };
        let percentiles = PERCENTILES.map(|(_, name)| name);
        match format {
            TableFormat::Text => {
                write!(table.out, "{:>12} {:>9} {:>9}", "time", "count", "min")?;
                for name in percentiles {
                    write!(table.out, " {name:>9}")?;
                }
                let [from, to] = [range.0, range.1].map(|end| in_unit(unit, end as f64));
                let scale = format!("{from} … {to}");
                writeln!(
                    table.out,
                    " {:>9} {:>9}  {scale:SPARK$}  tag",
                    "max", "mean"
                )?;
            }
            TableFormat::Csv => {
                let names = percentiles.map(key).join(",");
                writeln!(
                    table.out,
                    "tag,start,offset,length,count,min,{names},max,mean"
                )?;
            }
            TableFormat::Json => {}
        }
        Ok(table)
    }

    /// Writes the row of an interval. Its time is the offset of its start from StartTime, in
    /// seconds.
    ///
    /// # Errors
    /// `Io`.
    pub fn interval(&mut self, interval: &Interval) -> Result<()> {
        let offset = seconds::format(interval.offset());
        let place = Place {
            name: "interval",
            time: offset.clone(),
            start: interval.start,
            offset: Some(offset),
            length: interval.length,
        };
        let spark = spark_line(&interval.histogram, self.range, SPARK);
        let row = SummaryRow::from(&interval.histogram);
        self.row(&place, interval.tag.as_deref(), &row, &spark)
    }

    /// Writes the row of all intervals of a tag.
    ///
    /// # Errors
    /// `Io`.
    pub fn total(&mut self, summary: &Summary) -> Result<()> {
        let place = Place {
            name: "total",
            time: "total".to_owned(),
            start: summary.from,
            offset: None,
            length: summary.to.saturating_sub(summary.from),
        };
        let spark = spark_line(&summary.histogram, self.range, SPARK);
        self.row(&place, summary.tag.as_deref(), &summary.row(), &spark)
    }

    /// Says what is missing here: in a line of its own, but not among comma-separated
    /// values, whose readers know no other rows.
    ///
    /// # Errors
    /// `Io`.
    pub fn missed(&mut self, missed: &IntervalLoss) -> Result<()> {
        let out = &mut self.out;
        match self.format {
            TableFormat::Text => writeln!(out, "{:>12} {missed}", "missed")?,
            TableFormat::Json => {
                let IntervalLoss { what, since, until } = *missed;
                let (name, entries) = (what.name(), what.entries());
                let entries = entries.map_or("null".to_owned(), |entries| entries.to_string());
                write!(
                    out,
                    "{{\"type\":\"missed\",\"what\":\"{name}\",\"entries\":{entries}"
                )?;
                match what {
                    Lack::Damaged(bytes) => write!(out, ",\"bytes\":{bytes}")?,
                    Lack::Removed(files) => write!(out, ",\"files\":{files}")?,
                    _ => {}
                }
                let [since, until] = [since, until].map(|time| seconds::format(time as i64));
                writeln!(out, ",\"since\":{since},\"until\":{until}}}")?;
            }
            TableFormat::Csv => {}
        }
        Ok(())
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// `Io`.
    pub fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn row(
        &mut self,
        place: &Place,
        tag: Option<&str>,
        row: &SummaryRow,
        spark: &str,
    ) -> Result<()> {
        let out = &mut self.out;
        // Anybody may have written the tag; a terminal must not obey it.
        let shown_tag = tag.map_or("".into(), printable);
        let start = seconds::format(i64::try_from(place.start).unwrap_or(i64::MAX));
        let length = seconds::format(i64::try_from(place.length).unwrap_or(i64::MAX));
        let offset = place.offset.as_deref();
        match self.format {
            TableFormat::Text => {
                write!(out, "{:>12} {:>9}", place.time, row.count)?;
                let values = std::iter::once(row.min).chain(row.percentiles);
                for value in values.chain([row.max]).map(|value| value as f64) {
                    write!(out, " {:>9}", shown(row, self.unit, value))?;
                }
                let line = format!(
                    " {:>9}  {spark}  {}",
                    shown(row, self.unit, row.mean),
                    shown_tag
                );
                writeln!(out, "{}", line.trim_end())?;
            }
            TableFormat::Csv => {
                let tag = quoted(&shown_tag);
                write!(
                    out,
                    "{tag},{start},{},{length},{}",
                    offset.unwrap_or(""),
                    row.count
                )?;
                write!(out, ",{}", row.min)?;
                for value in row.percentiles {
                    write!(out, ",{value}")?;
                }
                writeln!(out, ",{},{:.1}", row.max, row.mean)?;
            }
            TableFormat::Json => {
                let tag = tag.map_or("null".to_owned(), string);
                write!(
                    out,
                    "{{\"type\":\"{}\",\"tag\":{tag},\"start\":{start}",
                    place.name
                )?;
                if let Some(offset) = offset {
                    write!(out, ",\"offset\":{offset}")?;
                }
                write!(
                    out,
                    ",\"length\":{length},\"count\":{},\"min\":{}",
                    row.count, row.min
                )?;
                for ((_, name), value) in PERCENTILES.iter().zip(row.percentiles) {
                    write!(out, ",\"{}\":{value}", key(name))?;
                }
                writeln!(out, ",\"max\":{},\"mean\":{:.1}}}", row.max, row.mean)?;
            }
        }
        Ok(())
    }
}

/// Where a row belongs.
struct Place {
    name: &'static str,
    /// The first column of a text.
    time: String,
    start: u64,
    offset: Option<String>,
    length: u64,
}

/// The name of a percentile for programs: `p99.9`.
fn key(name: &str) -> String {
    format!("p{}", name.trim_end_matches('%'))
}

/// A value of a row, if it has any.
fn shown(row: &SummaryRow, unit: ValueUnit, value: f64) -> String {
    match row.count {
        0 => "-".to_owned(),
        _ => in_unit(unit, value),
    }
}

/// A value with its unit.
fn in_unit(unit: ValueUnit, value: f64) -> String {
    match unit {
        ValueUnit::Nanoseconds => duration(value),
        ValueUnit::Bytes => Bytes(value as u64).to_string(),
        ValueUnit::None => (value.round() as u64).to_string(),
    }
}

/// A field of CSV.
fn quoted(field: &str) -> String {
    match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

/// A string of JSON, which is as safe to show as what is printable, and loses nothing.
fn string(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if !is_printable(c) => {
                let units = c.encode_utf16(&mut [0; 2]).to_vec();
                json.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
            c => json.push(c),
        }
    }
    json.push('"');
    json
}
