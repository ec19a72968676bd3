//! A pass over logs, with several analysers.
//!
//! analysis.rs is what a program has of it. input.rs says which logs are read, and source.rs gives
//! their events and losses (item.rs) one after the other. desk.rs knows what they mean, and gives
//! them to the analysers, each of which has a seat (seat.rs); workers.rs has analysers on threads
//! of their own, and sink.rs gives to both.

mod analysis;
mod desk;
mod input;
mod item;
mod seat;
mod sink;
mod source;
mod workers;

pub use analysis::{Analysis, StepOutcome};
pub use input::AnalysisInput;
