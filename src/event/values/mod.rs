//! Values, and the types that a message gives them.
//!
//! value.rs is a value and its msgpack. field.rs has the types of arguments, element.rs those of
//! the numbers of an array, labels.rs the names of an enum, and units.rs shows sizes and times.
//! word.rs has the types of the words of a payload.

pub(crate) mod element;
pub(crate) mod field;
pub(crate) mod labels;
pub(crate) mod units;
pub(crate) mod value;
pub(crate) mod word;
