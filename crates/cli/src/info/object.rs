//! The facts about a timeline for programs, and those of them that people see as well.

use std::time::Duration;

use serde_json::{Value, json};
use timeline::{ClockReason, DropCounts, Info, Level};
use timeline_reading::json::whole_number;

use super::steps;
use crate::time::{TimeFormat, WallClock};

/// The facts about a timeline for programs. The field names are part of the interface.
pub fn object(path: &str, info: &Info) -> Value {
    let parts = [
        file_object(path, info),
        level_object(info),
        ring_object(info),
        held_object(info),
        run_object(info),
        tables_object(info),
    ];
    let fields = parts.into_iter().filter_map(|part| match part {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    Value::Object(fields.flatten().collect())
}

fn file_object(path: &str, info: &Info) -> Value {
    json!({
        "path": path,
        "snapshot": info.snapshot,
        "version": format!("{}.{}", info.version.0, info.version.1),
        "size": info.size,
    })
}

/// What is logged.
fn level_object(info: &Info) -> Value {
    let channels: Vec<_> = info
        .channels
        .iter()
        .map(|c| json!({ "name": c.name, "on": c.on, "switched": c.switched }))
        .collect();
    json!({
        "level": info.level.to_string(),
        "rules": info.rules.words().collect::<Vec<_>>(),
        "channels": channels,
        "sampled_level": (info.boost != Level::NONE).then(|| info.boost.to_string()),
    })
}

/// What the ring consists of.
fn ring_object(info: &Info) -> Value {
    json!({
        "entries": info.entries,
        "reduced": info.reduced,
        "bound": info.bound.map(|(bound, _)| bound.name()),
        "room": info.bound.map(|(_, room)| room),
        "chunks": info.chunks,
        "chunk_entries": info.chunk_entries,
        "cpu_lanes": info.cpu_lanes,
        "thread_lanes": info.thread_lanes,
        "cpu_lanes_in_use": info.cpu_lanes_in_use,
        "thread_lanes_in_use": info.thread_lanes_in_use,
        "thread_lanes_reason": super::own_lanes(info).map(|(name, _)| name),
    })
}

/// What the ring holds, and what it lost.
fn held_object(info: &Info) -> Value {
    let mut clock = WallClock::new(TimeFormat::Rfc3339);
    let complete_since = info
        .complete_since
        .filter(|since| Some(*since) <= info.newest_ticks);
    json!({
        "entries_written": info.entries_written,
        "entries_held": info.entries_held,
        "important_used": info.important_used,
        "important_capacity": info.important_capacity,
        "oldest_ticks": info.oldest_ticks.map(whole_number),
        "newest_ticks": info.newest_ticks.map(whole_number),
        "complete_since": since_known(info).map(|nanos| clock.format(nanos).to_string()),
        "complete_since_ticks": complete_since.map(whole_number),
        "entries_older": info.entries_older,
        "complete_seconds": complete_part(info).map(|(reach, _)| reach.as_secs_f64()),
        "dropped": dropped_object(&info.dropped),
    })
}

fn dropped_object(dropped: &DropCounts) -> Value {
    json!({
        "total": dropped.total(),
        "interrupted": dropped.interrupted,
        "no_lane": dropped.no_lane,
        "not_joined": dropped.not_joined,
        "no_chunk": dropped.no_chunk,
        "bad_event": dropped.bad_event,
        "undefined": dropped.undefined,
        "important": dropped.important,
        "refused": dropped.refused,
        "closed": dropped.closed,
    })
}

/// Who wrote it, since when, and by which clock.
fn run_object(info: &Info) -> Value {
    let mut clock = WallClock::new(TimeFormat::Rfc3339);
    let writers: Vec<_> = info
        .writers
        .iter()
        .map(|w| json!({ "pid": w.pid, "name": w.name, "alive": w.alive }))
        .collect();
    json!({
        "writers": writers,
        "created": clock.format(info.created_unix_nanos),
        "creator_pid": info.creator_pid,
        "creator_exe": info.creator_exe,
        "boot_id": is_known(&info.boot_id).then_some(&info.boot_id),
        "clock": info.clock.to_string(),
        "clock_reason": info.clock_reason.map(ClockReason::name),
        "clock_source": (!info.clock_source.is_empty()).then_some(&info.clock_source),
        "ticks_per_second": info.ticks_per_second,
        "clock_steps": steps::objects(&info.steps),
    })
}

/// What is defined and interned.
fn tables_object(info: &Info) -> Value {
    json!({
        "definitions": info.definitions,
        "definition_capacity": info.definition_capacity,
        "string_bytes": info.string_bytes,
        "string_capacity": info.string_capacity,
        "interned": interned_object(info),
    })
}

fn interned_object(info: &Info) -> Value {
    json!({
        "strings": info.interned,
        "most_strings": info.interned_most,
        "bytes": info.interned_bytes,
        "capacity": info.interned_capacity,
        "copied": info.not_interned,
    })
}

/// The time since which nothing is missing up to the newest event; `None` if even that one may be
/// missing.
pub fn since_known(info: &Info) -> Option<u64> {
    let is_there = info.complete_since <= info.newest_ticks;
    info.complete_since_unix_nanos.filter(|_| is_there)
}

/// The length of the time up to the newest event in which nothing is missing, and the number of
/// entries in it.
pub fn complete_part(info: &Info) -> Option<(Duration, u64)> {
    let since = info.complete_since.or(info.oldest_ticks)?;
    let ticks = info.newest_ticks?.checked_sub(since)?;
    let seconds = ticks as f64 / info.ticks_per_second?;
    let held = info.entries_held.saturating_sub(info.entries_older);
    Some((Duration::try_from_secs_f64(seconds).ok()?, held))
}

/// Zeros are no boot id.
pub fn is_known(boot_id: &str) -> bool {
    boot_id.bytes().any(|byte| !matches!(byte, b'0' | b'-'))
}
