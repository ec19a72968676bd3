//! Draws the distribution of a histogram in one line of text.

use hdrhistogram::Histogram;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How many durations there are of each length, as bars side by side: from `range.0` to `range.1`
/// nanoseconds, of which each column has the same share on a logarithmic scale. Shorter ones are in
/// the first column, longer ones in the last. The highest bar is the most frequent length; where
/// there is any duration, there is a bar.
///
/// # Example
/// ```
/// use timeline_latency::intervals::{HistogramShape, spark_line};
///
/// let mut histogram = HistogramShape::default().histogram()?;
/// histogram.record_n(1_000, 70)?;
/// histogram.record_n(30_000, 20)?;
/// histogram.record_n(900_000, 1)?;
/// assert_eq!(spark_line(&histogram, (1_000, 1_000_000), 6), "█ ▃  ▁");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn spark_line(histogram: &Histogram<u64>, range: (u64, u64), columns: usize) -> String {
    let low = (range.0.max(1) as f64).ln();
    let width = (range.1.max(1) as f64).ln() - low;
    let mut counts = vec![0_u64; columns];
    let Some(last) = columns.checked_sub(1) else {
        return String::new();
    };
    for bucket in histogram.iter_recorded() {
        let value = (histogram
            .lowest_equivalent(bucket.value_iterated_to())
            .max(1) as f64)
            .ln();
        let share = if width > 0.0 {
            (value - low) / width
        } else {
            0.0
        };
        // Negative ones become 0.
        let column = ((share * columns as f64) as usize).min(last);
        counts[column] = counts[column].saturating_add(bucket.count_at_value());
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let bar = |&count: &u64| match count {
        0 => ' ',
        count => {
            let eighths = (u128::from(count) * 8).div_ceil(most.into()) as usize;
            BARS[eighths.clamp(1, 8) - 1]
        }
    };
    counts.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::HistogramShape;

    #[test]
    fn any_range_and_any_number_of_columns_is_drawn() {
        let mut histogram = HistogramShape::default().histogram().unwrap();
        assert_eq!(spark_line(&histogram, (1, 1_000), 4), "    ");
        for value in [0, 1, 1_000, u64::MAX / 4] {
            histogram.record_n(value, u64::MAX / 8).unwrap();
        }
        assert_eq!(spark_line(&histogram, (1, 1_000), 4), "█  █");
        assert_eq!(spark_line(&histogram, (1_000, 1), 2), "█ ");
        assert_eq!(spark_line(&histogram, (0, 0), 1), "█");
        assert_eq!(spark_line(&histogram, (0, u64::MAX), 0), "");
        assert_eq!(spark_line(&histogram, (u64::MAX, u64::MAX), 3), "█  ");
    }
}
