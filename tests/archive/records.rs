//! What records say, as the independent reader prints it.

use serde_json::{Value, json};
use timeline_archive::{ClockComparison, Preamble, ProcessRecord};

use crate::independent::hex;

/// A preamble.
pub fn program(preamble: &Preamble) -> Value {
    json!({
        "magic": preamble.magic,
        "path": preamble.path,
        "size": preamble.size,
        "sha1": preamble.sha1.as_deref().map(hex),
        "host": preamble.host,
        "boot": preamble.boot_id,
        "pid": preamble.pid,
        "timeline": preamble.timeline,
        "anchors": preamble.anchors,
        "clock": preamble.clock,
        "writer": preamble.writer,
        "created": preamble.created,
        "nodes": preamble.nodes,
        "steps": preamble.steps.iter().flat_map(|step| {
            [step.ticks, step.after_ticks, step.after, step.before, step.unix]
        }).collect::<Vec<_>>(),
        "rate": preamble.rate,
        "user": preamble.user,
    })
}

/// A process.
pub fn process(process: &ProcessRecord) -> Value {
    json!({
        "magic": process.magic,
        "pid": process.pid,
        "joined": process.joined,
        "name": process.name,
        "path": process.path,
        "size": process.size,
        "sha1": process.sha1.as_deref().map(hex),
    })
}

/// A comparison of two clocks.
pub fn clock(clock: &ClockComparison) -> Value {
    json!({
        "magic": clock.magic,
        "ticks": clock.ticks,
        "time": clock.unix_nanos,
        "reference": clock.reference_nanos,
        "error": clock.error,
        "boot": clock.boot_id,
        "host": clock.host,
    })
}

/// The comparison that tests/python/write_archive.py writes.
pub fn clock_by_hand() -> ClockComparison {
    ClockComparison {
        magic: Some(7),
        ticks: Some(5),
        unix_nanos: Some(1 << 60),
        error: Some(9),
        boot_id: Some("other".into()),
        ..ClockComparison::default()
    }
}
