//! The JSON that an event was imported from.
//!
//! object.rs says which values stand where in it, object_value.rs of what type they are there, and
//! properties.rs what its properties with a `$type` say.

pub(crate) mod object;
pub(crate) mod object_value;
pub(crate) mod properties;
