//! Events whose arguments have the types of the call.
use crate::attributes::{attributes_of, timeline_attributes_t};
use crate::convert::{place, text};
use crate::error::{TIMELINE_OK, guard, timeline_status_t};
use crate::fields::marked as marked_in;
use crate::printf::types_of;
use crate::priority::priority_of;
use crate::writer::{timeline_t, writer};
use std::ffi::c_char;
use timeline_core::internal::typed_message;

/// Like `timeline_define_with`, with the types of the arguments as the caller has them: an argument
/// without a type in the message gets that of the caller, and all others must fit. For bindings to
/// other languages.
///
/// `category`, `priority`, `message`, `attributes` and `event`: as for `timeline_define_with`.
/// `given`: the types, `TIMELINE_I64` and so on, one for each argument, and then 0; NULL for no
/// arguments. `marked`: receives which arguments are to be interned, for `timeline_log_interned`;
/// may be NULL. Both results are untouched when the call fails.
///
/// If all types are numbers and there are at most four, `timeline_log` logs the event, and else
/// `timeline_log_payload`, or `timeline_log_interned` if any is to be interned.
///
/// Returns the statuses of `timeline_define_with`; `TIMELINE_E_ARGUMENT` also if an argument does
/// not fit. Any thread.
///
/// # Safety
/// The contract of `timeline_define_with`; `given` is NULL or ends with 0; `marked` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_define_typed(
    tl: *mut timeline_t,
    category: *const c_char,
    priority: i32,
    message: *const c_char,
    given: *const u8,
    attributes: *const timeline_attributes_t,
    event: *mut u32,
    marked: *mut u64,
) -> timeline_status_t {
    guard(|| {
        place(event, "event")?;
        // SAFETY: the contract of this function.
        let (writer, category, message, given, attributes) = unsafe {
            (
                writer(tl)?,
                text(category, "category")?,
                text(message, "message")?,
                types_of(given)?,
                attributes_of(attributes)?,
            )
        };
        let priority = priority_of(priority)?;
        let message = typed_message(message, &given)?;
        let core = &writer.core;
        let id = core.define_with(category, priority, &message, &attributes)?;
        writer.tell_of_modules(&message);
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { event.write(id.0) };
        if !marked.is_null() {
            // SAFETY: not NULL, and writable by contract.
            unsafe { marked.write_unaligned(marked_in(&message)) };
        }
        Ok(TIMELINE_OK)
    })
}
