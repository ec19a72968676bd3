//! Plots all percentiles of histograms.

use hdrhistogram::Histogram;

use super::axis::{Axis, Tick};
use super::chart::{self, Chart, Key, Side};
use super::colors;
use super::error::{Error, Result};
use super::over_time::{is_logarithmic, range};
use super::{ImageFormat, MOST_LABELS, PlotFrame};

/// Where the curve of a label goes on: from so many of one duration to the next.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// How many durations there are for each that is longer, up to here and from here on.
    from: f64,
    to: f64,
    value: f64,
}

/// The percentiles of histograms: how long the best 90, 99, 99.9 % and so on take, each as wide as
/// the others.
///
/// # Example
/// ```
/// use timeline_latency::intervals::HistogramShape;
/// use timeline_latency::plot::{PlotFrame, ImageFormat, Spectrum};
///
/// let mut histogram = HistogramShape::default().histogram()?;
/// for value in 0..10_000 {
///     histogram.record(1_000_000 + value * value)?;
/// }
/// let mut plot = Spectrum::default();
/// plot.add("parse", &histogram)?;
/// let svg = String::from_utf8(plot.draw(&PlotFrame::default(), ImageFormat::Svg)?)?;
/// assert!(svg.contains("99.9%"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Spectrum {
    curves: Vec<(String, Vec<Step>)>,
}

impl Spectrum {
    /// Adds the durations of a label: a file or a tag. If there are none, it has no curve.
    ///
    /// # Errors
    /// `TooManyLabels`.
    pub fn add(&mut self, label: &str, histogram: &Histogram<u64>) -> Result<()> {
        if self.curves.len() == MOST_LABELS {
            return Err(Error::TooManyLabels { most: MOST_LABELS });
        }
        let total = histogram.len();
        let inverse = |count: u64| total as f64 / total.saturating_sub(count).max(1) as f64;
        let (mut count, mut steps) = (0_u64, Vec::new());
        for bucket in histogram.iter_recorded() {
            let from = inverse(count);
            count = count.saturating_add(bucket.count_at_value());
            steps.push(Step {
                from,
                to: inverse(count),
                value: bucket.value_iterated_to() as f64,
            });
        }
        self.curves.push((label.to_owned(), steps));
        Ok(())
    }

    /// As large as a picture of these labels has to be.
    pub fn frame(&self, title: &str) -> PlotFrame {
        chart::frame(title, self.curves.len())
    }

    /// Draws the plot.
    ///
    /// # Errors
    /// `Empty` if there is no duration; `Size`; `Drawing`.
    pub fn draw(&self, frame: &PlotFrame, image: ImageFormat) -> Result<Vec<u8>> {
        let steps = || self.curves.iter().flat_map(|(_, steps)| steps);
        let (low, high) = range(steps().map(|step| step.value)).ok_or(Error::Empty)?;
        let most = steps().map(|step| step.to).fold(10.0, f64::max);
        let durations = Axis::of_durations(low, high, is_logarithmic(frame.scale, low, high));
        let shares = Axis {
            low: 1.0,
            high: most * 1.2,
            logarithmic: true,
        };
        let ticks = durations.duration_ticks(frame.height as usize / 60);
        let legend: Vec<Key> = match &self.curves[..] {
            [_] => Vec::new(),
            curves => {
                let key = |(number, (name, _)): (usize, &(String, _))| {
                    (colors::stroke(number), colors::line(number), name.clone())
                };
                curves.iter().enumerate().map(key).collect()
            }
        };
        let mut chart = Chart::new(frame, &ticks, &legend)?;
        chart.left_side(Side {
            axis: durations,
            ticks,
            title: "duration".to_owned(),
        });
        chart.bottom_side(Side {
            axis: shares,
            ticks: percent_ticks(shares.high),
            title: "percentile".to_owned(),
        });
        for (number, (_, steps)) in self.curves.iter().enumerate() {
            let mut line: Vec<(f64, f64)> = Vec::with_capacity(2 * steps.len());
            for step in steps {
                let y = chart.y(&durations, step.value);
                for share in [step.from, step.to] {
                    let point = (chart.x(&shares, share), y);
                    // Steps that nobody sees would make a large file.
                    let seen = |last: &(f64, f64)| {
                        (last.0 - point.0).abs() + (last.1 - point.1).abs() > 0.2
                    };
                    if line.last().is_none_or(seen) {
                        line.push(point);
                    }
                }
            }
            if !line.is_empty() {
                let (stroke, color) = (colors::stroke(number), colors::line(number));
                chart.picture.stroke(line, stroke, 2.0, color);
            }
        }
        chart.draw(image)
    }
}

/// 0, 50, 90, 99, 99.9 % and so on, at their places 1/(1-p).
fn percent_ticks(most: f64) -> Vec<Tick> {
    let tick = |value: f64, label: String| Tick { value, label };
    let mut ticks = vec![tick(1.0, "0%".to_owned()), tick(2.0, "50%".to_owned())];
    for power in 1..=18_usize {
        let nines = "9".repeat(power);
        let (whole, rest) = nines.split_at(power.min(2));
        let label = match (power, rest) {
            (1, _) => "90%".to_owned(),
            (_, "") => format!("{whole}%"),
            _ => format!("{whole}.{rest}%"),
        };
        ticks.push(tick(10_f64.powi(power as i32), label));
    }
    ticks.retain(|tick| tick.value <= most);
    ticks
}
