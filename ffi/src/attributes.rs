//! Attributes of definitions, as C gives them.
use crate::convert::{shared, text};
use crate::error::CallFailure;
use std::ffi::c_char;
use timeline_core::Attributes;

/// What a definition says besides category, priority and message; in `timeline_attributes_t
/// attributes = {0}` all have their defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct timeline_attributes_t {
    /// The channels of the event, with `|` between: `"itv|bbc"`; NULL or `""` for none. It is
    /// logged only while all of them are on. A channel is off until somebody switches it on, or
    /// from its definition on: `"itv=on"`.
    pub channels: *const c_char,
    /// The events explain others: names of ids, a configuration. They are kept in a region of their
    /// own, which nothing overwrites, and readers get them first.
    pub important: bool,
}

/// The attributes behind a pointer; the defaults for NULL.
///
/// # Safety
/// `attributes` is NULL or readable; its texts are NULL or NUL-terminated strings, which stay
/// unchanged for `'a`.
pub(crate) unsafe fn attributes_of<'a>(
    attributes: *const timeline_attributes_t,
) -> Result<Attributes<'a>, CallFailure> {
    if attributes.is_null() {
        return Ok(Attributes::default());
    }
    // SAFETY: the contract of this function.
    let given = unsafe { shared(attributes, "attributes", "the caller filled in")? };
    let channels = match given.channels.is_null() {
        true => "",
        // SAFETY: as above.
        false => unsafe { text(given.channels, "channels")? },
    };
    Ok(Attributes {
        channels,
        important: given.important,
    })
}
