//! What is missing in an archive: entries of the ring, and parts of the file.
//!
//! coverage/ knows which entries the frames account for, gaps.rs before which events some are
//! missing, and breaks.rs the places in a file where any may be.

pub(crate) mod breaks;
pub(crate) mod coverage;
pub(crate) mod gaps;
