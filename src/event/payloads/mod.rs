//! The payloads of events: values without a tag, of types that the definition states.
//!
//! payload.rs says which words are which values, columns.rs reads those of many payloads, and
//! lay_out.rs makes the words.

pub(crate) mod columns;
pub(crate) mod lay_out;
pub(crate) mod payload;
