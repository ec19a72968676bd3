//! The choice of events before they are made, by what their blocks say of them.
//!
//! select.rs is asked which units, places and events are wanted. It is shown what a block says of
//! its values without being expanded (block_ranges.rs), or its columns (columns.rs): the values
//! of an argument (value_column.rs), and when the events were logged (moments.rs).

pub(crate) mod block_ranges;
pub(crate) mod columns;
pub(crate) mod moments;
pub(crate) mod select;
pub(crate) mod value_column;
