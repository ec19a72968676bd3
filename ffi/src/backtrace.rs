//! Call stacks of events: the addresses in a payload, and the objects that a timeline must be told
//! of for them.
use crate::stack::capture;
use crate::status::{TIMELINE_OK, guard};
use crate::writer::{Writer, timeline_t};
use std::ffi::c_void;
use timeline_core::without_cancellation;

/// Writes down where the calls that are under way will return to, for `timeline_log_payload`. What
/// `TIMELINE_BACKTRACE` calls.
///
/// `from`: the address at which the stack begins; what is called from there is left out. `payload`
/// and `size`: where to, and how many bytes there are: 3, and 9 for each address, of which there
/// are at most
/// 32. Returns how many bytes were written.
///
/// In a signal handler it takes no lock and allocates nothing where the unwinder does not: libgcc
/// 12 or later with glibc 2.35 or later. Elsewhere it takes the loader's lock, and a handler that
/// interrupted dlopen in its own thread may wait for ever. Outside of handlers, on a stack of at
/// most 32 frames, it asks the loader whether it has loaded anything, under a lock that is held for
/// some steps. When it has, in a forked child, and when a stack leads through an object that the
/// timeline does not know, the timeline is told of all objects, which takes locks and allocates (a
/// child that was forked while another thread was in dlopen may wait for ever); a handler leaves
/// this to the next event. One that was built without unwind tables is taken for a handler only if
/// its object is known already: define the statement before, outside of it. If the timeline cannot
/// be told just then, one call in 1,024 tries again, but only where the stack can be read to its
/// end and shows no handler. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `payload`
/// has `size` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_backtrace(
    tl: *mut timeline_t,
    from: *const c_void,
    payload: *mut c_void,
    size: usize,
) -> usize {
    // SAFETY: the contract of this function.
    without_cancellation(|| unsafe { write(tl, from, payload, size) })
}

/// # Safety
/// As [`timeline_backtrace`].
unsafe fn write(
    tl: *mut timeline_t,
    from: *const c_void,
    payload: *mut c_void,
    size: usize,
) -> usize {
    let Some(room) = size.checked_sub(3).filter(|_| !payload.is_null()) else {
        return 0;
    };
    let stack = capture(from.addr() as u64, room / 9);
    let addresses = &stack.addresses[..stack.count];
    // SAFETY: by contract NULL or the first member of a live Writer.
    if let Some(writer) = unsafe { tl.cast::<Writer>().as_ref() }
        && writer.modules.are_due(&stack)
    {
        guard(|| {
            writer.modules.update(&writer.core);
            Ok(TIMELINE_OK)
        });
    }
    let mut at: *mut u8 = payload.cast();
    let mut put = |bytes: &[u8]| {
        // SAFETY: three bytes and nine for each of at most `room / 9` addresses, writable by
        // contract.
        unsafe {
            at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            at = at.add(bytes.len());
        }
    };
    put(&[0xdc, 0, stack.count as u8]);
    for address in addresses {
        put(&[0xcf]);
        put(&address.to_be_bytes());
    }
    3 + 9 * stack.count
}
