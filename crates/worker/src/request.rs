//! Reads what the person who starts a program asks for: variables, and arguments of its command.

use timeline::internal::variable;

use crate::error::{Error, Result};
use crate::options::WorkerOptions;

/// The variables of the environment, for a store and for a file.
const STORE: &str = "TIMELINE_TO";
const FILE: &str = "TIMELINE_FILE";

impl WorkerOptions {
    /// What the environment asks for: `TIMELINE_TO=HOST[:PORT]` sends to a store,
    /// `TIMELINE_FILE=PATH` records to a file. `None` if neither is set, or if this program has
    /// more rights than who started it (setuid): that person must not have it write files.
    ///
    /// # Errors
    /// `BadOption` if both are set, or if one of them has no address or path.
    pub fn from_environment() -> Result<Option<WorkerOptions>> {
        let text = |name| variable(name).filter(|value| !value.is_empty());
        match (text(STORE), text(FILE)) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(Error::option(
                STORE,
                format!("expected either {STORE} or {FILE}, got both"),
            )),
            (None, Some(path)) => Ok(Some(WorkerOptions::to_file(path))),
            (Some(address), None) => of_store(STORE, &address.to_string_lossy()).map(Some),
        }
    }

    /// What an argument of the command line asks for, if it is meant for a worker:
    /// `-tracehost=HOST[:PORT]` sends to a store, `-tracefile=PATH` records to a file. Both may
    /// begin with two dashes. `None` for any other argument. Who passes arguments of its command
    /// line to this lets whoever starts it decide which files are written.
    ///
    /// # Errors
    /// `BadOption` if there is no address or path behind it.
    ///
    /// # Example
    /// ```
    /// use timeline_worker::WorkerOptions;
    /// let asked = |argument| WorkerOptions::from_argument(argument).map(|found| found.is_some());
    /// assert!(asked("-tracefile=flight.tla")? && asked("--tracehost=db1")?);
    /// assert!(!asked("-trace=net")? && asked("-tracehost=").is_err());
    /// # Ok::<(), timeline_worker::Error>(())
    /// ```
    pub fn from_argument(argument: &str) -> Result<Option<WorkerOptions>> {
        let option = argument
            .strip_prefix('-')
            .map(|rest| rest.strip_prefix('-').unwrap_or(rest));
        let value = |name: &str| option?.strip_prefix(name)?.strip_prefix('=');
        if let Some(address) = value("tracehost") {
            return of_store("-tracehost", address).map(Some);
        }
        match value("tracefile") {
            Some("") => Err(Error::option("-tracefile", "expected a path, got nothing")),
            path => Ok(path.map(WorkerOptions::to_file)),
        }
    }
}

/// Options to send to a store, of an address that a person gave.
fn of_store(option: &str, address: &str) -> Result<WorkerOptions> {
    WorkerOptions::to_store(address).map_err(|error| match error {
        Error::BadOption { why, .. } => Error::option(option, why),
        other => other,
    })
}
