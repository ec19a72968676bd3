//! msgpack: the values of events with a payload, and the records of archives.

mod read;
mod write;

pub use read::{Head, Input, all_integers, whole_values};
pub use rmp::Marker;
pub use write::{Fields, Packed, packed, packed_signed, put};
