//! Plots how many durations there are of each length at each time.

use super::axis::{self, Axis};
use super::bounded_items::{Join, LabelMap};
use super::chart::{Chart, LABEL, Side};
use super::colors::{self, INK};
use super::error::{Error, Result};
use super::picture::TextAnchor;
use super::{ImageFormat, PlotFrame, panels};
use crate::intervals::Interval;

/// Most columns of a label. Then two neighbours become one.
const MOST_COLUMNS: usize = 240;

/// How many rows each power of ten has.
const ROWS: f64 = 16.0;

/// How many colours there are: fewer make a smaller SVG, as neighbours of one colour are one area.
const COLORS: f64 = 24.0;

/// How many durations there are: dark where there are many, for each time and each length.
///
/// # Example
/// ```
/// use timeline_latency::intervals::{IntervalOptions, Intervals};
/// use timeline_latency::plot::{PlotFrame, HeatMap, ImageFormat};
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
/// let png = plot.draw(&PlotFrame::default(), ImageFormat::Png)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct HeatMap {
    panels: LabelMap<Column>,
}

impl Default for HeatMap {
    fn default() -> Self {
        HeatMap {
            panels: LabelMap::new(MOST_COLUMNS),
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
    pub fn draw(&self, frame: &PlotFrame, image: ImageFormat) -> Result<Vec<u8>> {
        let columns = || self.panels.items();
        let rows = || {
            columns()
                .flat_map(|column| &column.rows)
                .map(|(row, _)| *row)
        };
        let low = rows().min().ok_or(Error::Empty)?;
        let high = rows().max().ok_or(Error::Empty)?;
        let first = columns()
            .map(|column| column.from)
            .fold(f64::INFINITY, f64::min);
        let last = columns()
            .map(|column| column.to)
            .fold(f64::NEG_INFINITY, f64::max);
        let durations = Axis {
            low: value_of(f64::from(low)),
            high: value_of(f64::from(high) + 1.0),
            logarithmic: true,
        };
        let panels = self.panels.len();
        let step = if panels == 1 { 60 } else { 30 };
        let ticks = durations.duration_ticks(panels::height(frame, panels) / step);
        let mut chart = Chart::new(frame, &ticks, &[])?;
        let times = axis::times(first, last);
        let side = Side {
            axis: durations,
            ticks,
            title: "duration".to_owned(),
        };
        let shades = Shades::of(columns());
        chart.room.right = (chart.room.right - 90.0).max(chart.room.left + 40.0);
        shades.draw_bar(&mut chart);
        let labels: Vec<_> = self.panels.iter().collect();
        let names = labels.iter().map(|label| label.name.as_str());
        panels::draw(&mut chart, names, (&times, &side), |panel, chart| {
            draw_cells(&labels[panel].items, chart, (&times, &durations), &shades);
        });
        chart.draw(image)
    }

    /// As large as a picture of these labels has to be.
    pub fn frame(&self, title: &str) -> PlotFrame {
        panels::frame(title, self.panels.len())
    }
}

/// Draws the columns of a panel.
fn draw_cells(columns: &[Column], chart: &mut Chart, axes: (&Axis, &Axis), shades: &Shades) {
    let (times, durations) = axes;
    for column in columns {
        let (left, right) = (chart.x(times, column.from), chart.x(times, column.to));
        // The lowest and the highest row of an area of one colour.
        let mut area: Option<(u32, u32, f64)> = None;
        let mut areas = Vec::new();
        for (row, density) in column.densities() {
            let shade = shades.shade(density);
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

/// How dark which density is.
struct Shades {
    least: f64,
    most: f64,
}

impl Shades {
    fn of<'a>(columns: impl Iterator<Item = &'a Column>) -> Shades {
        let densities = columns
            .flat_map(Column::densities)
            .map(|(_, density)| density);
        let (least, most) = densities.fold((f64::INFINITY, 0.0_f64), |(least, most), density| {
            (least.min(density), most.max(density))
        });
        Shades {
            least: least.clamp(most / 1e6, most / 10.0),
            most,
        }
    }

    /// From 0 to 1. A few of many must still be seen, so it is logarithmic.
    fn shade(&self, density: f64) -> f64 {
        let share = (density / self.least).max(1.0).ln() / (self.most / self.least).ln();
        (share * COLORS).round() / COLORS
    }

    /// Says which colour is how many.
    fn draw_bar(&self, chart: &mut Chart) {
        let room = chart.room;
        let (left, right) = (room.right + 22.0, room.right + 36.0);
        let top = room.top + 26.0;
        let bottom = room.bottom.min(top + 220.0);
        let steps = COLORS as usize;
        let height = (bottom - top) / (steps + 1) as f64;
        for step in 0..=steps {
            let below = bottom - height * step as f64;
            let sides = [left, below - height, right, below + 0.25];
            let color = colors::density(step as f64 / COLORS);
            chart.picture.area(sides, color);
        }
        let middle = (self.least * self.most).sqrt();
        let half = (top + bottom) / 2.0;
        for (density, y) in [(self.most, top), (middle, half), (self.least, bottom)] {
            let text = rounded(density);
            chart
                .picture
                .text((right + 6.0, y), &text, LABEL, TextAnchor::Start, INK);
        }
        let title = (left, room.top + 6.0);
        chart
            .picture
            .text(title, "per second", LABEL, TextAnchor::Start, INK);
    }
}

/// A number with two digits.
fn rounded(number: f64) -> String {
    let decimals = (1.0 - number.max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize;
    match number {
        number if number >= 1e5 => format!("{number:.1e}"),
        number => format!("{number:.decimals$}"),
    }
}
