//! Writes an archive: a frame for each event, or blocks of many.
//!
//! writer/ frames records; packer/ packs events into the columns of a block, and lines.rs imported
//! lines. doubles.rs stores the doubles of a column once all of them are there.
//!
//! event.rs encodes the record of an event, columns.rs the values of a block, event_run.rs
//! describes events of one definition whose words are packed as they are. interner.rs gives
//! definitions and threads numbers, positions.rs keeps how far each lane is written, range.rs which
//! times and values a block covers.

mod columns;
mod doubles;
pub(crate) mod event;
pub(crate) mod event_run;
pub(crate) mod interner;
pub(crate) mod lines;
pub(crate) mod packer;
pub(crate) mod positions;
pub(crate) mod range;
pub(crate) mod writer;
