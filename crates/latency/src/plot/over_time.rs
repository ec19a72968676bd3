//! Plots percentiles against time.

use super::axis::{self, Axis};
use super::bounded_items::{Join, Label, LabelMap};
use super::chart::{Chart, Key, Side};
use super::colors::{self, Stroke};
use super::error::{Error, Result};
use super::{ImageFormat, PlotFrame, Scale, panels};
use crate::intervals::Interval;
use crate::percentile;

/// Most points of a line. Then two neighbours become one, with the greater durations of both.
const MOST_POINTS: usize = 2048;

/// How many times the longest duration is the shortest of a logarithmic axis.
pub(super) const WIDE: f64 = 50.0;

/// Percentiles of each interval, as lines against time. StartTime is 0.
///
/// # Example
/// ```
/// use timeline_latency::intervals::{IntervalOptions, Intervals};
/// use timeline_latency::plot::{PlotFrame, ImageFormat, OverTime};
///
/// let mut intervals = Intervals::new(IntervalOptions::default())?;
/// let parse = intervals.tag(Some("parse"))?;
/// for at in 0..600 {
///     intervals.record(parse, at * 100_000_000, 1_000_000 + at * at);
/// }
/// intervals.finish();
/// let mut plot = OverTime::new(&[50.0, 99.0, 100.0])?;
/// while let Some(interval) = intervals.due() {
///     plot.add("parse", &interval)?;
/// }
/// let frame = PlotFrame { title: "How long parse takes".into(), ..PlotFrame::default() };
/// let svg = String::from_utf8(plot.draw(&frame, ImageFormat::Svg)?)?;
/// assert!(svg.contains("seconds since StartTime"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct OverTime {
    percentiles: Vec<f64>,
    labels: LabelMap<Point>,
}

/// What is drawn of an interval, or of several.
#[derive(Debug, Clone)]
struct Point {
    /// From where to where, in nanoseconds since StartTime.
    from: f64,
    to: f64,
    /// A duration for each percentile; none if there was none.
    values: Option<Vec<f64>>,
}

impl OverTime {
    /// A plot of these percentiles, between 0 and 100; 100 is the maximum.
    ///
    /// # Errors
    /// `Percentile`; `Empty` if there is none.
    pub fn new(percentiles: &[f64]) -> Result<OverTime> {
        let wrong = percentiles.iter().find(|one| !(0.0..=100.0).contains(*one));
        if let Some(&percentile) = wrong {
            return Err(Error::Percentile { percentile });
        }
        if percentiles.is_empty() {
            return Err(Error::Empty);
        }
        Ok(OverTime {
            percentiles: percentiles.to_vec(),
            labels: LabelMap::new(MOST_POINTS),
        })
    }

    /// Adds the next interval of this label: a file or a tag.
    ///
    /// # Errors
    /// `TooManyLabels`.
    pub fn add(&mut self, label: &str, interval: &Interval) -> Result<()> {
        let histogram = &interval.histogram;
        let value = |percent: &f64| percentile(histogram, *percent) as f64;
        let from = interval.offset() as f64;
        let values = || self.percentiles.iter().map(value).collect();
        let point = Point {
            from,
            to: from + interval.length as f64,
            values: (!histogram.is_empty()).then(values),
        };
        self.labels.push(label, point)
    }

    /// Draws the plot: a colour for each percentile. Two labels have a colour each, with lower
    /// percentiles lighter; of more, each has a panel.
    ///
    /// # Errors
    /// `Empty` if no interval has a duration; `Size`; `Drawing`.
    pub fn draw(&self, frame: &PlotFrame, image: ImageFormat) -> Result<Vec<u8>> {
        let points = || self.labels.items();
        let values = || {
            points()
                .filter_map(|point| point.values.as_ref())
                .flatten()
                .copied()
        };
        let (low, high) = range(values()).ok_or(Error::Empty)?;
        let first = points()
            .map(|point| point.from)
            .fold(f64::INFINITY, f64::min);
        let last = points()
            .map(|point| point.to)
            .fold(f64::NEG_INFINITY, f64::max);
        let durations = Axis::of_durations(low, high, is_logarithmic(frame.scale, low, high));
        let times = axis::times(first, last);

        let is_divided = self.is_divided();
        let panels = if is_divided { self.labels.len() } else { 1 };
        let step = if is_divided { 30 } else { 60 };
        let ticks = durations.duration_ticks(panels::height(frame, panels) / step);
        let mut chart = Chart::new(frame, &ticks, &self.legend())?;
        let side = Side {
            axis: durations,
            ticks,
            title: "duration".to_owned(),
        };
        let names = self
            .labels
            .iter()
            .take(panels)
            .map(|label| label.name.as_str());
        let names: Vec<_> = names.collect();
        panels::draw(
            &mut chart,
            names.into_iter(),
            (&times, &side),
            |panel, chart| {
                let all = self.labels.iter().enumerate();
                for (number, label) in all.filter(|(number, _)| !is_divided || *number == panel) {
                    self.draw_lines(number, label, chart, (&times, &durations));
                }
            },
        );
        chart.draw(image)
    }

    /// As large as a picture of these labels has to be.
    pub fn frame(&self, title: &str) -> PlotFrame {
        panels::frame(
            title,
            if self.is_divided() {
                self.labels.len()
            } else {
                1
            },
        )
    }

    /// Whether each label has a panel. Two are compared best in one.
    fn is_divided(&self) -> bool {
        self.labels.len() > 2
    }

    /// Draws the lines of a label.
    fn draw_lines(
        &self,
        number: usize,
        label: &Label<Point>,
        chart: &mut Chart,
        (times, durations): (&Axis, &Axis),
    ) {
        for place in self.order() {
            let color = self.color(number, place);
            // Where several are the same, each is seen beside those over it.
            let width = match self.percentiles[place] {
                100.0 => 1.0,
                _ => (2.0 + 0.75 * place as f64).min(4.0),
            };
            // Where there is no duration, a line ends.
            for run in label.items.split(|point| point.values.is_none()) {
                let at = |point: &Point| {
                    let value = point.values.as_ref()?[place];
                    let middle = (point.from + point.to) / 2.0;
                    Some((chart.x(times, middle), chart.y(durations, value)))
                };
                let line: Vec<_> = run.iter().filter_map(at).collect();
                if !line.is_empty() {
                    chart.picture.line(line, width, color);
                }
            }
        }
    }

    /// In which order percentiles are drawn. The lower ones, which vary less, are drawn over the
    /// higher ones; and a maximum, which is thin, over all.
    fn order(&self) -> impl Iterator<Item = usize> {
        let is_maximum = |place: &usize| self.percentiles[*place] == 100.0;
        let all = || (0..self.percentiles.len()).rev();
        let others = all().filter(move |place| !is_maximum(place));
        others.chain(all().filter(move |place| is_maximum(place)))
    }

    fn legend(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        // Panels have the names.
        let named = if self.is_divided() {
            1
        } else {
            self.labels.len()
        };
        for (label, Label { name, .. }) in self.labels.iter().take(named).enumerate() {
            // The highest line is the first.
            for (number, percentile) in self.percentiles.iter().enumerate().rev() {
                let percentile = match *percentile {
                    100.0 => "max".to_owned(),
                    percentile => format!("{percentile}%"),
                };
                let text = match named {
                    1 => percentile,
                    _ => format!("{name} {percentile}"),
                };
                keys.push((Stroke::Solid, self.color(label, number), text));
            }
        }
        keys
    }

    fn color(&self, label: usize, percentile: usize) -> colors::Color {
        if self.labels.len() == 1 || self.is_divided() {
            return match self.percentiles[percentile] {
                100.0 => colors::MAXIMUM,
                _ => colors::line(percentile),
            };
        }
        let below = (self.percentiles.len() - 1 - percentile) as f64;
        let share = 0.65 * below / (self.percentiles.len() as f64 - 1.0).max(1.0);
        colors::lighter(colors::line(label), share)
    }
}

impl Join for Point {
    fn join(&mut self, next: Point) {
        self.from = self.from.min(next.from);
        self.to = self.to.max(next.to);
        match (&mut self.values, next.values) {
            (Some(values), Some(others)) => {
                for (value, other) in values.iter_mut().zip(others) {
                    *value = value.max(other);
                }
            }
            (values @ None, others) => *values = others,
            (_, None) => {}
        }
    }
}

/// The least of the values but 0, and the greatest.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        let low = if low <= 0.0 || value > 0.0 && value < low {
            value
        } else {
            low
        };
        Some((low, high.max(value)))
    })
}

pub(super) fn is_logarithmic(scale: Scale, low: f64, high: f64) -> bool {
    match scale {
        Scale::Auto => high > low.max(1.0) * WIDE,
        Scale::Linear => false,
        Scale::Logarithmic => true,
    }
}
