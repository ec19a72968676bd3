//! Names of events, and how they are asked for.
//!
//! name.rs makes them of messages, glob.rs matches patterns, and nearest.rs finds those that may
//! have been meant.

pub(crate) mod glob;
pub(crate) mod name;
pub(crate) mod nearest;
