//! msgpack: the records of archives, and the values of their events.
//!
//! Nothing else knows its bytes.
//!
//! marker.rs has the first bytes of values, read.rs reads them from any bytes, write.rs writes
//! them.

pub mod marker;
mod read;
mod write;

pub use read::{Head, Unpacker, all_integers, whole_values};
pub use rmp::Marker;
pub use write::{
    FieldWriter, ListWriter, NumberBytes, array16, packed, packed_signed, put, put_packed, uint64,
};
