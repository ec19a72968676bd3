//! Copies of an archive: its whole frames, or the events that are wanted.
//!
//! repair.rs copies the whole frames, and filtered_copy.rs the wanted events. What is missing in
//! the archive is missing in the copy: marks.rs has the records that say so (marks/ tests them).

pub(crate) mod filtered_copy;
pub(crate) mod marks;
pub(crate) mod repair;
