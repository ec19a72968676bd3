//! Values, and the types that a message gives them.
//!
//! value.rs is a value and its msgpack. field_table.rs is the table of the types of arguments: who
//! needs to know something of a type asks its row. field.rs names types and shows their values,
//! units.rs some of these; element.rs has the types of the numbers of an array, labels.rs the names
//! of an enum. word.rs has the types of the words of a payload.

pub(crate) mod element;
pub(crate) mod field;
pub(crate) mod field_table;
pub(crate) mod labels;
pub(crate) mod units;
pub(crate) mod value;
pub(crate) mod word;
