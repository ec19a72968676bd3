//! For machines without restartable sequences: every event goes through the lane of a thread.

use super::{Hot, Installed, Otherwise, Step};
use crate::ring::local::ThreadState;

/// Leaves the event to `T`.
///
/// # Safety
/// `hot` is the beginning of what `T` expects.
pub unsafe extern "C-unwind" fn append<T: Otherwise>(
    hot: *const Hot,
    event: u32,
    a: i64,
    b: i64,
    c: i64,
    d: i64,
) {
    // SAFETY: the caller's promise.
    unsafe { T::otherwise(hot, event, a, b, c, d) };
}

/// Leaves the event with a payload to `T`.
///
/// # Safety
/// `hot` is the beginning of what `T` expects; `words` points to `count` words.
pub unsafe extern "C-unwind" fn append_long<T: Otherwise>(
    hot: *const Hot,
    words: *const u64,
    count: usize,
    head: u64,
) {
    // SAFETY: the caller's promise.
    unsafe { T::otherwise_long(hot, words, count, head) };
}

/// Always fails.
///
/// # Safety
/// None is needed.
pub unsafe extern "C-unwind" fn try_append(
    _: *const Hot,
    _: u32,
    _: i64,
    _: i64,
    _: i64,
    _: i64,
) -> bool {
    false
}

/// Always fails.
///
/// # Safety
/// None is needed.
pub unsafe extern "C-unwind" fn try_append_long(
    _: *const Hot,
    _: *const u64,
    _: usize,
    _: u64,
) -> bool {
    false
}

/// No CPU has a lane.
pub fn lane(_: &Hot) -> Option<u32> {
    None
}

/// Always fails.
///
/// # Safety
/// None is needed.
pub(super) unsafe fn install(_: &Hot, _: &ThreadState, _: &Step) -> Installed {
    Installed::Aborted
}
