//! Holding off the cancellation of a thread (`pthread_cancel`) while this library works in it.
//!
//! Opening, reading, writing and locking files are cancellation points. A thread cancelled there is
//! unwound like one that throws, and Rust ends the process when that meets its frames. So a call in
//! a cancelled thread is done as ever, and the thread ends at its next cancellation point.
//!
//! **Why does the library hold off cancellation, and why "C-unwind"?** A cancelled thread is
//! unwound like one that throws. Rust ends the process where that meets a frame with something to
//! clean up, or a function of C. So everything that opens, reads or locks runs with cancellation
//! disabled (src/shm/cancel.rs): the exported functions do it in `guard`, and logging does it where
//! it makes system calls. Disabling costs two atomic operations, which is too much for an event.
//! But an asynchronous cancellation may come anywhere, and glibc acts on a pending one when
//! cancellation is enabled again. So the frames outside have nothing to clean up and are
//! "C-unwind", which lets the unwinding pass. If it stops an append, the ring sees one more writer
//! that was killed. An unoptimised build has frames to clean up where it logs, and ends the process
//! there. One case remains: glibc 2.36 cancels such a thread by a signal. Its handler does not
//! check whether cancellation was disabled after the signal was sent, so in the middle of a system
//! call of the library it still ends the process. Threads with deferred cancellation, the default,
//! are not affected.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr;

const PTHREAD_CANCEL_DISABLE: c_int = 1;
const PTHREAD_CANCEL_DEFERRED: c_int = 0;

// The libc crate does not have them, and says of every function that it does not unwind. These do,
// when cancellation is asynchronous, pending and enabled again.
unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
}

/// Runs `f` in a thread that nobody can cancel meanwhile. A panic of `f` ends the process.
///
/// The frame has nothing to clean up, and neither may those of its callers up to C: then an
/// asynchronous cancellation, which may come right before and after, unwinds through them all.
#[inline(always)]
pub fn without_cancellation<T: Copy>(f: impl FnOnce() -> T) -> T {
    // Not by itself something to clean up, as far as the compiler knows before it optimises.
    let f = ManuallyDrop::new(f);
    let (mut state, mut kind) = (0, 0);
    // The type as well: where it is asynchronous glibc cancels by a signal, which may have been
    // sent before and come now, and whose handler looks at the type and not at the state.
    // SAFETY: both are valid places for what they are.
    unsafe {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut state);
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &mut kind);
    }
    let result = walled(ManuallyDrop::into_inner(f));
    // SAFETY: these are what the functions gave.
    unsafe {
        pthread_setcanceltype(kind, ptr::null_mut());
        pthread_setcancelstate(state, ptr::null_mut());
    }
    result
}

/// A function of C, which nothing unwinds out of. And not inlined: what it has to clean up is its
/// own.
#[inline(never)]
#[allow(improper_ctypes_definitions, reason = "no C ever calls it")]
extern "C" fn walled<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// Runs what makes system calls, so that the host does not notice: `errno` stays, and the thread is
/// not cancelled.
#[inline(always)]
pub fn unnoticed(f: impl FnOnce()) {
    // SAFETY: errno is this thread's own.
    let errno = unsafe { *libc::__errno_location() };
    without_cancellation(f);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}
