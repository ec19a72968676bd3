//! The name and the group of the calling thread.
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::writer::{timeline_t, writer};
use std::ffi::{CStr, c_char};

/// Names the calling thread, and puts it in a group of threads. Readers show this name instead of
/// that of the system, for all events of the thread that are still in the ring. May be called
/// before the thread's first event, and any number of times. A forked child has the system's name
/// until it calls this.
///
/// A thread that is not named here has the name that the system has for it. Readers ask the kernel
/// while the thread runs, and again about once in a second. In the timeline is the name of its
/// first event, of the last event that it defined, of its last call of this without a name, or of
/// its end. That is for threads that were killed, and for readers in other containers.
///
/// `name`: at most 39 bytes of UTF-8, a longer one is cut between characters. NULL or `""` goes
/// back to the name of the system. `group`: at most 31 bytes, in the same way; NULL or `""` for
/// none.
///
/// Returns `TIMELINE_OK`; `TIMELINE_E_FULL` when all records of threads belong to living threads,
/// or the thread cannot join the timeline; `TIMELINE_E_BUSY` in a signal handler that interrupted
/// its thread in this call or in its first event; `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `name` and
/// `group` are NULL or NUL-terminated strings.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_thread(
    tl: *mut timeline_t,
    name: *const c_char,
    group: *const c_char,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let (writer, name, group) = unsafe { (writer(tl)?, bytes(name), bytes(group)) };
        writer.core.thread_of_bytes(name, group)?;
        Ok::<_, CallFailure>(TIMELINE_OK)
    })
}

/// The bytes of a text of C; none for NULL.
///
/// # Safety
/// `text` is NULL or a NUL-terminated string, valid as long as the result.
unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    match text.is_null() {
        true => &[],
        // SAFETY: not NULL, and the contract of this function.
        false => unsafe { CStr::from_ptr(text) }.to_bytes(),
    }
}
