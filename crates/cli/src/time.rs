//! Times and durations as text.

use std::fmt::{self, Write};
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use timeline::dump::{Text, printable};
use timeline_search::local_zone;

const NANOS: u64 = 1_000_000_000;

/// Longer times are a mistake, and could not be added to the present one.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Parses a duration such as 100us, 10ms or 1.5s. Zero is refused.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let shown = printable(text);
    let parsed: Result<SignedDuration, _> = text.parse();
    match parsed.map(Duration::try_from) {
        Ok(Ok(duration)) if duration > LONGEST => {
            Err(format!("expected at most 100 years, got {shown}"))
        }
        Ok(Ok(duration)) if !duration.is_zero() => Ok(duration),
        Ok(_) => Err(format!("expected a time above zero, got {shown}")),
        Err(_) => Err(format!(
            "expected a time with a unit, such as 100us, 10ms or 1.5s, got {shown}"
        )),
    }
}

/// Parses a duration such as 100us, 10ms or 1.5s into nanoseconds. Zero is refused.
pub fn parse_nanoseconds(text: &str) -> Result<u64, String> {
    let duration = parse_duration(text)?;
    Ok(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// Now, in nanoseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// Writes wall-clock times. The calendar is asked once for each second.
#[derive(Clone)]
pub struct WallClock {
    zone: TimeZone,
    form: TimeFormat,
    second: u64,
    /// The second, without its fraction.
    whole: String,
    /// The last time written.
    asked: String,
}

/// The form of a time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TimeFormat {
    /// `2026-11-20T17:53:30.123456789Z`, in UTC: for programs.
    Rfc3339,
    /// `2026-11-20 17:53:30.123456789`, in the local time zone.
    DateTime,
    /// `17:53:30.123456`, in the local time zone.
    TimeOfDay,
}

impl WallClock {
    /// A writer of times in this form.
    pub fn new(form: TimeFormat) -> WallClock {
        let zone = match form {
            TimeFormat::Rfc3339 => TimeZone::UTC,
            TimeFormat::DateTime | TimeFormat::TimeOfDay => local_zone(),
        };
        WallClock {
            zone,
            form,
            second: u64::MAX,
            whole: String::new(),
            asked: String::new(),
        }
    }

    /// Appends this time.
    pub fn write(&mut self, unix_nanos: u64, out: &mut Text) {
        let (second, nanos) = (unix_nanos / NANOS, (unix_nanos % NANOS) as u32);
        if second != self.second {
            self.turn(second);
        }
        out.push(&self.whole);
        out.push(".");
        match self.form {
            TimeFormat::Rfc3339 => {
                out.nanoseconds(nanos);
                out.push("Z");
            }
            TimeFormat::DateTime => out.nanoseconds(nanos),
            TimeFormat::TimeOfDay => out.push(&format!("{:06}", nanos / 1000)),
        }
    }

    /// The text of this time; valid until the next one is asked for.
    pub fn format(&mut self, unix_nanos: u64) -> &str {
        let mut text = Text::new();
        self.write(unix_nanos, &mut text);
        self.asked = String::from_utf8_lossy(text.as_bytes()).into_owned();
        &self.asked
    }

    #[cold]
    fn turn(&mut self, second: u64) {
        self.second = second;
        self.whole.clear();
        let pattern = match self.form {
            TimeFormat::Rfc3339 => "%Y-%m-%dT%H:%M:%S",
            TimeFormat::DateTime => "%Y-%m-%d %H:%M:%S",
            TimeFormat::TimeOfDay => "%H:%M:%S",
        };
        let time = Timestamp::from_second(second as i64).unwrap_or(Timestamp::MAX);
        let zoned = time.to_zoned(self.zone.clone());
        // Writing to a String fails only for a broken pattern, and these three are sound.
        let _ = write!(self.whole, "{}", zoned.strftime(pattern));
    }
}

/// Writes times as two fields of JSON. All that does not change within a second is kept.
pub struct TwoForms {
    clock: WallClock,
    second: u64,
    /// Up to the nanoseconds of each.
    before: [String; 2],
}

impl TwoForms {
    /// No second yet.
    pub fn new() -> TwoForms {
        TwoForms {
            clock: WallClock::new(TimeFormat::Rfc3339),
            second: u64::MAX,
            before: Default::default(),
        }
    }

    /// Appends the fields time, in RFC 3339, and unix_ns, in nanoseconds since 1970: as a text,
    /// because many readers of JSON round numbers of this size.
    #[inline]
    pub fn write(&mut self, unix_nanos: u64, out: &mut Text) {
        let (second, nanos) = (unix_nanos / NANOS, (unix_nanos % NANOS) as u32);
        if second != self.second {
            self.turn(second);
        }
        let [time, number] = &self.before;
        out.push(time);
        out.nanoseconds(nanos);
        out.push(number);
        match second {
            0 => out.number(nanos.into()),
            _ => out.nanoseconds(nanos),
        }
        out.push("\"");
    }

    #[cold]
    fn turn(&mut self, second: u64) {
        self.second = second;
        let time = self.clock.format(second * NANOS);
        let time = time.split_once('.').map_or(time, |(whole, _)| whole);
        let digits = match second {
            0 => String::new(),
            _ => second.to_string(),
        };
        self.before = [
            format!(",\"time\":\"{time}."),
            format!("Z\",\"unix_ns\":\"{digits}"),
        ];
    }
}

/// A duration for people: `830 ns`, `12.5 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`.
pub struct HumanDuration(pub Duration);

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0.as_secs(), self.0.as_nanos());
        let text = match seconds {
            0 if nanos < 1_000 => format!("{nanos} ns"),
            0 if nanos < 1_000_000 => fraction(nanos, 1_000, "µs"),
            0 => fraction(nanos, 1_000_000, "ms"),
            1..60 => fraction(nanos, 1_000_000_000, "s"),
            60..3_600 => two(seconds, (60, "min"), (1, "s")),
            3_600..86_400 => two(seconds, (3_600, "h"), (60, "min")),
            _ => two(seconds, (86_400, "d"), (3_600, "h")),
        };
        f.pad(&text)
    }
}

fn fraction(nanos: u128, unit: u128, name: &str) -> String {
    match (nanos / unit, nanos % unit * 10 / unit) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    }
}

fn two(seconds: u64, large: (u64, &str), small: (u64, &str)) -> String {
    match (seconds / large.0, seconds % large.0 / small.0) {
        (whole, 0) => format!("{whole} {}", large.1),
        (whole, rest) => format!("{whole} {} {rest} {}", large.1, small.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_parse_with_units_only() {
        let parse = |text| parse_duration(text).ok();
        assert_eq!(parse("100us"), Some(Duration::from_micros(100)));
        assert_eq!(parse("100µs"), Some(Duration::from_micros(100)));
        assert_eq!(parse("10ms"), Some(Duration::from_millis(10)));
        assert_eq!(parse("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(parse("2m"), Some(Duration::from_secs(120)));
        for bad in ["", "10", "0s", "0", "-1s", "1 parsec", "1s ago"] {
            assert!(parse(bad).is_none(), "{bad} was taken for a time");
        }
    }

    #[test]
    fn wall_clock_formats_across_seconds() {
        let mut clock = WallClock::new(TimeFormat::Rfc3339);
        let second = 1_763_661_210 * NANOS;
        assert_eq!(clock.format(second + 7), "2025-11-20T17:53:30.000000007Z");
        assert_eq!(
            clock.format(second + 999_999_999),
            "2025-11-20T17:53:30.999999999Z"
        );
        assert_eq!(
            clock.format(second + NANOS),
            "2025-11-20T17:53:31.000000000Z"
        );
        assert_eq!(clock.format(0), "1970-01-01T00:00:00.000000000Z");
    }

    #[test]
    fn two_forms_of_a_time_are_written_across_seconds() {
        let mut forms = TwoForms::new();
        for nanos in [
            0,
            5,
            NANOS + 40,
            1_763_661_210 * NANOS + 999_999_999,
            u64::MAX,
        ] {
            let mut text = Text::new();
            forms.write(nanos, &mut text);
            let time = WallClock::new(TimeFormat::Rfc3339)
                .format(nanos)
                .to_string();
            let expected = format!(",\"time\":\"{time}\",\"unix_ns\":\"{nanos}\"");
            assert_eq!(String::from_utf8_lossy(text.as_bytes()), expected);
        }
    }

    #[test]
    fn spans_read_well() {
        let span = |nanos| HumanDuration(Duration::from_nanos(nanos)).to_string();
        assert_eq!(span(830), "830 ns");
        assert_eq!(span(100_000), "100 µs");
        assert_eq!(span(12_500_000), "12.5 ms");
        assert_eq!(span(3_250_000_000), "3.2 s");
        assert_eq!(span(250 * NANOS), "4 min 10 s");
        assert_eq!(span(7_500 * NANOS), "2 h 5 min");
        assert_eq!(span(86_400 * NANOS), "1 d");
    }
}
