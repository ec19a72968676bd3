//! Sizes, durations, times and numbers in base 16 as people read them.

use std::fmt;

/// A size: `64 MiB`, `1.2 KiB`, `12 B`.
///
/// # Example
/// ```
/// assert_eq!(timeline::Bytes(1536).to_string(), "1.5 KiB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut unit = "B";
        let mut size = self.0 as f64;
        for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
            if size < 1024.0 {
                break;
            }
            (size, unit) = (size / 1024.0, larger);
        }
        f.pad(&format!("{} {unit}", short(size)))
    }
}

/// A number in base 16: `0x1f`.
///
/// # Example
/// ```
/// assert_eq!(timeline::Hex(31).to_string(), "0x1f");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hex(pub u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:#x}", self.0))
    }
}

/// A number with one decimal, if that is not zero and the number is below 100.
pub fn short(value: f64) -> String {
    let tenths = (value * 10.0).round();
    if tenths % 10.0 == 0.0 || value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// A duration to the nanosecond, in the form of Go's `time.Duration`: `830ns`, `12.5µs`, `1.2ms`,
/// `4m10.5s`, `-2h0m1s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nanoseconds(pub i64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.unsigned_abs();
        f.write_str(if self.0 < 0 { "-" } else { "" })?;
        match nanos {
            0 => return f.write_str("0s"),
            1..1_000 => return write!(f, "{nanos}ns"),
            1_000..1_000_000 => return decimal(nanos, 3, "µs", f),
            1_000_000..1_000_000_000 => return decimal(nanos, 6, "ms", f),
            _ => {}
        }
        let minutes = nanos / 60_000_000_000;
        if minutes >= 60 {
            write!(f, "{}h", minutes / 60)?;
        }
        if minutes > 0 {
            write!(f, "{}m", minutes % 60)?;
        }
        decimal(nanos % 60_000_000_000, 9, "s", f)
    }
}

/// Writes `number` with so many of its digits behind the point, without zeros at the end.
fn decimal(number: u64, digits: u32, unit: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let one = 10u64.pow(digits);
    let fraction = format!("{:0width$}", number % one, width = digits as usize);
    match fraction.trim_end_matches('0') {
        "" => write!(f, "{}{unit}", number / one),
        fraction => write!(f, "{}.{fraction}{unit}", number / one),
    }
}

/// Nanoseconds since 1970 as a date and a time of day in UTC: `2025-11-20T17:53:30.000000007Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnixTime(pub i64);

impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NANOS: i64 = 1_000_000_000;
        let (second, nanos) = (self.0.div_euclid(NANOS), self.0.rem_euclid(NANOS));
        let (day, second) = (second.div_euclid(86_400), second.rem_euclid(86_400));
        let (year, month, day) = civil(day);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z"
        )
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar: the
/// algorithm `civil_from_days` of Howard Hinnant, "chrono-compatible low-level date algorithms".
/// Years begin with March there, so that the day of a leap year comes last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal_at_most() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1230, "1.2 KiB"),
            (1 << 20, "1 MiB"),
            (200 << 20, "200 MiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn durations_are_exact() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (-830, "-830ns"),
            (12_500, "12.5µs"),
            (12_345, "12.345µs"),
            (1_000_000, "1ms"),
            (999_999_999, "999.999999ms"),
            (1_000_000_001, "1.000000001s"),
            (60_000_000_000, "1m0s"),
            (250_500_000_000, "4m10.5s"),
            (-7_201_000_000_000, "-2h0m1s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(Nanoseconds(nanos).to_string(), text);
        }
    }

    #[test]
    fn days_follow_one_another() {
        // The plainest calendar: count from a day that is known.
        let is_leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
        let (mut year, mut month, mut day) = (1600, 1, 1);
        for number in -135_140..160_000 {
            assert_eq!(civil(number), (year, month, day), "day {number}");
            let last = match month {
                2 => 28 + i64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > last {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!(UnixTime(-1).to_string(), "1969-12-31T23:59:59.999999999Z");
    }
}
