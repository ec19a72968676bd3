//! Copies of an archive: its whole frames, or the events that are wanted.
//!
//! repair.rs copies the whole frames, and filtered_copy.rs the wanted events (copied_event.rs is
//! one); wanted_share.rs says when it need not choose any more. What is missing in the archive is
//! missing in the copy: marks.rs has the records that say so (marks/ tests them).

mod copied_event;
pub(crate) mod filtered_copy;
pub(crate) mod marks;
pub(crate) mod repair;
mod wanted_share;
