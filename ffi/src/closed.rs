//! Handles that C has freed, which are kept for threads that still log to them.
//!
//! A program that ends runs its destructors, `timeline_free` among them, while its other threads go
//! on. So a freed handle is closed, and its memory stays: a thread that comes late finds it closed.
//! A process has at most 64 handles, freed ones among them. If it opens one more, the one that was
//! freed first goes for good.

use crate::error::CallFailure;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// What is kept of a handle.
pub(crate) trait Late {
    /// Tells its timeline of the events that came after it was closed.
    fn tell_of_late_events(&self);
}

/// A handle that has no owner. A pointer and no Box, because threads may still use it.
struct Closed(*mut dyn Late);

// SAFETY: a Writer may be used, and dropped, by any thread: what it consists of is Send and Sync,
// but for the pointer that C reads, which leads into its own mapping.
unsafe impl Send for Closed {}

impl Closed {
    fn late(&self) -> &dyn Late {
        // SAFETY: `keep` was given it alive, and it is freed when this is dropped.
        unsafe { &*self.0 }
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        self.late().tell_of_late_events();
        // SAFETY: from `Box::into_raw`, and nobody else frees it, by the contract of `keep`.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// The oldest first.
static CLOSED: Mutex<VecDeque<Closed>> = Mutex::new(VecDeque::new());

/// More than any thread needs that has the lock, and is not stopped.
const ATTEMPTS: u32 = 100_000;

/// Those that are kept. `None` if the lock is not to be had: a signal handler that ends the program
/// may have interrupted the thread that has it, and a forked child may lack that thread.
fn closed() -> Option<MutexGuard<'static, VecDeque<Closed>>> {
    (0..ATTEMPTS).find_map(|_| match CLOSED.try_lock() {
        Ok(closed) => Some(closed),
        Err(TryLockError::Poisoned(closed)) => Some(closed.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::yield_now();
            None
        }
    })
}

/// Keeps a handle that was closed.
///
/// # Safety
/// It came from `Box::into_raw`, it has no owner any more, and it was not kept before.
pub(crate) unsafe fn keep(handle: *mut dyn Late) {
    // Else it stays for good, and nobody is told of its late events.
    if let Some(mut closed) = closed() {
        closed.push_back(Closed(handle));
    }
}

/// Frees the one that was closed first. Returns whether there was one.
fn free_oldest() -> bool {
    let oldest = closed().and_then(|mut closed| closed.pop_front());
    oldest.is_some()
}

/// Opens a timeline. If there is no room for one more, those that were closed go first.
pub(crate) fn with_room<T>(open: impl Fn() -> Result<T, CallFailure>) -> Result<T, CallFailure> {
    free_where_addresses_are_few();
    let mut opened = open();
    while opened.as_ref().is_err_and(|failure| failure.is_of_handles) && free_oldest() {
        opened = open();
    }
    opened
}

/// Frees all, if the addresses of this process are limited: a closed one still takes as many as its
/// ring.
fn free_where_addresses_are_few() {
    let mut limit = std::mem::MaybeUninit::<libc::rlimit>::zeroed();
    // SAFETY: it fills the structure, and zeros are one as well.
    let limit = unsafe {
        libc::getrlimit(libc::RLIMIT_AS, limit.as_mut_ptr());
        limit.assume_init()
    };
    if limit.rlim_cur != libc::RLIM_INFINITY {
        while free_oldest() {}
    }
}

/// At the very end of the program, after all of its destructors.
extern "C" fn at_exit() {
    for closed in closed().iter().flat_map(|closed| closed.iter()) {
        closed.late().tell_of_late_events();
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
