//! Scales an axis, and chooses what is written at it.

use crate::intervals::duration;

const SECOND: f64 = 1e9;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// Steps between the numbers of an axis, beyond those of a second.
const LONG_STEPS: [f64; 19] = [
    SECOND,
    2.0 * SECOND,
    5.0 * SECOND,
    10.0 * SECOND,
    15.0 * SECOND,
    30.0 * SECOND,
    MINUTE,
    2.0 * MINUTE,
    5.0 * MINUTE,
    10.0 * MINUTE,
    15.0 * MINUTE,
    30.0 * MINUTE,
    HOUR,
    2.0 * HOUR,
    3.0 * HOUR,
    6.0 * HOUR,
    12.0 * HOUR,
    DAY,
    2.0 * DAY,
];

/// A value at an axis, and what is written there.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    pub logarithmic: bool,
}

impl Axis {
    /// Where a value is between the ends, from 0 to 1. What is beyond is at the end.
    pub fn share(&self, value: f64) -> f64 {
        let (low, high, value) = match self.logarithmic {
            true => (self.low.ln(), self.high.ln(), value.max(self.low).ln()),
            false => (self.low, self.high, value),
        };
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// The axis of durations from `low` to `high` nanoseconds, with some room.
    pub fn of_durations(low: f64, high: f64, logarithmic: bool) -> Axis {
        let high = high.max(1.0);
        if logarithmic {
            let low = low.max(1.0).min(high);
            return Axis {
                low: below(low),
                high: above(high * 1.02),
                logarithmic,
            };
        }
        Axis {
            low: 0.0,
            high: high * 1.06,
            logarithmic,
        }
    }

    /// Durations with their units: at most so many.
    pub fn duration_ticks(&self, most: usize) -> Vec<Tick> {
        let values = match self.logarithmic {
            true => self.powers(most),
            false => self.multiples(step(self.high - self.low, most)),
        };
        let tick = |value| Tick {
            value,
            label: if value == 0.0 {
                "0".to_owned()
            } else {
                duration(value)
            },
        };
        values.into_iter().map(tick).collect()
    }

    /// Times in one unit, and its name.
    pub fn time_ticks(&self, most: usize) -> (Vec<Tick>, &'static str) {
        let longest = self.high.abs().max(self.low.abs());
        let (unit, name) = match longest {
            long if long >= 2.0 * DAY => (DAY, "days"),
            long if long >= 3.0 * HOUR => (HOUR, "hours"),
            long if long >= 3.0 * MINUTE => (MINUTE, "minutes"),
            long if long >= 2.0 * SECOND => (SECOND, "seconds"),
            long if long >= 2e6 => (1e6, "milliseconds"),
            _ => (1e3, "microseconds"),
        };
        let values = self.multiples(step(self.high - self.low, most));
        let tick = |value: f64| Tick {
            value,
            // Without the last digits of what is not exact, such as 0.1.
            label: ((value / unit * 1e6).round() / 1e6).to_string(),
        };
        (values.into_iter().map(tick).collect(), name)
    }

    fn multiples(&self, step: f64) -> Vec<f64> {
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last)
            .take(1000)
            .map(|number| number as f64 * step)
            .collect()
    }

    /// As many of the round values as fit: 1, 2 and 5 of each power of ten, 1 of each, or fewer.
    fn powers(&self, most: usize) -> Vec<f64> {
        let within = |values: Vec<f64>| -> Vec<f64> {
            let (low, high) = (self.low * 0.999, self.high * 1.001);
            values
                .into_iter()
                .filter(|value| (low..=high).contains(value))
                .collect()
        };
        let all = within(round_values(&[1.0, 2.0, 5.0], &[1.0, 2.0, 5.0, 10.0, 30.0]));
        if all.len() <= most {
            return all;
        }
        let tens = within(round_values(&[1.0], &[1.0, 10.0]));
        let every = tens.len().div_ceil(most.max(1));
        tens.into_iter().step_by(every).collect()
    }
}

/// The axis from a time to another one, in nanoseconds since StartTime. It begins at StartTime,
/// unless there is nothing for long.
pub fn times(first: f64, last: f64) -> Axis {
    let low = if first > 0.0 && first < last * 0.25 {
        0.0
    } else {
        first
    };
    Axis {
        low,
        high: last.max(low + 1e6),
        logarithmic: false,
    }
}

/// These multiples of each power of ten up to a minute, and of a minute and an hour; then of days.
fn round_values(below: &[f64], beyond: &[f64]) -> Vec<f64> {
    let mut values = Vec::new();
    for power in 0..=10 {
        values.extend(below.iter().map(|digit| digit * 10_f64.powi(power)));
    }
    values.retain(|value| *value < MINUTE);
    for unit in [MINUTE, HOUR] {
        values.extend(beyond.iter().map(|digit| digit * unit));
    }
    values.retain(|value| *value < DAY);
    for power in 0..=5 {
        values.extend(below.iter().map(|digit| digit * DAY * 10_f64.powi(power)));
    }
    values
}

/// The greatest 1, 2 or 5 of a power of ten that is not above.
fn below(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let fitting = [5.0, 2.0].into_iter().find(|digit| digit * power <= value);
    fitting.unwrap_or(1.0) * power
}

/// The least 1, 2 or 5 of a power of ten that is not below.
fn above(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let fitting = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|digit| digit * power >= value);
    fitting.unwrap_or(10.0) * power
}

/// The smallest round step that makes at most so many of this range.
fn step(range: f64, most: usize) -> f64 {
    let least = (range / most.max(1) as f64).max(1e-3);
    if least <= 0.5 * SECOND {
        return above(least);
    }
    let long = LONG_STEPS.iter().copied().find(|step| *step >= least);
    long.unwrap_or_else(|| above(least / DAY) * DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn durations_have_readable_units() {
        let axis = Axis::of_durations(1e6, 11.8e6, false);
        let ticks = axis.duration_ticks(6);
        assert_eq!(labels(&ticks), ["0", "5 ms", "10 ms"]);
        let ticks = axis.duration_ticks(8);
        assert_eq!(
            labels(&ticks),
            ["0", "2 ms", "4 ms", "6 ms", "8 ms", "10 ms", "12 ms"]
        );
        let axis = Axis::of_durations(900.0, 2.1e6, true);
        assert_eq!((axis.low, axis.high), (500.0, 5e6));
        let ticks = axis.duration_ticks(6);
        assert_eq!(labels(&ticks), ["1 µs", "10 µs", "100 µs", "1 ms"]);
        let ticks = Axis::of_durations(2e9, 4e12, true).duration_ticks(8);
        assert_eq!(labels(&ticks), ["10 s", "1 min", "10 min", "1 h"]);
    }

    #[test]
    fn times_are_in_one_unit() {
        let (ticks, unit) = times(3600e9, 7200e9).time_ticks(8);
        assert_eq!(
            (labels(&ticks), unit),
            (vec!["60", "70", "80", "90", "100", "110", "120"], "minutes")
        );
        let (ticks, unit) = times(1e8, 3e9).time_ticks(8);
        assert_eq!(
            (labels(&ticks), unit),
            (vec!["0", "0.5", "1", "1.5", "2", "2.5", "3"], "seconds")
        );
    }

    #[test]
    fn any_range_has_ticks_within() {
        for low in [0.0, 1.0, 7.7e3, 5e9, 1e15, 9.2e18] {
            for factor in [1.0, 1.01, 3.0, 1e4, 1e12] {
                for logarithmic in [false, true] {
                    let axis = Axis::of_durations(low, low * factor, logarithmic);
                    assert!(axis.low < axis.high, "{axis:?}");
                    let ticks = axis.duration_ticks(8);
                    assert!(ticks.len() <= 10, "{axis:?}: {ticks:?}");
                    for tick in &ticks {
                        assert!((0.0..=1.0).contains(&axis.share(tick.value)));
                    }
                }
                let (ticks, _) = times(low, low * factor).time_ticks(10);
                assert!(ticks.len() <= 12);
            }
        }
    }
}
