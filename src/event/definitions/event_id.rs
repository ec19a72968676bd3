//! The number of a definition.

/// The number of a definition in one timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u32);

impl EventId {
    /// The id without a definition, never enabled. Callers that ignore a failed define log with it.
    pub const NEVER: EventId = EventId(0);
}
