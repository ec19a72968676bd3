//! Call stacks of events: return addresses in a payload, and the loaded objects that name them.
use crate::error::{TIMELINE_OK, guard};
use crate::stack::capture;
use crate::writer::{Writer, timeline_t};
use std::ffi::c_void;
use timeline_core::msgpack::{array16, uint64};
use timeline_core::without_cancellation;

/// The bytes before the addresses.
const HEAD: usize = array16(0).len();
/// The bytes of an address.
const ADDRESS: usize = uint64(0).len();

/// Writes the return addresses of the calls under way, for `timeline_log_payload`.
/// `TIMELINE_BACKTRACE` calls it.
///
/// `from`: the address at which the stack begins; the calls made from there are left out. `payload`
/// and `size`: the destination and its size in bytes: 3, and 9 for each of at most 32 addresses.
/// Returns how many bytes were written.
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
/// The contract of [`timeline_backtrace`].
unsafe fn write(
    tl: *mut timeline_t,
    from: *const c_void,
    payload: *mut c_void,
    size: usize,
) -> usize {
    let Some(room) = size.checked_sub(HEAD).filter(|_| !payload.is_null()) else {
        return 0;
    };
    let stack = capture(from.addr() as u64, room / ADDRESS);
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
        // SAFETY: the head, and at most `room / ADDRESS` addresses, writable by contract.
        unsafe {
            at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            at = at.add(bytes.len());
        }
    };
    put(&array16(stack.count as u16));
    for address in addresses {
        put(&uint64(*address));
    }
    HEAD + ADDRESS * stack.count
}
