//! Defines all events of a catalogue, a text file.
use crate::convert::{path, place, shared, text};
use crate::error::{CallFailure, TIMELINE_END, TIMELINE_OK, guard, timeline_status_t};
use crate::text::to_c_string;
use crate::writer::{timeline_t, writer};
use std::ffi::{CString, c_char};
use timeline_core::internal::without_cancellation;
use timeline_core::{CatalogueEvent, EventId};

/// The events that `timeline_define_file` defined, until `timeline_catalogue_free`.
pub struct timeline_catalogue_t {
    defined: Vec<Texts>,
}

/// One event, with its texts for C.
struct Texts {
    event: EventId,
    priority: i32,
    name: CString,
    category: CString,
    message: CString,
    channels: CString,
    important: bool,
}

impl Texts {
    fn of((from, event): (CatalogueEvent, EventId)) -> Texts {
        Texts {
            event,
            priority: from.priority as i32,
            name: to_c_string(&from.name),
            category: to_c_string(&from.category),
            message: to_c_string(&from.message),
            channels: to_c_string(&from.channels),
            important: from.important,
        }
    }
}

/// An event of a catalogue. The texts are valid until `timeline_catalogue_free`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct timeline_defined_t {
    /// The number to log with.
    pub event: u32,
    /// `TIMELINE_ERROR` to `TIMELINE_LIBRARY`.
    pub priority: i32,
    /// Its name, which no other event of the file has: `"engine.got_packet"`.
    pub name: *const c_char,
    /// The part of the program.
    pub category: *const c_char,
    /// The message, with what explains it as further lines.
    pub message: *const c_char,
    /// Its channels, as for `timeline_attributes_t`; `""` for none.
    pub channels: *const c_char,
    /// Whether its events are important, as for `timeline_attributes_t`.
    pub important: bool,
}

/// Defines all events of a catalogue: a text file with lines such as `packet|got packet $len`. See
/// docs/events.md; `timeline events --check FILE` checks one.
///
/// `file`: the path of the file. `out`: receives the events, to be freed with
/// `timeline_catalogue_free`; untouched when the call fails.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` for a file with a mistake (the message says where;
/// nothing is defined), `TIMELINE_E_FULL` (the events before are defined), `TIMELINE_E_BUSY` or
/// `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `file` is
/// NULL or a NUL-terminated string; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_define_file(
    tl: *mut timeline_t,
    file: *const c_char,
    out: *mut *mut timeline_catalogue_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        // SAFETY: the contract of this function.
        let (writer, file) = unsafe { (writer(tl)?, path(file, "file")?) };
        let defined = writer.core.define_file(file)?;
        defined
            .iter()
            .for_each(|(event, _)| writer.tell_of_modules(&event.message));
        let defined = defined.into_iter().map(Texts::of).collect();
        let handle = Box::into_raw(Box::new(timeline_catalogue_t { defined }));
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { out.write(handle) };
        Ok(TIMELINE_OK)
    })
}

/// The catalogue behind a handle.
///
/// # Safety
/// `catalogue` is NULL or was returned by `timeline_define_file` and not freed yet.
unsafe fn behind<'a>(
    catalogue: *const timeline_catalogue_t,
) -> Result<&'a timeline_catalogue_t, CallFailure> {
    // SAFETY: the contract of this function.
    unsafe { shared(catalogue, "the catalogue", "timeline_define_file") }
}

/// Gets an event of a catalogue, in the order of the file.
///
/// `index`: from 0 on. `defined`: receives the event; untouched when there is none.
///
/// Returns `TIMELINE_OK`, `TIMELINE_END` behind the last one, or `TIMELINE_E_ARGUMENT`. Any thread.
///
/// # Safety
/// `catalogue` is NULL or was returned by `timeline_define_file` and not freed yet; `defined` is
/// NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_defined(
    catalogue: *const timeline_catalogue_t,
    index: u32,
    defined: *mut timeline_defined_t,
) -> timeline_status_t {
    guard(|| {
        place(defined, "defined")?;
        // SAFETY: the contract of this function.
        let catalogue = unsafe { behind(catalogue)? };
        let Some(one) = catalogue.defined.get(index as usize) else {
            return Ok(TIMELINE_END);
        };
        let found = timeline_defined_t {
            event: one.event.0,
            priority: one.priority,
            name: one.name.as_ptr(),
            category: one.category.as_ptr(),
            message: one.message.as_ptr(),
            channels: one.channels.as_ptr(),
            important: one.important,
        };
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { defined.write(found) };
        Ok(TIMELINE_OK)
    })
}

/// Returns the event of that name, to log with; 0, which is never logged, if the catalogue has
/// none. Any thread.
///
/// # Safety
/// `catalogue` is NULL or was returned by `timeline_define_file` and not freed yet; `name` is NULL
/// or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_event_named(
    catalogue: *const timeline_catalogue_t,
    name: *const c_char,
) -> u32 {
    without_cancellation(|| {
        // SAFETY: the contract of this function.
        let (Ok(catalogue), Ok(name)) =
            (unsafe { behind(catalogue) }, unsafe { text(name, "name") })
        else {
            return EventId::NEVER.0;
        };
        let mut defined = catalogue.defined.iter();
        let found = defined.find(|one| one.name.as_bytes() == name.as_bytes());
        found.map_or(EventId::NEVER, |one| one.event).0
    })
}

/// Frees a catalogue. Its events stay defined. Any thread.
///
/// `catalogue`: from `timeline_define_file`, or NULL, which does nothing. Freeing it twice is
/// undefined behaviour.
///
/// # Safety
/// `catalogue` is NULL or was returned by `timeline_define_file` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_catalogue_free(catalogue: *mut timeline_catalogue_t) {
    if !catalogue.is_null() {
        guard(|| -> Result<timeline_status_t, CallFailure> {
            // SAFETY: from Box::into_raw in `timeline_define_file`, and by contract the last use
            // of it.
            drop(unsafe { Box::from_raw(catalogue) });
            Ok(TIMELINE_OK)
        });
    }
}
