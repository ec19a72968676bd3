//! Call stacks of events: return addresses in a payload, and the loaded objects that name them.
use crate::error::{TIMELINE_OK, guard};
use crate::stack::capture;
use crate::writer::{WriterObject, timeline_t};
use std::ffi::c_void;
use timeline_core::internal::without_cancellation;

/// Writes the return addresses of the calls under way, for `timeline_log_payload`.
/// `TIMELINE_BACKTRACE` calls it.
///
/// `from`: the address at which the stack begins; the calls made from there are left out. `words`
/// and `count`: the destination and its size in words: one for the number of addresses, and one for
/// each of at most 32 of them. Returns how many words were written.
///
/// The calls end at a function without unwind tables, and at one that LuaJIT has compiled.
///
/// In a signal handler it takes no lock and allocates nothing if the unwinder does neither: libgcc
/// 12 or later with glibc 2.35 or later. Otherwise it takes the loader's lock, and a handler that
/// interrupted dlopen in its own thread may wait for ever.
///
/// Outside of handlers, on a stack of at most 32 frames, it asks the loader whether it has loaded
/// anything, under a lock that is held for some steps. If it has, in a forked child, and if the
/// stack leads through an object that the timeline does not know, it tells the timeline of all
/// objects, which takes locks and allocates (a child that was forked while another thread was in
/// dlopen may wait for ever). A handler leaves this to the next event. A handler built without
/// unwind tables is recognised only if its object is known already: define the statement before,
/// outside of the handler. If the timeline cannot be told, one call in 1,024 tries again, but only
/// if the stack can be read to its end and shows no handler. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `words`
/// has `count` writable words.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_backtrace(
    tl: *mut timeline_t,
    from: *const c_void,
    words: *mut u64,
    count: usize,
) -> usize {
    // SAFETY: the contract of this function.
    without_cancellation(|| unsafe { write(tl, from, words, count) })
}

/// # Safety
/// The contract of [`timeline_backtrace`].
unsafe fn write(tl: *mut timeline_t, from: *const c_void, words: *mut u64, count: usize) -> usize {
    let usable = !words.is_null() && words.is_aligned();
    let Some(room) = count.checked_sub(1).filter(|_| usable) else {
        return 0;
    };
    // SAFETY: by contract NULL or the first member of a live Writer.
    let writer = unsafe { tl.cast::<WriterObject>().as_ref() };
    let in_object = |address| writer.is_some_and(|writer| writer.modules.had(address));
    let stack = capture(from.addr() as u64, room, &in_object);
    let addresses = &stack.addresses[..stack.count];
    if let Some(writer) = writer
        && writer.modules.are_due(&stack)
    {
        guard(|| {
            writer.modules.update(&writer.core);
            Ok(TIMELINE_OK)
        });
    }
    // SAFETY: one word, and at most `room` addresses, writable by contract.
    unsafe {
        words.write(addresses.len() as u64);
        words
            .add(1)
            .copy_from_nonoverlapping(addresses.as_ptr(), addresses.len());
    }
    1 + addresses.len()
}
