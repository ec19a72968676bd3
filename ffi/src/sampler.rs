//! Bursts of detail: the level raised for a short time at a fixed period.
use crate::convert::place;
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::priority::level_of;
use crate::writer::{timeline_t, writer};
use std::time::Duration;
use timeline_core::Sampler;

/// Sampling under way, from `timeline_sample` until `timeline_sampler_free`.
pub struct timeline_sampler_t {
    _running: Sampler,
}

/// Samples: raises the level for a short time at a fixed period, from a thread of its own, until
/// `timeline_sampler_free`, which restores the level.
///
/// `level`: the raised level, `TIMELINE_ERROR` to `TIMELINE_ALL`. `for_ns`: the length of each
/// burst, in nanoseconds (100,000 for 100 microseconds). `every_ns`: the time from the start of a
/// burst to the start of the next, in nanoseconds (10,000,000 for 10 milliseconds); longer than
/// `for_ns`. `out`: receives the sampler; untouched when the call fails.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT`, `TIMELINE_E_BUSY` (the timeline is sampled
/// already) or `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `out` is
/// NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_sample(
    tl: *mut timeline_t,
    level: i32,
    for_ns: u64,
    every_ns: u64,
    out: *mut *mut timeline_sampler_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        // SAFETY: the contract of this function.
        let writer = unsafe { writer(tl)? };
        let level = level_of(level)?;
        let running = writer.core.sample(
            level,
            Duration::from_nanos(for_ns),
            Duration::from_nanos(every_ns),
        )?;
        let handle = Box::into_raw(Box::new(timeline_sampler_t { _running: running }));
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { out.write(handle) };
        Ok(TIMELINE_OK)
    })
}

/// Stops sampling and waits for its thread to end. The timeline may have been freed before. Any
/// thread.
///
/// `sampler`: from `timeline_sample`, or NULL, which does nothing. Freeing it twice is undefined
/// behaviour.
///
/// # Safety
/// `sampler` is NULL or was returned by `timeline_sample` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_sampler_free(sampler: *mut timeline_sampler_t) {
    if !sampler.is_null() {
        guard(|| -> Result<timeline_status_t, CallFailure> {
            // SAFETY: from Box::into_raw in `timeline_sample`, and by contract the last use of it.
            drop(unsafe { Box::from_raw(sampler) });
            Ok(TIMELINE_OK)
        });
    }
}
