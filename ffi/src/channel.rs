//! Channels of a timeline, and what a person selects when a program starts.
use crate::convert::text;
use crate::error::{TIMELINE_END, TIMELINE_OK, guard, timeline_status_t};
use crate::writer::{timeline_t, writer};
use std::ffi::c_char;

/// Switches a channel of a timeline on or off, for every thread and process that writes to it, at
/// once. It need not be defined: events that are defined later follow.
///
/// `name`: 1 to 32 letters (a to z, A to Z), digits, `_`, `.` and `-`, which does not come first.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT`, `TIMELINE_E_FULL` (64 channels are defined
/// already), `TIMELINE_E_BUSY` or `TIMELINE_E_IO`. Any thread, also while others log.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `name` is
/// NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_channel(
    tl: *mut timeline_t,
    name: *const c_char,
    on: bool,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let (writer, name) = unsafe { (writer(tl)?, text(name, "name")?) };
        writer.core.channel(name, on)?;
        Ok(TIMELINE_OK)
    })
}

/// Follows an argument of the command line of a program, if it is meant for timeline: `-trace=` or
/// `--trace=` and a selection. A selection is `CHANNELS:RULES`, either or both of which may be
/// missing: `itv,-bbc:info,engine=packet` switches the channel itv on and bbc off, and adds rules
/// as `timeline_switch` does. A level in the place of a channel is the level: `info` is `:info`.
/// The environment variable `TIMELINE` has the same form. It is followed whenever a program makes
/// or joins a timeline; if it cannot be, this is told on standard error. A program that has more
/// rights than who started it does not read it. Who passes arguments of its command line to this
/// lets whoever starts it decide what is logged.
///
/// Returns `TIMELINE_OK`, `TIMELINE_END` if the argument is another one, `TIMELINE_E_ARGUMENT` for
/// a selection that cannot be read, `TIMELINE_E_FULL`, `TIMELINE_E_BUSY` or `TIMELINE_E_IO`. Any
/// thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `argument`
/// is NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_option(
    tl: *mut timeline_t,
    argument: *const c_char,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let (writer, argument) = unsafe { (writer(tl)?, text(argument, "argument")?) };
        match writer.core.option(argument)? {
            true => Ok(TIMELINE_OK),
            false => Ok(TIMELINE_END),
        }
    })
}
