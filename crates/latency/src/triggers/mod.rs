//! Triggers: tells at which moments of a stream of events a condition is met.
//!
//! kind.rs says what conditions there are, parse.rs reads them (errors are in error.rs), and a
//! [`Condition`] (condition.rs) is one that was read. evaluate.rs has the conditions of a stream
//! and gives each event to those that it concerns: state.rs says what each of them keeps, level.rs
//! since when one holds, and window.rs what came in the time before. firing.rs is what comes
//! out.

mod condition;
mod error;
mod evaluate;
mod firing;
mod kind;
mod level;
mod parse;
mod state;
mod window;

#[cfg(test)]
mod tests;

pub use condition::Condition;
pub use error::Error;
pub use evaluate::Triggers;
pub use firing::{Firing, FiringValue};
