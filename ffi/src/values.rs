//! Gives the values of an event with their types.
use crate::convert::{place, shared};
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::event::{definition, layout, timeline_event_t, values};
use crate::value::{converted, timeline_event_value_t};

/// Gives the values of an event, each with its type: those of the arguments of its message, in
/// their order, or those of a format of printf, in which a `*` is a value of its own. If the
/// definition cannot be read, they are all words of the event. Damaged events may have fewer values
/// than their message has arguments.
///
/// A type of fewer than 64 bits counts only the low bits of the word that the program gave: of 300
/// for `$n:u8`, the value is 44, as readers show it.
///
/// `event`: from `timeline_next`, with pointers that are still valid. `values` and `room`: receives
/// the first `room` values; may be NULL if `room` is 0. `count`: receives how many values the event
/// has: those behind `room` are not written. An event of a template has at most
/// `TIMELINE_MAX_FIELDS`, and no event has more than 191. Both are untouched when the call fails.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `event` is NULL or came from `timeline_next`; `values` has room for `room` values; `count` is
/// NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_values(
    event: *const timeline_event_t,
    values: *mut timeline_event_value_t,
    room: usize,
    count: *mut u32,
) -> timeline_status_t {
    guard(|| {
        place(count, "count")?;
        if room > 0 {
            place(values, "values")?;
        }
        // SAFETY: the contract of this function.
        let event = unsafe { shared(event, "event", "timeline_next")? };
        if event.message.is_null() {
            return Err(CallFailure::argument(
                "the event's message is NULL: expected an event from timeline_next",
            ));
        }
        // SAFETY: just checked, and the contract of this function.
        let definition = unsafe { definition(event) };
        let layout = layout(definition.as_ref());
        let mut fields = definition.iter().flat_map(|known| known.fields());
        let mut found = 0;
        // SAFETY: the contract of this function.
        for value in unsafe { self::values(event, &layout) } {
            let kind = fields.next().map(|field| field.kind);
            if found < room {
                // SAFETY: checked by `place`; below `room`, for which there is room by contract.
                unsafe { values.add(found).write(converted(&value, kind)) };
            }
            found += 1;
        }
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { count.write(found as u32) };
        Ok(TIMELINE_OK)
    })
}
