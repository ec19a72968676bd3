//! Disables the cancellation of a thread (`pthread_cancel`) while this library works in it.
//!
//! Opening, reading, writing and locking files are cancellation points. With cancellation disabled,
//! a call in a cancelled thread runs to its end, and the thread ends at its next cancellation
//! point.
//!
//! **Why does the library hold off cancellation, and why "C-unwind"?** A cancelled thread is
//! unwound as if it threw. Rust ends the process if unwinding meets a frame with something to clean
//! up, or a function of C. So all code that opens, reads or locks runs with cancellation disabled
//! (src/shm/cancel.rs): the exported functions disable it in `guard`, and logging does so where it
//! makes system calls. That costs two atomic operations, which is too much for an event. But an
//! asynchronous cancellation may come anywhere, and glibc acts on a pending one when cancellation
//! is enabled again. So the frames outside have nothing to clean up and are "C-unwind", which lets
//! the unwinding pass. If it stops an append, the ring has one more writer that was killed. An
//! unoptimised build has frames to clean up where it logs, and ends the process there. One case
//! remains: glibc 2.36 cancels such a thread by a signal. Its handler does not check whether
//! cancellation was disabled after the signal was sent, so it still ends the process in the middle
//! of a system call of the library. Threads with deferred cancellation, the default, are not
//! affected.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr;

const PTHREAD_CANCEL_DISABLE: c_int = 1;
const PTHREAD_CANCEL_DEFERRED: c_int = 0;

// The libc crate does not have them, and says of every function that it does not unwind. These
// unwind when cancellation is asynchronous, pending and enabled again.
unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
}

/// Runs `f` with the cancellation of this thread disabled. A panic of `f` ends the process.
///
/// This frame has nothing to clean up, and the frames of its callers up to C must have nothing
/// either: then an asynchronous cancellation right before or after unwinds through them all.
#[inline(always)]
pub fn without_cancellation<T: Copy>(f: impl FnOnce() -> T) -> T {
    // Before it optimises, the compiler would take `f` itself for something to clean up.
    let f = ManuallyDrop::new(f);
    let (mut state, mut kind) = (0, 0);
    // The type is set as well: if it is asynchronous, glibc cancels by a signal. That may have been
    // sent before and arrive now, and its handler checks the type and not the state.
    // SAFETY: both point to places of the right type.
    unsafe {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut state);
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &mut kind);
    }
    let result = walled(ManuallyDrop::into_inner(f));
    // SAFETY: the functions returned these values.
    unsafe {
        pthread_setcanceltype(kind, ptr::null_mut());
        pthread_setcancelstate(state, ptr::null_mut());
    }
    result
}

/// A function of C, so nothing unwinds out of it. Not inlined, so that its caller has nothing of it
/// to clean up.
#[inline(never)]
#[allow(improper_ctypes_definitions, reason = "no C ever calls it")]
extern "C" fn walled<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// Runs system calls without the host noticing: `errno` stays, and the thread is not cancelled.
#[inline(always)]
pub fn unnoticed(f: impl FnOnce()) {
    // SAFETY: errno is this thread's own.
    let errno = unsafe { *libc::__errno_location() };
    without_cancellation(f);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}
