//! Reads an archive.
//! It reads all of it by time or by place, its newest part, or what is appended while it grows.
//!
//! Opening: archive.rs opens, through open.rs, bytes that bytes.rs reads; contents.rs is what was
//! found, and outline.rs keeps that for the next time, as long as the file is the same (stamp.rs).
//!
//! Events: unit.rs is what is read at once. decode.rs makes events of frames and unpack.rs of
//! blocks (stored.rs reads values as their shapes say, skip.rs passes over what nobody wants), in
//! one of the forms of form.rs, of which ordered.rs has that of a ring's events. names.rs has the
//! strings and symbols, processes.rs and programs.rs who logged, executable.rs the files that may
//! have been theirs.
//!
//! Choosing: select.rs says which events are wanted before they are made, by the columns.rs of a
//! block (value_column.rs: its values, moments.rs: its times) or its block_ranges.rs; chooser.rs
//! asks it.
//!
//! Order: events.rs gives them by time (merge/, for which ahead.rs reads blocks on several
//! threads), newest.rs the newest first, follow.rs those that are appended (appended.rs takes
//! them), recorded_event.rs all in an archive's own terms. important_numbers.rs knows the important
//! ones that came already.
//!
//! What is missing: coverage/ knows which entries the frames account for, gaps.rs before which
//! events some are missing, losses.rs how much of an archive is there, breaks.rs the places and
//! holes.rs the times where any may be. recover/ finds lost texts again, and recovery.rs says what
//! came of it. repair.rs copies the whole frames, filtered.rs the wanted events, with the marks.rs
//! of what is missing (marks/ tests them). samples.rs makes archives with holes for tests.

pub(crate) mod ahead;
pub(crate) mod appended;
pub(crate) mod archive;
pub(crate) mod block_ranges;
pub(crate) mod breaks;
pub(crate) mod bytes;
pub(crate) mod chooser;
pub(crate) mod columns;
pub(crate) mod contents;
pub(crate) mod coverage;
pub(crate) mod decode;
pub(crate) mod events;
pub(crate) mod executable;
pub(crate) mod filtered;
pub(crate) mod follow;
pub(crate) mod form;
pub(crate) mod gaps;
pub(crate) mod holes;
pub(crate) mod important_numbers;
pub(crate) mod losses;
pub(crate) mod marks;
pub(crate) mod merge;
pub(crate) mod moments;
pub(crate) mod names;
pub(crate) mod newest;
pub(crate) mod open;
pub(crate) mod ordered;
pub(crate) mod outline;
pub(crate) mod processes;
pub(crate) mod programs;
pub(crate) mod recorded_event;
pub(crate) mod recover;
pub(crate) mod recovery;
pub(crate) mod repair;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod select;
pub(crate) mod skip;
pub(crate) mod stamp;
pub(crate) mod stored;
pub(crate) mod unit;
pub(crate) mod unpack;
pub(crate) mod value_column;
