//! Reads a time as people write it.

use jiff::civil::DateTime;
use jiff::{Span, SpanRelativeTo, Timestamp, Zoned};

use crate::error::{Error, Result};

const NANOS: i128 = 1_000_000_000;

/// Reads a time, in nanoseconds since 1970:
///
/// - `2026-11-23`: the beginning of that day; `2026-11-23 14:03:07.5`, with a `T` as well; both in
///   the time zone of `now`, unless an offset follows: `2026-11-23T14:03:07Z`;
/// - `14:03` or `14:03:07`: today; `now`, `today`, `yesterday`;
/// - `5m`, `-5m` and `5m ago`: so long before now; `+5m`: so long after. Durations are written as
///   `90s`, `1h30m`, `1.5h`, `2 days`;
/// - `@1763906587.25`: seconds since 1970.
///
/// # Errors
/// `Time`; also for a time before 1970 or after 2554.
///
/// # Example
/// ```
/// let now: jiff::Zoned = "2026-11-23T14:03:07[UTC]".parse()?;
/// let at = timeline_search::moment("7s ago", &now)?;
/// assert_eq!(at, timeline_search::moment("14:03", &now)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn moment(text: &str, now: &Zoned) -> Result<u64> {
    let found = named(text, now)
        .or_else(|| since_epoch(text))
        .or_else(|| absolute(text, now))
        .or_else(|| relative(text, now));
    let nanos = found.and_then(|nanos| u64::try_from(nanos).ok());
    nanos.ok_or_else(|| Error::Time { found: text.into() })
}

fn nanos(zoned: &Zoned) -> i128 {
    zoned.timestamp().as_nanosecond()
}

fn named(text: &str, now: &Zoned) -> Option<i128> {
    let day = match text {
        "now" => return Some(nanos(now)),
        "today" => now.date(),
        "yesterday" => now.date().yesterday().ok()?,
        _ => return None,
    };
    day.to_zoned(now.time_zone().clone())
        .ok()
        .as_ref()
        .map(nanos)
}

/// Seconds with a fraction of up to nine digits.
fn since_epoch(text: &str) -> Option<i128> {
    let (seconds, fraction) = match text.strip_prefix('@')?.split_once('.') {
        Some((seconds, fraction)) => (seconds, fraction),
        None => (&text[1..], ""),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 9 || seconds.is_empty() || !digits(seconds) || !digits(fraction) {
        return None;
    }
    let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
    seconds
        .parse::<i128>()
        .ok()?
        .checked_mul(NANOS)?
        .checked_add(fraction)
}

fn absolute(text: &str, now: &Zoned) -> Option<i128> {
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp.as_nanosecond());
    }
    let zone = now.time_zone().clone();
    let civil = match text.parse::<DateTime>() {
        Ok(civil) => civil,
        Err(_) => now.date().to_datetime(text.parse().ok()?),
    };
    civil.to_zoned(zone).ok().as_ref().map(nanos)
}

fn relative(text: &str, now: &Zoned) -> Option<i128> {
    let (after, duration) = match text.strip_prefix('+') {
        Some(duration) => (true, duration),
        None => (false, text),
    };
    // "5m ago" and "-5m" are negative durations.
    let span: Span = duration.parse().ok()?;
    // A day may have 23 hours, but nobody who asks for 2 days ago means that.
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    let nanos_away = duration.as_nanos().abs();
    let now = nanos(now);
    Some(if after {
        now + nanos_away
    } else {
        now - nanos_away
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<String> {
        let now: Zoned = "2026-11-23T14:03:07.5[Europe/Berlin]".parse().unwrap();
        let nanos = moment(text, &now).ok()?;
        Some(
            Timestamp::from_nanosecond(nanos.into())
                .unwrap()
                .to_string(),
        )
    }

    #[test]
    fn times_as_people_write_them() {
        for (text, expected) in [
            ("now", "2026-11-23T13:03:07.5Z"),
            ("today", "2026-11-22T23:00:00Z"),
            ("yesterday", "2026-11-21T23:00:00Z"),
            ("2026-07-01", "2026-06-30T22:00:00Z"),
            ("2026-07-01 06:00", "2026-07-01T04:00:00Z"),
            ("2026-11-23T14:03:07.25", "2026-11-23T13:03:07.25Z"),
            ("2026-11-23T14:03:07Z", "2026-11-23T14:03:07Z"),
            ("2026-11-23 14:03:07+02:00", "2026-11-23T12:03:07Z"),
            ("14:03", "2026-11-23T13:03:00Z"),
            ("00:00:01", "2026-11-22T23:00:01Z"),
            ("7.5s", "2026-11-23T13:03:00Z"),
            ("-5m", "2026-11-23T12:58:07.5Z"),
            ("5m ago", "2026-11-23T12:58:07.5Z"),
            ("10s ago", "2026-11-23T13:02:57.5Z"),
            ("1h30m", "2026-11-23T11:33:07.5Z"),
            ("2 days ago", "2026-11-21T13:03:07.5Z"),
            ("1w", "2026-11-16T13:03:07.5Z"),
            ("1d12h", "2026-11-22T01:03:07.5Z"),
            ("-1w 2d", "2026-11-14T13:03:07.5Z"),
            ("1 day 2 hours ago", "2026-11-22T11:03:07.5Z"),
            ("1.5h", "2026-11-23T11:33:07.5Z"),
            ("+1m", "2026-11-23T13:04:07.5Z"),
            ("@0", "1970-01-01T00:00:00Z"),
            ("@1763906587.25", "2025-11-23T14:03:07.25Z"),
        ] {
            assert_eq!(at(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "5",
            "-5",
            "5x",
            "@",
            "@-1",
            "@1.0123456789",
            "tomorrow",
            "2026-13-01",
            "25:00",
            "1969-12-31T00:00:00Z",
            "@99999999999999999999",
            "99999999999 days",
            "1 month ago",
            // Whose amount is no i64.
            "-9223372036854775808s",
            "9223372036854775808s ago",
            "+",
        ] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
