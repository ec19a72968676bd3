//! The events of an archive in an order: by time, by place, the newest first, or as they come.
//!
//! events.rs gives them by time or unit by unit. merge/ is the order of time, for which ahead.rs
//! reads blocks on several threads and chooser.rs asks which events are wanted. newest.rs reads
//! only the newest part of a rotated archive. follow.rs gives what is appended to a file, inflow.rs
//! what comes as bytes; intake.rs takes the frames of both, and new_events.rs their events.
//! recorded_event.rs gives events in an archive's own terms, with everything that it has of them.

pub(crate) mod ahead;
pub(crate) mod chooser;
pub(crate) mod events;
pub(crate) mod follow;
pub(crate) mod inflow;
pub(crate) mod intake;
pub(crate) mod merge;
pub(crate) mod new_events;
pub(crate) mod newest;
pub(crate) mod recorded_event;
