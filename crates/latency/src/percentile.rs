//! Percentiles of histograms, and the ranks that they stand for: as HdrHistogram in Java has them.

use hdrhistogram::{Counter, Histogram};

/// Up to so many values, the middle of a rank is a quantile that no rounding moves to another rank.
const EXACT: u64 = 1 << 50;

/// How many of `count` values a percentile covers: at least one.
///
/// As in `AbstractHistogram.getValueAtPercentile` of Java, from 2.1.11 on: the floating-point
/// number below the percentile is taken, because 99.9 / 100 × 1000 is more than 999. So the rank is
/// exact for percentiles with few decimals, up to a hundred thousand million values.
///
/// # Example
/// ```
/// assert_eq!(timeline_latency::rank(1_000, 99.9), 999);
/// assert_eq!(timeline_latency::rank(1_001, 99.9), 1_000);
/// assert_eq!(timeline_latency::rank(3, 0.0), 1);
/// ```
pub fn rank(count: u64, percent: f64) -> u64 {
    let below = percent.next_down().clamp(0.0, 100.0);
    let covered = (below * count as f64 / 100.0).ceil() as u64;
    covered.clamp(1, count.max(1))
}

/// How long at most so many percent of the values are; the least for 0, and 0 if there is none.
///
/// # Example
/// ```
/// use timeline_latency::{intervals::HistogramShape, percentile};
///
/// let mut histogram = HistogramShape::default().histogram()?;
/// histogram.record_n(5, 999)?;
/// histogram.record(70)?;
/// assert_eq!([99.9, 99.99].map(|percent| percentile(&histogram, percent)), [5, 70]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn percentile<T: Counter>(histogram: &Histogram<T>, percent: f64) -> u64 {
    let count = histogram.len();
    if percent == 0.0 || count == 0 {
        return histogram.min();
    }
    let rank = rank(count, percent);
    if count <= EXACT {
        return histogram.value_at_quantile((rank as f64 - 0.5) / count as f64);
    }
    let mut covered = 0_u64;
    let mut buckets = histogram.iter_recorded();
    let last = buckets.find(|bucket| {
        covered = covered.saturating_add(bucket.count_at_value().as_u64());
        covered >= rank
    });
    last.map_or(histogram.max(), |bucket| {
        histogram.highest_equivalent(bucket.value_iterated_to())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::HistogramShape;

    /// Percentiles, and the share that they are: so many of so many.
    const SHARES: [(f64, u64, u64); 12] = [
        (0.1, 1, 1_000),
        (25.0, 1, 4),
        (50.0, 1, 2),
        (75.0, 3, 4),
        (90.0, 9, 10),
        (95.0, 19, 20),
        (99.0, 99, 100),
        (99.5, 199, 200),
        (99.9, 999, 1_000),
        (99.99, 9_999, 10_000),
        (99.999, 99_999, 100_000),
        (100.0, 1, 1),
    ];

    #[test]
    fn ranks_are_exact_for_all_counts() {
        let around = |power: u32| {
            let count = 10_u64.pow(power);
            [count - 1, count, count + 1, 3 * count, 7 * count]
        };
        for count in (1..=10_000).chain((4..=10).flat_map(around)) {
            for (percent, part, whole) in SHARES {
                let exact = (u128::from(count) * u128::from(part)).div_ceil(whole.into());
                let found = rank(count, percent);
                assert_eq!(u128::from(found), exact, "{percent} % of {count}");
            }
        }
    }

    #[test]
    fn a_percentile_is_the_value_of_its_rank() {
        let mut histogram = HistogramShape::default().histogram().unwrap();
        for count in 1..=2_000_u64 {
            // Up to 2,047 each value has a bucket.
            histogram.record(count).unwrap();
            for (percent, part, whole) in SHARES {
                let exact = (count * part).div_ceil(whole);
                assert_eq!(
                    percentile(&histogram, percent),
                    exact,
                    "{percent} % of {count}"
                );
            }
            assert_eq!(percentile(&histogram, 0.0), 1);
        }
    }

    #[test]
    fn any_percentile_of_any_count_is_a_value() {
        let mut histogram = HistogramShape::default().histogram().unwrap();
        assert_eq!(percentile(&histogram, 50.0), 0);
        histogram.record_n(7, 1 << 61).unwrap();
        histogram.record_n(9, 1 << 61).unwrap();
        for (percent, value) in [
            (-1.0, 7),
            (0.0, 7),
            (f64::MIN_POSITIVE, 7),
            (50.0, 7),
            (51.0, 9),
            (100.0, 9),
            (f64::INFINITY, 9),
        ] {
            assert_eq!(percentile(&histogram, percent), value, "{percent} %");
        }
        assert_eq!(rank(0, 50.0), 1);
        assert_eq!(rank(u64::MAX, 100.0), u64::MAX - 2047);
    }
}
