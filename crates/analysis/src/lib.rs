//! Analyses logs: analysers subscribe to events, and receive them in the order of time.
//!
//! An [`Analyzer`] (analyzer.rs) says in its [`Subscriptions`] (subscriptions.rs) which events it
//! wants, by patterns of categories and names, and asks for a [`FieldHandle`] of each field
//! (field/). An [`Analysis`] (session/) gives it these events, each as an [`EventContext`]
//! (context.rs) that knows thread, process, machine and clock, and tells it where others are
//! missing ([`StreamGap`], gap.rs). Several analysers take part in one pass. An [`AnalysisCursor`]
//! gives the same to a program that asks for the next event, in place of being called. The
//! [`AnalysisInput`] says what is read: logs as they are, logs to which events come, or bytes of an
//! archive that come through a pipe or over a connection. error.rs has why an analysis ends early.
//! tests/ tries all of it.
//!
//! docs/guide/analysis.md shows it by tasks.

mod analyzer;
mod context;
mod error;
mod field;
mod gap;
mod session;
mod subscriptions;
#[cfg(test)]
mod tests;

pub use analyzer::{AnalysisEnd, Analyzer};
pub use context::{ClockKey, EventContext, ThreadPlace};
pub use error::{Error, Result};
pub use field::{AnalysisValue, ArrayValue, FieldHandle, LabelValue, NumberValue};
pub use gap::StreamGap;
pub use session::{Analysis, AnalysisCursor, AnalysisInput, CursorItem, EventLoan, StepOutcome};
pub use subscriptions::{Subscription, Subscriptions};
pub use timeline_latency::Lack;
pub use timeline_reading::{Error as ReadingError, Extent, Log, LogFollow};
pub use timeline_search::Query;
