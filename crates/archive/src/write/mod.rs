//! Writes an archive: a frame for each event, or blocks of many.
//!
//! writer.rs frames records; packer/ packs events into the columns of a block, and
//! lines.rs imported lines.

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
