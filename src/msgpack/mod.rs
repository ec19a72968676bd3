//! msgpack: the values of events with a payload, and the records of archives.
//!
//! Nothing else in Rust knows its bytes. (Programs that use `TIMELINE_PRINTF` pack their arguments
//! themselves, in ffi/inline.h.)

pub mod marker;
mod read;
mod write;

pub use read::{Head, Input, all_integers, whole_values};
pub use rmp::Marker;
pub use write::{Fields, Packed, array16, packed, packed_signed, put, uint64};
