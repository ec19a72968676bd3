//! Fields of events, by their names and types.
//!
//! handle.rs is what an analyser has of a field, and what that leads to in the events of a
//! definition. value.rs says which types fields are read as: number.rs numbers, array.rs arrays of
//! them, label.rs those that have names.

mod array;
mod handle;
mod label;
mod number;
mod value;

pub use array::ArrayValue;
pub use handle::FieldHandle;
pub(crate) use handle::{FieldRequest, FieldSlot};
pub use label::LabelValue;
pub use number::NumberValue;
pub use value::AnalysisValue;
