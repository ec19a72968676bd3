//! The bytes of an archive, in memory or in one or several files.
//!
//! bytes.rs reads them, and finds frames in them. open.rs opens files, the first time and again;
//! by stamp.rs a later reader knows that a file is still the same.

pub(crate) mod bytes;
pub(crate) mod open;
pub(crate) mod stamp;
