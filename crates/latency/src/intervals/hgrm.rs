//! Writes the percentile distribution of a histogram, as `.hgrm` files have it.

use std::io::{self, Write};

use hdrhistogram::Histogram;

use super::seconds::fixed;

/// How a distribution is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// How many lines there are from each percentile to the one that is half as far from 100 %.
    pub ticks: u32,
    /// What durations are divided by: 1,000,000 for milliseconds.
    pub ratio: f64,
    /// Whether it is CSV.
    pub csv: bool,
}

impl Default for Distribution {
    /// As HistogramLogProcessor has it: five lines for each half, milliseconds, and no CSV.
    fn default() -> Self {
        Distribution {
            ticks: 5,
            ratio: 1e6,
            csv: false,
        }
    }
}

impl Distribution {
    /// Writes the distribution, byte for byte as `outputPercentileDistribution` in Java does it.
    ///
    /// # Errors
    /// Those of writing.
    ///
    /// # Example
    /// ```
    /// use timeline_latency::intervals::{Distribution, HistogramShape};
    ///
    /// let mut histogram = HistogramShape::default().histogram()?;
    /// histogram.record(1_500_000)?;
    /// let mut text = Vec::new();
    /// Distribution::default().write(&histogram, &mut text)?;
    /// let text = String::from_utf8(text)?;
    /// assert!(text.contains("\n       1.500 0.000000000000          1           1.00\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, histogram: &Histogram<u64>, out: &mut impl Write) -> io::Result<()> {
        let digits = usize::from(histogram.sigfig());
        let scaled = |nanos: f64| fixed(nanos / self.ratio, digits);
        match self.csv {
            true => writeln!(
                out,
                "\"Value\",\"Percentile\",\"TotalCount\",\"1/(1-Percentile)\""
            )?,
            false => writeln!(
                out,
                "{:>12} {:>14} {:>10} {:>14}\n",
                "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
            )?,
        }
        for step in self.steps(histogram) {
            let value = scaled(step.value as f64);
            let share = step.percent / 100.0;
            let percentile = fixed(share, 12);
            let inverse = fixed(1.0 / (1.0 - share), 2);
            let last = step.percent == 100.0;
            let count = step.count;
            match (self.csv, last) {
                (true, false) => writeln!(out, "{value},{percentile},{count},{inverse}")?,
                (true, true) => writeln!(out, "{value},{percentile},{count},Infinity")?,
                (false, false) => {
                    writeln!(out, "{value:>12} {percentile} {count:>10} {inverse:>14}")?;
                }
                (false, true) => writeln!(out, "{value:>12} {percentile} {count:>10}")?,
            }
        }
        if self.csv {
            return Ok(());
        }
        let (mean, deviation) = (scaled(histogram.mean()), scaled(histogram.stdev()));
        let (max, count) = (scaled(histogram.max() as f64), histogram.len());
        let sub_buckets = (2 * 10_u64.pow(u32::from(histogram.sigfig()))).next_power_of_two();
        let buckets = histogram.buckets();
        writeln!(
            out,
            "#[Mean    = {mean:>12}, StdDeviation   = {deviation:>12}]"
        )?;
        writeln!(out, "#[Max     = {max:>12}, Total count    = {count:>12}]")?;
        writeln!(
            out,
            "#[Buckets = {buckets:>12}, SubBuckets     = {sub_buckets:>12}]"
        )
    }

    /// The lines. At each percentile that it comes to, the next one is further on by as much as
    /// there are ticks in what is left, by halves; at the end comes 100 %.
    fn steps(&self, histogram: &Histogram<u64>) -> Vec<Step> {
        let total = histogram.len();
        let ticks = f64::from(self.ticks.max(1));
        let (mut steps, mut count, mut percent) = (Vec::new(), 0_u64, 0.0_f64);
        let mut value = 0;
        for bucket in histogram.iter_recorded() {
            value = bucket.value_iterated_to();
            count = count.saturating_add(bucket.count_at_value());
            let reached = 100.0 * count as f64 / total as f64;
            while reached >= percent && percent < 100.0 {
                steps.push(Step {
                    value,
                    percent,
                    count,
                });
                let halves = ((100.0 / (100.0 - percent)).ln() / 2.0_f64.ln()).floor() + 1.0;
                let next = percent + 100.0 / (ticks * halves.exp2());
                // So near to 100 % that it is no other number.
                percent = if next > percent { next } else { 100.0 };
                if count >= total {
                    break;
                }
            }
        }
        if total > 0 {
            steps.push(Step {
                value,
                percent: 100.0,
                count,
            });
        }
        steps
    }
}

/// A line.
struct Step {
    /// In nanoseconds.
    value: u64,
    percent: f64,
    /// How many durations are not longer.
    count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::HistogramShape;

    #[test]
    fn a_share_that_is_rounded_to_all_ends_the_lines() {
        let mut histogram = HistogramShape::default().histogram().unwrap();
        histogram.record_n(1_000, 1 << 62).unwrap();
        histogram.record_n(1_000_000, 1).unwrap();
        for ticks in [1, 5, 1_000] {
            let distribution = Distribution {
                ticks,
                ..Distribution::default()
            };
            let steps = distribution.steps(&histogram);
            // Each half of what is left, down to the last bit of a `f64`.
            assert!(steps.len() <= 54 * ticks as usize, "{} lines", steps.len());
            let last = steps.last().unwrap();
            assert_eq!((last.percent, last.count), (100.0, (1 << 62) + 1));
            assert_eq!(histogram.lowest_equivalent(last.value), 999_936);
        }
    }
}
