//! Records a timeline inside the program that logs to it, for those who have no recorder beside it.
//!
//! A [`Worker`] is a thread that records until it is dropped; a [`Pump`] does the same a step at a
//! time, for programs without threads, and for `timeline record`. Both write to a file or a
//! directory, or send to a store, as [`WorkerOptions`] say.
//!
//! worker.rs has the thread, and pump/ the steps; run.rs holds the recorder of one run together
//! with what it reads and writes. options.rs has the options, and request.rs reads what the person
//! who starts a program asks for. pause.rs says how long to wait between two looks at a ring, and
//! error.rs has the errors.

mod error;
mod options;
mod pause;
mod pump;
mod request;
mod run;
mod worker;

pub use error::{Error, Result};
pub use options::{WorkerDestination, WorkerOptions};
pub use pause::Pause;
pub use pump::{Pump, PumpStep};
pub use run::EventChoice;
pub use worker::Worker;
