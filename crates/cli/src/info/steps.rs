//! Moments at which the wall clock was set, for `timeline info`.

use std::time::Duration;

use serde_json::{Value, json};
use timeline::ClockStep;
use timeline_reading::json::whole_number;

use crate::time::{HumanDuration, TimeFormat, WallClock};

/// By how much the clock was set and when, for people.
pub fn line(step: &ClockStep) -> String {
    let mut clock = WallClock::new(TimeFormat::DateTime);
    let mut time = |nanos: u64| clock.format(nanos).to_string();
    let by = HumanDuration(Duration::from_nanos(step.nanos().unsigned_abs()));
    let way = if step.nanos() < 0 { "back" } else { "forward" };
    format!(
        "{way} by {by} to {}, after {}; what was logged in between has the time of before",
        time(step.unix),
        time(step.after),
    )
}

/// The same for programs. The field names are part of the interface.
pub fn objects(steps: &[ClockStep]) -> Vec<Value> {
    let mut clock = WallClock::new(TimeFormat::Rfc3339);
    let mut time = |nanos: u64| clock.format(nanos).to_string();
    let object = |step: &ClockStep| {
        json!({
            "after": time(step.after),
            "after_unix_ns": step.after.to_string(),
            "after_ticks": whole_number(step.after_ticks),
            "before": time(step.before),
            "before_unix_ns": step.before.to_string(),
            "time": time(step.unix),
            "unix_ns": step.unix.to_string(),
            "ticks": whole_number(step.ticks),
            "by_ns": step.nanos(),
        })
    };
    steps.iter().map(object).collect()
}
