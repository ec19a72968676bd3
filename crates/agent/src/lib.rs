//! Records the timelines of a host, as somebody on another machine asks.
//!
//! An [`Agent`] (agent.rs) starts and stops recordings (recording.rs) to files of one directory
//! (folder.rs) or to a store, and sends every timeline of the host whose name matches (fleet.rs),
//! also new ones. error.rs has the errors. The requests come over HTTP: that is the room of
//! `timeline-serve`.

mod agent;
mod error;
mod fleet;
mod folder;
mod recording;

pub use agent::{Agent, AgentOptions};
pub use error::{Error, Result};
pub use fleet::FleetOptions;
pub use recording::{
    KeepingRequest, RecordingPhase, RecordingRequest, RecordingState, RecordingTarget,
};
