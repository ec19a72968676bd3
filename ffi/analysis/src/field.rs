//! The fields of an event, by their handles.
use crate::convert::place;
use crate::error::{CallFailure, TIMELINE_END, TIMELINE_OK, guard, timeline_status_t};
use crate::event::{EventHandle, object, timeline_analysis_event_t};
use crate::optional::optional_place;
use crate::subscriptions::{FieldSet, timeline_analysis_field_t};
use crate::value::{
    TIMELINE_IS_ARRAY, TIMELINE_IS_NULL, converted, number, timeline_event_value_t,
};
use analysis_core::{AnalysisValue, Error, FieldHandle};
use std::ffi::c_char;
use timeline_core::Element;

/// Reads a field as a type, which `timeline_analysis_` and this name read it as.
///
/// # Errors
/// The field has another type: the message names both.
fn read<'e, T: AnalysisValue + ?Sized>(
    event: &EventHandle<'_, 'e>,
    handle: timeline_analysis_field_t,
    of_set: impl FnOnce(&FieldSet) -> FieldHandle<T>,
    reader: &str,
) -> Result<Option<T::Of<'e>>, CallFailure> {
    let Some(set) = event.field(handle) else {
        return Ok(None);
    };
    event
        .context()
        .get(of_set(set))
        .map_err(|error| match error {
            Error::FieldType {
                event, field, has, ..
            } => other_type(&event, &field, &has, reader),
            other => other.into(),
        })
}

fn other_type(event: &str, field: &str, has: &str, reader: &str) -> CallFailure {
    CallFailure::argument(format!(
        "the field {field} of {event} is {has}, and timeline_analysis_{reader} does not read that"
    ))
}

/// Gives C the value of a field, if the event has one.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `out` is NULL or writable.
unsafe fn give<T: AnalysisValue + ?Sized, C>(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    out: *mut C,
    (of_set, reader): (impl FnOnce(&FieldSet) -> FieldHandle<T>, &str),
    convert: impl FnOnce(T::Of<'_>) -> C,
) -> timeline_status_t {
    guard(|| {
        place(out, "value")?;
        // SAFETY: the contract of this function.
        let event = unsafe { object(event)? };
        let Some(value) = read(event, field, of_set, reader)? else {
            return Ok(TIMELINE_END);
        };
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { out.write(convert(value)) };
        Ok(TIMELINE_OK)
    })
}

/// Reads a field as a signed number: one of a whole number all of whose values fit, such as `i64`,
/// `i8`, `u32`, `ns`, an enum or flags; also one for which the message gives no type.
///
/// `field`: a handle of the same analyser. `value`: receives the number; untouched unless the call
/// returns `TIMELINE_OK`.
///
/// Returns `TIMELINE_OK`; `TIMELINE_END` if events of this definition have no such field, or this
/// event has no value in it; `TIMELINE_E_ARGUMENT` if the field has another type: the message names
/// both.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_i64(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    value: *mut i64,
) -> timeline_status_t {
    // SAFETY: the contract of this function.
    unsafe {
        give(event, field, value, (|set| set.signed, "i64"), |number| {
            number
        })
    }
}

/// Reads a field as an unsigned number: one of a whole number without a sign, such as `u64`, `u8`,
/// `hex`, `ptr`, `bytes` or `char`. Otherwise like `timeline_analysis_i64`.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_u64(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    value: *mut u64,
) -> timeline_status_t {
    let unsigned = |set: &FieldSet| set.unsigned;
    // SAFETY: the contract of this function.
    unsafe { give(event, field, value, (unsigned, "u64"), |number| number) }
}

/// Reads a field as a number with a fraction: an `f64` or an `f32`. Otherwise like
/// `timeline_analysis_i64`.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_f64(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    value: *mut f64,
) -> timeline_status_t {
    // SAFETY: the contract of this function.
    unsafe {
        give(event, field, value, (|set| set.float, "f64"), |number| {
            number
        })
    }
}

/// Reads a field as a truth value: a `bool`. Otherwise like `timeline_analysis_i64`.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_bool(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    value: *mut bool,
) -> timeline_status_t {
    // SAFETY: the contract of this function.
    unsafe {
        give(event, field, value, (|set| set.boolean, "bool"), |truth| {
            truth
        })
    }
}

/// Reads a field as a text: a `str`, `wstr` or `istr`. What is not UTF-8 in it is U+FFFD;
/// `timeline_analysis_value` has the bytes as they are.
///
/// `value`: receives the text; valid as long as the event. `size`: receives how many bytes it has,
/// without the NUL; may be NULL. Both are untouched unless the call returns `TIMELINE_OK`.
///
/// Returns what `timeline_analysis_i64` returns. A text whose pointer was NULL is none.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable,
/// and so is `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_str(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    value: *mut *const c_char,
    size: *mut usize,
) -> timeline_status_t {
    guard(|| {
        place(value, "value")?;
        optional_place(size, "size")?;
        // SAFETY: the contract of this function.
        let event = unsafe { object(event)? };
        let Some(text) = read(event, field, |set| set.text, "str")? else {
            return Ok(TIMELINE_END);
        };
        // SAFETY: checked by `place`, and the contract of this function.
        unsafe { event.give(&text, value, size) };
        Ok(TIMELINE_OK)
    })
}

/// Reads a field whose numbers have names: an enum or flags.
///
/// `value`: receives the number. `name`: receives its name, of flags the names of all bits that are
/// set, with `|` between; NULL if it has none. Valid as long as the event; may be NULL. Both are
/// untouched unless the call returns `TIMELINE_OK`.
///
/// Returns what `timeline_analysis_i64` returns.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable,
/// and so is `name`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_label(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    value: *mut i64,
    name: *mut *const c_char,
) -> timeline_status_t {
    guard(|| {
        place(value, "value")?;
        optional_place(name, "name")?;
        // SAFETY: the contract of this function.
        let event = unsafe { object(event)? };
        let Some(label) = read(event, field, |set| set.label, "label")? else {
            return Ok(TIMELINE_END);
        };
        let names = label.names();
        // SAFETY: checked by `place`, and the contract of this function.
        unsafe {
            match name.is_null() || names.is_empty() {
                false => event.give(&names.join("|"), name, std::ptr::null_mut()),
                true if !name.is_null() => name.write(std::ptr::null()),
                true => {}
            }
            value.write(label.number);
        }
        Ok(TIMELINE_OK)
    })
}

/// Reads a field of any type, as it was logged: a text as its bytes, and whether it was cut.
///
/// `value`: receives it, with its type; `data` in it is valid as long as the event. Untouched
/// unless the call returns `TIMELINE_OK`.
///
/// Returns `TIMELINE_OK`; `TIMELINE_END` if events of this definition have no such field, or this
/// event has no value in it; or `TIMELINE_E_ARGUMENT`.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_value(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    value: *mut timeline_event_value_t,
) -> timeline_status_t {
    guard(|| {
        place(value, "value")?;
        // SAFETY: the contract of this function.
        let event = unsafe { object(event)? };
        let Some(found) = value_of(event, field)? else {
            return Ok(TIMELINE_END);
        };
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { value.write(found) };
        Ok(TIMELINE_OK)
    })
}

/// Reads a field as an array of numbers of this type, and of no other.
///
/// `type`: `TIMELINE_U8`, say, for a field of `u8[]`. `value`: receives it: `data` has `count`
/// elements of that type, in any alignment (copy them with `memcpy`), and is valid as long as the
/// event; `cut` says whether the program had no room for all of them. Untouched unless the call
/// returns `TIMELINE_OK`.
///
/// Returns what `timeline_analysis_i64` returns.
///
/// # Safety
/// `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_array(
    event: *const timeline_analysis_event_t,
    field: timeline_analysis_field_t,
    r#type: u32,
    value: *mut timeline_event_value_t,
) -> timeline_status_t {
    guard(|| {
        place(value, "value")?;
        let elements = Element::ALL.into_iter();
        let Some(element) = elements
            .map(Element::field)
            .find(|kind| number(*kind) == r#type)
        else {
            return Err(CallFailure::argument(format!(
                "there are no arrays of {}: expected TIMELINE_U8 or another type of numbers",
                r#type
            )));
        };
        // SAFETY: the contract of this function.
        let event = unsafe { object(event)? };
        let context = event.context();
        if let Some(set) = event.field(field)
            && let Some(has) = context.field_type(set.any)
            && has.element().map(Element::field) != Some(element)
        {
            let (name, reader) = (&*set.name, format!("array of {element}"));
            return Err(other_type(context.name(), name, &has.to_string(), &reader));
        }
        match value_of(event, field)? {
            Some(found) if found.kind == TIMELINE_IS_ARRAY => {
                // SAFETY: checked by `place`, and writable by contract.
                unsafe { value.write(found) };
                Ok(TIMELINE_OK)
            }
            _ => Ok(TIMELINE_END),
        }
    })
}

/// The value of a field as it is stored, if the event has one.
fn value_of(
    event: &EventHandle,
    field: timeline_analysis_field_t,
) -> Result<Option<timeline_event_value_t>, CallFailure> {
    let kind = event
        .field(field)
        .and_then(|set| event.context().field_type(set.any));
    let value = read(event, field, |set| set.any, "value")?;
    let value = value.map(|value| converted(&value, kind));
    Ok(value.filter(|value| value.kind != TIMELINE_IS_NULL))
}
