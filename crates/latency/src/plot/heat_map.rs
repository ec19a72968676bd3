//! Plots how many durations there are of each length at each time.

use super::axis::{self, Axis};
use super::chart::{Chart, LABEL, Room, Side};
use super::colors::{self, INK};
use super::error::{Error, Result};
use super::joined::{Join, Labels};
use super::picture::Anchor;
use super::{Frame, Image};
use crate::intervals::Interval;

/// Most columns of a label. Then two neighbours become one.
const MOST_COLUMNS: usize = 240;

/// How many rows each power of ten has.
const ROWS: f64 = 16.0;

/// How many colours there are: fewer make a smaller SVG, as neighbours of one colour are one area.
const COLORS: f64 = 24.0;

const GAP: f64 = 30.0;

/// How many durations there are: dark where there are many, for each time and each length.
///
/// # Example
/// ```
/// use timeline_latency::intervals::{IntervalOptions, Intervals};
/// use timeline_latency::plot::{Frame, HeatMap, Image};
///
/// let mut intervals = Intervals::new(IntervalOptions::default())?;
/// let parse = intervals.tag(Some("parse"))?;
/// for at in 0..600 {
///     intervals.record(parse, at * 100_000_000, 1_000_000 + at * at);
/// }
/// intervals.finish();
/// let mut plot = HeatMap::default();
/// while let Some(interval) = intervals.due() {
///     plot.add("parse", &interval)?;
/// }
/// let png = plot.draw(&Frame::default(), Image::Png)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct HeatMap {
    panels: Labels<Column>,
}

impl Default for HeatMap {
    fn default() -> Self {
        HeatMap {
            panels: Labels::new(MOST_COLUMNS),
        }
    }
}

/// An interval, or several.
#[derive(Debug, Clone)]
struct Column {
    /// From where to where, in nanoseconds since StartTime.
    from: f64,
    to: f64,
    /// How many durations there are in which rows, by the rows.
    rows: Vec<(u32, u64)>,
}

impl HeatMap {
    /// Adds the next interval of this label: a file or a tag.
    ///
    /// # Errors
    /// `TooManyLabels`.
    pub fn add(&mut self, label: &str, interval: &Interval) -> Result<()> {
        let from = interval.offset() as f64;
        let mut column = Column {
            from,
            to: from + interval.length as f64,
            rows: Vec::new(),
        };
        for bucket in interval.histogram.iter_recorded() {
            let value = interval
                .histogram
                .median_equivalent(bucket.value_iterated_to());
            column.count(row_of(value as f64), bucket.count_at_value());
        }
        self.panels.push(label, column)
    }

    /// Draws the plot: a panel for each label.
    ///
    /// # Errors
    /// `Empty` if no interval has a duration; `Size`; `Drawing`.
    pub fn draw(&self, frame: &Frame, image: Image) -> Result<Vec<u8>> {
        let columns = || self.panels.items();
        let rows = || columns().flat_map(|column| &column.rows);
        let low = rows().map(|(row, _)| *row).min().ok_or(Error::Empty)?;
        let high = rows().map(|(row, _)| *row).max().ok_or(Error::Empty)?;
        let first = columns()
            .map(|column| column.from)
            .fold(f64::INFINITY, f64::min);
        let last = columns()
            .map(|column| column.to)
            .fold(f64::NEG_INFINITY, f64::max);
        let most = columns()
            .flat_map(Column::densities)
            .map(|(_, density)| density);
        let most = most.fold(0.0, f64::max);
        let durations = Axis {
            low: value_of(f64::from(low)),
            high: value_of(f64::from(high) + 1.0),
            logarithmic: true,
        };
        let times = axis::times(first, last);
        let panels = self.panels.len() as f64;
        let ticks = durations.duration_ticks((f64::from(frame.height) / panels / 60.0) as usize);
        let mut chart = Chart::new(frame, &ticks, &[])?;
        let all = Room {
            right: (chart.room.right - 90.0).max(chart.room.left + 40.0),
            ..chart.room
        };
        let gap = if self.panels.len() == 1 { 0.0 } else { GAP };
        let height = ((all.bottom - all.top) / panels - gap).max(4.0);
        for (number, panel) in self.panels.iter().enumerate() {
            let top = all.top + number as f64 * (height + gap) + gap;
            chart.room = Room {
                top,
                bottom: top + height,
                ..all
            };
            let is_last = number + 1 == self.panels.len();
            let (times_ticks, unit) = times.time_ticks(frame.width as usize / 80);
            let title = match is_last {
                true => format!("{unit} since StartTime"),
                false => String::new(),
            };
            chart.left_side(&Side {
                axis: durations,
                ticks: ticks.clone(),
                title: "duration".to_owned(),
            });
            draw_cells(&panel.items, &mut chart, (&times, &durations), most);
            chart.bottom_side(&Side {
                axis: times,
                ticks: if is_last { times_ticks } else { Vec::new() },
                title,
            });
            if gap > 0.0 {
                let at = (all.left, top - gap / 2.0 + 2.0);
                chart
                    .picture
                    .text(at, &panel.name, LABEL, Anchor::Start, INK);
            }
        }
        chart.room = all;
        colour_bar(&mut chart, most);
        chart.draw(image)
    }
}

/// Draws the columns of a panel.
fn draw_cells(columns: &[Column], chart: &mut Chart, axes: (&Axis, &Axis), most: f64) {
    let (times, durations) = axes;
    for column in columns {
        let (left, right) = (chart.x(times, column.from), chart.x(times, column.to));
        // The lowest and the highest row of an area of one colour.
        let mut area: Option<(u32, u32, f64)> = None;
        let mut areas = Vec::new();
        for (row, density) in column.densities() {
            let shade = shade(density, most);
            match &mut area {
                Some((_, high, same)) if *high + 1 == row && *same == shade => *high = row,
                _ => areas.extend(area.replace((row, row, shade))),
            }
        }
        areas.extend(area);
        for (low, high, shade) in areas {
            let top = chart.y(durations, value_of(f64::from(high) + 1.0));
            let bottom = chart.y(durations, value_of(f64::from(low)));
            // Neighbours overlap a little, or light would shine through.
            let sides = [left, top, right + 0.25, bottom + 0.25];
            chart.picture.area(sides, colors::density(shade));
        }
    }
}

impl Column {
    fn count(&mut self, row: u32, count: u64) {
        let place = self.rows.binary_search_by_key(&row, |(row, _)| *row);
        match place {
            Ok(at) => self.rows[at].1 = self.rows[at].1.saturating_add(count),
            Err(at) => self.rows.insert(at, (row, count)),
        }
    }

    /// How many durations there are in a second, for each row.
    fn densities(&self) -> impl Iterator<Item = (u32, f64)> {
        let seconds = ((self.to - self.from) / 1e9).max(1e-3);
        let density = move |(row, count): &(u32, u64)| (*row, *count as f64 / seconds);
        self.rows.iter().map(density)
    }
}

impl Join for Column {
    fn join(&mut self, next: Column) {
        self.from = self.from.min(next.from);
        self.to = self.to.max(next.to);
        for (row, count) in next.rows {
            self.count(row, count);
        }
    }
}

/// Which row a duration is in.
fn row_of(nanos: f64) -> u32 {
    (nanos.max(1.0).log10() * ROWS).floor() as u32
}

/// The least duration of a row.
fn value_of(row: f64) -> f64 {
    10_f64.powf(row / ROWS)
}

/// How dark a density is: a few of many must still be seen, so it is logarithmic.
fn shade(density: f64, most: f64) -> f64 {
    let least = (most / 1e4).min(most);
    let share = (density / least).max(1.0).ln() / (most / least).ln();
    0.06 + 0.94 * (share * COLORS).round() / COLORS
}

/// Says which colour is how many.
fn colour_bar(chart: &mut Chart, most: f64) {
    let room = chart.room;
    let (left, right) = (room.right + 22.0, room.right + 36.0);
    let top = room.top + 26.0;
    let bottom = room.bottom.min(top + 220.0);
    let steps = COLORS as usize;
    let height = (bottom - top) / (steps + 1) as f64;
    for step in 0..=steps {
        let share = 0.06 + 0.94 * step as f64 / COLORS;
        let below = bottom - height * step as f64;
        let sides = [left, below - height, right, below + 0.25];
        chart.picture.area(sides, colors::density(share));
    }
    for (share, y) in [(1.0, top), (0.01, (top + bottom) / 2.0), (1e-4, bottom)] {
        let text = rounded(most * share);
        chart
            .picture
            .text((right + 6.0, y), &text, LABEL, Anchor::Start, INK);
    }
    chart.picture.text(
        (left, room.top + 6.0),
        "per second",
        LABEL,
        Anchor::Start,
        INK,
    );
}

/// A number with two digits.
fn rounded(number: f64) -> String {
    match number {
        number if number >= 1e6 => format!("{:.1e}", number),
        number if number >= 10.0 => format!("{number:.0}"),
        number if number >= 0.1 => format!("{number:.1}"),
        number => format!("{number:.0e}"),
    }
}
