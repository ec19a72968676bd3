//! Stops the workers of a program that ends without doing so.
//!
//! A worker has a slot as long as it runs. The slots are no list under a lock, because a forked
//! child may be made while another thread has it.
use crate::object::WorkerObject;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use timeline_core::internal::without_cancellation;

/// The most workers of a process: one for each timeline that it may have open.
pub const MOST: usize = 64;

/// Each holds a reference to a worker.
static SLOTS: [AtomicPtr<WorkerObject>; MOST] = [const { AtomicPtr::new(ptr::null_mut()) }; MOST];

/// Has a worker stopped at exit. Returns whether there was a slot for it.
pub fn add(worker: &Arc<WorkerObject>) -> bool {
    static DONE: AtomicBool = AtomicBool::new(false);
    // Relaxed: it guards nothing; a handler that runs twice does no harm.
    if !DONE.swap(true, Ordering::Relaxed) {
        // SAFETY: the handler takes nothing, and this library is never unloaded. If there is no
        // memory for it, nothing is stopped at exit.
        unsafe { libc::atexit(stop_all) };
    }
    let mine = Arc::into_raw(Arc::clone(worker)).cast_mut();
    let is_free = |slot: &AtomicPtr<WorkerObject>| {
        // Release, pairs with the Acquire in `take`: who takes the worker finds it whole.
        slot.compare_exchange(ptr::null_mut(), mine, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    };
    let has_place = SLOTS.iter().any(is_free);
    if !has_place {
        // SAFETY: of `into_raw` above, and in no slot.
        drop(unsafe { Arc::from_raw(mine) });
    }
    has_place
}

/// A worker needs no slot any more.
pub fn remove(worker: &Arc<WorkerObject>) {
    let mine = Arc::as_ptr(worker).cast_mut();
    for slot in &SLOTS {
        // Acquire, pairs with the Release in `add`.
        let taken =
            slot.compare_exchange(mine, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed);
        if taken.is_ok() {
            // SAFETY: of `into_raw` in `add`, and taken out of its slot by nobody else.
            drop(unsafe { Arc::from_raw(mine) });
        }
    }
}

extern "C" fn stop_all() {
    without_cancellation(|| {
        for slot in &SLOTS {
            // Acquire, pairs with the Release in `add`.
            let found = slot.swap(ptr::null_mut(), Ordering::Acquire);
            if !found.is_null() {
                // SAFETY: of `into_raw` in `add`, and taken out of its slot by nobody else.
                let worker = unsafe { Arc::from_raw(found) };
                worker.stop_at_exit();
            }
        }
    });
}
