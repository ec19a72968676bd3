//! What a person asks for: which channels and events are logged, and in which detail.
//!
//! rules.rs has the rules for categories and names, channel.rs names of channels, and selection.rs
//! both as somebody selects them when a program starts.

pub(crate) mod channel;
pub(crate) mod rules;
pub(crate) mod selection;
