//! Runs servers until one ends or a signal comes.

use std::thread;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::signals::{Signals, WakeReason};

/// How often it is looked whether a server has ended.
const OFTEN: Duration = Duration::from_millis(200);

/// A server that listens already.
pub struct Service {
    /// Answers until it is stopped.
    pub run: Box<dyn FnOnce() -> Result + Send>,
    /// Has it end.
    pub stop: Box<dyn Fn()>,
}

/// Runs them, each in a thread. If one ends, so do the others.
pub fn run(services: Vec<Service>, signals: &Signals) -> Result {
    let (mut running, mut stops) = (Vec::new(), Vec::new());
    for Service { run, stop } in services {
        running.push(thread::spawn(run));
        stops.push(stop);
    }
    while !running.iter().any(|thread| thread.is_finished())
        && signals.wait_for_signal(OFTEN) != WakeReason::Interrupted
    {}
    stops.iter().for_each(|stop| stop());
    let results = running.into_iter().map(|thread| match thread.join() {
        Ok(result) => result,
        Err(_) => Err(Failure::Message("a server failed".into())),
    });
    results.collect::<Vec<_>>().into_iter().collect()
}
