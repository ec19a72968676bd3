//! Says how the clocks of several machines compare.

use std::time::Duration;

use serde_json::{Value, json};
use timeline_archive::ClockComparison;
use timeline_reading::{ClockAlignment, Log};

use crate::output;
use crate::time::HumanDuration;

/// Says by whose clock the times of several logs are, and which of them nobody has compared.
pub fn tell(alignment: &ClockAlignment, logs: &[Log]) {
    for log in logs {
        if let (Some(reference), Some((offset, error))) = (&alignment.reference, log.clock_offset())
        {
            let path = log.path().display();
            output::say(format_args!(
                "{path}: the clock there was {}; times are those of {reference}",
                difference(offset, error, reference)
            ));
        }
    }
    for log in &alignment.unknown {
        let path = logs[*log].path().display();
        output::say(format_args!(
            "{path}: nobody has compared the clock there with the others, so the order of its \
             events among theirs is not known; a store compares them (record --to)"
        ));
    }
}

/// What is added to a clock's time for that of another one: `3.2 ms behind that of db1 (± 80 µs)`.
fn difference(offset: i64, error: u64, host: &str) -> String {
    let side = match offset < 0 {
        true => "ahead of",
        false => "behind",
    };
    let (offset, error) = (human(offset.unsigned_abs()), human(error));
    format!("{offset} {side} that of {host} (± {error})")
}

/// By how much the time of an event may be wrong: `±80 µs`. With a `~` if an event before it may
/// belong behind it.
pub fn error_text(error: Option<u64>, may_be_earlier: bool) -> String {
    let mark = if may_be_earlier { "~" } else { "" };
    match error {
        Some(error) => format!("{mark}±{}", human(error)),
        None => format!("{mark}?"),
    }
}

/// The same as JSON, in nanoseconds: as numbers elsewhere, a text beyond 2^53.
pub fn json_error(error: Option<u64>) -> Value {
    match error {
        Some(error) if error > 1 << 53 => error.to_string().into(),
        other => other.into(),
    }
}

/// The last of the comparisons, in words.
pub fn line(comparisons: &[ClockComparison]) -> Option<String> {
    let last = comparisons.last()?;
    let host = last.host.as_deref().unwrap_or("?");
    Some(difference(last.offset()?, last.error?, host))
}

/// A comparison for programs. Times are nanoseconds since 1970, as texts: they do not fit into
/// every number.
pub fn object(comparison: &ClockComparison) -> Value {
    let time = |nanos: Option<u64>| nanos.map(|nanos| nanos.to_string());
    json!({
        "unix_ns": time(comparison.unix_nanos),
        "reference_unix_ns": time(comparison.reference_nanos),
        "error_ns": comparison.error,
        "reference_host": comparison.host,
        "reference_boot_id": comparison.boot_id,
    })
}

fn human(nanos: u64) -> HumanDuration {
    HumanDuration(Duration::from_nanos(nanos))
}
