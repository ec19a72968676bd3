//! Which events are wanted, and which of their fields.
use crate::convert::{exclusive, place, text};
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::optional::optional_place;
use analysis_core::{FieldHandle, LabelValue, Subscription, Subscriptions};
use std::ffi::c_char;
use timeline_core::Value;

/// What an analyser wants: a callback `begin` is given it, or `timeline_analysis_subscriptions`
/// gives it.
pub struct timeline_subscriptions_t {
    _private: [u8; 0],
}

/// A handle of a field, from `timeline_analysis_field`. It belongs to the analyser that asked for
/// it. 0, as in `{0}`, is of no field: events have none such.
pub type timeline_analysis_field_t = u32;

/// A field, as each type by which C may read it.
pub(crate) struct FieldSet {
    pub name: String,
    pub signed: FieldHandle<i64>,
    pub unsigned: FieldHandle<u64>,
    pub float: FieldHandle<f64>,
    pub boolean: FieldHandle<bool>,
    pub text: FieldHandle<str>,
    pub label: FieldHandle<LabelValue<'static>>,
    pub any: FieldHandle<Value<'static>>,
}

/// The object behind a `timeline_subscriptions_t *`.
#[derive(Default)]
pub(crate) struct SubscriptionsObject {
    pub wanted: Subscriptions,
    pub fields: Vec<FieldSet>,
    /// Whether the first event was asked for.
    pub is_over: bool,
}

/// # Safety
/// `subscriptions` is NULL, or was given by this library and is still valid.
unsafe fn object<'a>(
    subscriptions: *mut timeline_subscriptions_t,
) -> Result<&'a mut SubscriptionsObject, CallFailure> {
    // SAFETY: handed on from the caller.
    let object = unsafe {
        exclusive(
            subscriptions.cast::<SubscriptionsObject>(),
            "subscriptions",
            "timeline_analysis_subscriptions",
        )?
    };
    match object.is_over {
        false => Ok(object),
        true => Err(CallFailure::argument(
            "the first event was asked for already: expected all subscriptions and fields before",
        )),
    }
}

/// Subscribes to events. Each event comes once, even if several subscriptions want it.
///
/// `category`: a pattern of categories, and `name`: one of the names of events, which begin with
/// the category: `"net"` and `"net.got_*"`, or `"*"` and `"*.oom"`. In a pattern, `*` is any text
/// and `?` any one character. If both are NULL, all events are wanted, also those of which nobody
/// knows what they mean. `number`: receives the number of the subscription, of those of its
/// analyser; the first one has 0. May be NULL.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`.
///
/// # Safety
/// `subscriptions` is NULL, or was given to a callback `begin` that has not returned, or by
/// `timeline_analysis_subscriptions`; `category` and `name` are NULL or NUL-terminated strings;
/// `number` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_events(
    subscriptions: *mut timeline_subscriptions_t,
    category: *const c_char,
    name: *const c_char,
    number: *mut u32,
) -> timeline_status_t {
    guard(|| {
        optional_place(number, "number")?;
        // SAFETY: the contract of this function.
        let object = unsafe { object(subscriptions)? };
        let Subscription(place) = match category.is_null() && name.is_null() {
            true => object.wanted.all(),
            false => {
                // SAFETY: the contract of this function.
                let (category, name) =
                    unsafe { (text(category, "category")?, text(name, "name")?) };
                object.wanted.events(category, name)
            }
        };
        if !number.is_null() {
            // SAFETY: checked by `place`, and writable by contract.
            unsafe { number.write(place as u32) };
        }
        Ok(TIMELINE_OK)
    })
}

/// Asks for the handle of a field. Events of all subscriptions of the analyser are asked by it:
/// where a field is, is looked for once for each definition of events.
///
/// `name`: the field's name, or its place from `"0"` on where a message names none, as that of a
/// printf. `field`: receives the handle; untouched when the call fails.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`.
///
/// # Safety
/// `subscriptions` is NULL, or was given to a callback `begin` that has not returned, or by
/// `timeline_analysis_subscriptions`; `name` is NULL or a NUL-terminated string; `field` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_field(
    subscriptions: *mut timeline_subscriptions_t,
    name: *const c_char,
    field: *mut timeline_analysis_field_t,
) -> timeline_status_t {
    guard(|| {
        place(field, "field")?;
        // SAFETY: the contract of this function.
        let (object, name) = unsafe { (object(subscriptions)?, text(name, "name")?) };
        let wanted = &mut object.wanted;
        object.fields.push(FieldSet {
            name: name.to_owned(),
            signed: wanted.field(name),
            unsigned: wanted.field(name),
            float: wanted.field(name),
            boolean: wanted.field(name),
            text: wanted.field(name),
            label: wanted.field(name),
            any: wanted.field(name),
        });
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { field.write(object.fields.len() as u32) };
        Ok(TIMELINE_OK)
    })
}
