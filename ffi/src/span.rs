//! Spans: two events that differ in the first word of their message.
use crate::attributes::{attributes_of, timeline_attributes_t};
use crate::convert::{place, text};
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::priority::priority_of;
use crate::writer::{timeline_t, writer};
use std::ffi::c_char;
use timeline_core::{EventId, Pairing};

/// The two events of a span, from `timeline_define_span` or `timeline_define_async_span`: log the
/// first one when it begins, and the second one when it ends, as in `timeline_log(tl, span.begin,
/// 10, 0, 0, 0)`. 0, which is never logged, if they could not be defined.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct timeline_span_events_t {
    /// The event that it begins.
    pub begin: u32,
    /// The event that it ends.
    pub end: u32,
}

/// Defines a span: `"breath $packets"` defines the events `"begin breath $packets"` and `"end
/// breath $packets"`, which readers pair. A span ends in the thread in which it began, and spans of
/// a thread nest.
///
/// `category`, `priority` and `message`: as for `timeline_define`; the message begins with words,
/// which name the span, and both events have its arguments. `attributes`: of both events, as for
/// `timeline_define_with`; NULL for the defaults. `events`: receives the two events; 0 when the
/// call fails.
///
/// Returns the statuses of `timeline_define_with`; `TIMELINE_E_ARGUMENT` also if no words name the
/// span. After `TIMELINE_E_FULL`, the first event may be defined. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `category`
/// and `message` are NULL or NUL-terminated strings; `attributes` is NULL or readable, and its
/// texts are NULL or NUL-terminated strings; `events` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_define_span(
    tl: *mut timeline_t,
    category: *const c_char,
    priority: i32,
    message: *const c_char,
    attributes: *const timeline_attributes_t,
    events: *mut timeline_span_events_t,
) -> timeline_status_t {
    let texts = (category, message);
    // SAFETY: the contract of this function.
    unsafe { define(tl, texts, priority, Pairing::Thread, attributes, events) }
}

/// Defines a span that may end in another thread or process than it began in: `"request $id"`
/// defines the events `"start request $id"` and `"finish request $id"`. The first argument is the
/// key: readers pair the events with the same key.
///
/// All arguments: as for `timeline_define_span`; the message has at least one argument.
///
/// Returns the statuses of `timeline_define_span`. Any thread.
///
/// # Safety
/// The contract of `timeline_define_span`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_define_async_span(
    tl: *mut timeline_t,
    category: *const c_char,
    priority: i32,
    message: *const c_char,
    attributes: *const timeline_attributes_t,
    events: *mut timeline_span_events_t,
) -> timeline_status_t {
    let texts = (category, message);
    // SAFETY: the contract of this function.
    unsafe { define(tl, texts, priority, Pairing::Key, attributes, events) }
}

/// # Safety
/// The contract of [`timeline_define_span`]; `texts` are the category and the message.
unsafe fn define(
    tl: *mut timeline_t,
    texts: (*const c_char, *const c_char),
    priority: i32,
    pairing: Pairing,
    attributes: *const timeline_attributes_t,
    events: *mut timeline_span_events_t,
) -> timeline_status_t {
    let mut defined = timeline_span_events_t {
        begin: EventId::NEVER.0,
        end: EventId::NEVER.0,
    };
    let status = guard(|| {
        place(events, "events")?;
        // SAFETY: the contract of this function.
        let (writer, category, message, attributes) = unsafe {
            (
                writer(tl)?,
                text(texts.0, "category")?,
                text(texts.1, "message")?,
                attributes_of(attributes)?,
            )
        };
        let priority = priority_of(priority)?;
        let core = &writer.core;
        let both = core.define_span_with(category, priority, message, pairing, &attributes)?;
        writer.tell_of_modules(message);
        (defined.begin, defined.end) = (both.begin.0, both.end.0);
        Ok::<_, CallFailure>(TIMELINE_OK)
    });
    if !events.is_null() && events.is_aligned() {
        // SAFETY: not NULL and aligned, and writable by contract.
        unsafe { events.write(defined) };
    }
    status
}
