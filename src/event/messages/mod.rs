//! Messages: the texts in which the values of an event are shown.
//!
//! template.rs finds the arguments in them, braces.rs those in braces, as logs in JSON have them,
//! and printf/ those of printf; syntax.rs says which of these a message is. statement.rs fits the
//! types of a call to a message. value_text.rs shows values that have none, and number.rs is a part
//! of a message whose values are all whole numbers.

pub(crate) mod braces;
pub(crate) mod number;
pub(crate) mod printf;
pub(crate) mod statement;
pub(crate) mod syntax;
pub(crate) mod template;
pub(crate) mod value_text;
