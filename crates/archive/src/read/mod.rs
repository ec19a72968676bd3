//! Reads an archive.
//! It reads all of it by time or by place, its newest part, or what is appended while it grows.

pub(crate) mod archive;
pub(crate) mod bytes;
pub(crate) mod decode;
pub(crate) mod follow;
pub(crate) mod gaps;
pub(crate) mod merge;
pub(crate) mod names;
pub(crate) mod newest;
pub(crate) mod recorded;
pub(crate) mod repair;
pub(crate) mod seen;
pub(crate) mod unpack;
