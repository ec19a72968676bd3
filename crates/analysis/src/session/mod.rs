//! A pass over logs, with several analysers.
//!
//! analysis.rs is what a program has of it. input.rs says which logs are read, and source.rs gives
//! their events and losses (item.rs) one after the other. desk.rs gives them to the analysers, each
//! of which has a seat (seat.rs); workers.rs has analysers on threads of their own, and sink.rs
//! gives to both. cursor.rs gives them to a program that asks for the next. What the events of a
//! log mean is known by log_desk.rs, and what is wanted of them by wish.rs.

mod analysis;
mod cursor;
mod desk;
mod input;
mod item;
mod log_desk;
mod seat;
mod sink;
mod source;
mod wish;
mod workers;

pub use analysis::{Analysis, StepOutcome};
pub use cursor::{AnalysisCursor, CursorItem, EventLoan};
pub use input::AnalysisInput;
