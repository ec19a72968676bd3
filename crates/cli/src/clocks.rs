//! Says how the clocks of several machines compare.

use std::time::Duration;

use serde_json::{Value, json};
use timeline_archive::ClockComparison;
use timeline_reading::{ClockAlignment, Extent, Log};
use timeline_search::Query;

use crate::failure::Result;
use crate::fetch::{self, Excerpt};
use crate::output;
use crate::target::Target;
use crate::time::HumanDuration;

/// Opens what is to be read together, as far as a query wants it, and compares the clocks. A store
/// is asked by the clock of the trace's machine, which is known once the trace has been there.
pub fn open(
    targets: &[&Target],
    query: &Query,
    excerpt: fn(&Query) -> Excerpt<'_>,
) -> Result<Vec<Log>> {
    let open = |target: &Target, wanted: &Excerpt| target.open_wanted(Extent::Indexed, wanted);
    let logs = targets.iter().map(|target| open(target, &excerpt(query)));
    let mut logs: Vec<Log> = logs.collect::<Result<_>>()?;
    ClockAlignment::of(logs.iter());
    let mut is_anew = false;
    for (log, target) in logs.iter_mut().zip(targets) {
        if fetch::is_trace(target.path())
            && let Some(own) = log.own_query(query).cloned()
        {
            *log = open(target, &excerpt(&own))?;
            is_anew = true;
        }
    }
    if is_anew {
        ClockAlignment::of(logs.iter());
    }
    Ok(logs)
}

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
            if let Some(jump) = log.clock_jump() {
                let jump = human(jump, false);
                output::say(format_args!(
                    "{path}: one of the two clocks was set by {jump} meanwhile; what was logged \
                     before that and behind it is not in order if it was that of {reference}"
                ));
            }
        }
    }
    for log in alignment.unknown.iter().map(|log| &logs[*log]) {
        let path = log.path().display();
        let why = match log.ring() {
            Some(_) => "a timeline is shown by the clock of its host",
            None => "nobody has compared the clock there with the others",
        };
        output::say(format_args!(
            "{path}: {why}, so the order of its events among theirs is not known; what all hosts \
             send to one store has an order (record --to)"
        ));
    }
}

/// What is added to a clock's time for that of another one: `3.2 ms behind that of db1 (±80 µs)`.
fn difference(offset: i64, error: u64, host: &str) -> String {
    let side = match offset < 0 {
        true => "ahead of",
        false => "behind",
    };
    let (offset, error) = (human(offset.unsigned_abs(), false), human(error, true));
    format!("{offset} {side} that of {host} (±{error})")
}

/// By how much the time of an event may be wrong: `±80 µs`. With a `~` if an event before it may
/// belong behind it.
pub fn error_text(error: Option<u64>, may_be_earlier: bool) -> String {
    let mark = if may_be_earlier { "~" } else { "" };
    match error {
        Some(error) => format!("{mark}±{}", human(error, true)),
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
        "error_ns": json_error(comparison.error),
        "reference_host": comparison.host,
        "reference_boot_id": comparison.boot_id,
    })
}

/// A duration, of which the part that is not shown is rounded: an error up, and another duration to
/// what is nearer.
fn human(nanos: u64, is_error: bool) -> HumanDuration {
    let unit = match nanos {
        0..1_000 => 1,
        1_000..1_000_000 => 100,
        1_000_000..1_000_000_000 => 100_000,
        1_000_000_000..60_000_000_000 => 100_000_000,
        60_000_000_000..3_600_000_000_000 => 1_000_000_000,
        3_600_000_000_000..86_400_000_000_000 => 60_000_000_000,
        _ => 3_600_000_000_000,
    };
    let more = if is_error { unit - 1 } else { unit / 2 };
    HumanDuration(Duration::from_nanos(
        nanos.saturating_add(more) / unit * unit,
    ))
}
