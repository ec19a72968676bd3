//! The choice of events before they are made, by what their blocks say of them.
//!
//! select.rs is asked which units, places and events are wanted, and visitor.rs takes events that
//! need not be made; unit_choice.rs asks both while a unit is decoded. They are shown what a block
//! says of its values without being expanded (block_ranges.rs), or its columns (columns.rs): the
//! values of an argument (value_column.rs), and when the events were logged (moments.rs).

pub(crate) mod block_ranges;
pub(crate) mod columns;
pub(crate) mod moments;
pub(crate) mod select;
pub(crate) mod unit_choice;
pub(crate) mod value_column;
pub(crate) mod visitor;
