//! Sums durations up: percentiles of each series, and what plots over time and a heat map show.

use serde::Serialize;
use timeline_latency::intervals::{HistogramShape, SummaryRow, record};
use timeline_latency::{Histogram, Series};
use utoipa::ToSchema;

use super::bins::{Bins, row_begin};
use super::find::{DurationFilter, each_duration, id, unknown};
use crate::error::{Error, Result};
use crate::logs::Version;
use crate::read::cancel::Cancel;

/// Most columns of a picture. With [`MOST_SERIES`] and the size of [`Bins`], they bound memory.
const MOST_COLUMNS: u64 = 512;
/// Series that are summed up; of others, there is the count.
const MOST_SERIES: usize = 32;
/// Series that are counted.
const MOST_NAMES: usize = 1_000;
/// Points of a spectrum for each halving of the rest: a power of two, or no share would be exact.
const POINTS: u32 = 4;

/// What is summed up.
#[derive(Debug, Clone)]
pub struct DurationQuery {
    pub asked: DurationFilter,
    /// Parts of the time.
    pub columns: u64,
}

/// Durations, summed up. All are in nanoseconds.
#[derive(Debug, Serialize, ToSchema)]
pub struct Durations {
    /// The first time, in nanoseconds since 1970.
    pub from: String,
    /// The time behind the last column.
    pub to: String,
    /// The number of columns.
    pub columns: u64,
    /// Where rows of the heat maps begin. The last one is the end of the last row.
    pub rows: Vec<u64>,
    /// The spans, or what else was asked for; the most durations first.
    pub series: Vec<SeriesObject>,
    /// Those that are too many to be summed up. Ask for one by its name.
    pub more: Vec<SeriesCount>,
    /// What has no other half, so that nothing was measured.
    pub losses: LossObject,
    /// What was asked for and is in no definition, in words, with the nearest names. Absent if
    /// there is nothing of that kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// The durations of one name.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeriesObject {
    /// A text that no other series has: the value of `series` in the request for a list.
    pub id: String,
    /// The name of the span or the event, or what was asked for.
    pub name: String,
    /// The field whose value both events share, if they are paired by one.
    pub key: Option<String>,
    /// How many durations there are.
    pub count: u64,
    /// The shortest.
    pub min: u64,
    /// How long at most half of them are; exact to 0.1 %, as the other percentiles.
    pub p50: u64,
    /// Likewise 90 %.
    pub p90: u64,
    /// Likewise 99 %.
    pub p99: u64,
    /// Likewise 99.9 %.
    pub p99_9: u64,
    /// Likewise 99.99 %.
    pub p99_99: u64,
    /// The longest.
    pub max: u64,
    /// Their mean.
    pub mean: f64,
    /// The columns that have durations. Of each: its number, how many end in it, and, exact to
    /// 1.6 %, the percentiles 50, 99 and 99.9, and the longest.
    #[schema(value_type = Vec<Vec<u64>>)]
    pub over_time: Vec<[u64; 6]>,
    /// The cells of the heat map that have durations: column, row, count.
    #[schema(value_type = Vec<Vec<u64>>)]
    pub cells: Vec<[u64; 3]>,
    /// The values at rising percentiles.
    pub spectrum: Vec<Point>,
}

/// A point of a percentile spectrum.
#[derive(Debug, Serialize, ToSchema)]
pub struct Point {
    /// The percentile.
    pub percent: f64,
    /// One of how many durations is longer: 1 / (1 - share). Null at 100 %.
    pub one_of: Option<f64>,
    /// How long so many percent of the durations are at most.
    pub value: u64,
    /// How many durations there are behind the point before, up to this one.
    pub count: u64,
}

/// How many durations have a name.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeriesCount {
    /// As in `series`.
    pub id: String,
    /// How many durations there are.
    pub count: u64,
}

/// How many events have no other half.
#[derive(Debug, Serialize, ToSchema)]
pub struct LossObject {
    /// Ends without a begin: it was overwritten, or is too long ago.
    pub ends: u64,
    /// Begins without an end.
    pub begins: u64,
    /// Begins whose end has not come yet.
    pub open: u64,
    /// Events of threads that are not known.
    pub threads: u64,
    /// Events without a time, or without the key.
    pub values: u64,
    /// Pairs that end before they begin, by clocks that do not agree.
    pub reversed: u64,
    /// Entries that were overwritten before they were recorded. They are not events of one kind.
    pub entries: u64,
}

/// The durations of one series.
struct Sum {
    histogram: Histogram,
    columns: Vec<Bins>,
}

struct Sums {
    from: u64,
    to: u64,
    columns: u64,
    counts: Vec<u64>,
    sums: Vec<Sum>,
}

impl Sums {
    fn column(&self, time: u64) -> usize {
        let passed = u128::from(time.clamp(self.from, self.to - 1) - self.from);
        (passed * u128::from(self.columns) / u128::from(self.to - self.from)) as usize
    }

    fn add(&mut self, series: usize, end: u64, value: u64) -> Result<()> {
        if series >= self.counts.len() {
            self.counts.resize(series + 1, 0);
        }
        self.counts[series] += 1;
        while self.sums.len() <= series && self.sums.len() < MOST_SERIES {
            let histogram = HistogramShape::default().histogram();
            self.sums.push(Sum {
                histogram: histogram.map_err(|error| Error::request(error.to_string()))?,
                columns: vec![Bins::default(); self.columns as usize],
            });
        }
        let column = self.column(end);
        if let Some(sum) = self.sums.get_mut(series) {
            record(&mut sum.histogram, value);
            sum.columns[column].add(value);
        }
        Ok(())
    }
}

/// Sums durations up.
pub fn durations(version: &Version, asked: &DurationQuery, cancel: &Cancel) -> Result<Durations> {
    let all = version
        .archive()
        .times()
        .map(|(first, last)| (first, last.saturating_add(1)));
    let (from, to) = asked.asked.range.or(all).unwrap_or((0, 1));
    let mut sums = Sums {
        from,
        to,
        columns: asked.columns.clamp(1, MOST_COLUMNS),
        counts: Vec::new(),
        sums: Vec::new(),
    };
    let (mut series, mut failed) = (Vec::<Series>::new(), Ok(()));
    let (losses, open) = each_duration(version, &asked.asked, cancel, |all, found| {
        if found.series >= series.len() {
            series = all.to_vec();
        }
        failed = sums.add(found.series, found.end, found.value);
        failed.is_ok()
    })?;
    failed?;
    let rows = rows(&sums);
    let first = rows.start;
    let summed = series.iter().zip(&sums.sums);
    let mut objects: Vec<_> = summed
        .filter(|(_, sum)| !sum.histogram.is_empty())
        .map(|(series, sum)| object(series, sum, first))
        .collect();
    objects.sort_by(|one, other| other.count.cmp(&one.count).then(one.id.cmp(&other.id)));
    let others = series.iter().zip(&sums.counts).skip(MOST_SERIES);
    let others = others.filter(|(_, count)| **count > 0).take(MOST_NAMES);
    let count = |(series, count): (&Series, &u64)| SeriesCount {
        id: id(series),
        count: *count,
    };
    Ok(Durations {
        unknown: match objects.is_empty() {
            true => unknown(version.archive(), &asked.asked),
            false => Vec::new(),
        },
        from: from.to_string(),
        to: to.to_string(),
        columns: sums.columns,
        rows: rows.map(row_begin).collect(),
        series: objects,
        more: others.map(count).collect(),
        losses: LossObject {
            ends: losses.ends,
            begins: losses.begins,
            open,
            threads: losses.threads,
            values: losses.values,
            reversed: losses.reversed,
            entries: losses.entries,
        },
    })
}

/// The rows of all heat maps, and the one behind them.
fn rows(sums: &Sums) -> std::ops::Range<usize> {
    let columns = sums.sums.iter().flat_map(|sum| &sum.columns);
    let numbers = columns.flat_map(|bins| bins.rows()).map(|(row, _)| row);
    let ends = numbers.fold(None, |ends: Option<(usize, usize)>, row| {
        let (least, most) = ends.unwrap_or((row, row));
        Some((least.min(row), most.max(row)))
    });
    ends.map_or(0..0, |(least, most)| least..most + 2)
}

fn object(series: &Series, sum: &Sum, first: usize) -> SeriesObject {
    let row = SummaryRow::from(&sum.histogram);
    let [p50, p90, p99, p99_9, p99_99] = row.percentiles;
    let columns = (0_u64..).zip(&sum.columns);
    let columns = columns.filter(|(_, bins)| bins.count > 0);
    let over_time = |(column, bins): (u64, &Bins)| {
        let [p50, p99, p99_9] = [50.0, 99.0, 99.9].map(|percent| bins.percentile(percent));
        [column, bins.count, p50, p99, p99_9, bins.max]
    };
    let cells = |(column, bins): (u64, &Bins)| {
        let cell = move |(row, count): (usize, u64)| [column, (row - first) as u64, count];
        bins.rows().into_iter().map(cell)
    };
    SeriesObject {
        id: id(series),
        name: series.name.clone(),
        key: series.key.clone(),
        count: row.count,
        min: row.min,
        p50,
        p90,
        p99,
        p99_9,
        p99_99,
        max: row.max,
        mean: row.mean,
        over_time: columns.clone().map(over_time).collect(),
        cells: columns.flat_map(cells).collect(),
        spectrum: spectrum(&sum.histogram),
    }
}

fn spectrum(histogram: &Histogram) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for step in histogram.iter_quantiles(POINTS) {
        let (share, count) = (
            step.quantile_iterated_to(),
            step.count_since_last_iteration(),
        );
        let value = step.value_iterated_to();
        let one_of = (share < 1.0).then(|| 1.0 / (1.0 - share));
        let percent = share * 100.0;
        match points.last_mut() {
            // Several points of one value are one bucket.
            Some(last) if last.value == value => {
                (last.percent, last.one_of, last.count) = (percent, one_of, last.count + count);
            }
            _ => points.push(Point {
                percent,
                one_of,
                value,
                count,
            }),
        }
    }
    points
}
