//! Writes an archive: a frame for each event, or blocks of many.
//!
//! writer/ frames records; packer/ packs events into the columns of a block, and lines.rs imported
//! lines. doubles.rs stores the doubles of a column once all of them are there.

pub(crate) mod alike;
mod columns;
mod doubles;
pub(crate) mod event;
pub(crate) mod interned;
pub(crate) mod lines;
pub(crate) mod packer;
pub(crate) mod positions;
pub(crate) mod range;
pub(crate) mod writer;
