//! What is shown of an event, wherever it is shown: what is not known is `None`.
//!
//! definition.rs has what its definition says, stack.rs its call stack as a list of functions.

mod definition;
mod stack;

pub use definition::DefinitionView;
pub use stack::{StackEntry, stack_entries};
