//! Priorities and levels: numbers, names, and the level of a timeline.
use crate::convert::{place, text};
use crate::error::{TIMELINE_OK, guard, timeline_status_t};
use crate::priority::{TIMELINE_NONE, level_of};
use crate::writer::{timeline_t, writer};
use std::ffi::c_char;
use timeline_core::internal::without_cancellation;
use timeline_core::{Level, Priority};

fn number_of(level: Level) -> i32 {
    i32::from(level.get())
}

/// Looks a priority up by its name.
///
/// `name`: `"error"`, `"warning"`, `"info"`, `"trace"`, `"app"`, `"packet"` or `"library"`.
/// `priority`: receives `TIMELINE_ERROR` to `TIMELINE_LIBRARY`; untouched when the call fails.
///
/// Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT` when there is no such priority. Any thread.
///
/// # Safety
/// `name` is NULL or a NUL-terminated string; `priority` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_priority_parse(
    name: *const c_char,
    priority: *mut i32,
) -> timeline_status_t {
    guard(|| {
        place(priority, "priority")?;
        // SAFETY: the contract of this function.
        let found: Priority = unsafe { text(name, "name")? }.parse()?;
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { priority.write(found as i32) };
        Ok(TIMELINE_OK)
    })
}

/// Looks a level up by its name: that of a priority, `"all"` or `"none"`.
///
/// `level`: receives `TIMELINE_NONE` to `TIMELINE_ALL`; untouched when the call fails.
///
/// Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT` when there is no such level. Any thread.
///
/// # Safety
/// `name` is NULL or a NUL-terminated string; `level` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_level_parse(
    name: *const c_char,
    level: *mut i32,
) -> timeline_status_t {
    guard(|| {
        place(level, "level")?;
        // SAFETY: the contract of this function.
        let found: Level = unsafe { text(name, "name")? }.parse()?;
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { level.write(number_of(found)) };
        Ok(TIMELINE_OK)
    })
}

/// Sets the level of a timeline, for every thread and process that writes to it, at once. Events of
/// this priority and of more important ones are logged (error < warning < info < trace < app <
/// packet < library); other events cost only the check. A new timeline has the level
/// `TIMELINE_ALL`. Ends all rules of `timeline_switch`.
///
/// `level`: `TIMELINE_NONE` to `TIMELINE_ALL`.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` for a NULL timeline or a number that is no level,
/// `TIMELINE_E_BUSY` when it stays locked for seconds, or `TIMELINE_E_IO` when it cannot be locked.
/// Any thread, also while others log.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_priority(
    tl: *mut timeline_t,
    level: i32,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let writer = unsafe { writer(tl)? };
        writer.core.priority(level_of(level)?)?;
        Ok(TIMELINE_OK)
    })
}

/// Says which events of a timeline are logged, for every thread and process that writes to it, at
/// once, also for events that are defined later.
///
/// `rules`: words with commas between. A level as the first word (`"info"`) is that of all events
/// and ends all earlier rules; `"engine=packet"` is the level of a category, `"+engine.got_*"`
/// enables events by their names, `"-engine.*"` disables them. In categories and names, `*` is any
/// text and `?` any character. The name of an event is its category and the words of its message up
/// to the first argument: `engine.got_packet` for "got packet $len". Each event follows the last
/// rule that speaks of it; a rule replaces an earlier one about the same category or names.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` for a word that is no rule, `TIMELINE_E_FULL` when
/// all rules together take more than 446 bytes (then nothing has changed; a level begins anew),
/// `TIMELINE_E_BUSY` or `TIMELINE_E_IO`. Any thread, also while others log.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `rules` is
/// NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_switch(
    tl: *mut timeline_t,
    rules: *const c_char,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let (writer, rules) = unsafe { (writer(tl)?, text(rules, "rules")?) };
        writer.core.switch(&rules.parse()?)?;
        Ok(TIMELINE_OK)
    })
}

/// Returns the level of a timeline, `TIMELINE_NONE` to `TIMELINE_ALL`; `TIMELINE_NONE` for NULL.
/// Sampling does not change it. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_level(tl: *const timeline_t) -> i32 {
    without_cancellation(|| {
        // SAFETY: the contract of this function.
        unsafe { writer(tl) }.map_or(TIMELINE_NONE, |writer| number_of(writer.core.level()))
    })
}
