//! Makes histograms, and records durations in them, corrected or as they are.

use hdrhistogram::Histogram;

use super::error::{Error, Result};

/// The greatest duration that every implementation can read, in nanoseconds: 292 years.
pub const HIGHEST: u64 = i64::MAX as u64;

/// How exact histograms are, and how far they reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramShape {
    /// Significant decimal digits, from 1 to 5: with 3, a duration is exact to 0.1 %.
    pub digits: u8,
    /// The highest duration in nanoseconds, which longer ones are recorded as. Without it,
    /// histograms grow as needed: 3 digits take 17 KiB for microseconds, and 290 KiB for hours.
    pub highest: Option<u64>,
}

impl Default for HistogramShape {
    fn default() -> Self {
        HistogramShape {
            digits: 3,
            highest: None,
        }
    }
}

impl HistogramShape {
    /// An empty histogram.
    ///
    /// # Errors
    /// `Shape`.
    ///
    /// # Example
    /// ```
    /// use timeline_latency::intervals::HistogramShape;
    ///
    /// let mut histogram = HistogramShape::default().histogram()?;
    /// histogram.record(1_500)?;
    /// assert_eq!(histogram.max(), 1_500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn histogram(&self) -> Result<Histogram<u64>> {
        self.histogram_up_to(0)
    }

    /// The same, with room for durations up to this one, if it grows as needed.
    pub(super) fn histogram_up_to(&self, longest: u64) -> Result<Histogram<u64>> {
        let wrong = || Error::Shape {
            digits: self.digits,
            highest: self.highest.unwrap_or(HIGHEST),
        };
        let highest = self.highest.unwrap_or(longest.clamp(2, HIGHEST));
        if !(1..=5).contains(&self.digits) || !(2..=HIGHEST).contains(&highest) {
            return Err(wrong());
        }
        let histogram = Histogram::new_with_bounds(1, highest, self.digits);
        let mut histogram = histogram.map_err(|_| wrong())?;
        histogram.auto(self.highest.is_none());
        Ok(histogram)
    }
}

/// Records a duration, in nanoseconds; false if it is longer than the highest, and recorded as
/// that.
pub fn record(histogram: &mut Histogram<u64>, value: u64) -> bool {
    record_times(histogram, value, 1)
}

/// Records a duration, and those that the program would have had if it had not waited for this one.
///
/// Something that is measured every `expected` nanoseconds is not measured while it hangs. So a
/// duration of several `expected` stands for further ones, each shorter than the former by
/// `expected`. False if the duration is longer than the highest, and recorded as that.
pub fn record_corrected(histogram: &mut Histogram<u64>, value: u64, expected: u64) -> bool {
    let within = record(histogram, value);
    let most = if within { value } else { highest(histogram) };
    record_missing(histogram, most, 1, expected);
    within
}

/// A copy with the durations that are missing, as [`record_corrected`] would have recorded them.
///
/// A recording is corrected once: either when it is made or afterwards.
///
/// # Example
/// ```
/// use timeline_latency::intervals::{HistogramShape, corrected};
///
/// let mut histogram = HistogramShape::default().histogram()?;
/// histogram.record(1_000)?;
/// // Measured each 250 ns: 750, 500 and 250 ns were not seen.
/// assert_eq!(corrected(&histogram, 250).len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn corrected(histogram: &Histogram<u64>, expected: u64) -> Histogram<u64> {
    let mut copy = histogram.clone();
    for bucket in histogram.iter_recorded() {
        let value = bucket.value_iterated_to().min(HIGHEST);
        record_missing(&mut copy, value, bucket.count_at_value(), expected);
    }
    copy
}

/// Records a duration so often.
pub(super) fn record_times(histogram: &mut Histogram<u64>, value: u64, count: u64) -> bool {
    let most = highest(histogram);
    let within = value <= most;
    if histogram.record_n(value.min(most), count).is_err() {
        // One that does not grow, although its highest value is above `most`.
        histogram.saturating_record_n(value, count);
    }
    within
}

fn highest(histogram: &Histogram<u64>) -> u64 {
    if histogram.is_auto_resize() {
        HIGHEST
    } else {
        histogram.high().min(HIGHEST)
    }
}

/// Records `value - expected`, `value - 2 * expected` and so on, down to `expected`.
/// Bucket by bucket, because there may be billions of them.
fn record_missing(histogram: &mut Histogram<u64>, value: u64, count: u64, expected: u64) {
    if expected == 0 {
        return;
    }
    let mut missing = value.saturating_sub(expected);
    while missing >= expected {
        let least = histogram.lowest_equivalent(missing).max(expected);
        let here = (missing - least) / expected + 1;
        record_times(histogram, missing, count.saturating_mul(here));
        missing -= here * expected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_missing_is_recorded_as_one_by_one(
            values in prop::collection::vec(0_u64..3_000_000, 1..20),
            expected in 0_u64..100_000,
            digits in 1_u8..=4,
        ) {
            let expected = if expected < 50 { 0 } else { expected };
            let shape = HistogramShape { digits, highest: None };
            let mut ours = shape.histogram().unwrap();
            let mut plain = shape.histogram().unwrap();
            let mut naive = shape.histogram().unwrap();
            for &value in &values {
                prop_assert!(record_corrected(&mut ours, value, expected));
                naive.record_correct(value, expected).unwrap();
                plain.record(value).unwrap();
            }
            prop_assert!(ours == naive);
            prop_assert!(corrected(&plain, expected) == plain.clone_correct(expected));
        }
    }

    #[test]
    fn billions_of_missing_values_are_recorded_at_once() {
        let mut histogram = HistogramShape::default().histogram().unwrap();
        let hour = 3_600_000_000_000;
        assert!(record_corrected(&mut histogram, hour, 1));
        assert_eq!(histogram.len(), hour);
    }

    #[test]
    fn what_is_too_long_is_recorded_as_the_highest() {
        let fixed = HistogramShape {
            digits: 2,
            highest: Some(1_000),
        };
        let mut histogram = fixed.histogram().unwrap();
        assert!(record(&mut histogram, 1_000));
        assert!(!record(&mut histogram, 1_000_000));
        assert!(!record_corrected(&mut histogram, 1_000_000, 500));
        assert_eq!(histogram.len(), 4);
        assert!(histogram.max() < 1_010);
        let mut growing = HistogramShape::default().histogram().unwrap();
        assert!(!record(&mut growing, u64::MAX));
        assert!(record(&mut growing, 0));
        assert_eq!(growing.len(), 2);
    }

    #[test]
    fn shapes_that_there_are_none_of_are_refused() {
        for (digits, highest) in [(0, None), (6, None), (3, Some(1)), (3, Some(u64::MAX))] {
            let error = HistogramShape { digits, highest }.histogram().unwrap_err();
            assert!(
                error.to_string().contains(&format!("got {digits} digits")),
                "{error}"
            );
        }
    }
}
