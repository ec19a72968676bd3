//! Opening an archive: what its frames are, what is in them, and what is not.
//!
//! archive.rs opens it. contents.rs is what was found, and outline.rs keeps that for the next time,
//! as long as the file is the same. decode.rs makes events of frames. losses.rs says how much of an
//! archive is there, holes.rs in which times events may be missing, and programs.rs of which
//! programs there are any. samples.rs makes archives with holes for tests.

pub(crate) mod archive;
pub(crate) mod contents;
pub(crate) mod decode;
pub(crate) mod holes;
pub(crate) mod losses;
pub(crate) mod outline;
pub(crate) mod programs;
#[cfg(test)]
pub(crate) mod samples;
