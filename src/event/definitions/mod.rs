//! What an event says, whoever has the timeline: definitions without the memory that they are in.
//!
//! definition.rs has all parts of one, event_id.rs its number, priority.rs its priority and the
//! levels. decimals.rs knows the messages whose values are all whole numbers, span.rs tells the
//! part of an event in a span, and per_event.rs is a table by the numbers of definitions.
//! unknown.rs tells of one that was asked for and is nowhere.

pub(crate) mod decimals;
pub(crate) mod definition;
pub(crate) mod event_id;
pub(crate) mod per_event;
pub(crate) mod priority;
pub(crate) mod span;
pub(crate) mod unknown;
