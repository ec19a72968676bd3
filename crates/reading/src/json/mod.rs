//! Events as JSON.
//!
//! quoted.rs writes texts so that they are safe to show, value.rs the values of events, and
//! object.rs events as the JSON objects that they were imported from, whose members.rs become one.

mod members;
mod object;
mod quoted;
mod value;

pub use members::Members;
pub use object::write_object;
pub use quoted::{push_quoted, to_string, write_line};
pub use value::{EXACT, push_number, push_value, value, whole_number};

/// Why errors of writing to memory are not handled.
const INFALLIBLE: &str = "writing to memory cannot fail";
