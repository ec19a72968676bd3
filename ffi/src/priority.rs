//! Priorities and levels as numbers, for C.
use crate::error::CallFailure;
use timeline_core::{Level, Priority};

/// A level: log nothing. No event has this priority.
pub const TIMELINE_NONE: i32 = 0;
/// The most important events.
pub const TIMELINE_ERROR: i32 = 1;
/// Priority or level; see `timeline_priority`.
pub const TIMELINE_WARNING: i32 = 2;
/// Priority or level; see `timeline_priority`.
pub const TIMELINE_INFO: i32 = 3;
/// Priority or level; see `timeline_priority`.
pub const TIMELINE_TRACE: i32 = 4;
/// Priority or level; see `timeline_priority`.
pub const TIMELINE_APP: i32 = 5;
/// Priority or level; see `timeline_priority`.
pub const TIMELINE_PACKET: i32 = 6;
/// The most detailed events.
pub const TIMELINE_LIBRARY: i32 = 7;
/// A level: log everything. No event has this priority.
pub const TIMELINE_ALL: i32 = 8;

pub(crate) fn priority_of(number: i32) -> Result<Priority, CallFailure> {
    u8::try_from(number)
        .ok()
        .and_then(Priority::from_u8)
        .ok_or_else(|| {
            CallFailure::argument(format!(
                "{number} is no priority: expected 1 to 7 (TIMELINE_ERROR to TIMELINE_LIBRARY)"
            ))
        })
}

pub(crate) fn level_of(number: i32) -> Result<Level, CallFailure> {
    u8::try_from(number)
        .ok()
        .and_then(Level::from_u8)
        .ok_or_else(|| {
            CallFailure::argument(format!(
                "{number} is no level: expected 0 (TIMELINE_NONE) to 8 (TIMELINE_ALL)"
            ))
        })
}
